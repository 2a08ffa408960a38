"""Builds the C dispatcher; everything else about the package is in pyproject.toml."""

import glob

import numpy
from setuptools import Extension, setup

RUNTIME = "npcompile/runtime"

setup(
    ext_modules=[
        Extension(
            "npcompile.runtime._dispatch",
            sources=sorted(glob.glob(f"{RUNTIME}/*.c")),
            include_dirs=[numpy.get_include()],
            depends=["kernels/cpp/abi.h", *glob.glob(f"{RUNTIME}/*.h")],
            extra_compile_args=["-O2", "-std=gnu11", "-fvisibility=hidden", "-pthread"],
        )
    ]
)
