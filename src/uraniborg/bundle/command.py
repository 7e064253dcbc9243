"""The commands `uraniborg export` and `uraniborg verify`."""

import asyncio
import json
import shlex
import sys
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from uraniborg.bundle.checks import Check
from uraniborg.bundle.export import Selection, collect_files
from uraniborg.bundle.pieces import BundleFile, Chosen, make_title
from uraniborg.bundle.reader import open_bundle
from uraniborg.bundle.verification import verify_bundle
from uraniborg.bundle.writer import check_target, write_bundle
from uraniborg.kernel.progress import ReportItem
from uraniborg.kernel.text import plural

_STYLES: Final = {"matched": "green", "differs": "red", "not repeated": "dim"}
_DIFFERS: Final = 1
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
    as_json: bool,
    quiet: bool,
) -> None:
    """Write a bundle of the work with these ids, by the names of `Selection`; without ids, of `read_default`.

    Raise UsageError, the errors of the parts for ids that do not exist, and those of `read_default` and `write_bundle`.
    """
    check_target(target, replace=replace)
    report = make_progress_printer("Exporting", quiet=quiet or as_json)
    selection = Selection(**{name: [Chosen(one) for one in dict.fromkeys(ids or ())] for name, ids in chosen.items()})
    if selection.is_empty:
        files = asyncio.run(read_default(report))
    else:
        wanted = title or make_title({name: len(dict.fromkeys(ids or ())) for name, ids in chosen.items()})
        files = asyncio.run(collect_files(selection, title=wanted, folder=Path.cwd(), report=report))
    write_bundle(target, files, replace=replace)
    report("")
    print_bundle(target, files, as_json=as_json)


def print_bundle(target: Path, files: Sequence[BundleFile], *, as_json: bool) -> None:
    """Print what was written."""
    size = sum(len(one.content) for one in files)
    if as_json:
        listed = [{"path": one.path, "description": one.description, "bytes": len(one.content)} for one in files]
        sys.stdout.write(json.dumps({"bundle": str(target), "bytes": size, "files": listed}) + "\n")
        return
    sys.stdout.write(
        f"Wrote {target}: {plural(len(files), 'file')}, {size / 1e6:.2g} MB.\n"
        f"Check it: uraniborg verify {shlex.quote(str(target))}\n"
    )


def verify_and_print(path: Path, *, repeat: bool, as_json: bool, quiet: bool) -> int:
    """Verify a bundle, print all checks, and return 0 if nothing differs, else 1.

    Raise BundleMissing or InvalidBundle.
    """
    report = make_progress_printer("Checking", quiet=quiet or as_json)
    with open_bundle(path) as bundle:
        checks = list(verify_bundle(bundle, repeat=repeat, report=report))
    report("")
    counts = Counter(check.result for check in checks)
    if as_json:
        found = [{"item": check.item, "result": check.result, "detail": check.detail} for check in checks]
        reply = {"bundle": str(path), "ok": not counts["differs"], "counts": dict(counts), "checks": found}
        sys.stdout.write(json.dumps(reply) + "\n")
    else:
        _print_checks(checks, counts)
    return _DIFFERS if counts["differs"] else 0


def _print_checks(checks: Sequence[Check], counts: "Counter[str]") -> None:
    console = Console(highlight=False)
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for check in checks:
        about = Text.assemble((check.item, "bold"), f"\n{check.detail}")
        table.add_row(Text(check.result, _STYLES[check.result]), about)
    console.print(table)
    console.print(
        f"\n{plural(len(checks), 'check')}: {counts['matched']} matched, "
        f"{counts['differs']} {'differs' if counts['differs'] == 1 else 'differ'}, "
        f"{counts['not repeated']} not repeated."
    )


def make_progress_printer(verb: str, *, quiet: bool) -> ReportItem:
    """Return a function that prints the current item on stderr if it is a terminal; an empty text clears the line."""
    if quiet or not sys.stderr.isatty():
        return lambda _: None

    def print_progress(item: str) -> None:
        sys.stderr.write(f"\r\x1b[K{verb} {item[-60:]}" if item else "\r\x1b[K")
        sys.stderr.flush()

    return print_progress
