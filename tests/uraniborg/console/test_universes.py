"""The routes of universes behind the sign-in of the console."""

import socket
from pathlib import Path

import httpx

from tests.uraniborg.console.processes import ServerProcess, run_server
from tests.uraniborg.console.surfaces import connect_agent


def test_the_console_and_the_universe_server_show_the_same_universe(
    server: ServerProcess, client: httpx.Client
) -> None:
    created = client.post("/api/universes", json={"name": "Hven"})
    assert created.status_code == 201, created.text
    universe = created.json()["id"]
    sent = client.post(
        f"/api/universes/{universe}/commands",
        json={"type": "tick", "dt": 5},
        headers={"Uraniborg-Author": "somebody else"},
    )
    own = httpx.get(
        f"{server.parts['universe']['url']}/universes/{universe}", headers={"Authorization": f"Bearer {server.token}"}
    ).json()
    assert own["version"] == sent.json()["version"]
    assert client.get(f"/api/universes/{universe}").json() == own
    changes = client.get(f"/api/universes/{universe}/history").json()["entries"]
    assert {change["author"] for change in changes} == {"Tycho (software)"}, "the token is that of a program"
    program = {"kind": "software", "name": "Tycho", "authenticated": "token"}
    assert [change["actor"] for change in changes] == [program]
    assert own["createdBy"] == program


async def test_a_person_an_agent_and_software_are_told_apart_in_one_log(
    server: ServerProcess, api: httpx.AsyncClient
) -> None:
    universe = (await api.post("/api/universes", json={"name": "Hven"})).json()["id"]
    tick = {"type": "tick", "dt": 1}
    claim = {"Uraniborg-Author": "Tycho (console)"}
    signed_in = {"Authorization": f"Bearer {server.sign_in('Sophie')}", **claim}
    (await api.post(f"/api/universes/{universe}/commands", json=tick, headers=signed_in)).raise_for_status()
    async with connect_agent(server, "universe") as agent:
        await agent.call_tool("send_universe_command", {"universeId": universe, "command": tick})
    own = f"{server.parts['universe']['url']}/universes/{universe}"
    _, credential = server.get_mcp("universe")
    async with httpx.AsyncClient() as program:
        for token in (server.token, credential):
            headers = {"Authorization": f"Bearer {token}", **claim}
            (await program.post(f"{own}/commands", json=tick, headers=headers)).raise_for_status()
        token = {"Authorization": f"Bearer {server.token}", "X-Uraniborg": "1", **claim}
        sent = await program.post(f"{server.url}/api/universes/{universe}/commands", json=tick, headers=token)
        assert sent.status_code == 200, sent.text
    entries = (await api.get(f"/api/universes/{universe}/history")).json()["entries"]
    person, agent_over_mcp, software, agent_over_rest, script = [entry["actor"] for entry in entries]
    assert person == {"kind": "person", "name": "Sophie", "authenticated": "sign_in"}
    assert (agent_over_mcp["kind"], agent_over_mcp["authenticated"]) == ("agent", "credential")
    assert software == {"kind": "software", "name": "Tycho (console)", "authenticated": "token"}
    assert agent_over_rest == {"kind": "agent", "name": "Tycho (console)", "authenticated": "credential"}
    assert (script["kind"], script["authenticated"]) == ("software", "token")
    assert script["name"] != "Tycho (console)", "the API ignores the header"
    assert [entry["author"].endswith(")") for entry in entries] == [False, True, True, True, True]


def test_the_address_of_something_new_is_one_of_this_api(client: httpx.Client) -> None:
    created = client.post("/api/universes", json={"name": "Chain", "from": "trappist-1"})
    assert client.get(created.headers["location"]).json()["name"] == "Chain"
    job = client.post(f"{created.headers['location']}/jobs", json={"kind": "transits", "days": 1})
    assert client.get(job.headers["location"]).json()["id"] == job.json()["id"]


def test_a_universe_is_streamed(client: httpx.Client) -> None:
    universe = client.post("/api/universes", json={"name": "streamed"}).json()["id"]
    with client.stream("GET", f"/api/universes/{universe}/events") as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        assert next(response.iter_bytes())


def test_only_signed_in_people_reach_universes(server: ServerProcess) -> None:
    assert httpx.get(f"{server.url}/api/universes").status_code == 401
    answer = httpx.post(
        f"{server.url}/api/universes", json={"name": "x"}, headers={"Authorization": f"Bearer {server.token}"}
    )
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "change_header_missing")


def test_a_wrong_request_gets_the_error_of_the_universe(client: httpx.Client) -> None:
    assert client.get("/api/universes/none").json()["error"]["code"] == "universe_not_found"
    assert client.get("/api/universesque").status_code == 404


def test_the_openapi_document_lists_the_routes_of_universes(client: httpx.Client) -> None:
    document = client.get("/api/openapi.json").json()
    assert document["paths"]["/api/universes/{universe_id}/commands"]["post"]["operationId"] == "universe_send"
    ids = [operation["operationId"] for item in document["paths"].values() for operation in item.values()]
    assert len(ids) == len(set(ids))


def test_a_universe_server_that_does_not_run_is_reported(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        with run_server(tmp_path, URANIBORG_UNIVERSE__PORT=port) as server, server.make_client() as client:
            answer = client.get("/api/universes")
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (503, "universe_not_served")
    assert "cannot be used" in error["message"]
    assert error["hint"]
