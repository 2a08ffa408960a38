"""Runs Triton kernels in Triton's interpreter: single operations, and jitted functions."""

import os

os.environ.setdefault("TRITON_INTERPRET", "1")

import importlib.util
from types import SimpleNamespace

import numpy as np
import pytest

if importlib.util.find_spec("triton") is None:
    pytest.skip("triton is not installed", allow_module_level=True)

from npcompile.lowering.loop_ir import Load, Op, Store
from npcompile.lowering.triton.block_ir import BlockKernel
from npcompile.lowering.triton.driver import interpreted
from npcompile.lowering.triton.kernel_text import BlockPrinter
from npcompile.lowering.unit import Unit

from npcompile.ir.dims import Dim
from npcompile.ir.graph import Graph
from npcompile.ir.segment import SegmentSpec


def apply(prim, inputs, dtype, params=None):
    """What one primitive makes of one-dimensional arrays."""
    unit = Unit(Graph(), SegmentSpec(), SimpleNamespace())
    n = len(inputs[0])
    i = unit.loop_sym(Dim.of(n))
    body = []
    arrays = [*map(np.ascontiguousarray, inputs), np.zeros(n, dtype)]
    for k, x in enumerate(arrays):
        buffer = unit.new_buffer(x.dtype, (Dim.of(n),), (Dim.of(x.itemsize),))
        if k < len(inputs):
            body.append(Load(f"t{k}", buffer.name, Dim.of(i) * x.itemsize, x.dtype))
    args = tuple(f"t{k}" for k in range(len(inputs)))
    body.append(Op("t9", prim, args, np.dtype(dtype), tuple(x.dtype for x in inputs), params or {}))
    body.append(Store(buffer.name, Dim.of(i) * arrays[-1].itemsize, "t9", np.dtype(dtype)))
    kernel = BlockKernel("k", "flat", [(i, Dim.of(n))], [], body, row=unit.named_sym("r"), part=unit.named_sym("q"))
    printed = BlockPrinter(unit, kernel, {}).run()
    assert not printed.sizes and not printed.words
    interpreted(printed.kernel)(12 << 2, -(-n // 4096), 1, tuple(x.ctypes.data for x in arrays))
    return arrays[-1]
