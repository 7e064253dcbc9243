"""Assets that are not in the shelf's folder are fetched from a static server, which can fail in many ways."""

import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from paper_library.api.app import make_app
from paper_library.config import LibraryConfig
from tests.paper_library.mcp import inputs
from tests.paper_library.mcp import static_server as replies
from tests.paper_library.mcp.http_client import make_request, serve_library
from tests.paper_library.mcp.server_process import start_server
from tests.paper_library.mcp.static_server import Answer, StaticServer, serve_files, start_static_server
from tests.requirements import requirement
from uraniborg.kernel.errors import InvalidInput

ATTENTION = inputs.ATTENTION_DOI


@pytest.fixture
def bare_shelf(shelf_copy: Path) -> Path:
    """Return a shelf without its assets."""
    shutil.rmtree(shelf_copy / "static")
    return shelf_copy


def serve_with_static_server(shelf: Path, server: StaticServer, timeout_s: float = 20) -> LibraryConfig:
    return LibraryConfig(shelf=shelf, static_base_url=server.base, asset_timeout_s=timeout_s)


def read_peak_memory(pid: int) -> int:
    """Return the peak memory of a process in bytes."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))


@requirement("PL-11", "PL-12", "PL-14")
def test_missing_assets_are_fetched_from_the_static_server(rich_shelf: Path, bare_shelf: Path) -> None:
    with (
        start_static_server(serve_files(rich_shelf / "static")) as server,
        serve_library(LibraryConfig(shelf=bare_shelf, static_base_url=server.base)) as caller,
    ):
        assert (
            caller.call_text("get_paper_source", paper_id=inputs.LONG, max_chars=1_000_000) == inputs.make_long_text()
        )
        deep_read = caller.call_text("get_paper_summary", paper_id=ATTENTION, template="deep_read")
        assert json.loads(deep_read) == inputs.DEEP_READ
        translation = caller.read_resource("paper://oztuerk2021attention/translation/zh")
        assert translation["text"] == inputs.ATTENTION_ZH.strip()
        assert len(server.asked) == 3


@requirement("PL-11", "PL-12")
def test_existing_assets_are_not_fetched(rich_shelf: Path) -> None:
    with (
        start_static_server(replies.respond_with_status(500)) as server,
        serve_library(LibraryConfig(shelf=rich_shelf, static_base_url=f"{server.base}/")) as caller,
    ):
        assert caller.call_text("get_paper_source", paper_id=ATTENTION) == inputs.strip_front_matter(inputs.ATTENTION)
        assert server.asked == []


@requirement("PL-16")
@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (replies.respond_with_status(404), "missing"),
        (replies.respond_with_status(410), "missing"),
        (replies.respond_with_status(403), "http_403"),
        (replies.respond_with_status(500), "http_500"),
        (replies.respond_with_status(503, Retry_After="3600"), "http_503"),
        (replies.respond_with_status(204), "http_204"),
        (replies.send_nothing, "timeout"),
        (replies.send_partial_reply, "unreachable"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_failed_fetch_is_reported_with_its_reason(bare_shelf: Path, answer: Answer, reason: str) -> None:
    timeout_s = 0.4 if reason == "timeout" else 20
    with (
        start_static_server(answer) as server,
        serve_library(serve_with_static_server(bare_shelf, server, timeout_s)) as caller,
    ):
        source = caller.call_error("get_paper_source", paper_id=inputs.LONG)
        summary = caller.call_error("get_paper_summary", paper_id=ATTENTION, template="deep_read")
        resource = caller.read_resource_error("paper://longread/source")
        paper_id = caller.find_paper_id(ATTENTION)
        port = str(server.server_address[1])
    assert source["code"] == summary["code"] == resource["code"] == "asset_fetch_failed"
    assert source["reason"] == summary["reason"] == resource["reason"] == reason
    assert (summary["paper_id"], summary["template"]) == (paper_id, "deep_read")
    assert port not in str((source, summary, resource)), "the address of the static server is nobody's business"


@requirement("PL-16")
def test_a_very_slow_static_server_times_out(bare_shelf: Path) -> None:
    with start_static_server(replies.send_slowly) as server:
        config = LibraryConfig(
            shelf=bare_shelf, static_base_url=server.base, asset_timeout_s=0.4, query_timeout_s=0.4, threads=1
        )
        with serve_library(config) as caller:
            error = caller.call_error("get_paper_source", paper_id=inputs.LONG)
            assert caller.call_structured("search_papers", query="rain radar")["total"] == 2
    assert (error["code"], error["reason"]) == ("asset_fetch_failed", "timeout")


@requirement("PL-16")
@pytest.mark.parametrize(
    "answer",
    [replies.send_garbage, replies.send_bomb(10_000_000), replies.send_endless_reply, replies.send_broken_compression],
)
def test_a_response_with_other_contents_is_invalid_and_not_read_to_the_end(bare_shelf: Path, answer: Answer) -> None:
    with start_static_server(answer) as server, serve_library(serve_with_static_server(bare_shelf, server)) as caller:
        error = caller.call_error("get_paper_summary", paper_id=ATTENTION, template="deep_read")
        assert caller.post(make_request("ping")).status_code == 200
        assert error["paper_id"] == caller.find_paper_id(ATTENTION)
    assert (error["code"], error["template"]) == ("asset_invalid", "deep_read")


def test_a_compression_bomb_is_not_expanded(bare_shelf: Path, tmp_path: Path) -> None:
    if not Path("/proc/self/status").is_file():
        pytest.skip("this system does not tell how much memory a process has used")
    with (
        start_static_server(replies.send_bomb(80_000_000, folds=2)) as server,
        start_server(bare_shelf, tmp_path, "--static-base-url", server.base) as process,
    ):
        process.caller.call_structured("search_papers", query="rain radar")
        before = read_peak_memory(process.pid)
        error = process.caller.call_error("get_paper_source", paper_id=ATTENTION)
        assert error["code"] in ("asset_invalid", "asset_fetch_failed")
        assert read_peak_memory(process.pid) - before < 50_000_000


@requirement("PL-16")
@pytest.mark.parametrize("code", [301, 302, 307, 308])
def test_a_redirect_is_not_followed(rich_shelf: Path, bare_shelf: Path, code: int) -> None:
    with start_static_server(serve_files(rich_shelf / "static")) as elsewhere:
        with (
            start_static_server(
                lambda handler: handler.reply(code, Location=f"{elsewhere.base}/{handler.path[8:]}")
            ) as server,
            serve_library(serve_with_static_server(bare_shelf, server)) as caller,
        ):
            error = caller.call_error("get_paper_source", paper_id=ATTENTION)
        assert (error["code"], error["reason"]) == ("asset_fetch_failed", "redirect")
        assert elsewhere.asked == []


@requirement("PL-16")
def test_a_missing_static_server_is_unreachable(bare_shelf: Path) -> None:
    with start_static_server(replies.send_garbage) as gone:
        base = gone.base
    with serve_library(LibraryConfig(shelf=bare_shelf, static_base_url=base, asset_timeout_s=2)) as caller:
        error = caller.call_error("get_paper_source", paper_id=ATTENTION)
    assert (error["code"], error["reason"]) == ("asset_fetch_failed", "unreachable")


@requirement("PL-16")
def test_a_static_server_that_recovers_is_used_again(rich_shelf: Path, bare_shelf: Path) -> None:
    healthy = serve_files(rich_shelf / "static")
    with (
        start_static_server(replies.respond_with_status(503)) as server,
        serve_library(serve_with_static_server(bare_shelf, server)) as caller,
    ):
        assert caller.call_error("get_paper_source", paper_id=ATTENTION)["reason"] == "http_503"
        server.answer = healthy
        assert caller.call_text("get_paper_source", paper_id=ATTENTION) == inputs.strip_front_matter(inputs.ATTENTION)


def test_a_silent_static_server_delays_no_other_client(bare_shelf: Path) -> None:
    with (
        start_static_server(replies.send_nothing) as server,
        serve_library(LibraryConfig(shelf=bare_shelf, static_base_url=server.base, asset_timeout_s=15)) as caller,
        ThreadPoolExecutor(1) as threads,
    ):
        waiting = threads.submit(caller.call, "get_paper_source", paper_id=ATTENTION)
        assert server.was_asked.wait(10)
        assert caller.find_paper_id(ATTENTION)
        assert caller.call_structured("search_papers", query="rain radar")["total"] == 2
        assert not waiting.done()
        server.leaving.set()
        assert waiting.result(20)["isError"]


@pytest.mark.parametrize(
    "base",
    [
        "ftp://static.example.org",
        "file:///etc",
        "/srv/static",
        "http://",
        "https://user:pw@static.example.org",
        "x?y#z",
    ],
)
def test_an_invalid_base_url_is_refused_at_start(rich_shelf: Path, base: str) -> None:
    with pytest.raises(InvalidInput, match="address"):
        make_app(LibraryConfig(shelf=rich_shelf, static_base_url=base))
