"""Helpers for text that people read: plurals, suggestions for misspelt names, and characters that can be encoded."""

from collections.abc import Iterable


def plural(number: float, thing: str, many: str | None = None) -> str:
    """Return 1 node, 2 nodes, 0.5 seconds, 12,000 papers; `many` is a plural that does not end in s alone."""
    digits = f"{int(number):,}" if float(number).is_integer() else f"{number:g}"
    return f"{digits} {thing if number == 1 else many or thing + 's'}"


def find_close_names(name: str, known: Iterable[str], *, most: int = 3, cutoff: float = 0.6) -> list[str]:
    """Return the known names that are most similar to `name`, the most similar first."""
    import difflib  # most runs have nothing misspelt

    return difflib.get_close_matches(name, list(known), n=most, cutoff=cutoff)


def find_closest_name(name: str, known: Iterable[str], *, cutoff: float = 0.6) -> str | None:
    """Return the known name that is most similar to `name`, or None."""
    return next(iter(find_close_names(name, known, most=1, cutoff=cutoff)), None)


def is_encodable(text: str) -> bool:
    """Return False for text with lone surrogates, as in a file name of another encoding: UTF-8 cannot encode them."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def replace_surrogates(text: str) -> str:
    """Return `text` with U+FFFD for lone surrogates, which cannot be encoded."""
    return text if is_encodable(text) else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
