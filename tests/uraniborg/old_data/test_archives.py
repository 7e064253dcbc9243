"""The archives themselves: small, and without a trace of the machine they were made on."""

from tests.fixtures.data import machine_traces
from tests.uraniborg.old_data.conftest import ARCHIVES
from tests.uraniborg.old_data.folder import OldData


def test_the_first_released_version_is_among_them() -> None:
    assert "data-0.1.0.tar.xz" in [archive.name for archive in ARCHIVES]
    assert all(archive.stat().st_size < 1_000_000 for archive in ARCHIVES)


def test_no_file_holds_a_path_or_name_of_a_machine(old: OldData) -> None:
    assert [trace for trace in machine_traces(old.folder) if not trace.startswith("plugin")] == []
