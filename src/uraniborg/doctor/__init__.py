"""Checks of an installation: programs, folders, data, ports, sockets, clients, keys, sources. They change nothing."""

from collections.abc import Callable, Iterator

from uraniborg.doctor.check import Check, Checks, Status
from uraniborg.doctor.connections import check_clients, check_keys, check_ports, check_sources
from uraniborg.doctor.folders import check_folders
from uraniborg.doctor.programs import check_programs
from uraniborg.doctor.sockets import check_sockets
from uraniborg.doctor.stored_data import check_databases, check_shelves, check_universes
from uraniborg.kernel.errors import UraniborgError
from uraniborg.kernel.progress import ReportItem

__all__ = ["Check", "Status", "run_checks"]


def run_checks(*, online: bool = False, report_topic: ReportItem = lambda _: None) -> Iterator[Check]:
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
            yield Check(topic, topic, "failure", exc.message, exc.hint)
        except OSError as exc:
            remedy = "Check the disk and the permissions, then run `uraniborg doctor` again."
            yield Check(topic, topic, "failure", f"the check could not be made: {exc.strerror or exc}", remedy)
