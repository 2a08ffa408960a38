"""Whether tests run on a GPU or in Triton's interpreter. A process can do one of the two: Triton decides when it is imported.

On a machine with a GPU they run on it; TRITON_INTERPRET=1 chooses the interpreter there, too.
"""

import os

import pytest

from npcompile.runtime import _dispatch


def _present() -> bool:
    try:
        return _dispatch.device_count() > 0
    except RuntimeError:
        return False


HAS_GPU = _present() and os.environ.get("TRITON_INTERPRET") != "1"
os.environ.setdefault("TRITON_INTERPRET", "0" if HAS_GPU else "1")


def need_gpu() -> None:
    """Skip the test module where there is no GPU to use."""
    if not HAS_GPU:
        pytest.skip("there is no GPU", allow_module_level=True)


def need_interpreter() -> None:
    """Skip the test module where tests run on a GPU."""
    if HAS_GPU:
        pytest.skip("Triton's interpreter needs TRITON_INTERPRET=1 where there is a GPU", allow_module_level=True)
