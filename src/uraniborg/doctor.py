"""Checks of an installation: programs, folders, stored data, ports, clients and keys."""

import asyncio
import importlib.metadata
import importlib.util
import os
import platform
import re
import shutil
import socket
import sqlite3
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, Literal

from uraniborg.kernel.errors import UraniborgError
from uraniborg.kernel.files import display_path
from uraniborg.kernel.settings import data_dir
from uraniborg.kernel.text import plural
from uraniborg.kernel.version import version

Status = Literal["ok", "note", "warning", "failure"]
_EXTRAS: Final = {
    "mcp": ("mcp", "MCP servers"),
    "pdf": ("pypdf", "PDF files on shelves"),
    "llm": ("openai", "language models"),
    "postgres": ("asyncpg", "universes in PostgreSQL"),
    "dask": ("distributed", "workflow nodes on a cluster"),
    "nbody": ("heyoka", "faster N-body runs"),
}
_LEAST_FREE_BYTES: Final = 500_000_000
_QUERY: Final = "exoplanet atmospheres"


@dataclass(frozen=True)
class Check:
    """The result of one check."""

    topic: str
    name: str
    status: Status
    detail: str
    hint: str = ""

    def as_dict(self) -> dict[str, Any]:
        return {key: value for key, value in asdict(self).items() if value != ""}


def run_checks(*, online: bool = False, report_topic: Callable[[str], None] = lambda _: None) -> Iterator[Check]:
    """Yield the result of every check. With `online`, send one short query to each source."""
    topics: list[tuple[str, Callable[[], Iterator[Check]]]] = [
        ("programs", check_programs),
        ("folders", check_folders),
        ("databases", check_databases),
        ("universes", check_universes),
        ("shelf", check_shelf),
        ("ports", check_ports),
        ("clients", check_clients),
        ("keys", check_keys),
    ]
    if online:
        topics.append(("sources", check_sources))
    for topic, check in topics:
        report_topic(topic)
        try:
            yield from check()
        except UraniborgError as exc:
            yield Check(topic, topic, "failure", exc.message, exc.hint or "")


def check_programs() -> Iterator[Check]:
    """Check the versions of Python and of the installed dependencies."""
    yield Check("programs", "uraniborg", "ok", f"{version()} in {display_path(Path(sys.prefix))}")
    yield Check("programs", "python", "ok", f"{platform.python_version()} on {platform.platform(terse=True)}")
    missing, wrong = _find_unmet_requirements()
    if missing or wrong:
        detail = ", ".join([*(f"{name} is missing" for name in missing), *wrong])
        yield Check("programs", "dependencies", "failure", detail, "Install again: pip install --upgrade uraniborg")
    else:
        yield Check("programs", "dependencies", "ok", "all installed")
    for extra, (module, purpose) in _EXTRAS.items():
        if importlib.util.find_spec(module):
            yield Check("programs", f"extra {extra}", "ok", purpose)
        else:
            install = f"pip install 'uraniborg[{extra}]'"
            yield Check("programs", f"extra {extra}", "note", f"not installed: {purpose}", install)


def _find_unmet_requirements() -> tuple[list[str], list[str]]:
    from packaging.requirements import Requirement

    missing: list[str] = []
    wrong: list[str] = []
    for text in importlib.metadata.requires("uraniborg") or []:
        requirement = Requirement(text)
        if requirement.marker and not requirement.marker.evaluate({"extra": ""}):
            continue
        try:
            found = importlib.metadata.version(requirement.name)
        except importlib.metadata.PackageNotFoundError:
            missing.append(requirement.name)
            continue
        if not requirement.specifier.contains(found, prereleases=True):
            wrong.append(f"{requirement.name} is {found}, needed is {requirement.specifier}")
    return missing, wrong


def check_folders() -> Iterator[Check]:
    """Check that our folders are private and have free space."""
    from uraniborg.locations import list_locations
    from uraniborg.restore import find_interrupted_restore

    if find_interrupted_restore():
        remedy = (
            "Stop all servers, and run the same `uraniborg restore FILE --replace` again: it completes the restore."
        )
        yield Check("folders", "restore", "failure", "a restore was interrupted while it moved data", remedy)

    for location in list_locations():
        path = location.path
        if not path.exists():
            yield Check("folders", location.name, "note", f"{display_path(path)} does not exist yet")
            continue
        mode = stat.S_IMODE(path.stat().st_mode)
        if os.name != "nt" and mode & 0o077 and location.name != "config":
            detail = f"{display_path(path)} is open to others (mode {mode:o})"
            yield Check("folders", location.name, "warning", detail, f"chmod go= '{path}'")
        else:
            yield Check("folders", location.name, "ok", f"{display_path(path)}, {location.size / 1e6:,.1f} MB")
    existing = next(path for path in (data_dir(), *data_dir().parents) if path.exists())
    free = shutil.disk_usage(existing).free
    status: Status = "ok" if free > _LEAST_FREE_BYTES else "warning"
    hint = "" if status == "ok" else "Free some space: writes fail on a full disk."
    yield Check("folders", "free space", status, f"{free / 1e9:,.1f} GB at {existing}", hint)


def check_databases() -> Iterator[Check]:
    """Check the structure of every database of sessions, runs, the inbox and universes."""
    from uraniborg.locations import list_locations

    for location in list_locations():
        if location.name == "cache" or not location.path.exists():
            continue
        files = [location.path] if location.path.is_file() else sorted(location.path.rglob("*.db"))
        files = [path for path in files if path.suffix == ".db"]
        if not files:
            continue
        damaged = {path: problem for path in files if (problem := find_database_damage(path))}
        for path, problem in damaged.items():
            remedy = "Restore it from a backup: uraniborg restore FILE"
            yield Check("databases", location.name, "failure", f"{display_path(path)}: {problem}", remedy)
        if not damaged:
            yield Check("databases", location.name, "ok", f"{plural(len(files), 'database')}, intact")


def find_database_damage(path: Path) -> str | None:
    """Return the first problem that SQLite finds in a database, or None."""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=5)) as connection:
            (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.Error as exc:
        return str(exc)
    return None if found == "ok" else str(found)


def check_universes() -> Iterator[Check]:
    """Replay the log of every universe and compare it with its snapshots and marks."""
    from universe.cli.common import run_with_service
    from universe.config import load_config
    from universe.verification import verify_universes

    address = load_config().database_address
    if address.startswith("sqlite:///") and not Path(address.removeprefix("sqlite:///")).exists():
        yield Check("universes", "logs", "note", "no universe yet")
        return
    verdicts = run_with_service(None, lambda service: verify_universes(service, None, None, quiet=True))
    for verdict in verdicts:
        if not verdict.is_intact:
            remedy = f"universe verify {verdict.universe_id}"
            yield Check("universes", verdict.universe_id, "failure", str(verdict.problems[0]), remedy)
    intact = sum(verdict.is_intact for verdict in verdicts)
    if intact or not verdicts:
        yield Check("universes", "logs", "ok", f"{plural(intact, 'universe')} replayed, intact")


def check_shelf() -> Iterator[Check]:
    """Verify the shelf that the settings name."""
    from paper_library.config import load_config
    from paper_library.store.verification import verify_shelf

    shelf = load_config().shelf
    if shelf is None:
        yield Check("shelf", "shelf", "note", "no shelf is set", "Set library.shelf, or name a shelf in each command.")
        return
    verdict = verify_shelf(shelf)
    if verdict.is_intact:
        yield Check("shelf", "shelf", "ok", f"{display_path(shelf)}: {plural(verdict.papers, 'paper')}, intact")
    else:
        yield Check("shelf", "shelf", "failure", verdict.problems[0], f"paper-library verify '{shelf}'")


def check_ports() -> Iterator[Check]:
    """Check whether the ports of the servers are free, or answered by the right server."""
    from paper_library.config import load_config as load_library_config
    from universe.config import load_config as load_universe_config

    for name, config in (("paper-library", load_library_config()), ("universe", load_universe_config())):
        with closing(socket.socket()) as probe:
            probe.settimeout(1)
            is_taken = probe.connect_ex((config.host, config.port)) == 0
        detail = f"port {config.port} is {'in use: a server answers there' if is_taken else 'free'}"
        yield Check("ports", name, "ok", detail)


def check_clients() -> Iterator[Check]:
    """List the installed clients and which of our servers they know."""
    from uraniborg.connect.client_file import read_server_names
    from uraniborg.connect.clients import list_clients
    from uraniborg.connect.servers import list_servers

    ours = [server.name for server in list_servers()]
    installed = [client for client in list_clients() if client.is_installed]
    for client in installed:
        known = [name for name in read_server_names(client) if name in ours]
        if known:
            yield Check("clients", client.name, "ok", f"connected to {', '.join(known)}")
        else:
            yield Check("clients", client.name, "note", "not connected", f"uraniborg connect {client.name}")
    if not installed:
        yield Check("clients", "clients", "note", "no MCP client was found", "uraniborg connect --print")


def check_keys() -> Iterator[Check]:
    """List which keys are set and where, never their values."""
    from paper_search.config import read_config

    loaded = read_config()
    for row in loaded.list_rows():
        if re.search(r"(^|\.)api_key$", row.name):
            is_set = bool(row.value)
            detail = f"set by {row.origin}" if is_set else "not set"
            yield Check("keys", row.name, "ok" if is_set else "note", detail)


def check_sources() -> Iterator[Check]:
    """Send one short query to each source that searches use."""
    import paper_search

    collection = asyncio.run(paper_search.search(_QUERY, max_results=1))
    statuses: dict[str, Status] = {"ok": "ok", "empty": "ok", "skipped": "note"}
    for found in collection.metadata.sources:
        detail = found.reason or f"{plural(found.returned, 'paper')} in {found.seconds:.1f} s"
        yield Check("sources", found.name, statuses.get(found.status, "warning"), f"{found.status}: {detail}")
