"""Sentences, and which of them say most."""

import re
from collections import Counter
from itertools import chain
from typing import Final

from uraniborg.kernel.words import STOP_WORDS

_END: Final = re.compile(
    r"(?<=[.!?])(?<!\b[A-Z]\.)(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\bet al\.)(?<!\bFig\.)(?<!\bvs\.)(?<!\bcf\.)"
    r"[\"'”’)\]]*\s+(?=[\"'“‘(\[]*[A-Z0-9À-Þ])|(?<=[。！？])\s*"
)
_CONTENT: Final = re.compile(r"[^\W\d_]{4,}")
_SHORTEST: Final = 40
_LONGEST: Final = 400
_MOST_READ: Final = 400


def sentences(text: str) -> list[str]:
    """The sentences of plain `text`."""
    return [part.strip() for part in _END.split(text) if part and part.strip()]


def key_sentences(text: str, most: int, *, like: str = "") -> list[str]:
    """The sentences that hold most of what `text` is about, in the order they stand in it.

    A sentence counts for the frequent words it has, those of `like` (a title) the more, and for standing early.
    """
    known = {_bare(like)}
    told: list[str] = []
    for one in sentences(text)[:_MOST_READ]:
        # A title, and what is printed on every page, is no sentence of the text.
        if _SHORTEST <= len(one) <= _LONGEST and (bare := _bare(one)) not in known:
            known.add(bare)
            told.append(one)
    if len(told) <= most:
        return told
    said = [_content(one) for one in told]
    frequency = Counter(chain.from_iterable(said))
    frequency.update(dict.fromkeys(_content(like), 2))
    weight = frequency.__getitem__
    scores = [
        sum(map(weight, words)) / (len(words) + 5) * (1.0 + 0.5 / (1 + place)) for place, words in enumerate(said)
    ]
    best = sorted(range(len(told)), key=scores.__getitem__, reverse=True)[:most]
    return [told[place] for place in sorted(best)]


def _bare(text: str) -> str:
    return " ".join(_CONTENT.findall(text.lower()))


def _content(text: str) -> set[str]:
    """The words that may say what a text is about. Compared within one text only, so no stems are needed."""
    return set(_CONTENT.findall(text.lower())) - STOP_WORDS
