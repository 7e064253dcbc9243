"""Reads whole numbers that people write as figures or as words."""

_UP_TO_TWENTY = """
one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
eighteen nineteen twenty
"""
_WORDS = {
    word: value
    for value, word in enumerate(
        _UP_TO_TWENTY.split(),
        start=1,
    )
} | {"thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "hundred": 100, "a hundred": 100, "one hundred": 100}
_VAGUE = {"couple of": 2, "a couple of": 2, "few": 3, "a few": 3, "several": 5}
_VALUES = _WORDS | _VAGUE

FIGURE = r"[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,9}"
NUMBER = rf"(?:{FIGURE}|{'|'.join(sorted(_VALUES, key=len, reverse=True))})".replace(" ", r"\s+")
"""A pattern for what `number` reads; to be compiled without regard to case."""
EXACT_NUMBER = rf"(?:{FIGURE}|{'|'.join(sorted(_WORDS, key=len, reverse=True))})".replace(" ", r"\s+")
"""The same without "a few" and its like."""


def number(text: str) -> int:
    """The value of what `NUMBER` matched."""
    plain = " ".join(text.lower().split())
    return _VALUES[plain] if plain in _VALUES else int(plain.replace(",", ""))
