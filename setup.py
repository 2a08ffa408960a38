"""Builds the C dispatcher; everything else about the package is in pyproject.toml."""

import numpy
from setuptools import Extension, setup

setup(
    ext_modules=[
        Extension(
            "npcompile.runtime._dispatch",
            sources=["npcompile/runtime/_dispatch.c"],
            include_dirs=[numpy.get_include(), "kernels/cpp"],
            depends=["kernels/cpp/abi.h"],
            extra_compile_args=["-O2", "-std=gnu11", "-fvisibility=hidden"],
        )
    ]
)
