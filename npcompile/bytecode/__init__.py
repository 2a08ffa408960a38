"""CPython bytecode: code objects as micro-ops, control flow, resume stubs. The only place that names a Python version."""

from .cfg import Block, ControlFlow, Loop, control_flow
from .decode import n_params
from .microops import Handler, Instr, NormalCode, Op
from .normalise import SUPPORTED, normalise
from .stubcode import LANDINGS, ResumePoint
from .stubs import (
    NULL,
    RAISER,
    REFUSALS,
    FrameValues,
    in_loop,
    landings,
    make_stub,
    may_work,
    prepare,
    resumable,
    resume,
    settled,
)

__all__ = [
    "LANDINGS",
    "NULL",
    "RAISER",
    "REFUSALS",
    "SUPPORTED",
    "Block",
    "ControlFlow",
    "FrameValues",
    "Handler",
    "Instr",
    "Loop",
    "NormalCode",
    "Op",
    "ResumePoint",
    "control_flow",
    "in_loop",
    "landings",
    "make_stub",
    "may_work",
    "n_params",
    "normalise",
    "prepare",
    "resumable",
    "resume",
    "settled",
]
