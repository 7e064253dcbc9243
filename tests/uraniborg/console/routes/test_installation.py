"""The routes of connections, calls, settings and locations."""

import json
import shlex
import stat
import subprocess
from collections.abc import Generator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.installed_programs import find_program
from tests.uraniborg.console.processes import ServerProcess, run_server
from tests.uraniborg.console.surfaces import connect_agent
from uraniborg.kernel.mcp.testing import connect_stdio_client

KEY = "k-4711-secret"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[ServerProcess]:
    home = tmp_path_factory.mktemp("home")
    (home / ".cursor").mkdir()
    entry = {"mcpServers": {"pflow": {"command": "pflow"}, "other": {}}}
    (home / ".cursor" / "mcp.json").write_text(json.dumps(entry), encoding="utf-8")
    with run_server(home, OPENALEX_API_KEY=KEY) as running:
        yield running


def test_connections_list_addresses_clients_and_sources_without_keys(
    server: ServerProcess, client: httpx.Client
) -> None:
    answer = client.get("/api/connections")
    assert KEY not in answer.text
    found = answer.json()
    parts = {part["name"]: part for part in found["parts"]}
    assert parts.keys() == server.parts.keys()
    assert server.parts["universe"]["mcp"] in parts["universe"]["command"]
    clients = {one["client"]: one for one in found["clients"]}
    assert len(clients) == 9
    assert (clients["cursor"]["installed"], clients["cursor"]["connected"]) == (True, ["pflow"])
    program, *arguments = shlex.split(clients["cursor"]["command"])
    assert (Path(program).is_absolute(), arguments) == (True, ["connect", "cursor"])
    entry = json.loads(clients["cursor"]["entry"])
    assert Path(entry["mcpServers"]["pflow"]["command"]).is_absolute()
    for server_facts in found["servers"]:
        words = shlex.split(server_facts["line"])
        if server_facts["transport"] == "http":
            header = words.pop()
            assert words.pop() == "--header"
            assert header.startswith("Authorization: Bearer claude-code.")
        end = server_facts["command"] if server_facts["transport"] == "stdio" else [server_facts["url"]]
        assert (words[:3], words[-len(end) :]) == (["claude", "mcp", "add"], end)
    sources = {source["name"]: source for source in found["sources"]}
    assert (sources["openalex"]["has_key"], sources["openalex"]["needs_key"]) == (True, True)
    assert sources["serpapi_scholar"]["has_key"] is False
    assert found["offline"] is True


def test_a_source_is_asked_one_query_and_reports_how_it_answered(client: httpx.Client) -> None:
    report = client.post("/api/search-sources/openalex/check").json()
    assert (report["name"], report["status"], report["returned"] > 0) == ("openalex", "ok", True)
    assert "shipped recording" in report["reason"]
    for name, status, code in (("dblp", 422, "invalid_argument"), ("scholar", 422, "unknown_source")):
        refused = client.post(f"/api/search-sources/{name}/check")
        assert (refused.status_code, refused.json()["error"]["code"]) == (status, code)
        assert "openalex" in refused.json()["error"]["hint"]


async def test_calls_of_every_process_are_recorded_without_arguments(server: ServerProcess) -> None:
    secret = "my secret topic"
    async with connect_stdio_client(find_program("python"), ["-m", "paper_search.mcp_server"], env=server.env) as agent:
        await agent.call_tool("get_session", {"session_id": secret})
    async with connect_stdio_client(find_program("python"), ["-m", "pflow", "mcp", "serve"], env=server.env) as agent:
        await agent.call_tool("list_library", {})
    async with connect_agent(server, "paper-library") as agent:
        await agent.call_tool("list_top_facets", {"category": "author"})
    async with connect_agent(server, "universe") as agent:
        await agent.call_tool("list_universe_commands", {})
        for universe in ("lost-one", "lost-two"):
            command = {"type": "tick", "dt": 1}
            await agent.call_tool("send_universe_command", {"universeId": universe, "command": command})
    expected = {
        ("get_session", "session_not_found"),
        ("list_library", None),
        ("list_top_facets", None),
        ("list_universe_commands", "invalid_argument"),
        ("send_universe_command", "universe_not_found"),
    }
    calls: list[dict[str, Any]] = []
    async with server.make_async_client() as client:
        for _ in range(200):
            answer = await client.get("/api/calls")
            calls = answer.json()["calls"]
            has_both = sum(call["tool"] == "send_universe_command" for call in calls) == 2
            if has_both and {(call["tool"], call["error"]) for call in calls} >= expected:
                break
        else:
            raise AssertionError(calls)
        assert secret not in answer.text
        assert all(call["reply_bytes"] > 0 and call["duration_ms"] >= 0 for call in calls)
        assert len({call["server"] for call in calls}) == 4
        assert any(call["client"] for call in calls)
        assert len((await client.get("/api/calls", params={"limit": 1})).json()["calls"]) == 1
        wanted = {"tool": "send_universe_command", "failed": True, "about": "lost-two"}
        found = (await client.get("/api/calls", params=wanted)).json()["calls"]
        assert [call["about"] for call in found] == [["lost-two"]]
        assert "lost-two" in found[0]["message"]
    folder = Path(server.env["URANIBORG_HOME"]) / "data" / "calls"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert all(stat.S_IMODE(file.stat().st_mode) == 0o600 for file in folder.glob("*.log"))


def test_settings_are_those_of_the_command_line(server: ServerProcess, client: httpx.Client) -> None:
    answer = client.get("/api/settings")
    assert KEY not in answer.text
    rows = [{**row} for row in answer.json()["settings"]]
    changeable = {row["setting"] for row in rows if row.pop("changeable")}
    assert changeable == {"uraniborg.user", "decisions.require_person", "paper_search.offline", "library.shelf"}
    printed = subprocess.run(
        [find_program("uraniborg"), "settings", "--all", "--json"],
        env=server.env,
        cwd=server.env["HOME"],
        capture_output=True,
        check=True,
        text=True,
    )
    assert rows == json.loads(printed.stdout)
    paths = client.get("/api/paths").json()["paths"]
    assert paths["data"]["exists"] is True


def test_a_setting_is_changed_in_the_file_and_removed_again(server: ServerProcess, client: httpx.Client) -> None:
    file = Path(client.get("/api/paths").json()["paths"]["config"]["path"])
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("# mine\n[decisions]\n", encoding="utf-8")
    person = {"Authorization": f"Bearer {server.sign_in('Sophie')}"}
    changed = client.put("/api/settings/decisions.require_person", json={"value": True})
    assert (changed.status_code, changed.json()["value"], changed.json()["origin_kind"]) == (200, True, "file")
    assert file.read_text(encoding="utf-8").startswith("# mine\n")
    refused = client.put("/api/settings/decisions.require_person", json={"value": None})
    assert refused.json()["error"]["code"] == "person_required", "a program does not switch it off"
    removed = client.put("/api/settings/decisions.require_person", json={"value": None}, headers=person).json()
    assert (removed["value"], removed["origin_kind"]) == (False, "default")


@pytest.mark.parametrize(
    ("name", "value", "status", "code"),
    [
        ("decisions.require_person", "yes", 422, "invalid_argument"),
        ("library.shelf", "relative", 422, "invalid_argument"),
        ("library.shelf", "/nowhere", 404, "shelf_not_found"),
        ("universe.db", "memory:", 404, "setting_not_changeable"),
        ("uraniborg.user", "Sophie", 409, "setting_overridden"),
    ],
)
def test_a_change_that_is_wrong_or_without_effect_is_refused(
    client: httpx.Client, name: str, value: object, status: int, code: str
) -> None:
    before = client.get("/api/settings").json()
    answer = client.put(f"/api/settings/{name}", json={"value": value})
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert client.get("/api/settings").json() == before


def test_the_checks_of_the_installation_can_be_read(client: httpx.Client) -> None:
    found = client.get("/api/doctor").json()
    assert {check["topic"] for check in found["checks"]} >= {"programs", "shelves", "ports", "clients", "keys"}
