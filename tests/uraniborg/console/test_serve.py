"""`uraniborg serve`: one process, an agent in another one beside it, and clients that are not welcome."""

import asyncio
import html
import json
import re
import signal
import socket
import stat
import subprocess
import sys
from contextlib import AsyncExitStack
from pathlib import Path

import httpx
import pytest

from tests.installed_programs import Program, find_program
from tests.uraniborg.console.processes import ServerProcess, make_environment, run_server, start_process
from tests.uraniborg.console.streams import open_stream, wait_for_event
from tests.uraniborg.console.surfaces import connect_agent
from uraniborg.console.sign_ins import SignIns
from uraniborg.kernel.mcp.testing import connect_http_client, connect_stdio_client, get_json
from uraniborg.recordings import QUERY
from uraniborg.servers.credentials import AgentCredentials

pytestmark = pytest.mark.timeout(120)
TWO_NODES = {
    "nodes": [
        {"id": "ask", "type": "approval", "params": {"question": "Publish?"}},
        {"id": "say", "type": "echo", "params": {"message": "${ask.decision}"}},
    ],
    "edges": [{"from": "ask", "to": "say"}],
    "outputs": {"said": {"source": "${say.echo}"}},
}


@pytest.mark.parametrize("path", ["/api/events", "/api/universes/watched/events"])
async def test_signing_out_everywhere_ends_open_streams_of_browsers_and_not_those_of_programs(
    server: ServerProcess, path: str
) -> None:
    async with server.make_async_client() as api, asyncio.timeout(60):
        await api.post("/api/universes", json={"name": "Watched", "id": "watched"})
        browser = {"Authorization": f"Bearer {server.sign_in('Sophie')}"}
        async with (
            open_stream(server),
            httpx.AsyncClient(base_url=server.url, headers=browser, timeout=60) as http,
            http.stream("GET", path) as response,
        ):
            chunks = response.aiter_bytes()
            await anext(chunks)
            (await api.post("/api/sign-out-everywhere")).raise_for_status()
            async for _ in chunks:
                pass
        assert (await api.get("/api/me")).status_code == 200


def test_all_parts_run_each_on_its_own_port(server: ServerProcess) -> None:
    assert {name: part["problem"] for name, part in server.parts.items()} == dict.fromkeys(
        ("api", "paper-search", "paper-library", "universe")
    )
    assert httpx.get(f"{server.parts['paper-library']['url']}/healthz").status_code == 200
    assert httpx.get(f"{server.parts['universe']['url']}/health").status_code == 200


@pytest.mark.parametrize(
    ("part", "path"),
    [
        ("paper-search", "/mcp"),
        ("paper-library", "/mcp"),
        ("paper-library", "/"),
        ("paper-library", "/api/v1/"),
        ("universe", "/mcp"),
        ("universe", "/"),
        ("universe", "/universes"),
        ("universe", "/openapi.json"),
    ],
)
@pytest.mark.parametrize("token", ["", "wrong", "{key}", "{of another server}", "{revoked}"])
def test_every_port_asks_for_a_credential(server: ServerProcess, part: str, path: str, token: str) -> None:
    others = {"paper-search": "universe", "paper-library": "universe", "universe": "paper-library"}
    credentials = AgentCredentials(Path(server.env["URANIBORG_HOME"]) / "data" / "console" / "agents.json")
    if token == "{key}":
        token = server.sign_in("Sophie")
    elif token == "{of another server}":
        token = server.get_mcp(others[part])[1]
    elif token == "{revoked}":
        token = credentials.make_token("revoked-agent", part)
        credentials.revoke("revoked-agent")
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    answer = httpx.get(f"{server.parts[part]['url']}{path}", headers=headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (401, "not_authorized")
    assert answer.json()["error"]["request_id"] == answer.headers["x-request-id"]
    assert "uraniborg connect" in answer.json()["error"]["hint"]


@pytest.mark.parametrize(("part", "path"), [("paper-library", "/api/v1/"), ("universe", "/universes")])
def test_an_agent_with_its_credential_and_a_program_with_the_token_are_admitted(
    server: ServerProcess, part: str, path: str
) -> None:
    for token in (server.get_mcp(part)[1], server.token):
        answer = httpx.get(f"{server.parts[part]['url']}{path}", headers={"Authorization": f"Bearer {token}"})
        assert answer.status_code == 200


def test_the_credential_of_an_agent_does_not_open_the_api(server: ServerProcess) -> None:
    for name in ("paper-search", "paper-library", "universe"):
        headers = {"Authorization": f"Bearer {server.get_mcp(name)[1]}", "X-Uraniborg": "1"}
        assert httpx.get(f"{server.url}/api/inbox", headers=headers).status_code == 401


def test_tokens_of_the_settings_still_open_their_server_and_insecure_opens_it_to_everyone(tmp_path: Path) -> None:
    settings = {"URANIBORG_LIBRARY__TOKEN": "of-the-settings", "URANIBORG_UNIVERSE__INSECURE": "true"}
    with run_server(tmp_path, **settings) as server:
        papers = f"{server.parts['paper-library']['url']}/api/v1/"
        assert httpx.get(papers, headers={"Authorization": "Bearer of-the-settings"}).status_code == 200
        assert httpx.get(papers).status_code == 401
        assert httpx.get(f"{server.parts['universe']['url']}/universes").status_code == 200


def test_the_secret_of_the_credentials_is_private(server: ServerProcess) -> None:
    server.get_mcp("universe")
    path = Path(server.env["URANIBORG_HOME"]) / "data" / "console" / "agents.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


async def test_an_agent_can_search_over_http(server: ServerProcess, api: httpx.AsyncClient) -> None:
    async with connect_agent(server, "paper-search") as agent:
        reply = get_json(await agent.call_tool("search_papers", {"query": QUERY}))
    state = (await api.get(f"/api/searches/{reply['session_id']}")).json()
    assert state["checkpoint_id"] == reply["checkpoint_id"]


async def test_a_decision_in_the_console_continues_the_session_of_an_agent(
    server: ServerProcess, api: httpx.AsyncClient
) -> None:
    async with (
        connect_stdio_client(find_program("python"), ["-m", "paper_search.mcp_server"], env=server.env) as agent,
        open_stream(server) as events,
    ):
        asked = get_json(await agent.call_tool("search_papers", {"query": QUERY}))
        session_id = asked["session_id"]
        await wait_for_event(events, "inbox", state="pending", about=session_id)
        (entry,) = [
            one
            for one in (await api.get("/api/inbox", params={"state": "pending"})).json()["entries"]
            if one["subject"] == session_id
        ]
        decided = (await api.post(f"/api/inbox/{entry['id']}/decide", json={"action": "approve"})).json()
        assert (decided["door"], decided["decided_by"]) == ("console", "Tycho (software)")
        second = await api.post(f"/api/inbox/{entry['id']}/decide", json={"action": "reject"})
        assert (second.status_code, second.json()["error"]["code"]) == (409, "already_decided")
        await wait_for_event(events, "inbox", state="pending", about=session_id)
        state = get_json(await agent.call_tool("get_session", {"session_id": session_id}))
        assert state["current_checkpoint_kind"] == "result_review"


async def test_a_decision_has_its_actor_and_an_agent_its_credential(
    server: ServerProcess, api: httpx.AsyncClient
) -> None:
    headers = {"Authorization": f"Bearer {server.sign_in('Sophie')}"}
    async with connect_agent(server, "paper-search") as agent:
        asked = get_json(await agent.call_tool("search_papers", {"query": QUERY}))
        await agent.call_tool("decide", {"session_id": asked["session_id"], "action": "approve"})
    entry = (await api.get(f"/api/inbox/{asked['checkpoint_id']}")).json()
    assert (entry["actor"]["kind"], entry["actor"]["authenticated"]) == ("agent", "credential")
    second = (await api.get("/api/inbox", params={"state": "pending", "part": "paper_search"})).json()["entries"]
    (waiting,) = [one for one in second if one["subject"] == asked["session_id"]]
    decided = await api.post(f"/api/inbox/{waiting['id']}/decide", json={"action": "approve"}, headers=headers)
    assert decided.json()["actor"] == {"kind": "person", "name": "Sophie", "authenticated": "sign_in"}
    summaries = (await api.get("/api/inbox/summaries", params={"state": "decided"})).json()["entries"]
    assert {one["actor"]["kind"] for one in summaries if one["subject"] == asked["session_id"]} == {"agent", "person"}


def test_a_program_with_the_token_does_not_decide_if_a_person_is_demanded(tmp_path: Path) -> None:
    with run_server(tmp_path, URANIBORG_REQUIRE_PERSON="1") as server, server.make_client() as client:
        started = client.post("/api/searches", json={"query": QUERY}).json()
        for path in (f"searches/{started['session_id']}", f"inbox/{started['checkpoint_id']}"):
            refused = client.post(f"/api/{path}/decide", json={"action": "approve"})
            assert (refused.status_code, refused.json()["error"]["code"]) == (403, "person_required")
        for code in ("", ".", ".guess"):
            body = {"token": f"{server.token}{code}", "name": "Sophie"}
            refused = client.post("/api/sign-in", json=body)
            assert (refused.status_code, refused.json()["error"]["code"]) == (403, "sign_in_code_required")
        refused = client.put("/api/settings/decisions.require_person", json={"value": False})
        assert (refused.status_code, refused.json()["error"]["code"]) == (403, "person_required")
        person = SignIns(Path(server.env["URANIBORG_HOME"]) / "data" / "console" / "sign-ins.json")
        client.headers["Authorization"] = f"Bearer {person.sign_in(server.token, 'Sophie').key}"
        decided = client.post(f"/api/inbox/{started['checkpoint_id']}/decide", json={"action": "approve"})
        assert decided.status_code == 200


async def test_a_person_reviews_papers_and_the_session_ends(server: ServerProcess, api: httpx.AsyncClient) -> None:
    started = await api.post("/api/searches", json={"query": QUERY})
    assert started.status_code == 201
    session_id = started.json()["session_id"]
    assert (await api.post(f"/api/searches/{session_id}/decide", json={"action": "approve"})).status_code == 200
    listed = (await api.get(f"/api/searches/{session_id}/papers", params={"limit": 2, "sort": "year"})).json()
    assert len(listed["papers"]) == 2
    assert listed["papers"][0]["year"] >= listed["papers"][1]["year"]
    first, second = (paper["id"] for paper in listed["papers"])
    marks = {first: {"status": "exclude", "reason": "no data"}, second: "include"}
    marked = (await api.put(f"/api/searches/{session_id}/marks", json={"decisions": marks})).json()["marks"]
    assert marked[first] == {"status": "exclude", "reason": "no data"}
    only = (await api.get(f"/api/searches/{session_id}/papers", params={"status": "exclude"})).json()
    assert [paper["id"] for paper in only["papers"]] == [first]
    unmarked = (await api.put(f"/api/searches/{session_id}/marks", json={"decisions": {second: None}})).json()["marks"]
    assert list(unmarked) == [first]
    unknown = await api.put(f"/api/searches/{session_id}/marks", json={"decisions": {"p_none": "include"}})
    assert unknown.status_code == 422
    done = (await api.post(f"/api/searches/{session_id}/decide", json={"action": "approve"})).json()
    assert done["is_complete"]
    assert done["paper_count"] == listed["total"] - 1
    assert "@" in (await api.get(f"/api/searches/{session_id}/export", params={"format": "bibtex"})).text
    log = await api.get(f"/api/searches/{session_id}/export", params={"format": "prisma-json"})
    assert log.headers["content-type"] == "application/json"
    assert "Tycho" in json.dumps(log.json())
    assert (await api.delete(f"/api/searches/{session_id}")).status_code == 204
    assert (await api.get(f"/api/searches/{session_id}")).status_code == 404


async def test_an_approved_run_is_resumed_and_seen_node_by_node(server: ServerProcess, api: httpx.AsyncClient) -> None:
    written = (await api.put("/api/drafts/publish", json={"document": TWO_NODES})).json()
    assert written["diagnostics"] == []
    assert (await api.get("/api/drafts/publish")).json()["document"] == TWO_NODES
    async with open_stream(server) as events:
        started = await api.post("/api/runs", json={"name": "publish"})
        assert started.status_code == 202
        run_id = started.json()["run_id"]
        await wait_for_event(events, "node", subject=run_id, node="ask", status="waiting")
        await wait_for_event(events, "run", subject=run_id, status="waiting")
        (entry,) = (await api.get("/api/inbox", params={"state": "pending", "part": "pflow"})).json()["entries"]
        await api.post(f"/api/inbox/{entry['id']}/decide", json={"action": "approve"})
        resumed = await wait_for_event(events, "run", workflow="publish", status="success")
    run = (await api.get(f"/api/runs/{resumed['subject']}")).json()
    assert run["outputs"] == {"said": "approve"}
    assert [one["status"] for one in (await api.get("/api/runs")).json()["runs"]][:2] == ["success", "waiting"]


async def test_a_run_of_another_process_can_be_cancelled(server: ServerProcess, api: httpx.AsyncClient) -> None:
    slow = {"nodes": [{"id": "wait", "type": "shell", "params": {"command": "sleep 100"}}]}
    await api.put("/api/drafts/slow", json={"document": slow})
    async with open_stream(server) as events:
        terminal = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "pflow", "run", "slow", "--json", env=server.env, stdout=subprocess.DEVNULL
        )
        begun = await wait_for_event(events, "node", node="wait", status="running")
        assert (await api.post(f"/api/runs/{begun['subject']}/cancel")).status_code == 202
        await wait_for_event(events, "run", subject=begun["subject"], status="cancelled")
        await asyncio.wait_for(terminal.wait(), 60)
    again = await api.post(f"/api/runs/{begun['subject']}/cancel")
    assert (again.status_code, again.json()["error"]["code"]) == (409, "run_not_active")


@pytest.mark.parametrize("fresh", [False, True])
def test_a_workflow_that_does_not_exist_is_refused_at_once(client: httpx.Client, fresh: bool) -> None:
    reply = client.post("/api/runs", json={"name": "missing", "fresh": fresh}).json()
    assert reply["success"] is False
    assert reply["error"]["code"] == "workflow_not_found"


def test_the_token_is_exchanged_for_a_key_that_no_browser_sends_by_itself(server: ServerProcess) -> None:
    with httpx.Client(base_url=server.url, headers={"X-Uraniborg": "1"}) as browser:
        assert browser.get("/api/me").status_code == 401
        nobody = {"name": None, "is_renewal_due": False}
        assert browser.get("/api/sign-in").json() == nobody
        answer = browser.post("/api/sign-in", json={"token": server.token, "name": "Sophie  Brahe"})
        assert "set-cookie" not in answer.headers
        key = answer.json()["key"]
        assert key != server.token
        assert browser.get("/api/me").status_code == 401
        browser.headers["Authorization"] = f"Bearer {key}"
        assert browser.get("/api/me").json() == {"name": "Sophie Brahe"}
        assert browser.get("/api/sign-in").json() == {"name": "Sophie Brahe", "is_renewal_due": False}
        renewed = browser.post("/api/sign-in/renew").json()
        assert (renewed["name"], renewed["key"] == key) == ("Sophie Brahe", False)
        browser.headers["Authorization"] = f"Bearer {renewed['key']}"
        assert browser.post("/api/sign-out").status_code == 204
        assert browser.get("/api/me").status_code == 401
        assert browser.get("/api/sign-in").json() == nobody


def test_many_wrong_tokens_lock_nobody_out(server: ServerProcess) -> None:
    with httpx.Client(base_url=server.url, headers={"X-Uraniborg": "1"}) as browser:
        for number in range(30):
            wrong = browser.post("/api/sign-in", json={"token": f"wrong {number}", "name": "Mallory"})
            assert wrong.status_code == 401
        assert browser.post("/api/sign-in", json={"token": server.token, "name": "Sophie"}).status_code == 200


@pytest.mark.parametrize(
    ("headers", "status", "code"),
    [
        ({}, 401, "not_authorized"),
        ({"Authorization": "Bearer wrong"}, 401, "not_authorized"),
        ({"Cookie": "ubg-1=x"}, 401, "not_authorized"),
        ({"Authorization": "Bearer {token}", "Host": "evil.example"}, 421, "host_not_allowed"),
        ({"Authorization": "Bearer {token}", "Origin": "http://evil.example"}, 403, "origin_not_allowed"),
        ({"Authorization": "Bearer {token}", "Origin": "http://127.0.0.1:1"}, 403, "origin_not_allowed"),
        ({"Authorization": "Bearer {token}", "Sec-Fetch-Site": "cross-site"}, 403, "cross_site_not_allowed"),
    ],
)
@pytest.mark.parametrize("path", ["/api/inbox", "/api/events", "/api/openapi.json"])
def test_requests_from_elsewhere_are_refused(
    server: ServerProcess, headers: dict[str, str], status: int, code: str, path: str
) -> None:
    given = {name: value.replace("{token}", server.token) for name, value in headers.items()}
    answer = httpx.get(f"{server.url}{path}", headers=given)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)


def test_a_change_without_the_header_is_refused(server: ServerProcess) -> None:
    answer = httpx.post(
        f"{server.url}/api/searches", json={"query": "x"}, headers={"Authorization": f"Bearer {server.token}"}
    )
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "change_header_missing")


def test_bad_input_is_explained(client: httpx.Client) -> None:
    for answer, status in (
        (client.get("/api/inbox", params={"limit": 0}), 422),
        (client.get("/api/inbox", params={"colour": "blue"}), 422),
        (client.get("/api/inbox", params={"before": "yesterday"}), 422),
        (client.get("/api/inbox/none"), 404),
        (client.post("/api/inbox/none/decide", json={"action": "approve"}), 404),
        (client.get("/api/searches/none"), 404),
        (client.post("/api/searches", json={"query": " "}), 422),
        (client.post("/api/searches", content=b"{", headers={"Content-Type": "application/json"}), 422),
        (client.post("/api/searches", content=b"x", headers={"Content-Type": "text/plain"}), 415),
        (client.post("/api/searches", json={"query": "x" * 3_000_000}), 413),
        (client.get("/api/runs/none"), 404),
        (client.get("/api/nothing"), 404),
        (client.put("/api/searches"), 405),
    ):
        assert (answer.status_code, sorted(answer.json())) == (status, ["error"]), answer.text
        assert {"code", "message", "hint"} <= answer.json()["error"].keys()


def test_every_response_has_the_policy_of_pages(server: ServerProcess) -> None:
    page = httpx.get(server.url)
    assert page.status_code == 200
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert page.headers["x-content-type-options"] == "nosniff"


def test_the_openapi_document_lists_the_operations(client: httpx.Client) -> None:
    document = client.get("/api/openapi.json").json()
    assert {"/api/inbox", "/api/searches", "/api/runs", "/api/workflows", "/api/events"} <= document["paths"].keys()


def test_the_page_of_the_api_describes_this_server(client: httpx.Client) -> None:
    from tools.write_api_page import PAGE, build_page

    assert PAGE.read_text(encoding="utf-8") == build_page(client.get("/api/openapi.json").json()), "run `make docs`"


def test_the_file_of_sign_ins_is_private(server: ServerProcess) -> None:
    path = Path(server.env["URANIBORG_HOME"]) / "data" / "console" / "sign-ins.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


async def test_a_killed_server_starts_again_and_the_stream_resumes_without_a_gap(tmp_path: Path) -> None:
    with run_server(tmp_path) as first:
        async with open_stream(first) as events:
            async with first.make_async_client() as client:
                await client.post("/api/searches", json={"query": QUERY})
            last_id, _, _ = await anext(events)
            rest = [await anext(events) for _ in range(2)]
        first.process.send_signal(signal.SIGKILL)
        first.process.wait()
    with run_server(tmp_path) as second:
        assert second.token == first.token
        async with open_stream(second, last_id) as events:
            assert [await anext(events) for _ in range(2)] == rest


def test_a_taken_port_is_reported_and_the_rest_runs(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        with run_server(tmp_path, URANIBORG_UNIVERSE__PORT=port) as server:
            assert "cannot be used" in server.parts["universe"]["problem"]
            assert server.parts["paper-library"]["running"]
            with server.make_client() as client:
                assert client.get("/api/inbox").json()["entries"] == []


def test_a_missing_shelf_is_reported_and_the_rest_runs(tmp_path: Path) -> None:
    with run_server(tmp_path, URANIBORG_LIBRARY__SHELF=str(tmp_path / "missing")) as server:
        assert server.parts["paper-library"]["problem"]
        assert server.parts["universe"]["running"]


async def test_ctrl_c_ends_the_server_cleanly_while_agents_listen(tmp_path: Path) -> None:
    process = start_process(make_environment(tmp_path))
    assert process.stdout is not None
    started = json.loads(process.stdout.readline())
    async with AsyncExitStack() as agents:
        for address in [part["mcp"] for part in started["parts"] if part.get("mcp")]:
            agent = await agents.enter_async_context(connect_http_client(address, token=started["token"]))
            assert (await agent.list_tools()).tools
        process.send_signal(signal.SIGINT)
        _, errors = await asyncio.to_thread(process.communicate, timeout=60)
        assert (process.returncode, errors) == (0, b"")


def test_open_leads_the_browser_to_the_printed_address_and_a_new_token_replaces_the_earlier_one(
    tmp_path: Path,
) -> None:
    browser = tmp_path / "browser"
    browser.write_text('#!/bin/sh\necho "Opened $1" >&2\n')
    browser.chmod(0o755)
    env = make_environment(tmp_path, BROWSER=f"{browser} %s")
    stored = tmp_path / "uraniborg" / "data" / "console"
    earlier = SignIns(stored / "sign-ins.json").token
    with Program("uraniborg").start("serve", "--port", "0", "--open", "--new-token", env=env, cwd=tmp_path) as process:
        printed = ""
        while "Opened" not in printed:
            printed += (line := process.stderr.readline().decode())
            assert line, printed
        process.send_signal(signal.SIGINT)
        printed += process.stderr.read().decode()
        assert (process.wait(), process.stdout.read()) == (0, b"")
    (address,) = re.findall(r"Open the console:\s+(\S+)", printed)
    token = SignIns(stored / "sign-ins.json").token
    assert token != earlier
    assert address.endswith(f"/#token={token}&name=Tycho")
    assert f"\nOpened {(stored / 'open.html').as_uri()}\n" in printed
    page = (stored / "open.html").read_text()
    assert page.count(html.escape(address)) == 2
    assert stat.S_IMODE((stored / "open.html").stat().st_mode) == 0o600
    assert "--port moved the API alone." in printed
    for name in ("api", "paper-search", "paper-library", "universe"):
        assert re.search(rf"^  {name} +http://127.0.0.1:\d+  \w", printed, re.MULTILINE), name
    assert printed.endswith("\nStopped.\n")
