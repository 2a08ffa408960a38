"""The exceptions and warnings npcompile itself raises. A decorated function otherwise raises only what plain Python raises."""

from __future__ import annotations


class NpcompileError(Exception):
    """Base of npcompile's own exceptions."""


class UnsupportedError(NpcompileError):
    """Under ``fullgraph=True``: a place in the function cannot be compiled.

    Attributes
    ----------
    id : str
        Stable reason id (see `npcompile.tracer.reasons`).
    detail : str
        What exactly was not compiled.
    file, line : str, int
        Where it stands in user code.
    hint : str
        What to do about it.
    """

    def __init__(self, id: str, detail: str, file: str, line: int, explanation: str, hint: str) -> None:
        self.id = id
        self.detail = detail
        self.file = file
        self.line = line
        self.hint = hint
        what = f"{explanation} ({detail})" if detail else explanation
        super().__init__(f"[{id}] {what}\n  at {file}:{line}\n  hint: {hint}")


class CompilerError(NpcompileError):
    """The C++ compiler failed on generated code (a defect of npcompile: the function then runs plain)."""


class NpcompileWarning(UserWarning):
    """Something a user should know once: no compiler, a recompile limit reached."""
