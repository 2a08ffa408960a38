"""What Triton kernels need beyond the loop IR: reductions over the lanes of a block, and the spaces a kernel runs over.

In: nothing. Out: plain data. Kernels are straight-line code over blocks; `For` of kind "chunks" is the only loop.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from npcompile.ir.dims import Dim, Sym
from npcompile.records import dataclass, field


@dataclass
class Accumulator:
    """A block `name`, one element a lane, that starts as `init`."""

    name: str
    dtype: np.dtype
    init: object


@dataclass
class Accumulate:
    """`accs = combine(accs, values)` lane by lane, where the lane has an element. combine : "add", "argmax", ..."""

    accs: tuple[str, ...]
    values: tuple[str, ...]
    combine: str
    dtypes: tuple[np.dtype, ...]


@dataclass
class Combine:
    """`names = values` combined over all columns. inits : what a lane without an element counts as ("": all lanes hold one)."""

    names: tuple[str, ...]
    values: tuple[str, ...]
    combine: str
    dtypes: tuple[np.dtype, ...]
    inits: tuple[object, ...]


@dataclass
class Barrier:
    """Memory accesses before it happen before those after it, for all threads of a program."""


BlockStm = Any
"""A statement of the loop IR or one of the above. (Any, for lists of one kind are no lists of the other.)"""

Axes = list[tuple[Sym, Dim]]


@dataclass
class BlockKernel:
    """One Triton kernel.

    rows, cols : the loops whose product the rows and the columns of blocks run over, outermost first.
    form : "flat" (rows only, one-dimensional blocks), "whole" (a block holds all columns), "chunks" (columns in a loop), "part"
        (as "chunks", and programs along a second grid axis take a part of the columns each).
    parts : for "part": how many of them. row, part : symbols of the row's number and of the part's.
    spaces : loops of every column space, by its last variable. inner : consecutive columns are consecutive in memory.
    itemsize : of the largest element it reads or writes.
    """

    name: str
    form: str
    rows: Axes
    cols: Axes
    body: list[BlockStm]
    parts: Dim | None = None
    ops: tuple[str, ...] = ()
    row: Sym | None = None
    part: Sym | None = None
    spaces: dict[Sym, Axes] = field(default_factory=dict)
    inner: bool = True
    itemsize: int = 8
