"""Files of universes, tables and pictures: what is wrong with a file is named with its name."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from universe.domain.state import EMPTY
from universe.errors import ImportRefused, MalformedState
from universe.service.universe_files import (
    FORMAT,
    FileMissing,
    check_picture_path,
    is_universe_file,
    read_table_file,
    read_universe_file,
    write_orbit_picture,
)
from uraniborg.kernel.errors import UsageError


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{x", "u.json is not JSON: .* at line 1"),
        ('{\n"a": 1,\n]', "u.json is not JSON: .* at line 3"),
        ("[]", "u.json is not a JSON object"),
        ('{"format": "fits", "state": {}}', "format in u.json is not supported"),
        ('{"state": []}', "The state in u.json is not an object"),
    ],
)
def test_a_file_that_is_no_universe_is_refused_with_its_fault(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "u.json").write_text(content)
    with pytest.raises(MalformedState, match=message):
        read_universe_file(tmp_path / "u.json")


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (f'{{"format": "{FORMAT}", "name": "Hven", "state": {{"time": 1}}}}', "Hven"),
        ('{"format": null, "name": 3, "state": {"time": 1}}', None),
        ('{"time": 1}', None),
    ],
)
def test_an_export_and_a_bare_state_are_read(tmp_path: Path, content: str, name: str | None) -> None:
    (tmp_path / "u.json").write_text(content)
    assert read_universe_file(tmp_path / "u.json") == (name, {"time": 1})


@pytest.mark.parametrize("read", [read_universe_file, is_universe_file, read_table_file])
def test_a_file_that_cannot_be_read_is_named_with_the_reason(tmp_path: Path, read: Callable[[Path], object]) -> None:
    for path, reason in ((tmp_path / "none", "No such file or directory"), (tmp_path, "Is a directory")):
        with pytest.raises(FileMissing) as refused:
            read(path)
        assert refused.value.message == f"{path} cannot be read: {reason}."
        assert refused.value.hint == "Check the path."


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.txt", '  {"time": 1}', True),
        ("a.json", '{"signature": {"source": "JPL"}}', False),
        ("a.txt", '{"signature": {"source": "JPL"}}', False),
        ("a.txt", "{ NASA/JPL Horizons }", False),
        ("a.json", "[1]", False),
        ("a.JSON", "x", True),
        ("a.csv", "name,mass", False),
    ],
)
def test_an_object_is_a_universe_and_a_table_or_an_answer_of_a_service_is_not(
    tmp_path: Path, name: str, content: str, expected: bool
) -> None:
    (tmp_path / name).write_text(content)
    assert is_universe_file(tmp_path / name) is expected


@pytest.mark.parametrize(("start", "limit"), [("{", 500_000_000), ("name,mass", 64_000_000)])
def test_a_file_of_the_largest_size_is_accepted_and_one_byte_more_refused(
    tmp_path: Path, start: str, limit: int
) -> None:
    path = tmp_path / "a.csv"
    path.write_text(start)
    os.truncate(path, limit)
    assert is_universe_file(path) is (start == "{")
    os.truncate(path, limit + 1)
    with pytest.raises(ImportRefused, match=f"{limit + 1:,} bytes; at most {limit:,}"):
        is_universe_file(path)


@pytest.mark.parametrize("name", ["a.gif", "png", "a.svg.txt"])
def test_a_picture_of_another_format_is_refused_with_names_that_work(name: str) -> None:
    check_picture_path(Path("a.PNG"))
    check_picture_path(Path("a.svg"))
    with pytest.raises(UsageError, match=f"'{name}' is neither PNG nor SVG") as refused:
        check_picture_path(Path(name), "orbits")
    assert refused.value.hint == "Name the file orbits.png or orbits.svg."


def test_orbits_are_drawn_at_the_time_of_the_state_or_at_the_given_one(tmp_path: Path) -> None:
    plain = EMPTY.to_plain()
    plain["time"] = 12.5
    write_orbit_picture(plain, tmp_path / "a.svg", title="Hven & co", t=None, scale="auto")
    write_orbit_picture(plain, tmp_path / "b.svg", title="Hven & co", t=0.0, scale="linear")
    write_orbit_picture(plain, tmp_path / "c.png", title="Hven & co", t=0.0, scale="log")
    own, given = ((tmp_path / name).read_text() for name in ("a.svg", "b.svg"))
    assert "Hven &amp; co" in own
    assert own != given
    assert (tmp_path / "c.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(UsageError, match="--scale must be auto, linear or log, got 'cubic'"):
        write_orbit_picture(plain, tmp_path / "d.svg", title="", t=None, scale="cubic")
    assert not (tmp_path / "d.svg").exists()
