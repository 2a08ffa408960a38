"""Options of one jitted function and of the process, as frozen dataclasses. Read once; nothing else reads the environment."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from typing import Any

from .errors import tell
from .records import dataclass, fields, replace

WHEN = ("first", "hot")
MODES = ("default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs")


@dataclass(frozen=True)
class Options:
    """What `npcompile.jit` was asked for. Names are torch.compile's where the meaning is the same.

    fullgraph : raise `UnsupportedError` instead of running an uncompiled part as plain Python.
    dynamic : None or True: sizes are symbolic; False: specialise on sizes.
    mode : "default"; reserved names of torch.compile are accepted and mean the same as "default".
    backend : "cpp", "triton" (kernels on NumPy arrays run in Triton's interpreter), "reference" (plain NumPy executor of the
        IR, for tests) or a callable taking the graph.
    device : None or "cpu"; "cuda" or "cuda:<number>": NumPy arrays are copied there and back.
    disable : run the original function.
    fastmath : a product and a sum that follows may be rounded once.
    parallel : use threads.
    compile : "first" (at the first call) or "hot" (when it is likely to pay).
    recompile_limit : entries for one function before new argument patterns run plain.
    debug_passes : check values and types before and after every pass (slow).
    fuel : number of graph rewrites allowed, None for all (bisects a miscompile).
    trace_debug : compile also while a debugger, profiler or coverage tool is active.
    """

    fullgraph: bool = False
    dynamic: bool | None = None
    mode: str = "default"
    backend: str | Callable[..., Any] | None = None
    device: str | None = None
    disable: bool = False
    fastmath: bool = False
    parallel: bool = True
    compile: str = "hot"
    recompile_limit: int = 16
    debug_passes: bool = False
    fuel: int | None = None
    trace_debug: bool = False

    def with_extra(self, extra: Mapping[str, Any] | None) -> Options:
        """Apply the `options=` dict of `jit`; unknown names raise `TypeError`."""
        extra = dict(extra or {})
        known = {f.name for f in fields(self)}
        for name in extra:
            if name not in known:
                raise TypeError(f"unknown option {name!r}; known options: {', '.join(sorted(known))}")
        out = replace(self, **extra)
        out.check()
        return out

    def check(self) -> None:
        """Raise `ValueError` for values that no part understands."""
        if self.compile not in WHEN:
            raise ValueError(f"compile must be 'first' or 'hot', not {self.compile!r}")
        if self.device not in (None, "cpu", "cuda") and not re.fullmatch(r"cuda:\d+", str(self.device)):
            raise ValueError(f"device must be None, 'cpu', 'cuda' or 'cuda:<number>', not {self.device!r}")
        if self.mode not in MODES:
            raise ValueError(f"mode must be one of {', '.join(MODES)}, not {self.mode!r}")
        if self.dynamic not in (None, True, False):
            raise ValueError(f"dynamic must be None, True or False, not {self.dynamic!r}")
        if not callable(self.backend) and self.backend not in (None, "cpp", "reference", "triton"):
            raise ValueError(f"unknown backend {self.backend!r}; known: 'cpp', 'triton', 'reference', or a callable")


@dataclass(frozen=True)
class Process:
    """Settings of the process, from the environment at import.

    disable : NPCOMPILE_DISABLE=1: decorators return functions that run plain.
    logs : NPCOMPILE_LOGS: comma-separated topics (see `npcompile.logs`).
    compile : NPCOMPILE_COMPILE: default of `Options.compile`.
    trace_debug : NPCOMPILE_TRACE_DEBUG=1: default of `Options.trace_debug`.
    strict : NPCOMPILE_STRICT=1: defects of npcompile raise instead of letting the call run plain (for its own tests).
    """

    disable: bool = False
    logs: frozenset[str] = frozenset()
    compile: str = "hot"
    trace_debug: bool = False
    strict: bool = False

    @staticmethod
    def from_environ(env: Mapping[str, str]) -> Process:
        """The settings; values that mean nothing are reported and not used."""
        compile = env.get("NPCOMPILE_COMPILE") or "hot"
        if compile not in WHEN:
            tell(f"NPCOMPILE_COMPILE is {compile!r}, which is none of {', '.join(WHEN)}: 'hot' is used")
            compile = "hot"
        threads = env.get("OMP_NUM_THREADS", "").split(",")[0].strip()
        if threads and not (threads.isdecimal() and int(threads)):
            tell(f"OMP_NUM_THREADS is {env['OMP_NUM_THREADS']!r}, which is no positive number: npcompile uses all processors")
        topics = frozenset(t.strip() for t in env.get("NPCOMPILE_LOGS", "").split(",") if t.strip())
        return Process(
            disable=env.get("NPCOMPILE_DISABLE", "0") not in ("", "0"),
            logs=topics,
            compile=compile,
            trace_debug=env.get("NPCOMPILE_TRACE_DEBUG", "0") not in ("", "0"),
            strict=env.get("NPCOMPILE_STRICT", "0") not in ("", "0"),
        )


PROCESS = Process.from_environ(os.environ)
