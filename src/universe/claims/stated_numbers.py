"""Find the numbers that a location states for one field of one body: in a row of a table, or in a passage."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Self, cast

from universe.claims.quantities import (
    MOST_CHARS,
    WrittenNumber,
    WrittenQuantity,
    WrittenUnit,
    find_numbers,
    find_only_unit_in_label,
    find_unit_after,
    normalise_number_text,
)

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


_MOST_CELLS: Final = 200
_ANYTHING: Final = re.compile(
    r"^(?:values?|this (?:work|paper|study)|adopted|median|mean|best[- ]fit|result|estimate|posterior|)[:.]?$",
    re.IGNORECASE,
)
"""Column headers that name neither a body nor a quantity."""


_SENTENCE_END: Final = re.compile(r"[.;?!]\s+(?=[A-Z])")
_DOUBT: Final = re.compile(
    r"\b(?:not|cannot|never|neither|nor|no longer|without|if|would|could|might|suppose[ds]?|supposing|hypothetical\w*"
    r"|rul(?:e|es|ed|ing) out|exclud(?:e|es|ed|ing)|rather than|instead of|unlike|earlier|previous(?:ly)?|former(?:ly)?"
    r"|uncertaint(?:y|ies)|error|precision|prior|core|mantle|iron|water|ice|atmospher\w+|envelope|difference)\b",
    re.IGNORECASE,
)
"""Words after which a number may be another quantity or not a measured value."""


@dataclass(frozen=True, slots=True)
class StatedLocation:
    """A location in a paper: `{section?, page?, table?, header?: [cells], row?: [cells], passage?, …}`, validated."""

    section: str = ""
    page: str = ""
    table: str = ""
    header: tuple[str, ...] = ()
    row: tuple[str, ...] = ()
    passage: str = ""
    title: str = ""
    """The title of the paper."""

    @property
    def headings(self) -> str:
        """The table, the section and the title of the paper, as plain text."""
        return normalise_number_text(f"{self.table}. {self.section}. {self.title}")

    def describe(self) -> str:
        """Return a description of the location, such as `table "Planets", section "Results"`."""
        parts = [("table", self.table), ("section", self.section), ("page", self.page)]
        return ", ".join(f'{name} "{value}"' if name != "page" else f"page {value}" for name, value in parts if value)


@dataclass(frozen=True, slots=True)
class StatedNumber:
    """A number that a location states for a field, in its unit."""

    measured: WrittenNumber
    unit: WrittenUnit


def parse_location(given: object, title: object = "") -> StatedLocation | None:
    """Return a validated location in the paper with this title, or None if it is invalid. Never raise."""
    if not isinstance(given, Mapping):
        return None
    entry = cast("Mapping[Any, Any]", given)
    header, row = _get_cells_or_empty(entry.get("header")), _get_cells_or_empty(entry.get("row"))
    texts = {name: _get_text_or_empty(entry.get(name)) for name in ("section", "page", "table", "passage")}
    return (
        StatedLocation(**texts, header=header, row=row, title=_get_text_or_empty(title))
        if row or texts["passage"]
        else None
    )


def find_stated_numbers_or_reason(
    location: StatedLocation, quantity: WrittenQuantity, body: BodyNames | None
) -> list[StatedNumber] | str:
    """Return the numbers that the location states for the quantity of the body, or the reason why there are none."""
    if location.row:
        return _find_numbers_in_row_or_reason(location, quantity, body)
    return _find_numbers_in_passage_or_reason(
        normalise_number_text(location.passage), quantity, body, location.headings
    )


def _find_numbers_in_row_or_reason(
    location: StatedLocation, quantity: WrittenQuantity, body: BodyNames | None
) -> list[StatedNumber] | str:
    header = [normalise_number_text(cell) for cell in location.header]
    row = [normalise_number_text(cell) for cell in location.row]
    if header and len(header) != len(row):
        return f"The header has {len(header)} cells and the row has {len(row)}, so no column names its number."
    columns = [(cell, label) for label, cell in zip(header or [""] * len(row), row, strict=True) if find_numbers(cell)]
    labelled = [
        (cell, label, by_row)
        for cell, label in columns
        if (by_row := _is_named_by_row(row, label, quantity)) is not None
    ]
    if not labelled and header:
        return f"Neither the row nor a column of the table is labelled as {quantity.name}."
    if not labelled:
        # Without a header, only a unit such as M⊕ in the cell identifies the quantity.
        labelled = [(cell, "", False) for cell, _ in columns if _is_named_by_unit(cell, quantity)]
        if not labelled:
            return f"The row has no header, and no number in it has a unit of {quantity.name}."
    named = [one for one in labelled if body is None or _is_about_body(row, *one[1:], body, location.headings)]
    if not named and body is not None and not body.is_own_star_named_in(location.headings):
        return f"Neither the table nor the title of the paper names {body.stem}."
    if not named and body is not None:
        return f"Neither the row nor its column names {body.names[0]}."
    label_of_row = row[0]
    found: list[StatedNumber] = []
    for cell, label, by_row in named:
        written = label_of_row if by_row else label
        found += _find_numbers_in_cell(cell, quantity, (written, location.headings))
    return found or f"The row states no {quantity.name} with a unit."


def _is_named_by_unit(cell: str, quantity: WrittenQuantity) -> bool:
    units = [find_unit_after(cell, measured.end) for measured in find_numbers(cell)]
    return any(unit is not None and unit.name.endswith(f"_{quantity.name}") for unit in units)


def _is_named_by_row(row: Sequence[str], header: str, quantity: WrittenQuantity) -> bool | None:
    """Return False if the header of the column names the quantity, True if the first cell does; None if neither."""
    if quantity.is_named_by_label(header):
        return False
    return True if quantity.is_named_by_label(row[0]) else None


def _is_about_body(row: Sequence[str], label: str, by_row: bool, body: BodyNames, headings: str) -> bool:
    if not by_row:  # a column of masses: the row is the body's
        return body.is_label_of_body(row[0], headings) or any(
            body.is_label_of_body(cell, "") for cell in row[1:] if len(cell) > 1
        )
    if body.is_label_of_body(label, headings):  # a row of masses: the column is the body's
        return True
    return bool(_ANYTHING.match(label)) and body.is_only_body_named_in(headings)


def _find_numbers_in_cell(cell: str, quantity: WrittenQuantity, labels: Sequence[str]) -> list[StatedNumber]:
    found: list[StatedNumber] = []
    for measured in find_numbers(cell):
        unit = find_unit_after(cell, measured.end) or next(
            (one for label in labels if (one := find_only_unit_in_label(label))), None
        )
        if unit is None and not quantity.unit:
            unit = WrittenUnit("")
        if unit is not None and quantity.convert_to_unit(1.0, unit) is not None:
            found.append(StatedNumber(measured, unit))
    return found


def _find_numbers_in_passage_or_reason(
    passage: str, quantity: WrittenQuantity, body: BodyNames | None, headings: str
) -> list[StatedNumber] | str:
    if not quantity.is_mentioned_in(passage):
        return f"The passage does not mention the {quantity.name}."
    mentions = body.find_body_mentions(passage) if body is not None else []
    is_about = (
        body is None
        or any(is_this for _, is_this in mentions)
        or (not mentions and body.is_only_body_named_in(headings))
    )
    if body is not None and not (is_about and body.is_own_star_named_in(f"{passage} {headings}")):
        return f"The passage does not mention {body.names[0]}."
    numbers = [
        (measured, unit)
        for measured in find_numbers(passage)
        if (unit := _find_unit_of_number(passage, measured, quantity)) is not None
    ]
    found = [
        StatedNumber(measured, unit)
        for measured, unit in numbers
        if body is None or _belongs_to_body(measured, [one for one, _ in numbers], mentions)
    ]
    sure = [one for one in found if not _DOUBT.search(_find_sentence(passage, one.measured))]
    if found and not sure:
        word = _DOUBT.search(_find_sentence(passage, found[0].measured))
        return f"The passage states the number with '{word[0] if word else ''}', so it may not be a measured value."
    found = sure
    if numbers and not found and body is not None:
        return f"The passage mentions several bodies, and no {quantity.name} stands for {body.names[0]} alone."
    return found or f"The passage states no {quantity.name} with a unit."


def _find_sentence(passage: str, measured: WrittenNumber) -> str:
    start = max((one.end() for one in _SENTENCE_END.finditer(passage, 0, measured.start)), default=0)
    end = _SENTENCE_END.search(passage, measured.end)
    return passage[start : end.start() if end else len(passage)]


def _find_unit_of_number(passage: str, measured: WrittenNumber, quantity: WrittenQuantity) -> WrittenUnit | None:
    unit = find_unit_after(passage, measured.end)
    if quantity.unit:
        return unit if unit is not None and quantity.convert_to_unit(1.0, unit) is not None else None
    before = passage[max(0, measured.start - 40) : measured.start]
    if unit is not None or re.search(r"\b(?:Tables?|Figs?\.?|Figures?|Sections?|pages?|pp?\.|Eqs?\.?|in)\s*$", before):
        return None
    # A plain number counts right after its name or symbol, not anywhere: 42 may be a count or a year.
    near = re.search(r"(?:=|~|\bof\b|\bis\b|\bto be\b|\bas\b|:)\s*$", before)
    return WrittenUnit("") if near else None


def _belongs_to_body(
    measured: WrittenNumber, numbers: Sequence[WrittenNumber], mentions: Sequence[tuple[int, bool]]
) -> bool:
    """Return True if the body is the last one before the number in a passage, without another number between.

    In "d and e have 0.39 and 0.69 Earth masses" no number certainly belongs to one body.
    """
    if all(is_this for _, is_this in mentions):
        return True
    before = [one for one in mentions if one[0] < measured.start]
    if not before or not before[-1][1]:
        return False
    at = before[-1][0]
    if any(at < other.start < measured.start for other in numbers):
        return False
    rivals = [position for position, is_this in before if not is_this]
    return not rivals or any(rivals[-1] < other.start < at for other in numbers)


def select_plain_values(stated: Sequence[StatedNumber]) -> list[StatedNumber]:
    """Return the numbers that are values, without limits, percentages and ends of ranges."""
    return [one for one in stated if one.measured.kind == "value"]


def _get_cells_or_empty(given: object) -> tuple[str, ...]:
    if not isinstance(given, list | tuple):
        return ()
    cells = cast("Sequence[Any]", given)[:_MOST_CELLS]
    return tuple(_get_text_or_empty(cell) for cell in cells)


def _get_text_or_empty(given: object) -> str:
    if isinstance(given, bool) or not isinstance(given, str | int | float):
        return ""
    return str(given)[:MOST_CHARS]
