"""Check an installation: programs, folders, data, ports, sockets, clients, keys, sources. Nothing is changed."""

import importlib.metadata
import platform
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from uraniborg.installation.connection_checks import (
    check_clients,
    check_keys,
    check_ports,
    check_sockets,
    check_sources,
)
from uraniborg.installation.folder_checks import check_databases, check_folders, check_shelves, check_universes
from uraniborg.installation.replies import Checks, InstallationCheck, Status
from uraniborg.kernel.errors import UraniborgError
from uraniborg.kernel.language.messages import plural
from uraniborg.kernel.progress_callbacks import ReportItem
from uraniborg.kernel.store.files import display_path
from uraniborg.kernel.version import version

if TYPE_CHECKING:
    from packaging.requirements import Requirement


_NAME: Final = "uraniborg"
_EXTRAS: Final = {
    "mcp": ("mcp", "MCP servers and HTTP servers"),
    "pdf": ("pypdf", "PDF files on shelves"),
    "llm": ("openai", "language models"),
    "postgres": ("asyncpg", "universes in PostgreSQL"),
    "dask": ("distributed", "workflow nodes on a cluster"),
    "nbody": ("heyoka", "faster N-body runs"),
}
"""The main package of each extra, which makes it installed, and its purpose."""


def check_programs() -> Checks:
    """Check the versions of Python and of the installed dependencies and extras."""
    from packaging.specifiers import SpecifierSet

    yield InstallationCheck("programs", "uraniborg", "ok", f"{version()} in {display_path(Path(sys.prefix))}")
    wanted = importlib.metadata.metadata(_NAME)["Requires-Python"]
    python = platform.python_version()
    if SpecifierSet(wanted).contains(python, prereleases=True):
        yield InstallationCheck("programs", "python", "ok", f"{python} on {platform.platform(terse=True)}")
    else:
        yield InstallationCheck(
            "programs", "python", "failure", f"{python}, needed is {wanted}", "Install another Python."
        )
    required = _list_requirements("")
    problems = [problem for one in required if (problem := _find_problem(one))]
    if problems:
        yield InstallationCheck("programs", "dependencies", "failure", ", ".join(problems), _make_install_command())
    else:
        yield InstallationCheck(
            "programs", "dependencies", "ok", f"{plural(len(required), 'package')}, all as required"
        )
    for extra, (package, purpose) in _EXTRAS.items():
        yield _check_extra(extra, package, purpose)


def _check_extra(extra: str, package: str, purpose: str) -> InstallationCheck:
    name = f"extra {extra}"
    required = _list_requirements(extra)
    problems = [problem for one in required if (problem := _find_problem(one))]
    if not required:
        return InstallationCheck("programs", name, "note", f"not available on this platform: {purpose}")
    if not problems:
        return InstallationCheck("programs", name, "ok", purpose)
    if _find_version(package) is None:
        return InstallationCheck("programs", name, "note", f"not installed: {purpose}", _make_install_command(extra))
    return InstallationCheck(
        "programs", name, "failure", f"incomplete: {', '.join(problems)}", _make_install_command(extra)
    )


def _list_requirements(extra: str) -> "list[Requirement]":
    """Return the requirements of an extra on this platform, or of the package itself."""
    from packaging.requirements import Requirement

    parsed = [Requirement(text) for text in importlib.metadata.requires(_NAME) or []]
    always = [one for one in parsed if one.marker is None or one.marker.evaluate({"extra": ""})]
    if not extra:
        return always
    return [one for one in parsed if one not in always and one.marker and one.marker.evaluate({"extra": extra})]


def _find_problem(requirement: "Requirement") -> str | None:
    found = _find_version(requirement.name)
    if found is None:
        return f"{requirement.name} is missing"
    if not requirement.specifier.contains(found, prereleases=True):
        return f"{requirement.name} is {found}, needed is {requirement.specifier}"
    return None


def _find_version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _make_install_command(extra: str = "") -> str:
    return f"pip install --upgrade '{_NAME}{f'[{extra}]' if extra else ''}'"


__all__ = ["InstallationCheck", "Status", "run_checks"]


def run_checks(*, online: bool = False, report_topic: ReportItem = lambda _: None) -> Iterator[InstallationCheck]:
    """Yield the result of every check. With `online`, send one short query to each source."""
    topics: dict[str, Callable[[], Checks]] = {
        "programs": check_programs,
        "folders": check_folders,
        "databases": check_databases,
        "universes": check_universes,
        "shelves": check_shelves,
        "ports": check_ports,
        "sockets": check_sockets,
        "clients": check_clients,
        "keys": check_keys,
    }
    if online:
        topics["sources"] = check_sources
    for topic, check in topics.items():
        report_topic(topic)
        try:
            yield from check()
        except UraniborgError as exc:
            yield InstallationCheck(topic, topic, "failure", exc.message, exc.hint)
        except OSError as exc:
            remedy = "Check the disk and the permissions, then run `uraniborg doctor` again."
            yield InstallationCheck(
                topic, topic, "failure", f"the check could not be made: {exc.strerror or exc}", remedy
            )
