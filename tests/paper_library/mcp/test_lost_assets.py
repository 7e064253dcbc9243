"""A missing or changed file is reported with its paper, and everything else is served."""

import json
from pathlib import Path

import pytest

from paper_library.config import LibraryConfig
from tests.paper_library.mcp import inputs
from tests.paper_library.mcp.http_client import Caller, serve_library
from tests.requirements import requirement

ATTENTION = inputs.ATTENTION_DOI
GARBAGE = [b"", b"garbage", b"\xff\xfe\x00"]


def find_file_with(shelf: Path, text: str) -> Path:
    """Return the only file of the shelf that contains this text."""
    files = [path for path in (shelf / "static").rglob("*") if path.is_file()]
    (found,) = [path for path in files if text.encode() in path.read_bytes()]
    return found


def find_deep_read(shelf: Path) -> Path:
    return find_file_with(shelf, inputs.DEEP_READ["question"])


def find_source(shelf: Path) -> Path:
    return find_file_with(shelf, "# Introduction\n\nRain moves.")


def find_translation(shelf: Path) -> Path:
    return find_file_with(shelf, "引言")


@pytest.fixture
def damaged(shelf_copy: Path) -> Path:
    for lose in (find_deep_read, find_source, find_translation):
        lose(shelf_copy).unlink()
    return shelf_copy


@requirement("PL-16")
def test_a_missing_file_is_reported_as_a_failed_fetch_with_reason_and_ids(damaged: Path) -> None:
    with serve_library(LibraryConfig(shelf=damaged)) as caller:
        paper_id = caller.find_paper_id(ATTENTION)
        source = caller.call_error("get_paper_source", paper_id=ATTENTION)
        summary = caller.call_error("get_paper_summary", paper_id=ATTENTION, template="deep_read")
    for error in (source, summary):
        assert error["code"] == "asset_fetch_failed"
        assert error["reason"] == "missing"
        assert error["paper_id"] == paper_id
    assert summary["template"] == "deep_read"


@requirement("PL-16", "PL-14")
def test_resources_of_missing_files_give_the_same_error(damaged: Path) -> None:
    with serve_library(LibraryConfig(shelf=damaged)) as caller:
        for uri, tool in (
            ("paper://oztuerk2021attention/source", {"tool": "get_paper_source"}),
            (
                "paper://oztuerk2021attention/summary/deep_read",
                {"tool": "get_paper_summary", "template": "deep_read"},
            ),
        ):
            read, called = caller.read_resource_error(uri), caller.call_error(paper_id=ATTENTION, **tool)
            assert read.pop("request_id") != called.pop("request_id")
            assert read == called
        translation = caller.read_resource_error("paper://oztuerk2021attention/translation/zh")
        assert translation["code"] == "asset_fetch_failed"


@requirement("PL-16")
def test_the_remaining_files_are_still_served(damaged: Path) -> None:
    with serve_library(LibraryConfig(shelf=damaged)) as caller:
        assert json.loads(caller.call_text("get_paper_summary", paper_id=ATTENTION, template="brief")) == inputs.BRIEF
        assert (
            caller.call_text("get_paper_source", paper_id=inputs.LONG, max_chars=1_000_000) == inputs.make_long_text()
        )
        assert caller.call_structured("search_papers", query="rain radar")["total"] == 2


@requirement("PL-16")
@pytest.mark.parametrize("garbage", GARBAGE)
def test_a_changed_file_is_invalid(shelf_copy: Path, garbage: bytes) -> None:
    find_source(shelf_copy).write_bytes(garbage)
    find_deep_read(shelf_copy).write_bytes(garbage)
    with serve_library(LibraryConfig(shelf=shelf_copy)) as caller:
        source = caller.call_error("get_paper_source", paper_id=ATTENTION)
        summary = caller.call_error("get_paper_summary", paper_id=ATTENTION, template="deep_read")
        resource = caller.read_resource_error("paper://oztuerk2021attention/source")
        paper_id = caller.find_paper_id(ATTENTION)
    assert source["code"] == summary["code"] == resource["code"] == "asset_invalid"
    assert source["paper_id"] == summary["paper_id"] == paper_id
    assert summary["template"] == "deep_read"


@requirement("PL-16")
def test_a_file_with_one_flipped_bit_is_invalid(shelf_copy: Path) -> None:
    path = find_source(shelf_copy)
    content = bytearray(path.read_bytes())
    content[40] ^= 1
    path.write_bytes(content)
    with serve_library(LibraryConfig(shelf=shelf_copy)) as caller:
        assert caller.call_error("get_paper_source", paper_id=ATTENTION)["code"] == "asset_invalid"


@requirement("PL-16")
def test_a_folder_instead_of_a_file_is_an_ordinary_error(shelf_copy: Path) -> None:
    path = find_source(shelf_copy)
    path.unlink()
    path.mkdir()
    with serve_library(LibraryConfig(shelf=shelf_copy)) as caller:
        error = caller.call_error("get_paper_source", paper_id=ATTENTION)
    assert error["code"] == "asset_invalid"


def test_a_link_out_of_the_shelf_is_not_followed_to_a_secret(shelf_copy: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("do not tell")
    path = find_source(shelf_copy)
    path.unlink()
    path.symlink_to(secret)
    with serve_library(LibraryConfig(shelf=shelf_copy)) as caller:
        result = caller.call("get_paper_source", paper_id=ATTENTION)
    assert result["isError"]
    assert "do not tell" not in json.dumps(result)


@requirement("PL-16")
def test_a_restored_file_is_served_again(shelf_copy: Path) -> None:
    path = find_source(shelf_copy)
    content = path.read_bytes()
    path.unlink()
    with serve_library(LibraryConfig(shelf=shelf_copy)) as caller:
        assert caller.call_error("get_paper_source", paper_id=ATTENTION)["code"] == "asset_fetch_failed"
        path.write_bytes(content)
        assert caller.call_text("get_paper_source", paper_id=ATTENTION) == inputs.strip_front_matter(inputs.ATTENTION)


def test_replies_contain_no_folder_names(damaged: Path) -> None:
    with serve_library(LibraryConfig(shelf=damaged)) as caller:
        results = [reply(caller) for reply in FAILING]
    for message in results:
        assert str(damaged) not in message
        assert "static/" not in message


def _read_source(caller: Caller) -> str:
    return json.dumps(caller.call("get_paper_source", paper_id=ATTENTION))


def _read_summary(caller: Caller) -> str:
    return json.dumps(caller.call("get_paper_summary", paper_id=ATTENTION, template="deep_read"))


def _read_translation(caller: Caller) -> str:
    return json.dumps(caller.read_resource_error("paper://oztuerk2021attention/translation/zh"))


FAILING = (_read_source, _read_summary, _read_translation)
