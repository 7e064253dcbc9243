"""An unavailable asset is a structured error with paper, template and reason."""

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.testclient import TestClient

from paper_library.api.app import make_app
from paper_library.config import LibraryConfig
from paper_library.errors import AssetFetchFailed, AssetInvalid
from paper_library.service.build.builder import build_shelf
from paper_library.store.assets import AssetReader
from paper_library.store.layout import make_asset_path
from paper_library.store.shelf import AssetRef
from tests.requirements import requirement

TEXT = b"# Deep fish"
SOURCE = AssetRef("source", "", hashlib.sha256(TEXT).hexdigest(), len(TEXT), len(TEXT))
SUMMARY = AssetRef("summary", "deep_read", SOURCE.sha256, len(TEXT), len(TEXT))
FETCH_HINT = "Try again. `paper-library verify SHELF` lists missing files."

Answer = Callable[[httpx.Request], httpx.Response]


def make_failing_transport(error: Exception) -> Answer:
    def raise_error(_request: httpx.Request) -> httpx.Response:
        raise error

    return raise_error


def make_transport(status: int = 200, content: bytes = TEXT, headers: dict[str, str] | None = None) -> Answer:
    return lambda _: httpx.Response(status, content=iter([content]), headers=headers)


def test_assets_are_read_from_a_static_server(tmp_path: Path) -> None:
    assets = AssetReader("https://static.example/papers/", transport=httpx.MockTransport(make_transport()))
    assert assets.read_asset(tmp_path, SOURCE, "p1") == TEXT.decode()


def read_error(answered: Answer, ref: AssetRef, folder: Path) -> AssetFetchFailed | AssetInvalid:
    assets = AssetReader("https://static.example/papers", transport=httpx.MockTransport(answered))
    with pytest.raises((AssetFetchFailed, AssetInvalid)) as caught:
        assets.read_asset(folder, ref, "p1")
    assert caught.value.__cause__ is None, "the address is in it"
    return caught.value


@requirement("PL-16")
@pytest.mark.parametrize(
    ("answered", "reason"),
    [
        (make_transport(404), "missing"),
        (make_transport(410), "missing"),
        (make_transport(401), "http_401"),
        (make_transport(500), "http_500"),
        (make_transport(302, headers={"Location": "https://elsewhere.example/"}), "redirect"),
        (make_failing_transport(httpx.ReadTimeout("slow")), "timeout"),
        (make_failing_transport(httpx.ConnectTimeout("slow")), "timeout"),
        (make_failing_transport(httpx.ConnectError("gone")), "unreachable"),
        (make_failing_transport(httpx.RemoteProtocolError("odd")), "unreachable"),
    ],
)
@pytest.mark.parametrize("ref", [SOURCE, SUMMARY], ids=["source", "summary"])
def test_a_failed_fetch_reports_reason_paper_and_template(
    tmp_path: Path, answered: Answer, reason: str, ref: AssetRef
) -> None:
    error = read_error(answered, ref, tmp_path)
    template = {"template": "deep_read"} if ref is SUMMARY else {}
    assert error.body() == {
        "error": {
            "code": "asset_fetch_failed",
            "message": f"The {ref.kind} of this paper could not be fetched ({reason}).",
            "hint": FETCH_HINT,
            "reason": reason,
            "paper_id": "p1",
            **template,
        }
    }


@requirement("PL-16")
@pytest.mark.parametrize(
    "answered",
    [
        make_transport(content=b"# Deep bird"),
        make_transport(content=TEXT + b"!"),
        make_transport(content=TEXT[:-1]),
        make_transport(content=b""),
        make_transport(headers={"Content-Encoding": "br"}),
    ],
    ids=["other", "longer", "shorter", "empty", "compressed"],
)
def test_a_response_with_other_contents_is_invalid(tmp_path: Path, answered: Answer) -> None:
    error = read_error(answered, SUMMARY, tmp_path)
    assert error.code == "asset_invalid"
    assert error.ids == {"paper_id": "p1", "template": "deep_read"}
    assert "has changed since the shelf was built" in error.message


@requirement("PL-16")
def test_text_that_cannot_be_decoded_is_invalid(tmp_path: Path) -> None:
    ref = AssetRef("source", "", hashlib.sha256(b"\xff\xfe").hexdigest(), 2, 2)
    error = read_error(make_transport(content=b"\xff\xfe"), ref, tmp_path)
    assert (error.code, error.ids) == ("asset_invalid", {"paper_id": "p1"})


@requirement("PL-16")
def test_an_unreadable_file_is_not_fetched_from_the_server(tmp_path: Path) -> None:
    blocked = (tmp_path / "static" / make_asset_path("source", SOURCE.sha256)).parent
    blocked.parent.mkdir(parents=True)
    blocked.write_text("a file where a folder should be")
    error = read_error(make_transport(), SOURCE, tmp_path)
    assert (error.code, error.ids["reason"]) == ("asset_fetch_failed", "unreadable")


@requirement("PL-16")
def test_without_a_static_server_a_lost_file_is_missing(tmp_path: Path) -> None:
    with pytest.raises(AssetFetchFailed) as caught:
        AssetReader().read_asset(tmp_path, SOURCE, "p1")
    assert caught.value.ids == {"reason": "missing", "paper_id": "p1"}


@pytest.fixture(scope="module")
def damaged_shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a shelf without its source and with a summary that is not valid JSON."""
    folder = tmp_path_factory.mktemp("damaged_shelf")
    (folder / "sums" / "deep_read").mkdir(parents=True)
    (folder / "fish.md").write_text("---\ntitle: Deep Fish of the North\n---\n\n# Deep fish\n\nThey swim.\n")
    (folder / "sums" / "deep_read" / "fish.json").write_text('{"summary": "They swim."}')
    build_shelf([folder / "fish.md"], folder / "shelf", summaries=folder / "sums")
    shutil.rmtree(folder / "shelf" / "static" / "source")
    for path in (folder / "shelf" / "static" / "summary").rglob("*.json"):
        path.write_bytes(b"{" * path.stat().st_size)
    return folder / "shelf"


@requirement("PL-16")
def test_rest_tools_and_resources_return_the_same_structured_error(damaged_shelf: Path) -> None:
    with TestClient(make_app(LibraryConfig(shelf=damaged_shelf)), base_url="http://localhost") as client:

        def called(method: str, **params: Any) -> dict[str, Any]:
            message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
            headers = {"Accept": "application/json, text/event-stream"}
            return client.post("/mcp", json=message, headers=headers).json()

        paper = client.get("/api/v1/search", params={"q": "fish"}).json()["results"][0]["paper_id"]
        for path, tool, arguments, code in [
            ("source", "get_paper_source", {}, "asset_fetch_failed"),
            ("summary/deep_read", "get_paper_summary", {"template": "deep_read"}, "asset_invalid"),
        ]:
            rest = client.get(f"/api/v1/papers/{paper}/{path}")
            result = called("tools/call", name=tool, arguments={"paper_id": paper, **arguments})["result"]
            read = called("resources/read", uri=f"paper://{paper}/{path}")["error"]
            assert (rest.status_code, result["isError"]) == (503, True)
            answers = [rest.json(), json.loads(result["content"][0]["text"]), read["data"]]
            assert len({answer["error"].pop("request_id") for answer in answers}) == 3
            assert answers[0] == answers[1] == answers[2]
            error = rest.json()["error"]
            assert (error["code"], error["paper_id"]) == (code, paper)
            assert error.get("template") == arguments.get("template")
            assert read["message"] == f"{error['message']}\n{error['hint']}"
            assert str(damaged_shelf) not in rest.text
