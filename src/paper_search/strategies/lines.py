"""Join numbered lines of a strategy: `#1 …` or `2. …`, and references such as `#1 AND #2` and `or/1-3`."""

import re
from dataclasses import dataclass
from typing import Final

MAX_LINES: Final = 200
"""A strategy has fewer lines; a range of line numbers is cut there."""
_MOST_JOINED: Final = 20
_START: Final = re.compile(
    r"[ \t]*(?:#[ \t]?(?P<hash>\d{1,3})\b[.:)]?|(?P<plain>\d{1,3})(?:[.:)](?=[ \t\"(])|(?=[ \t])))"
    r"(?!\s*(?:and|or|not)\b(?!\s*/))[ \t]*(?=\S)",
    re.IGNORECASE,
)
_NUMBERS: Final = r"#?\d{1,3}(?:[ \t]*[-,][ \t]*#?\d{1,3}){0,19}"
_JOINED: Final = re.compile(
    rf"\b(?P<sign>and|or)[ \t]*/[ \t]*(?P<after>{_NUMBERS})(?![\d/])"
    rf"|(?<![\w#,-])(?P<before>{_NUMBERS})[ \t]*/[ \t]*(?P<last>and|or)\b",
    re.IGNORECASE,
)
_REFERENCES: Final = re.compile(r"(?:[\s()]|#?\d{1,3}\b|\b(?:and|or|not)\b)*", re.IGNORECASE)
REFERENCE: Final = re.compile(r"#(\d{1,3})")


@dataclass(frozen=True, slots=True)
class Line:
    """A numbered line of a strategy."""

    number: int
    text: str
    start: int
    """The position of its first character after the number."""


def split_numbered_lines(text: str) -> list[Line]:
    """Return the numbered lines of a strategy, [] for a text without line numbers.

    Lines without a number continue the line before them; a last line of references alone needs none.
    """
    if "#" not in text and "\n" not in text:
        return []
    found: list[tuple[int, bool, int, int]] = []
    position = 0
    for physical in text.splitlines(keepends=True):
        end = position + len(physical)
        if match := _START.match(physical):
            found.append((int(match["hash"] or match["plain"]), bool(match["hash"]), position + match.end(), end))
        elif found and any(map(str.isdigit, physical)) and _REFERENCES.fullmatch(expand_references(physical)):
            found.append((max(number for number, *_ in found) + 1, True, position, end))
        elif found:
            found[-1] = (*found[-1][:3], end)
        elif physical.strip():
            return []
        position = end
    numbers = [number for number, *_ in found]
    is_count = sorted(numbers) == list(range(1, len(numbers) + 1)) and len(numbers) > 1
    if not numbers or not (is_count or all(is_marked for _, is_marked, *_ in found)):
        return []
    return [Line(number, text[start:end].rstrip(), start) for number, _, start, end in found]


def expand_references(text: str) -> str:
    """Return a line with its references as `#1`: `or/1-3` becomes `(#1 OR #2 OR #3)`.

    Bare numbers are references in a line that has nothing else.
    """
    expanded = _JOINED.sub(_expand_joined, text, count=_MOST_JOINED)
    if _REFERENCES.fullmatch(expanded):
        return re.sub(r"(?<![#\d])(\d{1,3})\b", r"#\1", expanded).upper()
    return expanded


def _expand_joined(match: re.Match[str]) -> str:
    numbers: list[int] = []
    for piece in (match["after"] or match["before"]).split(","):
        ends = [int(number) for number in re.findall(r"\d+", piece)]
        numbers += range(min(ends), min(max(ends), min(ends) + MAX_LINES) + 1)
    sign = f" {(match['sign'] or match['last']).upper()} "
    return f"({sign.join(f'#{number}' for number in numbers)})"
