"""Recognise a body in tables and passages: `TRAPPIST-1 e`, `TRAPPIST-1e`, `planet e`, or `e` as a label."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

_PLANET: Final = re.compile(r"(?P<stem>.*\w)[\s_-]+(?P<letter>[a-z])")
"""The name or id of a planet: the name of its star and a letter."""
_FOOTNOTE: Final = re.compile(r"\^\{?[\w*†‡,]{1,3}\}?$|[†‡]+$")
_SOLAR: Final = "sun mercury venus earth moon mars jupiter saturn uranus neptune pluto ceres"
_IS_UNIT: Final = re.compile(r"['’]?s?[- ]*(?:mass|radi|like|size)", re.IGNORECASE)
"""Words after a name in a unit or a comparison: Earth masses, Earth-like."""
_MORE_LETTERS: Final = r"(?:(?:\s*,\s*|\s*,?\s+and\s+|\s*[-–]\s*)[a-z]\b)*"
_IN_SYSTEM: Final = re.compile(rf"\b(?:{_SOLAR.replace(' ', '|')})\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class BodyNames:
    """The names of one body: full names, the letter of a planet, and the name of its star."""

    names: tuple[str, ...]
    letter: str = ""
    stem: str = ""

    @classmethod
    def from_body(cls, body: Mapping[str, Any] | None) -> Self | None:
        """Return the names of a body, or None if it has no name."""
        given = [body.get(key) for key in ("name", "id")] if body is not None else []
        names = tuple(name for name in given if isinstance(name, str) and _fold_and_remove_separators(name))
        if not names:
            return None
        planet = _PLANET.fullmatch(names[0].strip())
        return cls(names, planet["letter"], planet["stem"]) if planet else cls(names)

    def is_label_of_body(self, label: str, headings: str) -> bool:
        """Return True if a cell is a label of this body and of no other.

        A letter alone names a planet of the star that the headings is about: the caption, the section or the title.
        """
        bare = _FOOTNOTE.sub("", label.strip(" {}:.")).strip(" {}")
        if self.letter and re.sub(r"^[Pp]lanet\s+", "", bare) == self.letter:
            return self.is_own_star_named_in(headings)
        return _fold_and_remove_separators(bare) in {_fold_and_remove_separators(name) for name in self.names}

    def find_body_mentions(self, text: str) -> list[tuple[int, bool]]:
        """Return the positions where a passage mentions a body, with whether the body is this one."""
        found: dict[int, bool] = {}
        for match in _IN_SYSTEM.finditer(text):
            if not _IS_UNIT.match(text, match.end()):
                found[match.start()] = _fold_and_remove_separators(match[0]) in {
                    _fold_and_remove_separators(name) for name in self.names
                }
        if self.letter:
            # The letters of a list ("planets d and e") are mentions too.
            stem = _make_name_pattern(self.stem)
            named = rf"(?:{stem}[\s-]*|\b[Pp]lanets?\s+)(?P<first>[a-z])\b(?P<more>{_MORE_LETTERS})"
            for match in re.finditer(named, text):
                found[match.start()] = match["first"] == self.letter
                for more in re.finditer(r"\b[a-z]\b", match["more"]):
                    found[match.start("more") + more.start()] = more[0] == self.letter
        else:
            for name in self.names:
                # A planet of a star, `TRAPPIST-1 e`, is not the star.
                for match in re.finditer(rf"{_make_name_pattern(name)}(?P<planet>[\s-]*[a-z]\b)?(?!\w)", text):
                    if not _IS_UNIT.match(text, match.end()):
                        found.setdefault(match.start(), not match["planet"])
        return sorted(found.items())

    def is_own_star_named_in(self, text: str) -> bool:
        """Return True if a text names the star of this planet, or if the body does not have the name of a planet."""
        return not self.stem or bool(re.search(rf"{_make_name_pattern(self.stem)}(?!\d|[A-Za-z]{{2}})", text))

    def is_only_body_named_in(self, text: str) -> bool:
        """Return True if a caption or heading mentions this body and no other."""
        mentions = self.find_body_mentions(text)
        return bool(mentions) and all(is_this for _, is_this in mentions)


def _make_name_pattern(name: str) -> str:
    """Return a pattern for a name in any case, with or without spaces and hyphens between its parts."""
    parts = [re.escape(part) for part in re.split(r"[\s_-]+", name.strip())]
    return r"(?<!\w)(?i:" + r"[\s_-]*".join(parts) + ")"


def _fold_and_remove_separators(text: str) -> str:
    return re.sub(r"[\W_]+", "", text).casefold()
