"""CPython bytecode: code objects as micro-ops, control flow, resume stubs. The only place that names a Python version."""

from .cfg import Block, ControlFlow, Loop, control_flow
from .microops import Handler, Instr, NormalCode, Op
from .normalise import SUPPORTED, normalise
from .stubcode import ResumePoint
from .stubs import NULL, RAISER, REFUSALS, FrameValues, make_stub, prepare, resumable, resume

__all__ = [
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
    "make_stub",
    "normalise",
    "prepare",
    "resumable",
    "resume",
]
