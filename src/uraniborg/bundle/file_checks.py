"""The checks of files that an export makes from the records of a bundle: they must be as made again."""

import math
import re
from collections.abc import Collection, Iterator
from itertools import zip_longest
from typing import Final

from uraniborg.bundle.checks import Check
from uraniborg.bundle.crate import SCHEMA
from uraniborg.bundle.inspection import Inspection
from uraniborg.bundle.pieces import BundleFile
from uraniborg.bundle.reader import Unreadable, parse_json
from uraniborg.kernel.logging import make_printable
from uraniborg.kernel.text import plural
from uraniborg.kernel.version import version

_SHOWN: Final = 60
_STARTS: Final = ("/start.csv", "/rebound.py")
_NUMBER: Final = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")
_JSON: Final = re.compile(r"\.json$")


def check_files(
    inspection: Inspection, item: str, files: Collection[BundleFile], known: Collection[str]
) -> list[Check]:
    """Compare files with those of the bundle, except the `known` ones, which another check found to differ."""
    differences = [
        (one.path, difference)
        for one in files
        if one.path not in known and (difference := compare_file(inspection, one))
    ]
    checks = [make_difference(inspection, path, difference) for path, difference in differences]
    same = len(files) - len(differences) - sum(one.path in known for one in files)
    if same and not differences:
        checks.append(Check(item, "matched", f"{plural(same, 'file is', 'files are')} as made again from the records"))
    return checks


def make_difference(inspection: Inspection, path: str, difference: str) -> Check:
    """Return the check of a file that is not as this program makes it; other versions may write it in other words."""
    if inspection.is_current or difference == _MISSING:
        return Check(path, "differs", difference)
    reason = f"Uraniborg {inspection.frame.program or 'of an unknown version'} may have written it otherwise"
    return Check(path, "not checked", f"{difference}; {reason} than this version, {version()} with bundles of {SCHEMA}")


_MISSING: Final = "is missing"


def compare_file(inspection: Inspection, made: BundleFile) -> str:
    """Return how a file of the bundle differs from the one made again; an empty text if it does not."""
    if not inspection.bundle.has(made.path):
        return _MISSING
    try:
        stored = inspection.bundle.read(made.path)
        if stored == made.content or (_JSON.search(made.path) and parse_json(stored) == parse_json(made.content)):
            return ""
        if _is_same_start(made.path, stored, made.content):
            return ""
    except Unreadable as exc:
        return str(exc)
    return _describe_first_difference(stored, made.content)


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
    """Return the part of the line around an index."""
    first = max(0, index - _SHOWN // 3)
    part = make_printable(line[first : first + _SHOWN])
    return f"{'…' if first else ''}{part}{'…' if len(line) > first + _SHOWN else ''}"
