"""Activations, layer_norm and losses of `torch.nn.functional`, and their namesakes in torch and on tensors.

In: symbolic arguments by torch's own signatures. Out: tensors.
"""

from __future__ import annotations

import math

from npcompile.frontends.builder import Builder
from npcompile.frontends.reducing import reduced
from npcompile.frontends.values import Const, SymValue, Tensor
from npcompile.ir.graph import Value

from . import arguments as args
from . import results
from .elementwise import clamped, constant, pointwise, sigmoid
from .indexing import rows
from .promotion import BOOL, as_tensor, convert, refuse, working
from .reductions import count_of, moments, scaled
from .registry import FALSE, NONE, both, functions, method


def _float(b: Builder, v: SymValue) -> Tensor:
    x = as_tensor(b, v)
    if x.dtype.kind != "f":
        raise refuse(f"an activation of {x.dtype}")
    return x


def _apply(b: Builder, x: Tensor, emit, inplace: SymValue = FALSE) -> Tensor:  # type: ignore[no-untyped-def]
    return pointwise(b, emit, [x], x.dtype, into=x if args.flag(b, inplace) else None)


@both("relu")
def relu(b: Builder, input: SymValue) -> SymValue:
    return _relu(b, input, None)


@method("relu_")
def relu_(b: Builder, self: Tensor) -> SymValue:
    return _relu(b, self, self)


functions("relu_", "nn.functional.relu_")(relu_)


@functions("nn.functional.relu")
def functional_relu(b: Builder, input: SymValue, inplace: SymValue = FALSE) -> SymValue:
    x = as_tensor(b, input)
    return _relu(b, x, x if args.flag(b, inplace) else None)


def _relu(b: Builder, input: SymValue, into: Tensor | None) -> Tensor:
    x = as_tensor(b, input)
    if x.dtype == BOOL:
        raise refuse("relu of bools")
    return clamped(b, x, Const(0), NONE, into)


@functions("nn.functional.relu6")
def relu6(b: Builder, input: SymValue, inplace: SymValue = FALSE) -> SymValue:
    x = _float(b, input)
    return clamped(b, x, Const(0), Const(6), x if args.flag(b, inplace) else None)


@functions("nn.functional.sigmoid")
def functional_sigmoid(b: Builder, input: SymValue) -> SymValue:
    return _apply(b, _float(b, input), sigmoid)


@functions("nn.functional.tanh")
def functional_tanh(b: Builder, input: SymValue) -> SymValue:
    return _apply(b, _float(b, input), lambda b, x: b.emit("tanh", x))


@functions("nn.functional.silu")
def silu(b: Builder, input: SymValue, inplace: SymValue = FALSE) -> SymValue:
    def emit(b: Builder, x: Value) -> Value:
        return b.emit("div", x, b.emit("add", constant(b, x, 1.0), b.emit("exp", b.emit("neg", x))))

    return _apply(b, _float(b, input), emit, inplace)


@functions("nn.functional.gelu")
def gelu(b: Builder, input: SymValue, *, approximate: SymValue = Const("none")) -> SymValue:
    how = args.static(b, approximate)
    if how not in ("none", "tanh"):
        raise refuse(f"gelu {how!r}")

    def by_erf(b: Builder, x: Value) -> Value:
        e = b.emit("erf", b.emit("mul", x, constant(b, x, math.sqrt(0.5))))
        half = b.emit("mul", x, constant(b, x, 0.5))
        return b.emit("mul", half, b.emit("add", constant(b, x, 1.0), e))

    def by_tanh(b: Builder, x: Value) -> Value:
        cube = b.emit("mul", b.emit("mul", x, x), x)
        inner = b.emit("add", x, b.emit("mul", constant(b, x, 0.044715), cube))
        t = b.emit("tanh", b.emit("mul", constant(b, x, math.sqrt(2.0 / math.pi)), inner))
        return b.emit("mul", b.emit("mul", constant(b, x, 0.5), x), b.emit("add", constant(b, x, 1.0), t))

    return _apply(b, _float(b, input), by_erf if how == "none" else by_tanh)


@functions("nn.functional.leaky_relu")
def leaky_relu(b: Builder, input: SymValue, negative_slope: SymValue = Const(0.01), inplace: SymValue = FALSE) -> SymValue:
    slope = args.number(b, negative_slope)

    def emit(b: Builder, x: Value) -> Value:
        positive = b.emit("gt", x, constant(b, x, 0.0))
        return b.emit("select", positive, x, b.emit("mul", x, constant(b, x, slope)))

    return _apply(b, _float(b, input), emit, inplace)


@functions("nn.functional.elu")
def elu(b: Builder, input: SymValue, alpha: SymValue = Const(1.0), inplace: SymValue = FALSE) -> SymValue:
    scale = args.number(b, alpha)

    def emit(b: Builder, x: Value) -> Value:
        low = b.emit("mul", b.emit("expm1", x), constant(b, x, scale))
        return b.emit("select", b.emit("lt", x, constant(b, x, 0.0)), low, x)

    return _apply(b, _float(b, input), emit, inplace)


@functions("nn.functional.softplus")
def softplus(b: Builder, input: SymValue, beta: SymValue = Const(1), threshold: SymValue = Const(20)) -> SymValue:
    k, limit = args.number(b, beta), args.number(b, threshold)

    def emit(b: Builder, x: Value) -> Value:
        kx = b.emit("mul", x, constant(b, x, k))
        soft = b.emit("div", b.emit("log1p", b.emit("exp", kx)), constant(b, x, k))
        return b.emit("select", b.emit("gt", kx, constant(b, x, limit)), x, soft)

    return _apply(b, _float(b, input), emit)


@functions("nn.functional.dropout")
def dropout(
    b: Builder, input: SymValue, p: SymValue = Const(0.5), training: SymValue = Const(True), inplace: SymValue = FALSE
) -> SymValue:
    """Outside training, the tensor itself."""
    x = as_tensor(b, input)
    if args.flag(b, training) or not 0 <= args.number(b, p) <= 1:
        raise refuse("dropout in training")
    return x


@functions("nn.functional.mse_loss")
def mse_loss(
    b: Builder, input: SymValue, target: SymValue, size_average: SymValue = NONE, reduce: SymValue = NONE,
    reduction: SymValue = Const("mean"), weight: SymValue = NONE,
) -> SymValue:  # fmt: skip
    for option in (size_average, reduce, weight):
        args.only(b, option, None)
    x, y, how = _float(b, input), as_tensor(b, target), args.static(b, reduction)
    if x.dtype != y.dtype or x.dtype.itemsize == 2 or not args.same_dims(b, b.dims(x.array), b.dims(y.array)):
        raise refuse("a target of another dtype or shape")
    d = b.emit("sub", b.read(x.array), b.read(y.array))
    d = b.emit("mul", d, d)
    axes = tuple(range(x.rank))
    if how == "none":
        return results.iterated(b, d, [b.read(x.array), b.read(y.array)])
    if how not in ("mean", "sum"):
        raise refuse(f"reduction {how!r}")
    total = reduced(b, d, "add", axes)
    return results.fresh(b, scaled(b, "div", total, count_of(b, d, axes)) if how == "mean" else total)


@functions("nn.functional.embedding")
def embedding(
    b: Builder, input: SymValue, weight: SymValue, padding_idx: SymValue = NONE, max_norm: SymValue = NONE,
    norm_type: SymValue = Const(2.0), scale_grad_by_freq: SymValue = FALSE, sparse: SymValue = FALSE,
) -> SymValue:  # fmt: skip
    args.only(b, max_norm, None)
    i, w = as_tensor(b, input), as_tensor(b, weight)
    if w.rank != 2 or not i.rank:
        raise refuse("embedding of these shapes")
    return rows(b, w, i, 0, wrap=False)


# ---------------------------------------------------------------------------------------------- normalisation


@functions("nn.functional.layer_norm")
def layer_norm(
    b: Builder, input: SymValue, normalized_shape: SymValue, weight: SymValue = NONE, bias: SymValue = NONE,
    eps: SymValue = Const(1e-5),
) -> SymValue:  # fmt: skip
    x, parts = _float(b, input), args.items(b, normalized_shape)
    if not parts or len(parts) > x.rank:
        raise refuse("normalized_shape")
    axes = tuple(range(x.rank - len(parts), x.rank))
    v = convert(b, b.read(x.array), working(x.dtype))
    dims = b.dims(v)
    shape = tuple(args.dim(b, p) for p in parts)
    if not args.same_dims(b, shape, dims[axes[0] :]):
        raise refuse("normalized_shape that is not the tensor's")
    mean, total, n = moments(b, v, axes)
    variance = scaled(b, "div", total, n)
    root = b.emit("sqrt", b.emit("add", variance, constant(b, variance, args.number(b, eps))))
    scale = b.emit("div", constant(b, root, 1.0), root)
    out = b.emit("mul", b.emit("sub", v, b.broadcast(mean, dims)), b.broadcast(scale, dims))
    for prim, extra in (("mul", weight), ("add", bias)):
        extra = b.force(extra)
        if not args.given(extra):
            continue
        w = as_tensor(b, extra)
        if w.dtype != x.dtype or not args.same_dims(b, b.dims(w.array), shape):
            raise refuse("a weight of another dtype or shape")
        out = b.emit(prim, out, b.broadcast(convert(b, b.read(w.array), working(x.dtype)), dims))
    return results.fresh(b, convert(b, out, x.dtype))
