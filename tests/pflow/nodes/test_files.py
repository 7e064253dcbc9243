"""The file nodes act completely or not at all, and explain errors."""

import errno
import json
import os
import socket
import stat
import threading
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from pflow.domain.node import NodeContext
from pflow.domain.node_interface import Interface, parse_interface
from pflow.errors import NodeFailed
from pflow.nodes import files
from pflow.nodes import files as disk
from pflow.nodes.files import copy_file, delete_file, move_file, read_file, write_file
from tests.pflow.nodes.long_secrets import PIECE, TOKEN, add_secrets

HOSTILE_NAMES = [
    "-rf",
    "a b\tc",
    "line\nbreak",
    "quote'\"`$(x);|&",
    "..hidden..",
    "ünïcode 漢字 🪐",
    "\\backslash",
    "%s${x}",
    "x" * 255,
]


def load_interfaces() -> dict[str, Interface]:
    plain = json.loads((resources.files("pflow.nodes") / "files.json").read_text())["nodes"]
    return {one["type"]: parse_interface(one, source="builtin") for one in plain}


def expect_failure(run: Callable[..., Any], context: NodeContext, **params: Any) -> NodeFailed:
    with pytest.raises(NodeFailed) as caught:
        run(params, context)
    return caught.value


def as_another_user() -> bool:
    return os.geteuid() != 0


def test_a_text_is_read_unchanged(context: NodeContext, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("\ufeffeins\r\nzwei\n".encode())
    assert read_file({"file_path": "a.txt"}, context) == {
        "content": "\ufeffeins\r\nzwei\n",
        "content_is_binary": False,
        "file_path": str(tmp_path / "a.txt"),
        "size": 14,
    }


def test_a_text_is_read_in_the_given_encoding(context: NodeContext, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("é".encode("latin-1"))
    assert read_file({"file_path": "a.txt", "encoding": "latin-1"}, context)["content"] == "é"


def test_binary_content_is_read_as_base64_and_written_back_unchanged(context: NodeContext, tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(b"\xff\x00\x01")
    read = read_file({"file_path": "a.bin"}, context)
    assert (read["content"], read["content_is_binary"]) == ("/wAB", True)
    write_file({"file_path": "b.bin", "content": read["content"], "content_is_binary": True}, context)
    assert (tmp_path / "b.bin").read_bytes() == b"\xff\x00\x01"


@pytest.mark.parametrize("encoding", ["no-such", "base64", "undefined", "a\0b"])
def test_an_unknown_encoding_is_reported(context: NodeContext, tmp_path: Path, encoding: str) -> None:
    (tmp_path / "a.txt").touch()
    assert "no text encoding" in expect_failure(read_file, context, file_path="a.txt", encoding=encoding).message
    assert (
        "no text encoding" in expect_failure(write_file, context, file_path="b", content="", encoding=encoding).message
    )
    assert not (tmp_path / "b").exists()


def test_a_missing_file_is_reported_with_the_name_that_was_probably_meant(context: NodeContext, tmp_path: Path) -> None:
    (tmp_path / "report.md").touch()
    failed = expect_failure(read_file, context, file_path="raport.md")
    assert failed.message == f"Could not read {str(tmp_path / 'raport.md')!r}: there is no such file."
    assert failed.hint == f"Did you mean {str(tmp_path / 'report.md')!r}?"
    assert "does not exist either" in expect_failure(read_file, context, file_path="none/raport.md").hint
    assert "start at the folder" in expect_failure(read_file, context, file_path="zzzzzz").hint


@pytest.mark.parametrize("run", [read_file, write_file, delete_file])
@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("", "empty"),
        (" \n", "empty"),
        ("a\0b", "cannot be a path"),
        ("~no-such-user-here/x", "home folder of an unknown user"),
        ("x" * 256, "too long"),
        ("folder", "directory"),
        ("file/below", "not a directory"),
    ],
)
def test_a_path_that_cannot_be_a_file_is_reported(
    context: NodeContext, tmp_path: Path, run: Callable[..., Any], path: str, message: str
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    assert message in expect_failure(run, context, file_path=path, content="x", confirm_delete=True).message
    assert sorted(os.listdir(tmp_path)) == ["file", "folder"]


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_any_name_that_the_system_allows_is_a_name(context: NodeContext, tmp_path: Path, name: str) -> None:
    assert write_file({"file_path": name, "content": "x"}, context)["written"] is True
    assert read_file({"file_path": name}, context)["content"] == "x"
    assert copy_file({"source_path": name, "dest_path": f"sub/{name}"}, context)["copied"] is True
    assert move_file({"source_path": name, "dest_path": f"moved/{name}"}, context)["moved"] is True
    assert delete_file({"file_path": f"moved/{name}", "confirm_delete": True}, context)["deleted"] is True
    assert os.listdir(tmp_path / "sub") == [name]
    assert os.listdir(tmp_path / "moved") == []


def test_home_is_understood(context: NodeContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert write_file({"file_path": "~/a.txt", "content": "x"}, context)["file_path"] == str(tmp_path / "home/a.txt")


def test_a_name_with_line_breaks_cannot_forge_a_message(context: NodeContext) -> None:
    assert "\n" not in expect_failure(read_file, context, file_path="a\nb").message


def test_a_file_that_is_too_large_is_refused_without_being_read(context: NodeContext, tmp_path: Path) -> None:
    with (tmp_path / "huge").open("wb") as stream:
        stream.truncate(1 << 40)
    failed = expect_failure(read_file, context, file_path="huge")
    assert "64 MiB" in failed.message
    assert failed.ids["size"] == 1 << 40


def test_a_file_that_is_larger_than_its_reported_size_is_refused(
    context: NodeContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "READ_BYTES", 100)
    (tmp_path / "a").write_bytes(b"x" * 101)
    real = os.fstat

    def says_nothing(descriptor: int) -> os.stat_result:
        found = list(real(descriptor))
        found[stat.ST_SIZE] = 0
        return os.stat_result(found)

    monkeypatch.setattr(os, "fstat", says_nothing)
    assert "too large" in expect_failure(read_file, context, file_path="a").message
    (tmp_path / "a").write_bytes(b"x" * 100)
    assert read_file({"file_path": "a"}, context)["size"] == 100


def test_pipes_devices_and_sockets_are_refused_at_once(context: NodeContext, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "socket"))
        for path in ("pipe", "/dev/zero"):
            assert "not an ordinary file" in expect_failure(read_file, context, file_path=path).message
            assert (
                "not an ordinary file" in expect_failure(copy_file, context, source_path=path, dest_path="copy").message
            )
        for path in ("pipe", "socket", "/dev/null"):
            assert "not an ordinary file" in expect_failure(write_file, context, file_path=path, content="x").message
            assert (
                "not an ordinary file"
                in expect_failure(delete_file, context, file_path=path, confirm_delete=True).message
            )
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="there is no /proc here")
def test_our_own_streams_can_be_neither_read_nor_written(context: NodeContext) -> None:
    reading, writing = os.pipe()
    try:
        assert (
            "not an ordinary file" in expect_failure(read_file, context, file_path=f"/proc/self/fd/{reading}").message
        )
        expect_failure(write_file, context, file_path=f"/proc/self/fd/{writing}", content="x")
        os.set_blocking(reading, False)
        with pytest.raises(BlockingIOError):
            os.read(reading, 1)
    finally:
        os.close(reading)
        os.close(writing)


@pytest.mark.parametrize(
    ("content", "written"),
    [
        ("text ü\r\n", "text ü\r\n".encode()),
        ("", b""),
        (None, b""),
        (b"\xff", b"\xff"),
        ({"a": [1]}, b'{\n  "a": [\n    1\n  ]\n}'),
        (3, b"3"),
    ],
)
def test_any_value_is_written_whole(context: NodeContext, tmp_path: Path, content: Any, written: bytes) -> None:
    assert write_file({"file_path": "new/folder/a", "content": content}, context) == {
        "written": True,
        "file_path": str(tmp_path / "new/folder/a"),
        "size": len(written),
    }
    assert (tmp_path / "new/folder/a").read_bytes() == written
    assert os.listdir(tmp_path / "new/folder") == ["a"]


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"content": "naïve", "encoding": "ascii"}, "character 3 is 'ï'"),
        ({"content": "not base64!", "content_is_binary": True}, "not base64"),
        ({"content": {1, 2}}, "cannot be written as text"),
    ],
)
def test_content_that_cannot_be_written_changes_nothing(
    context: NodeContext, tmp_path: Path, params: dict[str, Any], message: str
) -> None:
    (tmp_path / "a").write_text("before")
    assert message in expect_failure(write_file, context, file_path="a", **params).message
    assert (tmp_path / "a").read_text() == "before"


def test_writing_replaces_and_appending_adds(context: NodeContext, tmp_path: Path) -> None:
    write_file({"file_path": "log", "content": "one\n"}, context)
    write_file({"file_path": "log", "content": "two\n", "append": True}, context)
    write_file({"file_path": "new", "content": "first\n", "append": True}, context)
    assert (tmp_path / "log").read_text() == "one\ntwo\n"
    assert (tmp_path / "new").read_text() == "first\n"
    write_file({"file_path": "log", "content": "three\n"}, context)
    assert (tmp_path / "log").read_text() == "three\n"


def test_concurrent_appends_do_not_mix_their_lines(context: NodeContext, tmp_path: Path) -> None:
    line = "x" * 100_000 + "\n"
    threads = [
        threading.Thread(target=write_file, args=({"file_path": "log", "content": line, "append": True}, context))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert (tmp_path / "log").read_text() == line * 8


def test_writing_preserves_permissions_and_follows_links(context: NodeContext, tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "real").chmod(0o600)
    (tmp_path / "link").symlink_to("real")
    write_file({"file_path": "link", "content": "new"}, context)
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"
    assert (tmp_path / "real").stat().st_mode & 0o777 == 0o600


def test_circular_links_are_reported(context: NodeContext, tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    for run in (read_file, write_file):
        failed = expect_failure(run, context, file_path="a", content="x")
        assert "Could not" in failed.message
        assert "links" in failed.hint
    assert delete_file({"file_path": "a", "confirm_delete": True}, context)["deleted"] is True


def raise_disk_full(*_: Any) -> Any:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def return_false(*_: Any) -> bool:
    return False


def test_a_full_disk_leaves_the_earlier_content(
    context: NodeContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").write_text("before")
    (tmp_path / "source").write_text("x" * 100_000)
    monkeypatch.setattr(os, "fsync", raise_disk_full)
    for run, params in (
        (write_file, {"file_path": "a", "content": "after"}),
        (copy_file, {"source_path": "source", "dest_path": "a", "overwrite": True}),
        (copy_file, {"source_path": "source", "dest_path": "new"}),
    ):
        failed = expect_failure(run, context, **params)
        assert "no space left on device" in failed.message
        assert ".tmp" not in failed.message
        assert "space" in failed.hint
    assert (tmp_path / "a").read_text() == "before"
    assert sorted(os.listdir(tmp_path)) == ["a", "source"]


def test_a_disk_that_fills_while_appending_leaves_no_half_line(
    context: NodeContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "log").write_text("before\n")
    write = os.write

    def some_then_full(descriptor: int, data: Any) -> int:
        return write(descriptor, data[:3]) if os.fstat(descriptor).st_size < 9 else raise_disk_full()

    monkeypatch.setattr(os, "write", some_then_full)
    assert "no space" in expect_failure(write_file, context, file_path="log", content="after\n", append=True).message
    assert (tmp_path / "log").read_text() == "before\n"


@pytest.mark.skipif(not as_another_user(), reason="root may write anywhere")
def test_a_file_that_may_not_be_written_is_not_replaced(context: NodeContext, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("before")
    (tmp_path / "a").chmod(0o400)
    assert "permission" in expect_failure(write_file, context, file_path="a", content="after").message


def test_an_error_of_the_system_is_reported(
    context: NodeContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").write_text("before")
    monkeypatch.setattr(os, "access", return_false)
    failed = expect_failure(write_file, context, file_path="a", content="after")
    assert "permission denied" in failed.message
    assert "permissions" in failed.hint
    assert (tmp_path / "a").read_text() == "before"


def test_a_copy_has_the_content_and_the_permissions(context: NodeContext, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\x00\xff" * 3_000_000)
    (tmp_path / "a").chmod(0o640)
    assert copy_file({"source_path": "a", "dest_path": "sub/b"}, context) == {
        "copied": True,
        "source_path": str(tmp_path / "a"),
        "dest_path": str(tmp_path / "sub/b"),
        "size": 6_000_000,
    }
    assert (tmp_path / "sub/b").read_bytes() == (tmp_path / "a").read_bytes()
    assert (tmp_path / "sub/b").stat().st_mode & 0o777 == 0o640
    assert os.listdir(tmp_path / "sub") == ["b"]


@pytest.mark.parametrize("run", [copy_file, move_file])
def test_an_existing_target_stays_unless_overwrite_is_true(
    context: NodeContext, tmp_path: Path, run: Callable[..., Any]
) -> None:
    (tmp_path / "a").write_text("a")
    (tmp_path / "b").write_text("b")
    failed = expect_failure(run, context, source_path="a", dest_path="b")
    assert repr(str(tmp_path / "b")) in failed.message
    assert "exists" in failed.message
    assert "`overwrite`" in failed.hint
    assert ((tmp_path / "a").read_text(), (tmp_path / "b").read_text()) == ("a", "b")
    run({"source_path": "a", "dest_path": "b", "overwrite": True}, context)
    assert (tmp_path / "b").read_text() == "a"
    assert (tmp_path / "a").exists() == (run is copy_file)


@pytest.mark.parametrize("links", [True, False], ids=["links", "no links"])
@pytest.mark.parametrize("run", [copy_file, move_file])
def test_of_concurrent_writes_to_one_target_one_wins_and_nothing_is_lost(
    context: NodeContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Callable[..., Any], links: bool
) -> None:
    """Also on disks that know no hard links."""
    if not links:
        monkeypatch.setattr(os, "link", raise_no_links)
    monkeypatch.setattr(os.path, "lexists", return_false)  # as it looks to each before the first is done
    for number in range(8):
        (tmp_path / f"source-{number}").write_text(str(number))
    won: list[int] = []

    def take(number: int) -> None:
        try:
            run({"source_path": f"source-{number}", "dest_path": "place"}, context)
        except NodeFailed:
            return
        won.append(number)

    threads = [threading.Thread(target=take, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert [(tmp_path / "place").read_text()] == [str(number) for number in won]
    lost = {"place", *(f"source-{number}" for number in range(8))} - set(os.listdir(tmp_path))
    assert lost == ({f"source-{won[0]}"} if run is move_file else set())


def raise_no_links(*_: Any, **__: Any) -> None:
    raise OSError(errno.EPERM, os.strerror(errno.EPERM))


@pytest.mark.parametrize("run", [copy_file, move_file])
def test_a_file_is_not_copied_or_moved_onto_itself(
    context: NodeContext, tmp_path: Path, run: Callable[..., Any]
) -> None:
    (tmp_path / "a").write_text("a")
    (tmp_path / "link").symlink_to("a")
    (tmp_path / "twin").hardlink_to(tmp_path / "a")
    for target in ("a", "./a", "link", "twin"):
        failed = expect_failure(run, context, source_path="a", dest_path=target, overwrite=True)
        assert "the same file" in failed.message
    assert (tmp_path / "a").read_text() == "a"


@pytest.mark.parametrize("run", [copy_file, move_file])
def test_folders_are_neither_copied_nor_moved_nor_replaced(
    context: NodeContext, tmp_path: Path, run: Callable[..., Any]
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "a").write_text("a")
    assert "directory" in expect_failure(run, context, source_path="folder", dest_path="b").message
    failed = expect_failure(run, context, source_path="a", dest_path="folder", overwrite=True)
    assert "directory" in failed.message
    assert "the file itself" in failed.hint
    assert "not a directory" in expect_failure(run, context, source_path="a", dest_path="a/b").message
    assert "no such file" in expect_failure(run, context, source_path="none", dest_path="b").message
    assert sorted(os.listdir(tmp_path)) == ["a", "folder"]


def test_copying_follows_a_link_and_moving_moves_the_link(context: NodeContext, tmp_path: Path) -> None:
    (tmp_path / "real").write_text("real")
    (tmp_path / "link").symlink_to("real")
    copy_file({"source_path": "link", "dest_path": "copy"}, context)
    assert not (tmp_path / "copy").is_symlink()
    move_file({"source_path": "link", "dest_path": "moved"}, context)
    assert (tmp_path / "moved").is_symlink()
    assert (tmp_path / "real").read_text() == (tmp_path / "copy").read_text() == "real"


def test_a_link_that_leads_nowhere_counts_as_there(context: NodeContext, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a")
    (tmp_path / "link").symlink_to("nowhere")
    assert "exists" in expect_failure(copy_file, context, source_path="a", dest_path="link").message
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize("overwrite", [True, False])
def test_a_move_to_another_disk_is_a_copy_and_a_removal(
    context: NodeContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, overwrite: bool
) -> None:
    (tmp_path / "a").write_text("a")
    real = disk.rename_atomically

    def place(source: Path, target: Path, *, overwrite: bool) -> None:
        if source.suffix != disk.TEMPORARY:
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
        real(source, target, overwrite=overwrite)

    monkeypatch.setattr(disk, "rename_atomically", place)
    assert move_file({"source_path": "a", "dest_path": "b", "overwrite": overwrite}, context)["moved"] is True
    assert os.listdir(tmp_path) == ["b"]


def test_a_move_whose_source_cannot_be_removed_is_undone(
    context: NodeContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").write_text("a")
    unlink = Path.unlink

    def kept(path: Path, missing_ok: bool = False) -> None:
        if path.name == "a":
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        unlink(path, missing_ok)

    monkeypatch.setattr(Path, "unlink", kept)
    assert "permission denied" in expect_failure(move_file, context, source_path="a", dest_path="b").message
    assert os.listdir(tmp_path) == ["a"]


@pytest.mark.parametrize("confirmed", [None, False, "yes", 1])
def test_nothing_is_deleted_unconfirmed(context: NodeContext, tmp_path: Path, confirmed: Any) -> None:
    (tmp_path / "a").touch()
    failed = expect_failure(delete_file, context, file_path="a", confirm_delete=confirmed)
    assert "`confirm_delete`" in failed.hint
    assert (tmp_path / "a").exists()


def test_deleting_a_link_leaves_its_target(context: NodeContext, tmp_path: Path) -> None:
    (tmp_path / "real").write_text("real")
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "dangling").symlink_to("nowhere")
    for name in ("link", "dangling"):
        assert delete_file({"file_path": name, "confirm_delete": True}, context) == {
            "deleted": True,
            "file_path": str(tmp_path / name),
        }
    assert os.listdir(tmp_path) == ["real"]


def test_deleting_a_missing_file_is_a_failure(context: NodeContext) -> None:
    assert "no such file" in expect_failure(delete_file, context, file_path="none", confirm_delete=True).message


def test_the_interfaces_declare_the_outputs_and_effects_of_the_nodes(context: NodeContext, tmp_path: Path) -> None:
    declared = load_interfaces()
    given = {
        "write-file": write_file({"file_path": "a", "content": "x"}, context),
        "read-file": read_file({"file_path": "a"}, context),
        "copy-file": copy_file({"source_path": "a", "dest_path": "b"}, context),
        "move-file": move_file({"source_path": "b", "dest_path": "c"}, context),
        "delete-file": delete_file({"file_path": "c", "confirm_delete": True}, context),
    }
    assert {kind: set(outputs) for kind, outputs in given.items()} == {
        kind: set(interface.outputs) for kind, interface in declared.items()
    }
    assert declared["read-file"].get_effect({}) == "pure"
    assert declared["write-file"].get_effect({}) == "idempotent"
    assert declared["write-file"].get_effect({"append": True}) == "effectful"
    assert declared["copy-file"].get_effect({}) == "effectful"
    assert declared["copy-file"].get_effect({"overwrite": True}) == "idempotent"
    assert declared["read-file"].reads == ("file_path",)


def test_no_part_of_a_secret_in_a_wrong_parameter_is_shown(context: NodeContext) -> None:
    for params in ({"file_path": f"\0{TOKEN}"}, {"file_path": "x", "encoding": TOKEN}):
        failed = expect_failure(read_file, add_secrets(context), **params)
        assert "***" in failed.message
        assert PIECE not in failed.message
