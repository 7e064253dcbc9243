"""Texts in pieces: exactly as much as was asked for, and how to get the rest."""

from paper_library.errors import OutOfBounds


def piece(text: str, offset: int = 0, max_chars: int | None = None) -> str:
    """`text` from `offset`, at most `max_chars` characters of it; if more is left, a marker says how to go on.

    Raises OutOfBounds.
    """
    if max_chars is not None and max_chars < 1:
        raise OutOfBounds("max_chars", "at least 1", hint="Leave max_chars out to get everything.")
    if not 0 <= offset <= len(text):
        raise OutOfBounds("offset", f"from 0 to {len(text)}", hint=f"The text has {len(text)} characters.")
    end = len(text) if max_chars is None else offset + max_chars
    if end >= len(text):
        return text[offset:]
    marker = f"[truncated: {len(text) - end} of {len(text)} characters left; continue with offset={end}]"
    return f"{text[offset:end]}\n\n{marker}"
