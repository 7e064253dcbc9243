"""Names for things: ones that cannot be guessed, and ones that follow from content."""

import hashlib
import os


def new_id(prefix: str = "") -> str:
    """A new id of 128 random bits, safe in URLs and file names on any system; `prefix` says of what: `ses_3f…`."""
    random = os.urandom(16).hex()  # as `secrets` does, which takes longer to load
    return f"{prefix}_{random}" if prefix else random


def content_id(*parts: str | bytes) -> str:
    """The id that these parts, in this order, always have. Where one part ends and the next begins counts."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return digest.hexdigest()[:32]
