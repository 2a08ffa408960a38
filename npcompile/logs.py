"""Topics of NPCOMPILE_LOGS, written through the standard `logging` module to stderr."""

from __future__ import annotations

import sys

from .errors import tell

TOPICS = ("graph_breaks", "guards", "recompiles", "ir", "kernels")
"""graph_breaks: what was not compiled and why; guards: what an entry checks; recompiles: which guard failed;
ir: the prim graph as Python; kernels: the generated C++."""


def setup(topics: frozenset[str]) -> None:
    """Switch on the given topics ("all" for every one); an unknown topic is reported once and ignored."""
    for topic in topics:
        if topic != "all" and topic not in TOPICS:
            tell(f"NPCOMPILE_LOGS: there is no topic {topic!r}; topics: all, {', '.join(TOPICS)}")
    import logging

    wanted = TOPICS if "all" in topics else [t for t in TOPICS if t in topics]
    for topic in wanted:
        log = logging.getLogger(f"npcompile.{topic}")
        log.setLevel(logging.INFO)
        log.propagate = False
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("[%(name)s] %(message)s"))
        log.handlers[:] = [handler]


def enabled(topic: str) -> bool:
    """Does anyone want to read this topic? Who has not imported `logging` has no handlers."""
    logging = sys.modules.get("logging")
    return logging is not None and logging.getLogger(f"npcompile.{topic}").isEnabledFor(logging.INFO)


def log(topic: str, text: str) -> None:
    logging = sys.modules.get("logging")
    if logging is not None:
        logging.getLogger(f"npcompile.{topic}").info(text)
