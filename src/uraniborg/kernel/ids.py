"""Ids: random ones that cannot be guessed, ones derived from content, and their first characters."""

import hashlib
import os
from collections.abc import Iterable


def new_id(prefix: str = "") -> str:
    """Return a new id of 128 random bits, safe in URLs and file names; `prefix` names its kind: `ses_3f…`."""
    random = os.urandom(16).hex()  # as `secrets` does, which takes longer to load
    return f"{prefix}_{random}" if prefix else random


def match_id_prefix(given: str, ids: Iterable[str]) -> list[str]:
    """Return the id that equals `given`, or else all ids that begin with it, in order; none for ""."""
    found = sorted(one for one in ids if given and one.startswith(given))
    return [given] if given in found else found


def content_id(*parts: str | bytes) -> str:
    """Return the digest of these parts in this order. The boundaries between the parts count."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return digest.hexdigest()[:32]
