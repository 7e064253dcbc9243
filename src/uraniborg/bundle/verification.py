"""Verify a bundle: make everything in it again from its records, or name it as not checked."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from uraniborg.bundle.file_checks import check_files, check_frame
from uraniborg.bundle.inspection import (
    Check,
    Inspection,
    PieceKind,
    TimeLimit,
    TimeOver,
    Verified,
    check_digests,
    check_metadata,
    read_frame,
)
from uraniborg.bundle.measurement_checks import verify_measurement
from uraniborg.bundle.reader import Bundle, UnreadableBundle
from uraniborg.bundle.ro_crate_files import CRATE, METHODS, README
from uraniborg.bundle.run_checks import verify_run, verify_workflow
from uraniborg.bundle.search_checks import verify_search, verify_shelf
from uraniborg.bundle.universe_checks import verify_universe
from uraniborg.kernel.errors import InternalError, as_error
from uraniborg.kernel.progress_callbacks import ReportItem


def _find_folders(kind: str) -> Callable[[Bundle], list[str]]:
    return lambda bundle: bundle.find_folders(kind)


def _find_documents(kind: str) -> Callable[[Bundle], list[str]]:
    return lambda bundle: bundle.find_documents(kind)


KINDS: Final = (
    PieceKind(_find_folders("searches"), verify_search),
    PieceKind(_find_folders("shelves"), verify_shelf),
    PieceKind(_find_documents("runs"), verify_run),
    PieceKind(_find_documents("workflows"), verify_workflow),
    PieceKind(_find_folders("universes"), verify_universe),
    PieceKind(_find_folders("measurements"), verify_measurement),
)
"""What an export writes. Later kinds are compared with earlier ones."""


def verify_bundle(
    bundle: Bundle,
    *,
    repeat: bool = True,
    more: Sequence[PieceKind] = (),
    limit: TimeLimit | None = None,
    report: ReportItem = lambda _: None,
) -> Iterator[Check]:
    """Yield all checks. Without `repeat`, only those of digests and metadata.

    `more` are kinds of pieces that others than the export add. What cannot be done before the `limit` is not checked.
    Only functions of this program run, on the values of the bundle: no program, network, model or code of the bundle.
    """
    report("digests")
    yield from check_digests(bundle)
    report("metadata")
    yield from check_metadata(bundle)
    if not repeat:
        yield Check("contents", "not checked", "only digests and metadata were checked, as asked")
        return
    inspection = Inspection(bundle, read_frame(bundle), report, limit or TimeLimit())
    found: list[Verified] = []
    for kind in (*KINDS, *more):
        for item in kind.find(bundle):
            report(item)
            found.append(_verify_item(inspection, kind, item))
            yield from found[-1].checks
    report("methods")
    yield from _check_frame(inspection, found)


def _verify_item(inspection: Inspection, kind: PieceKind, item: str) -> Verified:
    """Return the checks of an item and of its files; an item that fails on values of no export is a difference."""
    try:
        inspection.limit.check()
        verified = kind.verify(inspection, item)
        if verified.piece is None:
            return verified
        known = {check.item for check in verified.checks if check.result == "differs"}
        checks = check_files(inspection.bundle, item, verified.piece.files, known)
        return verified._replace(checks=[*verified.checks, *checks])
    except TimeOver as exc:
        return Verified([Check(item, "not checked", str(exc))], None)
    except Exception as exc:  # an unknown bundle can hold anything; the other checks continue
        return Verified([_make_failure(item, exc)], None)


def attribute_statements(checks: Iterable[Check]) -> Iterator[Check]:
    """Yield the checks of a bundle whose known signer vouches for what only the bundle states."""
    return (replace(one, result="stated by the signer") if one.is_statement else one for one in checks)


def _check_frame(inspection: Inspection, found: Sequence[Verified]) -> Iterator[Check]:
    try:
        yield from check_frame(inspection, found)
    except Exception as exc:  # as above
        yield _make_failure(f"{METHODS}, {README} and {CRATE}", exc)


def _make_failure(item: str, exc: Exception) -> Check:
    """Return the check of an item that failed on values of no export."""
    error = as_error(exc)
    detail = type(exc).__name__ if isinstance(error, InternalError) else error.message
    if isinstance(exc, UnreadableBundle):
        item, detail = exc.path or item, str(exc)
    return Check(item, "differs", f"cannot be checked: {detail}")
