"""The verification of a bundle: its digests, its metadata, and everything that can be computed again from it."""

from collections.abc import Callable, Iterator

from uraniborg.bundle.checks import Check, check_digests, check_metadata
from uraniborg.bundle.reader import Bundle, Unreadable
from uraniborg.kernel.errors import InternalError, as_error
from uraniborg.kernel.progress import ReportItem


def verify_bundle(bundle: Bundle, *, repeat: bool = True, report: ReportItem = lambda _: None) -> Iterator[Check]:
    """Yield all checks. Without `repeat`, only those of digests and metadata.

    Only functions of this program run, on the values of the bundle: no program, network, model or code of the bundle.
    """
    report("digests")
    yield from check_digests(bundle)
    report("metadata")
    yield from check_metadata(bundle)
    if repeat:
        yield from _repeat(bundle, report)


def _repeat(bundle: Bundle, report: ReportItem) -> Iterator[Check]:
    from uraniborg.bundle.comparison_checks import check_comparison
    from uraniborg.bundle.measurement_checks import check_measurement
    from uraniborg.bundle.run_checks import check_run
    from uraniborg.bundle.search_checks import check_bibliography, check_search
    from uraniborg.bundle.universe_checks import check_universe

    for folder in bundle.find_folders("searches"):
        yield from _guard(folder, lambda item: check_search(bundle, item), report)
    for folder in bundle.find_folders("shelves"):
        yield from _guard(folder, lambda item: check_bibliography(bundle, item), report)
    for path in bundle.paths:
        if path.startswith("runs/"):
            yield from _guard(path, lambda item: check_run(bundle, item), report)
    for folder in bundle.find_folders("universes"):
        yield from _guard(folder, lambda item: check_universe(bundle, item), report)
    for folder in bundle.find_folders("measurements"):

        def show(done: float, folder: str = folder) -> None:
            report(f"{folder} {done:.0%}")

        yield from _guard(folder, lambda item: check_measurement(bundle, item, show), report)
    for path in bundle.paths:
        if path.startswith("comparisons/") and path.endswith(".json"):
            yield from _guard(path, lambda item: check_comparison(bundle, item), report)


def _guard(item: str, check: Callable[[str], Iterator[Check]], report: ReportItem) -> Iterator[Check]:
    """Yield the checks of an item; one that fails on values that no export writes is a difference."""
    report(item)
    try:
        yield from check(item)
    except Exception as exc:  # an unknown bundle can hold anything; the other checks continue
        error = as_error(exc)
        detail = type(exc).__name__ if isinstance(error, InternalError) else error.message
        if isinstance(exc, Unreadable):
            detail = str(exc)
        yield Check(item, "differs", f"cannot be checked: {detail}")
