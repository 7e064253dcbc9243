"""A second reading of PubMed text, written apart from the reader that is tested: it only answers true or false."""

import re
from collections.abc import Callable, Iterator

Leaf = tuple[str, str]
_PIECE = re.compile(r'"[^"]*"|\[[^\]]*\]|[()]|[^\s()\[\]"]+')
_STRAIGHT = str.maketrans(dict.fromkeys("“”", '"'))


def list_leaves(text: str) -> set[Leaf]:
    """Return the terms of a text with their tags, in lower case."""
    return {piece for piece in _split(text) if isinstance(piece, tuple)}


def is_match(text: str, holds: Callable[[Leaf], bool]) -> bool:
    """Return True if a record matches, given the terms that it holds; operators apply from left to right."""
    value, rest = _evaluate(list(_split(text)), holds)
    assert not rest
    return value


def _evaluate(pieces: list[str | Leaf], holds: Callable[[Leaf], bool]) -> tuple[bool, list[str | Leaf]]:
    value: bool | None = None
    signs: list[str] = []
    while pieces:
        piece, pieces = pieces[0], pieces[1:]
        if piece == ")":
            break
        if piece in ("AND", "OR", "NOT"):
            signs.append(str(piece))
            continue
        if piece == "(":
            own, pieces = _evaluate(pieces, holds)
        else:
            assert isinstance(piece, tuple)
            own = holds(piece)
        own = not own if "NOT" in signs else own
        value = own if value is None else (value or own) if "OR" in signs else (value and own)
        signs = []
    return bool(value), pieces


def _split(text: str) -> Iterator[str | Leaf]:
    words: list[str] = []
    pieces = _PIECE.findall(text.translate(_STRAIGHT))
    after = "("
    for position, piece in enumerate(pieces):
        following = pieces[position + 1] if position + 1 < len(pieces) else ""
        is_lower = piece in ("and", "or", "not") and not words and (after in (")", "]") or following == "(")
        if piece.startswith("["):
            yield " ".join(words).strip('"').lower(), " ".join(piece[1:-1].split()).lower()
            words, after = [], "]"
        elif piece in ("AND", "OR", "NOT", "(", ")") or is_lower:
            if words:
                yield " ".join(words).strip('"').lower(), ""
            yield piece.upper()
            words, after = [], piece
        elif any(map(str.isalnum, piece)):
            words.append(piece)
    if words:
        yield " ".join(words).strip('"').lower(), ""
