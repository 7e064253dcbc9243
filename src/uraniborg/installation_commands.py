"""Print doctor, paths, settings, backup and restore for people."""

import json
import sys
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from uraniborg.doctor import Check, run_checks
from uraniborg.installation_facts import describe_origin, list_location_facts, list_setting_facts
from uraniborg.kernel.actors import describe_actor, get_terminal_actor, read_actor
from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.files import display_path
from uraniborg.kernel.progress import ReportItem
from uraniborg.kernel.text import plural
from uraniborg.locations import PART_CONFIGS, SQLITE, list_locations

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
    for topic in dict.fromkeys(check.topic for check in checks):
        console.print(f"\n{topic}", style="bold")
        _print_checks(console, [check for check in checks if check.topic == topic])
    warned = sum(check.status == "warning" for check in checks)
    console.print(f"\n{plural(len(checks), 'check')}: {plural(failed, 'failure')}, {plural(warned, 'warning')}.")
    return _FAILED if failed else 0


def _print_checks(console: Console, checks: list[Check]) -> None:
    grid = Table.grid(padding=(0, 1))
    grid.add_column(width=4)
    grid.add_column(min_width=16, no_wrap=True)
    grid.add_column(overflow="fold")
    for check in checks:
        mark, style = _MARKS[check.status]
        detail = Text(check.detail)
        if check.hint:
            detail.append(f"\n{check.hint}", style="dim")
        grid.add_row(Text(f"  {mark}", style=style), Text(check.name), detail)
    console.print(grid)


def print_locations(*, as_json: bool) -> None:
    """Print every folder and file of the installation with its purpose, its size and the origin of its path."""
    if as_json:
        sys.stdout.write(json.dumps(list_location_facts()) + "\n")
        return
    for location in list_locations():
        size = f"{location.size / 1e6:,.1f} MB" if location.path.exists() else "does not exist yet"
        about = f"{location.purpose} ({size}; from: {describe_origin(location.origin)['origin']})"
        sys.stdout.write(f"{location.name:<10} {location.display_text}\n{'':<10} {about}\n")


def print_settings(part: str | None, *, include_defaults: bool, as_json: bool) -> None:
    """Print the settings of one part or of all, with their origins. Raise InvalidInput or InvalidConfig."""
    if part is not None and part not in PART_CONFIGS:
        raise InvalidInput(f"There is no part '{part}'.", hint=f"Parts: {', '.join(PART_CONFIGS)}.")
    rows = list_setting_facts(part, include_defaults=include_defaults)
    if as_json:
        sys.stdout.write(json.dumps(rows) + "\n")
        return
    console = Console(highlight=False, soft_wrap=True)
    if not rows:
        console.print("Every setting has its default. `uraniborg settings --all` lists them.")
        return
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("setting", no_wrap=True)
    table.add_column("value", overflow="fold")
    table.add_column("from", overflow="fold")
    for row in rows:
        table.add_row(*(Text(_format_value(row[key])) for key in ("setting", "value", "origin")))
    console.print(table)


def _format_value(value: Any) -> str:
    if value is None or value in ([], {}):
        return "-"
    return value if isinstance(value, str) else json.dumps(value)


def write_and_print_backup(file: Path, *, replace: bool, as_json: bool, quiet: bool) -> None:
    """Write a backup and print its contents. Raise AlreadyExists, Unwritable or Unreadable."""
    from uraniborg.backup import write_backup

    report_file = _make_progress_printer("Adding", quiet=quiet or as_json)
    manifest = write_backup(file, replace=replace, report_file=report_file, actor=get_terminal_actor())
    _print_archive_summary("Wrote", file, manifest, as_json=as_json)
    if not as_json:
        _print_exclusions()


def restore_and_print_backup(file: Path, *, replace: bool, as_json: bool, quiet: bool) -> None:
    """Restore a backup and print its contents. Raise InvalidBackup, Conflict, NotFound or Unavailable."""
    from uraniborg.restore import restore_backup

    report_file = _make_progress_printer("Restoring", quiet=quiet or as_json)
    manifest = restore_backup(file, replace=replace, report_file=report_file, actor=get_terminal_actor())
    _print_archive_summary("Restored", file, manifest, as_json=as_json)


def _print_archive_summary(verb: str, file: Path, manifest: dict[str, Any], *, as_json: bool) -> None:
    files = manifest["files"]
    total = sum(one["bytes"] for one in files.values())
    if as_json:
        summary = {key: manifest.get(key) for key in ("format", "version", "created_at", "actor")}
        sys.stdout.write(json.dumps({"file": str(file), **summary, "files": len(files), "bytes": total}) + "\n")
        return
    sys.stdout.write(f"{verb} {display_path(file)}: {plural(len(files), 'file')}, {total / 1e6:,.1f} MB of data.\n")
    sys.stdout.write(f"Backed up by {describe_actor(read_actor(manifest.get('actor')))}.\n")


def _print_exclusions() -> None:
    """Print which configured data a backup does not hold."""
    from paper_library.config import load_config as load_library_config
    from universe.config import load_config as load_universe_config
    from uraniborg.backup_archive import SETTINGS, list_backup_roots
    from uraniborg.kernel.settings import data_dir

    places = {location.name: location.path.absolute() for location in list_locations()}
    data = data_dir().absolute()
    shelf = load_library_config().shelf
    if shelf and not shelf.expanduser().absolute().is_relative_to(data):
        sys.stdout.write(f"Not included: the shelf {display_path(shelf)}. Copy its folder.\n")
    if not load_universe_config().database_address.startswith(SQLITE):
        sys.stdout.write("Not included: the universes in PostgreSQL. Use pg_dump.\n")
    elif not places["universes"].is_relative_to(data):
        file = display_path(places["universes"])
        sys.stdout.write(f"Not included: the universes in {file}. Copy it with `sqlite3 {file} '.backup COPY'`.\n")
    if places["config"].exists() and places["config"] != list_backup_roots()[SETTINGS]:
        sys.stdout.write(f"Not included: the settings file {display_path(places['config'])}. Copy it.\n")


def _make_progress_printer(verb: str, *, quiet: bool) -> ReportItem:
    """Return a function that prints the current file on stderr if it is a terminal."""
    if quiet or not sys.stderr.isatty():
        return lambda _: None

    def print_progress(name: str) -> None:
        sys.stderr.write(f"\r\x1b[K{verb} {name[-60:]}")
        sys.stderr.flush()

    return print_progress
