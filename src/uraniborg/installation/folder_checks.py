"""Check that folders are usable and private, and that databases, universes and shelves are intact."""

import os
import shutil
import sqlite3
import stat
import tempfile
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Final

from uraniborg.installation.backup_archive import copy_file, find_database_damage
from uraniborg.installation.folders_and_settings import PART_CONFIGS, SQLITE, InstallationPath, list_locations
from uraniborg.installation.replies import Checks, InstallationCheck, Status
from uraniborg.kernel.errors import UraniborgError
from uraniborg.kernel.language.messages import plural
from uraniborg.kernel.redaction import is_sensitive
from uraniborg.kernel.settings import HOME, OriginKind
from uraniborg.kernel.store.files import display_path

_OTHERS: Final = 0o077
_LOW_BYTES: Final = 1_000_000_000
_LEAST_BYTES: Final = 100_000_000


def check_folders() -> Checks:
    """Check permissions and free space, and whether a restore was interrupted."""
    from uraniborg.installation.backup import find_interrupted_restore

    if find_interrupted_restore():
        remedy = (
            "Stop all servers, and run the same `uraniborg restore FILE --replace` again: it completes the restore."
        )
        yield InstallationCheck(
            "folders", "restore", "failure", "a restore was interrupted while it moved data", remedy
        )
    locations = [location for location in list_locations() if not location.files]
    for location in locations:
        yield _check_location(location)
    yield from _check_unused_workflows(locations)
    yield from _check_free_space(locations)


def _check_location(location: InstallationPath) -> InstallationCheck:
    def report(status: Status, detail: str, hint: str = "") -> InstallationCheck:
        return InstallationCheck("folders", location.name, status, f"{path} {detail}", hint)

    path = location.path
    try:
        found = path.stat()
    except FileNotFoundError:
        return report("note", "does not exist yet")
    except OSError as exc:
        return report("failure", f"cannot be used: {exc.strerror}", _make_access_command(path))
    if location.is_folder and not path.is_dir():
        return report("failure", "is a file, but must be a folder", "Move the file away.")
    if not _is_usable(path, found):
        return report("failure", f"cannot be read or written (mode {_format_mode(found)})", _make_access_command(path))
    if os.name != "nt" and (location.name != "config" or _has_secret_from_file()):
        open_to_others = [one for one in _list_paths(location) if one.lstat().st_mode & _OTHERS]
        if open_to_others:
            first = open_to_others[0]
            more = f" and {plural(len(open_to_others) - 1, 'other')}" if len(open_to_others) > 1 else ""
            detail = f"is open to other users: {first.name} has mode {_format_mode(first.lstat())}{more}"
            return report("warning", detail, f"chmod {'' if open_to_others == [path] else '-R '}go= '{path}'")
    return report("ok", f"({location.size / 1e6:,.1f} MB)")


def _has_secret_from_file() -> bool:
    """Return True if a key or token of any part comes from the settings file. Raise InvalidConfig."""
    return any(
        row.value and row.origin.kind is OriginKind.FILE and is_sensitive(row.name.rpartition(".")[2])
        for module in PART_CONFIGS.values()
        for row in import_module(module).read_config().list_rows()
    )


def _list_paths(location: InstallationPath) -> Iterator[Path]:
    """Yield the folder or file, and the databases in it."""
    yield location.path
    if location.is_folder and location.name in ("sessions", "universes", "workflows"):
        for folder, _, files in os.walk(location.path):
            for name in files:
                path = Path(folder) / name
                if path.suffix in (".db", ".mark") and not path.is_symlink():
                    yield path


def _is_usable(path: Path, found: os.stat_result) -> bool:
    wanted = stat.S_IRWXU if stat.S_ISDIR(found.st_mode) else stat.S_IRUSR | stat.S_IWUSR
    is_granted = os.name == "nt" or found.st_uid != os.geteuid() or found.st_mode & wanted == wanted
    return is_granted and os.access(path, os.R_OK | os.W_OK)


def _make_access_command(path: Path) -> str:
    return f"chmod -R u+rwX '{path}', and check that it belongs to you"


def _format_mode(found: os.stat_result) -> str:
    return f"{stat.S_IMODE(found.st_mode):03o}"


def _check_unused_workflows(locations: list[InstallationPath]) -> Checks:
    """Warn if URANIBORG_HOME hides workflows in the folder that is used without it."""
    usual = Path("~/.pflow").expanduser()
    used = next(one.path for one in locations if one.name == "workflows")
    if os.environ.get(HOME) and used != usual and not used.exists() and usual.exists():
        detail = f"{display_path(usual)} has workflows that are not used: {HOME} is set"
        yield InstallationCheck(
            "folders", "workflows", "warning", detail, f"Move them: mv '{usual}' '{used}'. Or set PFLOW_HOME."
        )


def _check_free_space(locations: list[InstallationPath]) -> Checks:
    disks: dict[int, Path] = {}
    for location in sorted(locations, key=lambda one: one.name != "data"):
        existing = next(path for path in (location.path, *location.path.absolute().parents) if path.exists())
        disks.setdefault(existing.stat().st_dev, existing)
    for path in disks.values():
        free = shutil.disk_usage(path).free
        detail = f"{free / 1e9:,.1f} GB on the disk of {path}"
        remedy = "Delete files that you do not need: the cache can be deleted, and writes fail on a full disk."
        if free < _LEAST_BYTES:
            yield InstallationCheck("folders", "free space", "failure", detail, remedy)
        elif free < _LOW_BYTES:
            yield InstallationCheck("folders", "free space", "warning", detail, remedy)
        else:
            yield InstallationCheck("folders", "free space", "ok", detail)


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
            yield InstallationCheck("databases", location.name, "failure", f"{display_path(path)}: {problem}", _RESTORE)
        if files and not damaged:
            yield InstallationCheck("databases", location.name, "ok", f"{plural(len(files), 'database')}, intact")


def check_universes() -> Checks:
    """Replay the logs in a copy of the database, and compare them with their digests, snapshots and marks."""
    from universe.config import load_config

    address = load_config().database_address
    if not address.startswith(SQLITE):
        yield InstallationCheck("universes", "logs", "note", "in another database", "universe verify")
        return
    database = Path(address.removeprefix(SQLITE)).expanduser()
    if not database.exists():
        yield InstallationCheck("universes", "logs", "note", "no universe yet")
        return
    with tempfile.TemporaryDirectory() as folder:
        free = shutil.disk_usage(folder).free
        if free < 2 * database.stat().st_size:
            detail = f"not checked: the copy needs more than the {free / 1e9:,.1f} GB that are free"
            yield InstallationCheck(
                "universes", "logs", "warning", detail, "Free disk space, or run `universe verify`."
            )
            return
        yield from _check_copy_of_universes(database, Path(folder))


def _check_copy_of_universes(database: Path, folder: Path) -> Checks:
    from universe.cli.common import run_with_service
    from universe.service.verification import verify_universes

    copy = folder / database.name
    try:
        marks = database.with_name(f"{database.name}.mark")
        if marks.exists():  # first: the marks must not be newer than the logs
            shutil.copyfile(marks, copy.with_name(marks.name))
        copy_file(database, copy)
        verdicts = run_with_service(f"{SQLITE}{copy}", lambda service: verify_universes(service, None, None))
    except sqlite3.Error as exc:
        yield InstallationCheck("universes", "logs", "failure", f"{display_path(database)}: {exc}", _RESTORE)
        return
    for verdict in verdicts:
        if not verdict.is_intact:
            first = verdict.problems[0]
            detail = f"version {first['sequence']}: {first['problem']}"
            yield InstallationCheck(
                "universes", verdict.universe_id, "failure", detail, f"universe verify {verdict.universe_id}"
            )
    intact = sum(verdict.is_intact for verdict in verdicts)
    if intact or not verdicts:
        yield InstallationCheck("universes", "logs", "ok", f"{plural(intact, 'universe')} replayed, intact")


def check_shelves() -> Checks:
    """Compare every file of the shelf in the settings, and of those that were built, with its digest."""
    from paper_library.service.shelf_catalog import list_known_shelves

    shelves = list_known_shelves()
    for shelf in shelves:
        yield _check_shelf(shelf.path)
    if not shelves:
        yield InstallationCheck(
            "shelves", "shelf", "note", "no shelf is set", "Set library.shelf, or name a shelf in each command."
        )


def _check_shelf(shelf: Path) -> InstallationCheck:
    from paper_library.store.verification import verify_shelf

    try:
        verdict = verify_shelf(shelf)
    except UraniborgError as exc:
        return InstallationCheck("shelves", shelf.name, "failure", exc.message, exc.hint)
    if verdict.is_intact:
        detail = f"{display_path(shelf)}: {plural(verdict.papers, 'paper')}, intact"
        return InstallationCheck("shelves", shelf.name, "ok", detail)
    remedy = f"Build it again, or restore it. All problems: paper-library verify '{shelf}'"
    return InstallationCheck("shelves", shelf.name, "failure", f"{display_path(shelf)}: {verdict.problems[0]}", remedy)
