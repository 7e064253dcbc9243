"""Make ids that cannot be guessed, derive ids from content, and find ids by their first characters."""

import hashlib
import os
from collections.abc import Iterable
from typing import Final

_DRAWN_AT_ONCE: Final = 64
_drawn: list[bytes] = []
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_drawn.clear)  # no two processes use the same bytes


def new_id(prefix: str = "") -> str:
    """Return a new id of 128 random bits, safe in URLs and file names; `prefix` names its kind: `ses_3f…`."""
    random = _draw_random_bytes().hex()
    return f"{prefix}_{random}" if prefix else random


def _draw_random_bytes() -> bytes:
    """Return 16 random bytes from the system, as `secrets` does, which takes longer to load. One read serves many."""
    try:
        return _drawn.pop()
    except IndexError:
        pool = os.urandom(16 * _DRAWN_AT_ONCE)
        _drawn.extend(pool[start : start + 16] for start in range(16, len(pool), 16))
        return pool[:16]


def match_id_prefix(given: str, ids: Iterable[str]) -> list[str]:
    """Return the id that equals `given`, or else all ids that begin with it, in order; none for ""."""
    found = sorted(one for one in ids if given and one.startswith(given))
    return [given] if given in found else found


def content_id(*parts: str | bytes) -> str:
    """Return the digest of these parts in this order. The boundaries between the parts count."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return digest.hexdigest()[:32]
