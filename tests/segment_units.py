"""Hand-written C++ segments for the runtime's tests: compiled by g++ once per run, loaded through the extension."""

import functools
import pathlib
import subprocess
import tempfile

import npcompile.kernels
import numpy as np

from npcompile.ir.dims import Dim, Sym
from npcompile.ir.segment import ArraySpec, ExitSpec, Guard, Recipe, SegmentSpec, Source
from npcompile.ir.types import TensorType
from npcompile.runtime import _dispatch
from npcompile.runtime.segments import make_entry

FLAGS = ["-O3", "-march=native", "-ffp-contract=off", "-fno-exceptions", "-fno-rtti", "-shared", "-fPIC", "-nostdlib", "-Wall"]
_ABI = (pathlib.Path(npcompile.kernels.__file__).parent / "cpp" / "abi.h").read_text()
_DIR = tempfile.TemporaryDirectory(prefix="npcompile-test-")


@functools.cache
def build(body: str) -> int:
    """Address of a segment whose function body is `body` (parameters ctx, rt, in, out, syms)."""
    name = f"seg{build.cache_info().misses}"
    source = pathlib.Path(_DIR.name) / f"{name}.cpp"
    head = "npc_i64 npc_segment_test(npc_ctx *ctx, const npc_runtime *rt, const npc_i64 *in, npc_i64 *out, void *const *syms)"
    parts = body.split("//SEGMENT\n")
    pre, main = parts if len(parts) == 2 else ("", body)
    unused = "(void)ctx; (void)rt; (void)in; (void)out; (void)syms;"
    source.write_text(f'{_ABI}\n{pre}\nextern "C" {head} {{ {unused}\n{main}\n}}\n')
    library = source.with_suffix(".so")
    subprocess.run(["g++", *FLAGS, str(source), "-o", str(library)], check=True)
    return _dispatch.symbol(_dispatch.load_library(str(library)), "npc_segment_test")


def arg(i):
    return Source("arg", i)


def f8(dims=1, **kw):
    return ArraySpec("f8", dims, **kw)


def tensor(dtype="f8", rank=1):
    return TensorType(np.dtype(dtype), tuple(Dim.of(Sym(f"n{i}")) for i in range(rank)), tuple(range(rank, 0, -1)))


def value(k=0, box="array"):
    return Recipe("value", (k, box))


def returns(recipe, *captures):
    return ExitSpec("return", tuple(captures), recipe)


def jit_of(fn, guards, exits, body=None, *, constants=(), aliases=(), miss=None, **kw):
    """A jit object of `fn` with one entry."""
    spec = SegmentSpec(guards=list(guards), aliases=list(aliases), exits=list(exits), constants=list(constants))
    jit = _dispatch.Jit(fn, miss)
    jit.insert(make_entry(spec, fn.__code__, 0 if body is None else build(body), **kw))
    return jit


FMA = """
  npc_i64 n = in[1];
  if (in[4] != n || in[7] != n) return NPC_GUARD_FAILED;
  const double *a = (const double *)in[0], *b = (const double *)in[3], *c = (const double *)in[6];
  npc_i64 stride = 8;
  double *__restrict r = (double *)rt->alloc_array(ctx, 3, 12, 1, &n, &stride);
  if (!r) return NPC_ERROR;
  for (npc_i64 i = 0; i < n; i++) r[i] = a[i] * b[i] + c[i];
  rt->out_object(ctx, 0, 3);
  return 0;
"""


def fma_jit(**kw):
    """`a * b + c` on three float64 vectors of one length."""

    def f(a, b, c):
        return a * b + c

    return jit_of(f, [Guard(arg(i), "array", f8()) for i in range(3)], [returns(value(), tensor())], FMA, n_slots=4, **kw)
