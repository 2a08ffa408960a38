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

from npcompile import logs
from npcompile.digest import digest
from npcompile.errors import NpcompileWarning
from npcompile.ir.segment import SegmentSpec

from . import _dispatch
from .cache import UnitCache

if TYPE_CHECKING:
    from npcompile.lowering.lowered import DeviceKernel

Launcher = Callable[[int, int, int, int, tuple[int, ...]], tuple[int, int, int, int] | None]
"""(kernel, variant, grid 0, grid 1, arguments) -> None when it ran, else (function, threads, shared bytes, hidden arguments)."""

FORMAT = 1

Failed = Callable[[str], None]
"""Told why a call, or all calls of an entry, run plain."""


def launcher(
    kernels: Sequence[DeviceKernel], spec: SegmentSpec, cache: UnitCache, failed: Failed
) -> tuple[Kernels, Callable[[], int] | None]:
    """The launcher of a segment's kernels and what gives its stream, None for host memory."""
    if spec.device == "cpu":
        return Interpreted(kernels, failed), None
    return Compiled(kernels, cache, failed), STREAMS[spec.library](spec.device)


def require(device: str, otherwise: str = "run as plain Python") -> None:
    """Raise `LoweringError` unless kernels can be compiled for a device and run there ("cpu": in the interpreter); what is
    missing, and what functions for devices do instead, is said once."""
    from npcompile.lowering.lowered import LoweringError
    from npcompile.lowering.triton import driver

    try:
        if device == "cpu":
            driver.check_interpreter()
            return
        driver.check_version()
        number, count = int(device.partition(":")[2]), _count()
        if number >= count:
            raise LoweringError("no-device", f"there is no {device}, {count} CUDA device{'s' * (count != 1)} found")
    except LoweringError as e:
        _warn_once(f"functions for devices {otherwise}: {e.detail}")
        raise


def _count() -> int:
    from npcompile.lowering.lowered import LoweringError

    try:
        return _dispatch.device_count()
    except RuntimeError as e:
        raise LoweringError("no-device", str(e)) from None


@functools.cache
def _warn_once(text: str) -> None:
    warnings.warn(f"npcompile: {text}", NpcompileWarning, stacklevel=2)


class Kernels:
    """A launcher (see `Launcher`). `failed` is called with an exception that made a call run plain."""

    def __init__(self, kernels: Sequence[DeviceKernel], failed: Failed) -> None:
        self.kernels = kernels
        self._failed = failed

    def __call__(self, k: int, variant: int, x: int, y: int, args: tuple[int, ...]) -> tuple[int, int, int, int] | None:
        raise NotImplementedError

    def failed(self, error: BaseException) -> None:
        text = f"{type(error).__name__}: {error}".strip()
        logs.log("graph_breaks", f"a device kernel failed, the call runs plain: {text}")
        self._failed(text)


class Interpreted(Kernels):
    """Runs kernels on host memory."""

    def __init__(self, kernels: Sequence[DeviceKernel], failed: Failed) -> None:
        super().__init__(kernels, failed)
        self.functions: dict[int, Any] = {}

    def __call__(self, k: int, variant: int, x: int, y: int, args: tuple[int, ...]) -> None:
        from npcompile.lowering.triton import driver

        if k not in self.functions:
            self.functions[k] = driver.interpreted(self.kernels[k])
        self.functions[k](variant, x, y, args)


class Compiled(Kernels):
    """Loads kernels into the current CUDA context: from the disk cache, or compiled by Triton."""

    def __init__(self, kernels: Sequence[DeviceKernel], cache: UnitCache, failed: Failed) -> None:
        super().__init__(kernels, failed)
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


def _cupy_stream(device: str) -> Callable[[], int]:
    from cupy import cuda

    return lambda: cuda.get_current_stream().ptr


def _default_stream(device: str) -> Callable[[], int]:
    return lambda: 0


STREAMS: dict[str, Callable[[str], Callable[[], int]]] = {
    "torch": _torch_stream,
    "cupy": _cupy_stream,
    "numpy": _default_stream,
}
