"""The checks of a bundle's frame: methods, page, metadata and digests are made again, and unknown files are named."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

from uraniborg.bundle.checks import Check
from uraniborg.bundle.crate import (
    CRATE,
    DIGESTS,
    METHODS,
    README,
    SIGNATURE,
    find_newest_day,
    make_entity_id,
    make_metadata,
    make_methods_file,
    make_page,
)
from uraniborg.bundle.file_checks import check_files
from uraniborg.bundle.inspection import Inspection, Verified
from uraniborg.bundle.pieces import BundleFile, make_title
from uraniborg.bundle.reader import Unreadable
from uraniborg.kernel.logging import make_printable

_OF_FRAME = (README, METHODS, CRATE, DIGESTS, SIGNATURE)


def check_frame(inspection: Inspection, found: Sequence[Verified], *, is_complete: bool) -> Iterator[Check]:
    """Make the frame again around the pieces that were verified. `is_complete` is False if some could not be made."""
    frame = inspection.frame
    pieces = sorted((one.piece for one in found if one.piece), key=lambda one: inspection.find_rank(one.files[0].path))
    described = {file.path: file.description for piece in pieces for file in piece.files}
    unknown = [path for path in inspection.bundle.paths if path not in described and path not in _OF_FRAME]
    if not is_complete:
        names = f"{METHODS}, {README} and {CRATE}"
        yield Check(names, "not checked", "cannot be made again, because another part of the bundle differs")
        return
    yield from (
        Check(make_printable(path), "not checked", "no export of this program writes it: nothing about it is known")
        for path in unknown
    )
    with suppress(Unreadable):
        if f"\nWritten by Uraniborg {frame.program}.\n".encode() not in inspection.bundle.read(README):
            yield Check(CRATE, "differs", f"names the version {frame.program!r} of the program, and {README} another")
    yield from _check_title_and_date(inspection, found, day := find_newest_day(pieces))
    methods = make_methods_file(frame.title, pieces)
    described |= {path: frame.descriptions.get(make_entity_id(path), "") for path in unknown}
    described[METHODS] = methods.description
    files = _read_files(inspection, described)
    steps = next((one.steps for one in found if one.steps), ())
    page = make_page(files, title=frame.title, steps=steps, program=frame.program)
    metadata = make_metadata(
        [*_read_files(inspection, {README: page.description}), *files],
        title=frame.title,
        date=day or frame.date,
        program=frame.program,
    )
    for made in (methods, page, metadata):
        yield from check_files(inspection, made.path, [made], ())


def _read_files(inspection: Inspection, described: Mapping[str, str]) -> list[BundleFile]:
    """Return the files of the bundle with these descriptions, in the order of the metadata."""
    files: list[BundleFile] = []
    for path, description in sorted(described.items(), key=lambda one: inspection.find_rank(one[0])):
        with suppress(Unreadable):  # the check of the digests says why
            files.append(BundleFile(path, description, inspection.bundle.read(path)))
    return files


def _check_title_and_date(inspection: Inspection, found: Sequence[Verified], day: str | None) -> Iterator[Check]:
    frame, decided = inspection.frame, next((one.title for one in found if one.title), None)
    shown = make_printable(frame.title)[:100]
    if decided is not None and frame.title != decided:
        yield Check(CRATE, "differs", f"the title is “{shown}”, and that of this work is “{decided}”")
    elif decided is None and frame.title not in _list_usual_titles(inspection):
        yield Check(CRATE, "not checked", f"the title: “{shown}” are words of the person who exported")
    if day is None:
        yield Check(CRATE, "not checked", f"datePublished, {make_printable(frame.date)[:30]}: no file has a time")


def _list_usual_titles(inspection: Inspection) -> list[str]:
    """Return the titles of work that nobody named. A workflow is chosen, or exported with its run."""
    bundle = inspection.bundle
    counts = {kind: len(bundle.find_folders(kind)) for kind in ("searches", "shelves")}
    runs, workflows = (
        len([path for path in bundle.paths if path.startswith(f"{kind}/")]) for kind in ("runs", "workflows")
    )
    others = {"universes": len(bundle.find_folders("universes")), "jobs": len(bundle.find_folders("measurements"))}
    return [make_title({**counts, "workflows": number, "runs": runs, **others}) for number in range(workflows + 1)]
