"""`uraniborg export` and `uraniborg verify`."""

import asyncio
import shlex
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal

from uraniborg.bundle.export import ExportSelection, collect_files
from uraniborg.bundle.inspection import MOST_SECONDS, Check, PieceKind, Result, TimeLimit
from uraniborg.bundle.pieces import BundleFile, Chosen, make_title
from uraniborg.bundle.reader import open_bundle
from uraniborg.bundle.signatures import check_key, check_signature, create_key, read_public_key, sign_files
from uraniborg.bundle.verification import attribute_statements, verify_bundle
from uraniborg.bundle.writer import check_target, write_bundle
from uraniborg.kernel.language.messages import plural
from uraniborg.kernel.progress_callbacks import ReportItem
from uraniborg.kernel.terminal.output_streams import print_json
from uraniborg.kernel.terminal.page import Page
from uraniborg.kernel.terminal.progress import Progress
from uraniborg.kernel.terminal.styled_text import BLUE, BOLD, GREEN, RED, YELLOW, Piece, StyledText

_STYLES: Final[dict[Result, str]] = {
    "matched": GREEN,
    "differs": RED,
    "stated by the signer": BLUE,
    "not repeated": YELLOW,
    "not checked": YELLOW,
}
Outcome = Literal["all matched", "some not checked", "differs"]
EXIT_CODES: Final[dict[Outcome, int]] = {"all matched": 0, "some not checked": 6, "differs": 1}
_OUTCOMES: Final[dict[Outcome, str]] = {
    "all matched": "All matched. What only its author can know is stated by the signer, and is as good as their word.",
    "some not checked": "Nothing differs. What was not repeated or not checked is as good as its source.",
    "differs": "It differs: do not rely on this bundle.",
}
CHOICES: Final = (
    "Choose with --session, --shelf, --workflow, --run, --universe or --job. Lists of ids: paper-search sessions "
    "list, pflow history, universe list and universe jobs."
)
"""The options that choose the work of a bundle."""


def choose_and_export(
    target: Path,
    chosen: Mapping[str, Sequence[str] | None],
    read_default: Callable[[ReportItem], Coroutine[Any, Any, list[BundleFile]]],
    *,
    title: str | None,
    replace: bool,
    sign: bool = False,
    as_json: bool,
    quiet: bool,
) -> None:
    """Write a bundle of the work with these ids, by the names of `Selection`; without ids, of `read_default`.

    Raise UsageError, the errors of the parts for ids that do not exist, and those of `read_default`, `sign_files` and
    `write_bundle`.
    """
    check_target(target, replace=replace)
    if sign:
        read_public_key()  # without a key, the work need not be collected
    selection = ExportSelection(
        **{name: [Chosen(one) for one in dict.fromkeys(ids or ())] for name, ids in chosen.items()}
    )
    with Progress("Exporting", is_quiet=quiet, as_json=as_json) as progress:
        if selection.is_empty:
            files = asyncio.run(read_default(progress.report_item))
        else:
            wanted = title or make_title({name: len(dict.fromkeys(ids or ())) for name, ids in chosen.items()})
            files = asyncio.run(collect_files(selection, title=wanted, folder=Path.cwd(), report=progress.report_item))
        if sign:
            files = sign_files(files)
        progress.report_item(target.name)
        write_bundle(target, files, replace=replace)
    print_bundle(target, files, as_json=as_json)


def print_bundle(target: Path, files: Sequence[BundleFile], *, as_json: bool) -> None:
    """Print what was written."""
    size = sum(len(one.content) for one in files)
    if as_json:
        listed = [{"path": one.path, "description": one.description, "bytes": len(one.content)} for one in files]
        print_json({"bundle": str(target), "bytes": size, "files": listed})
        return
    page = Page()
    page.write_line(f"Wrote {target}: {plural(len(files), 'file')}, {size / 1e6:.2g} MB.")
    page.write_line(f"Check it: uraniborg verify {shlex.quote(str(target))}")


def verify_and_print(
    path: Path,
    *,
    repeat: bool,
    signer: str | None,
    more: Sequence[PieceKind],
    seconds: float = MOST_SECONDS,
    as_json: bool,
    quiet: bool,
) -> int:
    """Verify a bundle, print all checks, and return the exit code of the outcome.

    `more` are kinds of pieces that others than the export add. After `seconds`, the rest is not checked. Raise
    BundleMissing, InvalidBundle, InvalidKey or MissingExtra.
    """
    expected = None if signer is None else check_key(signer)
    limit = TimeLimit(seconds)
    with open_bundle(path) as bundle, Progress("Checking", is_quiet=quiet, as_json=as_json) as progress:
        progress.report_item("the signature")
        signature = check_signature(bundle, expected)
        found = verify_bundle(bundle, repeat=repeat, more=more, limit=limit, report=progress.report_item)
        checks = [signature, *(attribute_statements(found) if signature.result == "matched" else found)]
    counts: Counter[Result] = Counter(check.result for check in checks)
    outcome = find_outcome(counts)
    if as_json:
        found = [{"item": check.item, "result": check.result, "detail": check.detail} for check in checks]
        reply = {
            "bundle": str(path),
            "ok": outcome == "all matched",
            "outcome": outcome,
            "exit_code": EXIT_CODES[outcome],
            "counts": {name: counts[name] for name in _STYLES},
            "checks": found,
        }
        print_json(reply)
    else:
        _print_checks(checks, counts, outcome)
    return EXIT_CODES[outcome]


def find_outcome(counts: Mapping[Result, int]) -> Outcome:
    """Return the outcome of a verification with these numbers of results."""
    if counts.get("differs"):
        return "differs"
    return "some not checked" if counts.get("not repeated") or counts.get("not checked") else "all matched"


def _print_checks(checks: Sequence[Check], counts: "Counter[Result]", outcome: Outcome) -> None:
    page = Page()
    rows: list[tuple[Piece, Piece]] = []
    for check in checks:
        rows.append((StyledText(_STYLES[check.result], check.result), StyledText(BOLD, check.item)))
        rows.append(("", check.detail))
    page.write_table(rows, indent=0, last_cell="wrapped")
    stated = f"{counts['stated by the signer']} stated by the signer, " if counts["stated by the signer"] else ""
    page.write_line()
    page.write_message(
        f"{plural(len(checks), 'check')}: {counts['matched']} matched, "
        f"{counts['differs']} {'differs' if counts['differs'] == 1 else 'differ'}, "
        f"{stated}{counts['not repeated']} not repeated, {counts['not checked']} not checked."
    )
    page.write_message(_OUTCOMES[outcome])


def print_key(*, create: bool, as_json: bool) -> None:
    """Print the public key of the person, after creating it if asked.

    Raise KeyMissing, InvalidKey, AlreadyExists, Unwritable or MissingExtra.
    """
    key = create_key() if create else read_public_key()
    print_json({"key": key}) if as_json else Page().write_line(key)
