"""Check that databases, universes and shelves are intact. No file is changed, and servers may run."""

import shutil
import sqlite3
import tempfile
from pathlib import Path
from typing import Final

from uraniborg.database_files import copy_file, find_database_damage
from uraniborg.doctor.check import Check, Checks
from uraniborg.kernel.errors import UraniborgError
from uraniborg.kernel.files import display_path
from uraniborg.kernel.text import plural
from uraniborg.locations import SQLITE, list_locations

_CHECKED: Final = ("sessions", "inbox", "universes", "workflows")
_RESTORE: Final = "Stop all servers, and restore it from a backup: uraniborg restore FILE --replace"


def check_databases() -> Checks:
    """Check the structure of every database of sessions, the inbox, universes and runs."""
    for location in list_locations():
        if location.name not in _CHECKED or not location.path.exists():
            continue
        files = [location.path] if location.path.is_file() else sorted(location.path.rglob("*.db"))
        damaged = {path: problem for path in files if (problem := find_database_damage(path))}
        for path, problem in damaged.items():
            yield Check("databases", location.name, "failure", f"{display_path(path)}: {problem}", _RESTORE)
        if files and not damaged:
            yield Check("databases", location.name, "ok", f"{plural(len(files), 'database')}, intact")


def check_universes() -> Checks:
    """Replay the logs in a copy of the database, and compare them with their digests, snapshots and marks."""
    from universe.config import load_config

    address = load_config().database_address
    if not address.startswith(SQLITE):
        yield Check("universes", "logs", "note", "in another database", "universe verify")
        return
    database = Path(address.removeprefix(SQLITE)).expanduser()
    if not database.exists():
        yield Check("universes", "logs", "note", "no universe yet")
        return
    with tempfile.TemporaryDirectory() as folder:
        free = shutil.disk_usage(folder).free
        if free < 2 * database.stat().st_size:
            detail = f"not checked: the copy needs more than the {free / 1e9:,.1f} GB that are free"
            yield Check("universes", "logs", "warning", detail, "Free disk space, or run `universe verify`.")
            return
        yield from _check_copy_of_universes(database, Path(folder))


def _check_copy_of_universes(database: Path, folder: Path) -> Checks:
    from universe.cli.common import run_with_service
    from universe.verification import verify_universes

    copy = folder / database.name
    try:
        marks = database.with_name(f"{database.name}.mark")
        if marks.exists():  # first: the marks must not be newer than the logs
            shutil.copyfile(marks, copy.with_name(marks.name))
        copy_file(database, copy)
        verdicts = run_with_service(f"{SQLITE}{copy}", lambda service: verify_universes(service, None, None))
    except sqlite3.Error as exc:
        yield Check("universes", "logs", "failure", f"{display_path(database)}: {exc}", _RESTORE)
        return
    for verdict in verdicts:
        if not verdict.is_intact:
            first = verdict.problems[0]
            detail = f"version {first['sequence']}: {first['problem']}"
            yield Check("universes", verdict.universe_id, "failure", detail, f"universe verify {verdict.universe_id}")
    intact = sum(verdict.is_intact for verdict in verdicts)
    if intact or not verdicts:
        yield Check("universes", "logs", "ok", f"{plural(intact, 'universe')} replayed, intact")


def check_shelves() -> Checks:
    """Compare every file of the shelf in the settings, and of those that were built, with its digest."""
    from paper_library.shelf_catalog import list_known_shelves

    shelves = list_known_shelves()
    for shelf in shelves:
        yield _check_shelf(shelf.path)
    if not shelves:
        yield Check(
            "shelves", "shelf", "note", "no shelf is set", "Set library.shelf, or name a shelf in each command."
        )


def _check_shelf(shelf: Path) -> Check:
    from paper_library.store.verification import verify_shelf

    try:
        verdict = verify_shelf(shelf)
    except UraniborgError as exc:
        return Check("shelves", shelf.name, "failure", exc.message, exc.hint)
    if verdict.is_intact:
        detail = f"{display_path(shelf)}: {plural(verdict.papers, 'paper')}, intact"
        return Check("shelves", shelf.name, "ok", detail)
    remedy = f"Build it again, or restore it. All problems: paper-library verify '{shelf}'"
    return Check("shelves", shelf.name, "failure", f"{display_path(shelf)}: {verdict.problems[0]}", remedy)
