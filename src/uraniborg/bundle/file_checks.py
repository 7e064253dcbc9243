"""Check files that an export makes from records, and what frames a bundle: make them again and compare."""

import hashlib
import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import zip_longest
from typing import Any, Final, TypeGuard, cast

from uraniborg.bundle.inspection import BundleFrame, Check, Inspection, Verified, make_statement
from uraniborg.bundle.pieces import BundleFile, ListedFile, make_title
from uraniborg.bundle.reader import Bundle, UnreadableBundle, parse_json
from uraniborg.bundle.ro_crate_files import (
    CRATE,
    DIGESTS,
    METHODS,
    README,
    SCHEMA,
    SIGNATURE,
    find_newest_day,
    make_entity_id,
    make_metadata,
    make_methods_file,
    make_page,
)
from uraniborg.kernel.json_values import JsonObject
from uraniborg.kernel.language.messages import plural
from uraniborg.kernel.version import version

ROUNDING: Final = 1e-12
"""The relative difference that another machine makes in one number."""
ERROR_RATIO: Final = 10.0
"""The largest ratio of the stored error to the error of the repeated run, or of the latter to the former."""
CHANGE: Final = 1e-6
"""The relative difference of transit times and velocities that is a change; their error is larger."""
CLOSE: Final = 1e-9
"""The relative difference of a value of a run without errors that is a change."""


def walk_values(path: str, one: Any, other: Any) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(other, dict) and isinstance(one, dict) and one.keys() == other.keys():  # pyright: ignore[reportUnknownMemberType]
        for key in other:  # pyright: ignore[reportUnknownVariableType]
            yield from walk_values(f"{path}.{key}", one[key], other[key])
    elif isinstance(other, list | tuple) and isinstance(one, list) and len(one) == len(other):  # pyright: ignore[reportUnknownArgumentType]
        for index, (first, second) in enumerate(zip(one, other, strict=True)):  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
            yield from walk_values(f"{path}.{index}", first, second)
    else:
        yield path, one, other


def is_equal_or_close_number(one: Any, other: Any, tolerance: float) -> bool:
    if is_number(one) and is_number(other):
        return math.isclose(one, other, rel_tol=tolerance, abs_tol=tolerance if tolerance == CHANGE else ROUNDING)
    return type(one) is type(other) and one == other


def is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, float | int) and not isinstance(value, bool)


def is_about_same_error(stated: float, repeated: float) -> bool:
    """Return True for errors of two runs that differ no more than errors do on different processors."""
    return repeated / ERROR_RATIO <= stated <= repeated * ERROR_RATIO


def shorten(value: Any) -> str:
    """Return a value as text that fits a message."""
    return str(value)[:100]


_SHOWN_CHARS: Final = 60
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
    except UnreadableBundle as exc:
        return str(exc)
    return "" if _is_same_start(made.path, stored, made.content) else _describe_first_difference(stored, made.content)


def _describe_first_value(stored: Any, made: Any) -> str:
    """Return the first value that differs, by its path; an empty text if none does."""
    for path, one, other in walk_values("", stored, made):
        where = path.removeprefix(".") or "the value"
        if isinstance(one, dict) and isinstance(other, dict):
            names = sorted(cast("JsonObject", one).keys() ^ cast("JsonObject", other).keys())
            return f"{where}: in the file or as made again, and not in both: {', '.join(names)[:_SHOWN_CHARS]}"
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
    first = max(0, index - _SHOWN_CHARS // 3)
    beginning = f"{line[: min(first, _SHOWN_CHARS // 3)]}…" if first else ""
    return f"{beginning}{line[first : first + _SHOWN_CHARS]}{'…' if len(line) > first + _SHOWN_CHARS else ''}"


_OF_FRAME: Final = (README, METHODS, CRATE, DIGESTS, SIGNATURE)
_VERSION: Final = re.compile(r"\d[\w.+]{0,39}|unknown", re.ASCII)
_SHOWN: Final = 100


def check_frame(inspection: Inspection, found: Sequence[Verified]) -> Iterator[Check]:
    """Make the frame again around the pieces that were verified."""
    bundle, frame = inspection.bundle, inspection.frame
    yield from _check_form(frame)
    pieces = sorted((one.piece for one in found if one.piece), key=lambda one: inspection.find_rank(one.files[0].path))
    if len(pieces) < len(found):
        names = f"{METHODS}, {README} and {CRATE}"
        yield Check(names, "not checked", "cannot be made again, because another part of the bundle was not made again")
        return
    described = {file.path: file.description for piece in pieces for file in piece.files}
    unknown = [path for path in bundle.paths if path not in described and path not in _OF_FRAME]
    reason = "no export of this program writes it: nothing about it is known"
    yield from (Check(path, "not checked", reason) for path in unknown)
    yield from _check_title_and_date(inspection, found, day := find_newest_day(pieces))
    methods = make_methods_file(frame.title, pieces)
    described |= {path: frame.descriptions.get(make_entity_id(path), "") for path in unknown}
    described[METHODS] = methods.description
    files = _list_files(inspection, described)
    steps = next((one.steps for one in found if one.steps), ())
    page = make_page(files, title=frame.title, steps=steps, program=frame.program)
    listed = [*_list_files(inspection, {README: page.description}), *files]
    metadata = make_metadata(listed, title=frame.title, date=day or frame.date, program=frame.program)
    for made in (methods, page, metadata):
        yield from check_files(bundle, made.path, [made])


def _check_form(frame: BundleFrame) -> Iterator[Check]:
    """Yield whether the bundle has the form that this program makes. Another form turns no difference into another."""
    if not _VERSION.fullmatch(frame.program):
        yield Check(CRATE, "differs", f"“{frame.program[:_SHOWN]}” is not a version of Uraniborg")
    elif frame.schema != SCHEMA:
        form = f"the bundle has the form {frame.schema[:_SHOWN] or 'none'}, and this version makes the form {SCHEMA}"
        remedy = f"verify it with Uraniborg {frame.program}, which it names as its writer"
        yield Check(CRATE, "differs", f"{form}: {remedy}")
    elif frame.program != version():
        yield make_statement(CRATE, f"that Uraniborg {frame.program} wrote the bundle")


def _list_files(inspection: Inspection, described: Mapping[str, str]) -> list[ListedFile]:
    """Return the files of the bundle with these descriptions, in the order of the metadata."""
    files: list[ListedFile] = []
    for path, description in sorted(described.items(), key=lambda one: inspection.find_rank(one[0])):
        with suppress(UnreadableBundle):  # the check of the digests says why
            digest = inspection.bundle.compute_digest(path)
            files.append(ListedFile(path, description, inspection.bundle.sizes[path], digest))
    return files


def _check_title_and_date(inspection: Inspection, found: Sequence[Verified], day: str | None) -> Iterator[Check]:
    frame, decided = inspection.frame, next((one.title for one in found if one.title), None)
    if decided is not None and frame.title != decided:
        yield Check(CRATE, "differs", f"the title is “{frame.title[:_SHOWN]}”, and that of this work is “{decided}”")
    elif decided is None and frame.title not in _list_usual_titles(inspection):
        yield make_statement(CRATE, f"the title: “{frame.title[:_SHOWN]}” are words of the person who exported")
    if day is None:
        yield make_statement(CRATE, f"datePublished, {frame.date[:_SHOWN]}: no file has a time")


def _list_usual_titles(inspection: Inspection) -> list[str]:
    """Return the titles of work that nobody named. A workflow is chosen, or exported with its run."""
    bundle = inspection.bundle
    counts = {kind: len(bundle.find_folders(kind)) for kind in ("searches", "shelves")}
    runs, workflows = (
        len([path for path in bundle.paths if path.startswith(f"{kind}/")]) for kind in ("runs", "workflows")
    )
    others = {"universes": len(bundle.find_folders("universes")), "jobs": len(bundle.find_folders("measurements"))}
    return [make_title({**counts, "workflows": number, "runs": runs, **others}) for number in range(workflows + 1)]
