"""The file of sign-ins: a file that cannot be read or is not valid signs nobody in, and is never overwritten."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from uraniborg.console.sign_in import SignInCheck, SignIns
from uraniborg.console.waiting_runs import WaitingRuns


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "console" / "sign-ins.json"


async def answer(_scope: Any, _receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body"})


async def send_with_cookie(sign_ins: SignIns, cookie: str) -> httpx.Response:
    app = SignInCheck(answer, sign_ins, "ubg", owner="ada", open_paths=set())
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://station") as client:
        return await client.get("/api/inbox", headers={"Cookie": f"ubg={cookie}"})


async def test_a_file_that_cannot_be_read_signs_nobody_out_and_changes_no_token(path: Path) -> None:
    sign_ins, other_server = SignIns(path), SignIns(path)
    token = sign_ins.token
    own, foreign = sign_ins.sign_in(token, "Sophie"), other_server.sign_in(token, "Tycho")
    contents = path.read_bytes()
    path.unlink()
    path.mkdir()  # reading a folder fails for every user
    assert (await send_with_cookie(sign_ins, own)).status_code == 204
    refused = await send_with_cookie(sign_ins, foreign)
    assert (refused.status_code, refused.json()["error"]["code"]) == (500, "internal_error")
    with pytest.raises(IsADirectoryError):
        sign_ins.sign_in(token, "Kirsten")
    assert sign_ins.token == token
    path.rmdir()
    path.write_bytes(contents)
    assert (await send_with_cookie(sign_ins, foreign)).status_code == 204


async def test_a_file_that_is_not_valid_is_renamed_and_the_token_of_a_running_server_stays(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    sign_ins = SignIns(path)
    token = sign_ins.token
    path.write_text("{half a fi")
    assert (await send_with_cookie(sign_ins, "unknown")).status_code == 401
    assert path.with_name("sign-ins.json.damaged").read_text() == "{half a fi"
    assert "a file is not valid and was renamed" in caplog.text
    sign_ins.sign_in(token, "Sophie")
    assert json.loads(path.read_text())["token"] == token


def test_a_request_of_a_run_is_not_added_over_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "waiting-runs.json"
    path.write_text("[]")
    WaitingRuns(path).add("apr_1", {"name": "publish"})
    assert path.with_name("waiting-runs.json.damaged").read_text() == "[]"
    assert WaitingRuns(path).list_ids() == ["apr_1"]
    path.unlink()
    path.mkdir()
    with pytest.raises(IsADirectoryError):
        WaitingRuns(path).list_ids()
