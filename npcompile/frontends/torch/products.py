"""matmul, mm, bmm, mv, dot, linear.

In: symbolic arguments by torch's own signatures. Out: contractions; on the CPU they are calls of the BLAS that NumPy uses, on a
device calls of torch.
"""

from __future__ import annotations

from npcompile.frontends.builder import Builder
from npcompile.frontends.numpy.products import contract
from npcompile.frontends.values import Const, SymValue, Tensor
from npcompile.ir.graph import Value

from . import arguments as args
from . import called, results
from .elementwise import binary, no_out
from .promotion import as_tensor, refuse
from .registry import NONE, both, functions


def _operands(b: Builder, *tensors: SymValue) -> list[Tensor]:
    out = [as_tensor(b, v) for v in tensors]
    if any(x.dtype != out[0].dtype for x in out):
        raise refuse("operands of different dtypes")
    if out[0].dtype.kind in "cb" or (out[0].dtype.itemsize == 2 and not called.on_device(b)):
        raise refuse(f"a product of {out[0].dtype}")
    return out


def _by_torch(b: Builder, name: str, tensors: list[Tensor]) -> Tensor:
    """torch's own function, with the shape that the matrix product of the first two tensors (the last two of addmm) has."""
    x, y = tensors[-2:] if name == "addmm" else tensors[:2]
    v, w = b.read(x.array), b.read(y.array)
    if name.endswith("linear"):
        w = b.emit("transpose", w, perm=(1, 0))
    return called.product(b, name, tensors, b.dims(product(b, v, w)))


def product(b: Builder, x: Value, y: Value) -> Value:
    """`x @ y`; batch axes broadcast."""
    nx, ny = len(b.dims(x)), len(b.dims(y))
    if not nx or not ny:
        raise refuse("a product of a tensor without axes")
    core_x, core_y = min(nx, 2), min(ny, 2)
    lead_x, lead_y = b.dims(x)[: nx - core_x], b.dims(y)[: ny - core_y]
    batch = b.broadcast_dims(lead_x, lead_y)
    if lead_y:
        x = b.broadcast(x, (*batch, *b.dims(x)[nx - core_x :]))
        y = b.broadcast(y, (*batch, *b.dims(y)[ny - core_y :]))
    n = len(batch)
    pair = (n + core_x - 1, (n if lead_y else 0) + max(core_y - 2, 0))
    return contract(b, x, y, pair, None, n if lead_y else 0, None, "matmul")


@both("matmul")
def matmul(b: Builder, input: SymValue, other: SymValue, *, out: SymValue = NONE) -> SymValue:
    no_out(b, out)
    x, y = _operands(b, input, other)
    if called.on_device(b):
        return _by_torch(b, "matmul", [x, y])
    return results.fresh(b, product(b, b.read(x.array), b.read(y.array)))


def _register(name: str, ranks: tuple[int, int]) -> None:
    def rule(b: Builder, input: SymValue, mat2: SymValue) -> SymValue:
        x, y = _operands(b, input, mat2)
        if (x.rank, y.rank) != ranks or (name == "bmm" and not b.dim_is(x.dims[0], y.dims[0])):
            raise refuse(f"{name} of these shapes")
        if called.on_device(b):
            return _by_torch(b, name, [x, y])
        return results.fresh(b, product(b, b.read(x.array), b.read(y.array)))

    both(name)(rule)


_register("mm", (2, 2))
_register("bmm", (3, 3))
_register("mv", (2, 1))
_register("dot", (1, 1))


@both("outer", "ger")
def outer(b: Builder, input: SymValue, vec2: SymValue) -> SymValue:
    x, y = as_tensor(b, input), as_tensor(b, vec2)
    if x.rank != 1 or y.rank != 1:
        raise refuse("outer of these shapes")
    column, row = Tensor(b.view(x.array, "expand", axes=(1,))), Tensor(b.view(y.array, "expand", axes=(0,)))
    return results.fresh(b, b.read(binary(b, "mul", column, row).array))


@both("addmm")
def addmm(
    b: Builder, input: SymValue, mat1: SymValue, mat2: SymValue, *, beta: SymValue = Const(1), alpha: SymValue = Const(1)
) -> SymValue:
    args.only(b, beta, 1)
    args.only(b, alpha, 1)
    c, x, y = _operands(b, input, mat1, mat2)
    if x.rank != 2 or y.rank != 2:
        raise refuse("addmm of these shapes")
    v = product(b, b.read(x.array), b.read(y.array))
    if not args.same_dims(b, b.broadcast_dims(b.dims(c.array), b.dims(v)), b.dims(v)):
        raise refuse("addmm of these shapes")
    if called.on_device(b):
        return _by_torch(b, "addmm", [c, x, y])
    return results.fresh(b, b.emit("add", v, b.broadcast(b.read(c.array), b.dims(v))))


@functions("nn.functional.linear")
def linear(b: Builder, input: SymValue, weight: SymValue, bias: SymValue = NONE) -> SymValue:
    """`input @ weight.T + bias`."""
    extra = b.force(bias)
    x, w, *more = _operands(b, input, weight, *([extra] if args.given(extra) else []))
    if w.rank != 2 or not x.rank:
        raise refuse("linear of these shapes")
    if more and (more[0].rank != 1 or not b.dim_is(more[0].dims[0], w.dims[0])):
        raise refuse("a bias of another shape")
    if called.on_device(b):
        return _by_torch(b, "nn.functional.linear", [x, w, *more])
    v = product(b, b.read(x.array), b.emit("transpose", b.read(w.array), perm=(1, 0)))
    if more:
        v = b.emit("add", v, b.broadcast(b.read(more[0].array), b.dims(v)))
    return results.fresh(b, v)
