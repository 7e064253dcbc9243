"""The file of sign-ins: a file that cannot be read or is not valid signs nobody in, and is never overwritten."""

import asyncio
import json
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import httpx
import pytest

from uraniborg.console.request_checks import RequestRates, SignInCheck
from uraniborg.console.sign_ins import SignInCodeRequired, SignIns
from uraniborg.console.workers.run_workers import WaitingRuns
from uraniborg.kernel.actors import Actor
from uraniborg.kernel.clock import FrozenClock
from uraniborg.kernel.http.header_checks import NotAuthorized
from uraniborg.kernel.store.audit_log import read_changes


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "console" / "sign-ins.json"


async def answer(_scope: Any, _receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body"})


async def send_with_key(sign_ins: SignIns, key: str) -> httpx.Response:
    app = SignInCheck(answer, sign_ins, owner="ada", open_paths=set())
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://station") as client:
        return await client.get("/api/inbox", headers={"Authorization": f"Bearer {key}"})


async def test_a_file_that_cannot_be_read_signs_nobody_out_and_changes_no_token(path: Path) -> None:
    sign_ins, other_server = SignIns(path), SignIns(path)
    token = sign_ins.token
    own, foreign = sign_ins.sign_in(token, "Sophie").key, other_server.sign_in(token, "Tycho").key
    contents = path.read_bytes()
    path.unlink()
    path.mkdir()  # reading a folder fails for every user
    assert (await send_with_key(sign_ins, own)).status_code == 204
    refused = await send_with_key(sign_ins, foreign)
    assert (refused.status_code, refused.json()["error"]["code"]) == (500, "internal_error")
    with pytest.raises(IsADirectoryError):
        sign_ins.sign_in(token, "Kirsten")
    assert sign_ins.token == token
    path.rmdir()
    path.write_bytes(contents)
    assert (await send_with_key(sign_ins, foreign)).status_code == 204


async def test_many_wrong_tokens_lock_nobody_out(path: Path) -> None:
    sign_ins = SignIns(path)
    for number in range(50):
        with pytest.raises(NotAuthorized):
            sign_ins.sign_in(f"wrong {number}", "Mallory")
    assert (await send_with_key(sign_ins, sign_ins.sign_in(sign_ins.token, "Sophie").key)).status_code == 204


def test_requests_without_a_sign_in_use_up_no_limit_of_others() -> None:
    async def send_many() -> list[int]:
        app = RequestRates(answer, per_second=1, burst=2, clock=lambda: 0.0)
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://station") as client:
            return [(await client.post("/api/sign-in")).status_code for _ in range(5)]

    assert asyncio.run(send_many()) == [204] * 5


async def test_a_key_ends_after_thirty_days(path: Path) -> None:
    begun = datetime(2026, 1, 1, tzinfo=UTC)
    new = SignIns(path, FrozenClock(begun)).sign_in(SignIns(path).token, "Sophie")
    assert (await send_with_key(SignIns(path, FrozenClock(begun + timedelta(days=29))), new.key)).status_code == 204
    assert (await send_with_key(SignIns(path, FrozenClock(begun + timedelta(days=30))), new.key)).status_code == 401


async def test_a_renewed_key_replaces_the_old_one_within_a_minute(path: Path) -> None:
    begun = datetime(2026, 1, 1, tzinfo=UTC)
    sign_ins = SignIns(path, FrozenClock(begun))
    old = sign_ins.sign_in(sign_ins.token, "Sophie").key
    new = sign_ins.renew(old)
    assert new.sign_in.name == "Sophie"
    assert (await send_with_key(sign_ins, old)).status_code == 204
    later = SignIns(path, FrozenClock(begun + timedelta(minutes=1)))
    assert (await send_with_key(later, old)).status_code == 401
    assert (await send_with_key(later, new.key)).status_code == 204
    with pytest.raises(NotAuthorized):
        later.renew(old)


async def test_signing_out_ends_a_key_on_every_server(path: Path) -> None:
    sign_ins, other_server = SignIns(path), SignIns(path)
    first, second = (sign_ins.sign_in(sign_ins.token, name).key for name in ("Sophie", "Tycho"))
    assert (await send_with_key(other_server, first)).status_code == 204
    sign_ins.sign_out(first)
    assert (await send_with_key(other_server, first)).status_code == 401
    assert (await send_with_key(other_server, second)).status_code == 204
    sign_ins.sign_out_everywhere()
    assert (await send_with_key(other_server, second)).status_code == 401
    assert (await send_with_key(other_server, sign_ins.token)).status_code == 204


async def stream_endlessly(_scope: Any, _receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b": hello\n\n", "more_body": True})
    await asyncio.Event().wait()


@pytest.mark.parametrize("end", [SignIns.sign_out_everywhere, SignIns.replace_token], ids=["everywhere", "new-token"])
async def test_an_open_stream_ends_when_another_server_ends_its_key(path: Path, end: Any) -> None:
    sign_ins, other_server = SignIns(path), SignIns(path)
    key = sign_ins.sign_in(sign_ins.token, "Sophie").key
    app = SignInCheck(stream_endlessly, sign_ins, owner="ada", open_paths=set())
    headers = [(b"authorization", b"Bearer " + key.encode())]
    sent: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    scope = {"type": "http", "method": "GET", "path": "/api/events", "headers": headers}
    async with asyncio.timeout(30):
        streaming = asyncio.create_task(app(scope, asyncio.Event().wait, sent.put))  # pyright: ignore[reportArgumentType]
        assert (await sent.get())["type"] == "http.response.start"
        assert (await sent.get())["more_body"]
        end(other_server)
        assert await sent.get() == {"type": "http.response.body", "body": b"", "more_body": False}
        await streaming


async def test_a_new_token_ends_the_old_one_and_all_keys_on_every_server(path: Path) -> None:
    sign_ins, other_server = SignIns(path), SignIns(path)
    old, key = sign_ins.token, sign_ins.sign_in(sign_ins.token, "Sophie").key
    sign_ins.replace_token()
    for given in (old, key):
        assert (await send_with_key(other_server, given)).status_code == 401
    assert (await send_with_key(other_server, sign_ins.token)).status_code == 204


async def test_cookies_of_earlier_versions_no_longer_sign_in(path: Path) -> None:
    path.parent.mkdir()
    people = {sha256(b"cookie").hexdigest(): {"name": "Sophie", "at": "2026-01-01T00:00:00Z"}}
    path.write_text(json.dumps({"token": "token of an earlier version", "people": people}))
    sign_ins = SignIns(path)
    assert (await send_with_key(sign_ins, "cookie")).status_code == 401
    assert (await send_with_key(sign_ins, "token of an earlier version")).status_code == 204


async def test_a_program_with_the_token_is_not_a_person(path: Path) -> None:
    sign_ins = SignIns(path)
    key = sign_ins.sign_in(sign_ins.token, "Sophie").key
    assert await sign_ins.find_actor(key, "ada") == Actor(kind="person", name="Sophie", authenticated="sign_in")
    program = Actor(kind="software", name="ada", authenticated="token")
    assert await sign_ins.find_actor(sign_ins.token, "ada") == program


async def test_a_file_that_is_not_valid_is_renamed_and_the_token_of_a_running_server_stays(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    sign_ins = SignIns(path)
    token = sign_ins.token
    path.write_text("{half a fi")
    assert (await send_with_key(sign_ins, "unknown")).status_code == 401
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


def test_where_a_person_must_decide_a_code_from_the_terminal_signs_in_once(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("URANIBORG_REQUIRE_PERSON", "1")
    sign_ins, shown = SignIns(path), list[str]()
    sign_ins.show_credential = shown.append
    with pytest.raises(SignInCodeRequired):  # the first try has a code shown if none was
        sign_ins.sign_in(sign_ins.token, "Eve")
    (first,) = shown
    token, _, code = first.partition(".")
    assert token == sign_ins.token
    assert code not in path.read_text(), "the code is in no file"
    for wrong in (token, f"{token}.", f"{token}.guess"):
        with pytest.raises(SignInCodeRequired):
            sign_ins.sign_in(wrong, "Eve")
    with pytest.raises(NotAuthorized):
        sign_ins.sign_in(f"wrong.{code}", "Eve")
    assert sign_ins.sign_in(first, "Ada").sign_in.name == "Ada"
    with pytest.raises(SignInCodeRequired):
        sign_ins.sign_in(first, "Eve")
    assert len(shown) == 2, "each code works once, and the next one is shown"
    assert sign_ins.sign_in(shown[1], "Bea").sign_in.name == "Bea"


def test_sign_ins_and_sign_outs_are_in_the_log_of_changes(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("URANIBORG_HOME", str(tmp_path / "home"))
    ada = Actor(kind="person", name="Ada", authenticated="sign_in")
    sign_ins = SignIns(path)
    key = sign_ins.sign_in(sign_ins.token, "Ada").key
    sign_ins.sign_out(key, ada)
    sign_ins.sign_out(key, ada)
    sign_ins.sign_out_everywhere(ada)
    sign_ins.replace_token(ada)
    found = read_changes().changes
    assert [(one["change"], one["subject"]) for one in found] == [
        ("signed in", "Ada"),
        ("signed out", "Ada"),
        ("signed out everywhere", "console"),
        ("token replaced", "console"),
    ]
    assert {str(one["actor"]) for one in found} == {str(ada.model_dump())}
