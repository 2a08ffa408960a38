"""Kernels of segments on devices: finds or compiles machine code for what a segment is about to launch.

In: device kernels and where a segment's memory lives. Out: the launcher that an entry asks once for each variant, and the
source of its stream. On NumPy's memory the launcher runs kernels itself, in Triton's interpreter.
"""

from __future__ import annotations

import functools
import json
import warnings
from collections.abc import Callable, Sequence
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from npcompile.digest import digest
from npcompile.errors import NpcompileWarning
from npcompile.ir.segment import SegmentSpec, TensorSpec

from . import _dispatch
from .cache import UnitCache

if TYPE_CHECKING:
    from npcompile.lowering.lowered import DeviceKernel

Launcher = Callable[[int, int, int, int, tuple[int, ...]], tuple[int, int, int, int] | None]
"""(kernel, variant, grid 0, grid 1, arguments) -> None when it ran, else (function, threads, shared bytes, hidden arguments)."""

FORMAT = 1


def launcher(kernels: Sequence[DeviceKernel], spec: SegmentSpec, cache: UnitCache) -> tuple[Launcher, Callable[[], int] | None]:
    """The launcher of a segment's kernels and what gives its stream, None for host memory."""
    if spec.device == "cpu":
        return Interpreted(kernels), None
    require_triton()
    devices = {g.arg.device for g in spec.guards if isinstance(g.arg, TensorSpec)}
    return Compiled(kernels, cache), STREAMS[spec.library](min(devices))


def require_triton() -> None:
    """Raise `LoweringError` when Triton is missing or of an unknown version, and say so once."""
    from npcompile.lowering.lowered import LoweringError
    from npcompile.lowering.triton import driver

    try:
        driver.check_version()
    except LoweringError as e:
        _warn_once(f"functions of arrays on a device run as plain Python: {e.detail}")
        raise


@functools.cache
def _warn_once(text: str) -> None:
    warnings.warn(f"npcompile: {text}", NpcompileWarning, stacklevel=2)


class Interpreted:
    """Runs kernels on host memory."""

    def __init__(self, kernels: Sequence[DeviceKernel]) -> None:
        from npcompile.lowering.triton import driver

        self.kernels = kernels
        self.functions: dict[int, Any] = {}
        driver.check_interpreter()

    def __call__(self, k: int, variant: int, x: int, y: int, args: tuple[int, ...]) -> None:
        from npcompile.lowering.triton import driver

        if k not in self.functions:
            self.functions[k] = driver.interpreted(self.kernels[k])
        self.functions[k](variant, x, y, args)


class Compiled:
    """Loads kernels into the current CUDA context: from the disk cache, or compiled by Triton."""

    def __init__(self, kernels: Sequence[DeviceKernel], cache: UnitCache) -> None:
        self.kernels = kernels
        self.cache = cache

    def __call__(self, k: int, variant: int, x: int, y: int, args: tuple[int, ...]) -> tuple[int, int, int, int]:
        head, cubin = self.binary(self.kernels[k], variant, _dispatch.device_capability())
        function = _dispatch.device_load(cubin, head["name"], head["shared"])
        return function, 32 * head["warps"], head["shared"], head["hidden"]

    def binary(self, kernel: DeviceKernel, variant: int, capability: int) -> tuple[dict[str, Any], bytes]:
        """Facts and machine code of one variant."""
        parts = [
            kernel.source,
            str(kernel.kinds),
            str(sorted(kernel.steady)),
            str(variant),
            str(capability),
            str(FORMAT),
            _version(),
        ]
        key = digest(*(part.encode() for part in parts), length=40)
        path = self.cache.get(key)
        if path is None:
            path = self.cache.put(key, lambda p: _build(p, kernel, variant, capability))
        head, _, cubin = Path(path).read_bytes().partition(b"\n")
        return json.loads(head), cubin


def _version() -> str:
    try:
        return metadata.version("triton")
    except metadata.PackageNotFoundError:
        return ""


def _build(path: str, kernel: DeviceKernel, variant: int, capability: int) -> None:
    from npcompile.lowering.triton import driver

    b = driver.compile_kernel(kernel, variant, capability)
    head = {"name": b.name, "warps": b.warps, "shared": b.shared, "hidden": b.hidden}
    Path(path).write_bytes(json.dumps(head).encode() + b"\n" + b.cubin)


def _torch_stream(device: str) -> Callable[[], int]:
    import torch

    return functools.partial(torch._C._cuda_getCurrentRawStream, torch.device(device).index or 0)


STREAMS: dict[str, Callable[[str], Callable[[], int]]] = {"torch": _torch_stream}
