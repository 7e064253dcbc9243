"""The output of the commands about the installation: doctor, paths, settings, backup and restore."""

import json
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from uraniborg.doctor import Check, run_checks
from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.files import display_path
from uraniborg.kernel.settings import LoadedSettings, OriginKind
from uraniborg.kernel.text import plural

_CONFIGS: Final = {
    "search": "paper_search.config",
    "library": "paper_library.config",
    "universe": "universe.config",
    "pflow": "pflow.config",
    "decisions": "uraniborg.kernel.deciders",
}
_MARKS: Final = {"ok": ("ok", "green"), "note": ("--", "dim"), "warning": ("!!", "yellow"), "failure": ("XX", "red")}
_FAILED: Final = 4


def run_and_print_checks(*, online: bool, as_json: bool, quiet: bool) -> int:
    """Run the checks of `doctor`, print them, and return the exit code."""
    checks = list(run_checks(online=online, report_topic=_make_progress_printer("Checking", quiet=quiet or as_json)))
    failed = sum(check.status == "failure" for check in checks)
    if as_json:
        sys.stdout.write(json.dumps({"ok": not failed, "checks": [check.as_dict() for check in checks]}) + "\n")
        return _FAILED if failed else 0
    console = Console(highlight=False)
    topic = ""
    for check in checks:
        if check.topic != topic:
            topic = check.topic
            console.print(f"\n{topic}", style="bold")
        _print_check(console, check)
    warned = sum(check.status == "warning" for check in checks)
    console.print(f"\n{plural(len(checks), 'check')}: {plural(failed, 'failure')}, {plural(warned, 'warning')}.")
    return _FAILED if failed else 0


def _print_check(console: Console, check: Check) -> None:
    mark, style = _MARKS[check.status]
    grid = Table.grid(padding=(0, 1))
    grid.add_column(width=4)
    grid.add_column(width=18, overflow="fold")
    grid.add_column(overflow="fold")
    detail = Text(check.detail)
    if check.hint:
        detail.append(f"\n{check.hint}", style="dim")
    grid.add_row(Text(f"  {mark}", style=style), check.name, detail)
    console.print(grid)


def print_locations(*, as_json: bool) -> None:
    """Print every folder and file of the installation with its purpose and size."""
    from uraniborg.locations import list_locations

    locations = list_locations()
    if as_json:
        rows = {one.name: {"path": str(one.path), "exists": one.path.exists(), "bytes": one.size} for one in locations}
        sys.stdout.write(json.dumps(rows) + "\n")
        return
    for location in locations:
        size = f"{location.size / 1e6:,.1f} MB" if location.path.exists() else "does not exist yet"
        sys.stdout.write(f"{location.name:<10} {location.path}\n{'':<10} {location.purpose} ({size})\n")


def print_settings(part: str | None, *, include_defaults: bool, as_json: bool) -> None:
    """Print the settings of one part or of all, with their origins. Raise InvalidInput or InvalidConfig."""
    if part is not None and part not in _CONFIGS:
        raise InvalidInput(f"There is no part '{part}'.", hint=f"Parts: {', '.join(_CONFIGS)}.")
    rows: list[dict[str, Any]] = []
    for name, module in _CONFIGS.items():
        if part in (None, name):
            loaded: LoadedSettings[Any] = import_module(module).read_config()
            for row in loaded.list_rows():
                if include_defaults or row.origin.kind is not OriginKind.DEFAULT:
                    value = row.value if isinstance(row.value, int | float | bool | None) else str(row.value)
                    rows.append({"setting": f"{loaded.section}.{row.name}", "value": value, "origin": str(row.origin)})
    if as_json:
        sys.stdout.write(json.dumps(rows) + "\n")
        return
    console = Console(highlight=False, soft_wrap=True)
    if not rows:
        console.print("Every setting has its default. `uraniborg settings --all` lists them.")
        return
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in ("setting", "value", "from"):
        table.add_column(heading, overflow="fold")
    for row in rows:
        table.add_row(row["setting"], "" if row["value"] is None else str(row["value"]), row["origin"])
    console.print(table)


def write_and_print_backup(file: Path, *, replace: bool, as_json: bool, quiet: bool) -> None:
    """Write a backup and print its contents. Raise AlreadyExists or Unwritable."""
    from uraniborg.backup import write_backup

    manifest = write_backup(file, replace=replace, report_file=_make_progress_printer("Adding", quiet=quiet or as_json))
    _print_archive_summary("Wrote", file, manifest, as_json=as_json)
    if not as_json:
        _print_exclusions()


def restore_and_print_backup(file: Path, *, replace: bool, as_json: bool, quiet: bool) -> None:
    """Restore a backup and print its contents. Raise InvalidBackup, Conflict or NotFound."""
    from uraniborg.backup import restore_backup

    manifest = restore_backup(
        file, replace=replace, report_file=_make_progress_printer("Restoring", quiet=quiet or as_json)
    )
    _print_archive_summary("Restored", file, manifest, as_json=as_json)


def _print_archive_summary(verb: str, file: Path, manifest: dict[str, Any], *, as_json: bool) -> None:
    files = manifest["files"]
    total = sum(one["bytes"] for one in files.values())
    if as_json:
        summary = {key: manifest[key] for key in ("format", "version", "created_at")}
        sys.stdout.write(json.dumps({"file": str(file), **summary, "files": len(files), "bytes": total}) + "\n")
        return
    sys.stdout.write(f"{verb} {display_path(file)}: {plural(len(files), 'file')}, {total / 1e6:,.1f} MB of data.\n")


def _print_exclusions() -> None:
    """Print which configured data a backup does not hold."""
    from paper_library.config import load_config as load_library_config
    from universe.config import load_config as load_universe_config

    if shelf := load_library_config().shelf:
        sys.stdout.write(f"Not included: the shelf {display_path(shelf)}. Copy its folder.\n")
    if not load_universe_config().database_address.startswith("sqlite:"):
        sys.stdout.write("Not included: the universes in PostgreSQL. Use pg_dump.\n")


def _make_progress_printer(verb: str, *, quiet: bool) -> Callable[[str], None]:
    """Return a function that prints the current file on stderr if it is a terminal."""
    if quiet or not sys.stderr.isatty():
        return lambda _: None

    def print_progress(name: str) -> None:
        sys.stderr.write(f"\r\x1b[K{verb} {name[-60:]}")
        sys.stderr.flush()

    return print_progress
