"""The package imports under its one name and its extension speaks the ABI of the kernels' header."""

import pathlib

import npcompile.kernels
import npcompile.lowering

import npcompile
from npcompile.runtime import _dispatch


def test_abi_version_matches_the_header():
    header = (pathlib.Path(npcompile.kernels.__file__).parent / "cpp" / "abi.h").read_text()
    assert f"#define NPC_ABI_VERSION {_dispatch.ABI_VERSION}\n" in header
    assert npcompile.lowering.__name__ == "npcompile.lowering"
