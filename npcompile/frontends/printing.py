"""`print` and writing to streams as compiled code calls them."""

from __future__ import annotations

from typing import Any


def show(*args: Any, **kwargs: Any) -> bool:
    """Print; True, so that who calls it knows that it was done."""
    print(*args, **kwargs)
    return True


NAME = f"{__name__}.{show.__name__}"


def done(result: Any) -> bool:
    """What gives None has been called."""
    return True


DONE = f"{__name__}.{done.__name__}"


def write(stream: Any, text: str) -> Any:
    """Write to a stream."""
    return stream.write(text)


def flush(stream: Any) -> None:
    """Write what a stream has kept."""
    stream.flush()
