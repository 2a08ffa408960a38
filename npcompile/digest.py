"""Digests for keys and for the contents of files.

In: bytes. Out: hexadecimal text. `hashlib` itself would load OpenSSL, a twentieth of a first call's time.
"""

from __future__ import annotations

try:
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b


def digest(*parts: bytes, length: int) -> str:
    """`length` hexadecimal digits; they depend on where a part ends."""
    h = blake2b(digest_size=32)
    for part in parts:
        h.update(len(part).to_bytes(8, "little"))
        h.update(part)
    return h.hexdigest()[:length]  # type: ignore[no-any-return]
