"""Check files that an export makes from records: make them again and compare."""

import hashlib
import math
import re
from collections.abc import Collection, Iterator
from itertools import zip_longest
from typing import Any, Final, cast

from uraniborg.bundle.checks import Check
from uraniborg.bundle.number_comparison import shorten, walk_values
from uraniborg.bundle.pieces import BundleFile
from uraniborg.bundle.reader import Bundle, Unreadable, parse_json
from uraniborg.kernel.json_values import JsonObject
from uraniborg.kernel.text import plural

_SHOWN: Final = 60
_STARTS: Final = ("/start.csv", "/rebound.py")
_NUMBER: Final = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")
MOST_MORE: Final = 1_000_000
"""The bytes by which a file may be larger than twice the one made again, to be read and compared in detail."""


def check_files(bundle: Bundle, item: str, files: Collection[BundleFile], known: Collection[str] = ()) -> list[Check]:
    """Compare files with those of the bundle, except the `known` ones, which another check found to differ."""
    compared = [one for one in files if one.path not in known]
    differences = [(one.path, difference) for one in compared if (difference := _compare_file(bundle, one))]
    if compared and not differences:
        same = plural(len(compared), "file is", "files are")
        return [Check(item, "matched", f"{same} as made again from the records")]
    return [Check(path, "differs", difference) for path, difference in differences]


def _compare_file(bundle: Bundle, made: BundleFile) -> str:
    """Return how a file of the bundle differs from the one made again; an empty text if it does not."""
    try:
        if bundle.has(made.path) and bundle.compute_digest(made.path) == hashlib.sha256(made.content).hexdigest():
            return ""
        stored = bundle.read(made.path, most=2 * len(made.content) + MOST_MORE)
        if made.path.endswith(".json"):
            return _describe_first_value(parse_json(stored), parse_json(made.content))
    except Unreadable as exc:
        return str(exc)
    return "" if _is_same_start(made.path, stored, made.content) else _describe_first_difference(stored, made.content)


def _describe_first_value(stored: Any, made: Any) -> str:
    """Return the first value that differs, by its path; an empty text if none does."""
    for path, one, other in walk_values("", stored, made):
        where = path.removeprefix(".") or "the value"
        if isinstance(one, dict) and isinstance(other, dict):
            names = sorted(cast("JsonObject", one).keys() ^ cast("JsonObject", other).keys())
            return f"{where}: in the file or as made again, and not in both: {', '.join(names)[:_SHOWN]}"
        if one != other:
            return f"{where} is {shorten(one)}, made again {shorten(other)}"
    return ""


def _is_same_start(path: str, stored: bytes, made: bytes) -> bool:
    """Return True for starts of runs that differ only as sums do whose terms a processor adds in another order."""
    if not path.endswith(_STARTS):
        return False
    one, other = stored.decode("utf-8", "replace"), made.decode()
    if _NUMBER.sub("0", one) != _NUMBER.sub("0", other):
        return False
    pairs = zip(_NUMBER.findall(one), _NUMBER.findall(other), strict=True)
    return all(a == b or math.isclose(float(a), float(b), rel_tol=1e-12, abs_tol=1e-17) for a, b in pairs)


def _describe_first_difference(stored: bytes, made: bytes) -> str:
    for number, one, other in _pair_lines(stored, made):
        if one != other:
            start = _find_first_difference(one, other)
            return f"line {number} is “{_cut(one, start)}”, made again “{_cut(other, start)}”"
    return "has other line ends than made again"


def _pair_lines(stored: bytes, made: bytes) -> Iterator[tuple[int, str, str]]:
    pairs = zip_longest(*(text.decode("utf-8", "replace").splitlines() for text in (stored, made)), fillvalue="")
    return ((number, one, other) for number, (one, other) in enumerate(pairs, 1))


def _find_first_difference(one: str, other: str) -> int:
    return next(
        (index for index, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )


def _cut(line: str, index: int) -> str:
    """Return the beginning of the line, and the part of it around an index."""
    first = max(0, index - _SHOWN // 3)
    beginning = f"{line[: min(first, _SHOWN // 3)]}…" if first else ""
    return f"{beginning}{line[first : first + _SHOWN]}{'…' if len(line) > first + _SHOWN else ''}"
