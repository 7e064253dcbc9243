"""Check what frames a bundle: methods, page, metadata and digests are made again, unknown files are named."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Final

from uraniborg.bundle.checks import Check, make_statement
from uraniborg.bundle.crate import (
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
from uraniborg.bundle.file_checks import check_files
from uraniborg.bundle.inspection import Frame, Inspection, Verified
from uraniborg.bundle.pieces import ListedFile, make_title
from uraniborg.bundle.reader import Unreadable
from uraniborg.kernel.version import version

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


def _check_form(frame: Frame) -> Iterator[Check]:
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
        with suppress(Unreadable):  # the check of the digests says why
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
