"""A small file that several servers read and change."""

from pathlib import Path

from pydantic import BaseModel

from uraniborg.servers.shared_file import SharedFile


class Names(BaseModel):
    listed: list[str] = []


def open_file(path: Path) -> SharedFile[Names]:
    return SharedFile(path, lambda last: Names())


def test_a_server_knows_its_own_change_and_sees_that_of_another(tmp_path: Path) -> None:
    ours, theirs = open_file(tmp_path / "names.json"), open_file(tmp_path / "names.json")
    with ours.change() as data:
        data.listed.append("Ada")
    assert (ours.last.listed, ours.has_changed()) == (["Ada"], False)
    assert theirs.has_changed()
    assert theirs.read().listed == ["Ada"]
    with theirs.change() as data:
        data.listed.append("Kurt")
    assert ours.has_changed()
    assert (ours.read().listed, ours.has_changed()) == (["Ada", "Kurt"], False)
