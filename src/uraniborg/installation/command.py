"""`uraniborg doctor`, `paths`, `settings`, `backup`, `restore` and `changes`, printed for people."""

import json
import sys
from collections.abc import Iterable, Iterator
from heapq import merge
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypedDict

from uraniborg.installation.doctor import InstallationCheck, run_checks
from uraniborg.installation.folders_and_settings import (
    PART_CONFIGS,
    SQLITE,
    describe_origin,
    list_location_facts,
    list_locations,
    list_setting_facts,
)
from uraniborg.kernel.actors import describe_actor, get_terminal_actor, read_actor
from uraniborg.kernel.errors import InvalidInput, UraniborgError, as_error
from uraniborg.kernel.language.messages import plural
from uraniborg.kernel.settings import data_dir
from uraniborg.kernel.store.audit_log import FILE, LoggedChange, read_changes
from uraniborg.kernel.store.files import display_path
from uraniborg.kernel.terminal.output_streams import print_json
from uraniborg.kernel.terminal.page import Page
from uraniborg.kernel.terminal.progress import Progress
from uraniborg.kernel.terminal.styled_text import DIM, GREEN, RED, YELLOW, Piece, StyledText

if TYPE_CHECKING:
    from uraniborg.installation.backup_archive import BackupManifest
    from uraniborg.installation.replies import ArchiveSummary, CheckList


_MARKS: Final = {"ok": ("ok", GREEN), "note": ("--", DIM), "warning": ("!!", YELLOW), "failure": ("XX", RED)}
_FAILED: Final = 4
_NAME_COLUMNS: Final = 16


def run_and_print_checks(*, online: bool, as_json: bool, quiet: bool) -> int:
    """Run the checks of `doctor`, print them, and return the exit code."""
    with Progress("Checking", is_quiet=quiet, as_json=as_json) as progress:
        checks = list(run_checks(online=online, report_topic=progress.report_item))
    failed = sum(check.status == "failure" for check in checks)
    if as_json:
        reply: CheckList = {"ok": not failed, "checks": [check.as_dict() for check in checks]}
        print_json(reply)
        return _FAILED if failed else 0
    page = Page()
    for topic in dict.fromkeys(check.topic for check in checks):
        page.write_heading(topic)
        page.write_table(_list_rows(check for check in checks if check.topic == topic), last_cell="wrapped")
    warned = sum(check.status == "warning" for check in checks)
    page.write_line()
    page.write_line(f"{plural(len(checks), 'check')}: {plural(failed, 'failure')}, {plural(warned, 'warning')}.")
    return _FAILED if failed else 0


def _list_rows(checks: Iterable[InstallationCheck]) -> Iterator[tuple[Piece, ...]]:
    """Yield a row for each check, and one for its hint."""
    for check in checks:
        mark, style = _MARKS[check.status]
        yield StyledText(style, mark), f"{check.name:<{_NAME_COLUMNS}}", check.detail
        if check.hint:
            yield "", "", StyledText(DIM, check.hint)


def print_locations(*, as_json: bool) -> None:
    """Print every folder and file of the installation with its purpose, its size and the origin of its path."""
    if as_json:
        print_json(list_location_facts())
        return
    page = Page()
    for location in list_locations():
        size = f"{location.size / 1e6:,.1f} MB" if location.path.exists() else "does not exist yet"
        about = f"{location.purpose} ({size}; from: {describe_origin(location.origin)['origin']})"
        page.write_line(f"{location.name:<10} {location.display_text}")
        page.write_message(" " * 11, about)


def print_settings(part: str | None, *, include_defaults: bool, as_json: bool) -> None:
    """Print the settings of one part or of all, with their origins. Raise InvalidInput or InvalidConfig."""
    if part is not None and part not in PART_CONFIGS:
        raise InvalidInput(f"There is no part '{part}'.", hint=f"Parts: {', '.join(PART_CONFIGS)}.")
    rows = list_setting_facts(part, include_defaults=include_defaults)
    if as_json:
        print_json(rows)
        return
    page = Page()
    if not rows:
        page.write_line("Every setting has its default. `uraniborg settings --all` lists them.")
        return
    cells = [[_format_value(row[key]) for key in ("setting", "value", "origin")] for row in rows]
    page.write_table(cells, headings=("setting", "value", "from"), indent=0, last_cell="wrapped", inner_cells="wrapped")


def _format_value(value: Any) -> str:
    if value is None or value in ([], {}):
        return "-"
    return value if isinstance(value, str) else json.dumps(value)


def write_and_print_backup(file: Path, *, replace: bool, as_json: bool, quiet: bool) -> None:
    """Write a backup and print its contents. Raise AlreadyExists, Unwritable or Unreadable."""
    from uraniborg.installation.backup import write_backup

    with Progress("Adding", is_quiet=quiet, as_json=as_json) as progress:
        manifest = write_backup(file, replace=replace, report_file=progress.report_item, actor=get_terminal_actor())
    _print_archive_summary("Wrote", file, manifest, as_json=as_json)
    if not as_json:
        _print_exclusions()


def restore_and_print_backup(file: Path, *, replace: bool, as_json: bool, quiet: bool) -> None:
    """Restore a backup and print its contents. Raise InvalidBackup, Conflict, NotFound or Unavailable."""
    from uraniborg.installation.backup import restore_backup

    with Progress("Restoring", is_quiet=quiet, as_json=as_json) as progress:
        manifest = restore_backup(file, replace=replace, report_file=progress.report_item, actor=get_terminal_actor())
    _print_archive_summary("Restored", file, manifest, as_json=as_json)


def _print_archive_summary(verb: str, file: Path, manifest: "BackupManifest", *, as_json: bool) -> None:
    files = manifest["files"]
    total = sum(one["bytes"] for one in files.values())
    if as_json:
        summary: ArchiveSummary = {
            "file": str(file),
            "format": manifest["format"],
            "version": manifest["version"],
            "created_at": manifest["created_at"],
            "actor": manifest.get("actor"),
            "files": len(files),
            "bytes": total,
        }
        print_json(summary)
        return
    page = Page()
    page.write_line(f"{verb} {display_path(file)}: {plural(len(files), 'file')}, {total / 1e6:,.1f} MB of data.")
    page.write_line(f"Backed up by {describe_actor(read_actor(manifest.get('actor')))}.")


def _print_exclusions() -> None:
    """Print which configured data a backup does not hold."""
    from paper_library.config import load_config as load_library_config
    from universe.config import load_config as load_universe_config
    from uraniborg.installation.backup_archive import SETTINGS, list_backup_roots
    from uraniborg.kernel.settings import data_dir

    page = Page()
    places = {location.name: location.path.absolute() for location in list_locations()}
    data = data_dir().absolute()
    shelf = load_library_config().shelf
    if shelf and not shelf.expanduser().absolute().is_relative_to(data):
        page.write_line(f"Not included: the shelf {display_path(shelf)}. Copy its folder.")
    if not load_universe_config().database_address.startswith(SQLITE):
        page.write_line("Not included: the universes in PostgreSQL. Use pg_dump.")
    elif not places["universes"].is_relative_to(data):
        file = display_path(places["universes"])
        page.write_line(f"Not included: the universes in {file}. Copy it with `sqlite3 {file} '.backup COPY'`.")
    if places["config"].exists() and places["config"] != list_backup_roots()[SETTINGS]:
        page.write_line(f"Not included: the settings file {display_path(places['config'])}. Copy it.")


_WORKFLOW_CHANGES: Final = {
    "write": "workflow written",
    "cancel": "run cancelled",
    "resume": "run resumed",
    "schedule": "workflow scheduled",
    "unschedule": "schedule removed",
    "connect": "MCP server added",
    "disconnect": "MCP server removed",
}


class ChangePage(TypedDict):
    """The last changes, the last one first, and what could not be read."""

    changes: list[LoggedChange]
    problems: list[str]


def list_changes(limit: int) -> ChangePage:
    """Return the last changes of the log and of the record of workflows. A part that cannot be read is a problem."""
    found, problems = _read_log()
    try:
        of_workflows = _read_workflow_changes()
    except (UraniborgError, OSError) as exc:
        of_workflows = []
        problems.append(f"The changes of workflows cannot be read: {as_error(exc).message}")
    # Each record has an order of its own, whatever the clock said: the times only tell how to join them.
    joined = merge(reversed(found), reversed(of_workflows), key=lambda change: change["at"], reverse=True)
    return {"changes": list(islice(joined, limit)), "problems": problems}


def print_changes(limit: int, *, as_json: bool) -> None:
    """Print the last changes, the last one first."""
    page = list_changes(limit)
    if as_json:
        print_json(page)
        return
    out = Page()
    for change in page["changes"]:
        _print_change(out, change)
    if not page["changes"]:
        out.write_line("No change is recorded yet.")
    elif len(page["changes"]) == limit:
        out.write_line(StyledText(DIM, f"There may be more: uraniborg changes --limit {2 * limit}"))
    for problem in page["problems"]:
        Page(sys.stderr).write_message(problem)


def _print_change(page: Page, change: LoggedChange) -> None:
    details = "; ".join(f"{name.replace('_', ' ')}: {value}" for name, value in change["details"].items())
    actor = read_actor(change["actor"])
    how = f", authenticated by {actor.authenticated}" if actor and actor.authenticated != "none" else ""
    page.write_line(f"{change['at'][:19]}Z  {change['change']}  {change['subject']}")
    page.write_line(StyledText(DIM, f"    by {describe_actor(actor)}{how}{f'; {details}' if details else ''}"))


def _read_log() -> tuple[list[LoggedChange], list[str]]:
    try:
        found, damaged = read_changes()
    except OSError as exc:
        return [], [f"The log of changes cannot be read: {as_error(exc).message}"]
    left_out = f"{plural(damaged, 'line')} of {data_dir() / FILE} cannot be read and are left out."
    return found, [left_out] if damaged else []


def _read_workflow_changes() -> list[LoggedChange]:
    from pflow.config import load_settings
    from pflow.service.history import ChangeRecord

    home = load_settings().home.expanduser()
    if not (home / "runs.db").exists():
        return []
    return [
        {
            "at": one.at,
            "change": _WORKFLOW_CHANGES.get(one.change, one.change),
            "subject": one.subject,
            "actor": one.actor.model_dump() if one.actor else None,
            "details": {},
        }
        for one in ChangeRecord(home).list_all()
    ]
