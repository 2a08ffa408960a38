"""Runs single operations as Triton kernels: in Triton's interpreter, or on a GPU."""

import importlib.util
from types import SimpleNamespace

import numpy as np
import pytest
from devices import HAS_GPU

if importlib.util.find_spec("triton") is None:
    pytest.skip("triton is not installed", allow_module_level=True)

from npcompile.lowering.loop_ir import Load, Op, Store
from npcompile.lowering.triton.block_ir import BlockKernel
from npcompile.lowering.triton.driver import compile_kernel, interpreted
from npcompile.lowering.triton.kernel_text import BlockPrinter
from npcompile.lowering.unit import Unit

from npcompile.ir.dims import Dim
from npcompile.ir.graph import Graph
from npcompile.ir.segment import SegmentSpec
from npcompile.runtime import _dispatch


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
    if HAS_GPU:
        return on_device(printed.kernel, arrays)
    interpreted(printed.kernel)(12 << 2, -(-n // 4096), 1, tuple(x.ctypes.data for x in arrays))
    return arrays[-1]


def on_device(kernel, arrays):
    """Compile and launch; the arrays are copied there, the last one back."""
    import ctypes

    import torch

    there = [torch.from_numpy(x.view(np.uint8)).cuda() for x in arrays]
    binary = compile_kernel(kernel, 10 << 2 | 2 << 12, _dispatch.device_capability())
    function = ctypes.c_void_p(_dispatch.device_load(binary.cubin, binary.name, binary.shared))
    words = [ctypes.c_uint64(t.data_ptr()) for t in there] + [ctypes.c_uint64(0)] * binary.hidden
    params = (ctypes.c_void_p * len(words))(*(ctypes.addressof(w) for w in words))
    grid, threads = (-(-len(arrays[-1]) // 1024), 1, 1), (32 * binary.warps, 1, 1)
    stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
    launch = ctypes.CDLL("libcuda.so.1").cuLaunchKernel
    assert launch(function, *grid, *threads, binary.shared, stream, params, None) == 0
    torch.cuda.synchronize()
    return there[-1].cpu().numpy().view(arrays[-1].dtype)
