"""The exceptions and warnings npcompile itself raises. A decorated function otherwise raises only what plain Python raises."""

from __future__ import annotations

import sys
import warnings
from typing import Any


class NpcompileError(Exception):
    """Base of npcompile's own exceptions."""


class UnsupportedError(NpcompileError):
    """Under ``fullgraph=True``: a place in the function cannot be compiled.

    Attributes
    ----------
    id : str
        Stable reason id (docs/reasons.md lists them all).
    detail : str
        What exactly was not compiled.
    file, line, column : str, int, int or None
        Where it stands in user code; the column counts from 1 and is None where Python does not say.
    explanation, hint : str
        What the reason means and what to do about it.
    """

    def __init__(
        self, id: str, detail: str, file: str, line: int, explanation: str, hint: str, column: int | None = None
    ) -> None:
        self.id = id
        self.detail = detail
        self.file = file
        self.line = line
        self.column = column
        self.explanation = explanation
        self.hint = hint
        what = f"{explanation} ({detail})" if detail else explanation
        super().__init__(f"[{id}] {what}\n  at {place(file, line, column)}\n  hint: {hint}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.id, self.detail, self.file, self.line, self.explanation, self.hint, self.column)


def place(file: str, line: int, column: int | None) -> str:
    """A position as editors and terminals understand it."""
    return f"{file}:{line}" if column is None else f"{file}:{line}:{column}"


class CompilerError(NpcompileError):
    """The C++ compiler failed on generated code (a defect of npcompile: the function then runs plain)."""


class NpcompileWarning(UserWarning):
    """Something a user should know once: no compiler, a setting that is not understood."""


_told: set[str] = set()


def tell(text: str, file: str = "environment", line: int = 1, module: str = "npcompile") -> None:
    """Give an `NpcompileWarning`, once a process. Where warnings are errors it is printed: it must not end the program."""
    if text in _told:
        return
    _told.add(text)
    try:
        warnings.warn_explicit(text, NpcompileWarning, file, line, module)
    except NpcompileWarning:
        print(f"NpcompileWarning: {text}", file=sys.stderr)
