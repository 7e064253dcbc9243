"""Who made a change over REST: a credential decides what kind of actor it is, and the header only names it."""

from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi.routing import APIRoute
from starlette.requests import Request

from tests.universe.api.rest.rest_server import create_universe, get_error, run_server, send_command
from universe.api.rest import ROUTERS
from universe.api.rest.requests import find_actor
from uraniborg.kernel.actors import ACTOR, Actor

TICK = {"type": "tick", "dt": 1}
NOBODY = {"kind": "software", "name": "", "authenticated": "none"}


def list_changing_routes() -> list[APIRoute]:
    routes = [route for router in ROUTERS for route in router.routes]
    return [one for one in routes if isinstance(one, APIRoute) and (one.methods or set()) - {"GET", "HEAD", "OPTIONS"}]


@pytest.mark.parametrize("route", list_changing_routes(), ids=lambda route: f"{min(route.methods)} {route.path}")
def test_every_route_that_changes_something_asks_who_sent_the_request(route: APIRoute) -> None:
    assert find_actor in [one.call for one in route.dependant.dependencies]


@pytest.mark.parametrize(
    ("known", "header", "found"),
    [
        (None, None, NOBODY),
        (None, "Tycho", {**NOBODY, "name": "Tycho"}),
        (("software", "erik", "token"), None, {"kind": "software", "name": "erik", "authenticated": "token"}),
        (("software", "erik", "token"), "script", {"kind": "software", "name": "script", "authenticated": "token"}),
        (("agent", "cursor", "credential"), None, {"kind": "agent", "name": "cursor", "authenticated": "credential"}),
        (("agent", "cursor", "credential"), "Tycho", {"kind": "agent", "name": "Tycho", "authenticated": "credential"}),
        (("agent", "", "token"), "Tycho", {"kind": "software", "name": "Tycho", "authenticated": "token"}),
        (("person", "Sophie", "sign_in"), "Tycho", {"kind": "person", "name": "Sophie", "authenticated": "sign_in"}),
    ],
)
async def test_a_claimed_name_changes_neither_the_kind_nor_the_check(
    known: tuple[str, str, str] | None, header: str | None, found: dict[str, Any]
) -> None:
    scope: dict[str, Any] = {"type": "http"}
    if known is not None:
        fields: Any = dict(zip(("kind", "name", "authenticated"), known, strict=True))
        scope[ACTOR] = Actor(**fields)
    assert (await find_actor(Request(scope), header)).model_dump() == found


def test_changes_record_universes_and_jobs_name_their_actor(rest: httpx.Client) -> None:
    tycho = {"kind": "software", "name": "Tycho", "authenticated": "none"}
    headers = {"Uraniborg-Author": "Tycho"}
    made = rest.post("/universes", json={"name": "T", "from": "trappist-1"}, headers=headers).json()
    url = f"/universes/{made['id']}"
    assert (made["createdBy"], made["renamedBy"]) == (tycho, None)
    send_command(rest, made["id"], TICK)
    assert rest.put(url, json={"name": "Stjerneborg"}, headers=headers).json()["renamedBy"] == tycho
    entries = rest.get(f"{url}/history").json()["entries"]
    assert [one["actor"] for one in entries] == [tycho, NOBODY]
    job = rest.post(f"{url}/jobs", json={"kind": "nbody", "days": 4_000_000, "bodies": ["trappist-1", "trappist-1-b"]})
    assert (job.json()["actor"], job.json()["cancelledBy"]) == (NOBODY, None)
    cancelled = rest.post(f"{job.headers['location']}/cancel", headers=headers).json()
    assert (cancelled["actor"], cancelled["cancelledBy"]) == (NOBODY, tycho)
    facts = next(one for one in rest.get("/universes").json()["universes"] if one["id"] == made["id"])
    assert (facts["createdBy"], facts["renamedBy"]) == (tycho, tycho)


def test_the_token_of_the_server_is_recorded(tmp_path: Path) -> None:
    with run_server(tmp_path, token="s3cret") as client:
        client.headers["Authorization"] = "Bearer s3cret"
        universe = create_universe(client)
        send_command(client, universe, TICK)
        (entry,) = client.get(f"/universes/{universe}/history").json()["entries"]
    assert entry["actor"] == {"kind": "software", "name": "", "authenticated": "token"}


def test_a_name_that_nobody_can_display_or_that_is_too_long_is_refused(rest: httpx.Client, universe: str) -> None:
    for name in (b"\xc2\x85", b"x" * 101):
        answer = rest.post(f"/universes/{universe}/commands", json=TICK, headers={b"Uraniborg-Author": name})
        assert get_error(answer, 400)["argument"] in ("author", "Uraniborg-Author")
