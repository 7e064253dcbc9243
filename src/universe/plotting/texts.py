"""Texts that can be drawn: on one line, without what turns or breaks it, no longer than its place."""

import unicodedata
from typing import Any

from uraniborg.kernel.text import replace_surrogates

_INVISIBLE = ("Cc", "Cf", "Cs", "Co", "Cn")


def drawable(given: Any, longest: int = 40) -> str:
    """What is left of `given` when control characters and the like are gone; nothing where it is no text."""
    if not isinstance(given, str):
        return ""
    # Twenty characters may all be invisible, but nobody draws a name of a million of them.
    spaced = " ".join(replace_surrogates(given[: 20 * longest]).split())
    shown = "".join(char for char in spaced if unicodedata.category(char) not in _INVISIBLE).strip()
    return shown if len(shown) <= longest else shown[: longest - 1].rstrip() + "…"


def text_width(text: str, size: float) -> float:
    """About how wide a text is in a common sans-serif font, rather more than less."""
    return size * sum(map(_char_width, text))


def _char_width(char: str) -> float:
    if unicodedata.combining(char):
        return 0.0
    if unicodedata.east_asian_width(char) in "WF":
        return 1.05
    if char in "iljtfrI.,:;'|!()[] ":
        return 0.36
    return 0.9 if char in "mwMW@%—…" else 0.68 if char.isupper() else 0.58
