"""Parts of a universe over REST: ids, fields, subtrees, regions, pages, compact citations and compression."""

import gzip
from typing import Any

import httpx
import pytest

from tests.universe.api.rest.rest_server import create_universe, get_error
from tests.universe.domain.samples import a_body

SOURCE: dict[str, Any] = {"id": "doi:10.1/x", "title": "A catalogue", "fields": ["mass"]}


@pytest.fixture(scope="module")
def system(rest: httpx.Client) -> str:
    """Return the id of a universe of a star with ten planets, of which the first has a moon."""
    planets = [f"p{number}" for number in range(10)]
    stars: dict[str, Any] = {"sun": a_body("sun", None, planets, orbitalDistance=0, sources=[SOURCE])}
    for number, key in enumerate(planets):
        facts = {"orbitalDistance": 10 + number, "orbitalPhase": 0, "orbitalSpeed": 0, "sources": [SOURCE]}
        stars[key] = a_body(key, "sun", ["moon"] if number == 0 else [], **facts)
    stars["moon"] = a_body("moon", "p0", orbitalDistance=1, orbitalPhase=0, orbitalSpeed=0)
    return create_universe(rest, state={"stars": stars, "rootIds": ["sun"]})


def read(rest: httpx.Client, system: str, **parameters: Any) -> dict[str, Any]:
    return rest.get(f"/universes/{system}", params=parameters).raise_for_status().json()


def test_only_the_named_entities_and_fields_are_returned(rest: httpx.Client, system: str) -> None:
    whole = read(rest, system)
    part = read(rest, system, ids=["p3", "sun", "p33"], fields=["name", "mass"])
    expected = {key: {name: whole["state"]["stars"][key][name] for name in ("name", "mass")} for key in ("p3", "sun")}
    assert part["state"] == {**whole["state"], "stars": expected}
    assert (part["total"], part["next"], part["notFound"]) == (2, None, ["p33"])
    assert "p3" in part["nearest"]["p33"]
    assert (part["version"], part["name"]) == (whole["version"], whole["name"])


def test_a_field_that_no_body_happens_to_have_is_allowed_and_one_that_none_can_have_is_refused(
    rest: httpx.Client, system: str
) -> None:
    for name in ("setBy", "stateVector", "isRoguePlanet", "kepler", "physical"):
        assert read(rest, system, ids=["sun"], fields=[name])["state"]["stars"] == {"sun": {}}, name
        assert len(read(rest, system, fields=[name])["state"]["stars"]) == 12
    for parameters in ({"ids": ["sun"], "fields": ["mas"]}, {"fields": ["mas"]}):
        assert get_error(rest.get(f"/universes/{system}", params=parameters), 400)["nearest"] == {"mas": ["mass"]}
    command = {"type": "updateStar", "id": "p3", "payload": {"albedo": 0.3}}
    rest.post(f"/universes/{system}/commands", json=command).raise_for_status()
    assert read(rest, system, ids=["p3", "sun"], fields=["albedo"])["state"]["stars"] == {
        "p3": {"albedo": 0.3},
        "sun": {},
    }
    rest.post(f"/universes/{system}/undo").raise_for_status()


def test_a_subtree_has_a_body_and_all_below_it(rest: httpx.Client, system: str) -> None:
    assert list(read(rest, system, under="p0")["state"]["stars"]) == ["p0", "moon"]
    assert len(read(rest, system, under="sun")["state"]["stars"]) == 12
    assert get_error(rest.get(f"/universes/{system}", params={"under": "p00"}), 400)["nearest"][0] == "p0"


def test_a_region_has_the_bodies_inside_a_sphere(rest: httpx.Client, system: str) -> None:
    assert list(read(rest, system, near="11,0,0,1.01")["state"]["stars"]) == ["p0", "p1", "p2", "moon"]
    assert list(read(rest, system, near="0,0,0,0")["state"]["stars"]) == ["sun"]
    for wrong in ("", "1,2,3", "1,2,3,-1", "1,2,3,nan", "a,b,c,d"):
        assert "near=0,0,0,1.5" in get_error(rest.get(f"/universes/{system}", params={"near": wrong}), 400)["hint"]


def test_pages_have_every_body_once_and_in_order(rest: httpx.Client, system: str) -> None:
    found: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        page = read(rest, system, limit=5, **cursor)
        found += page["state"]["stars"]
        assert page["total"] == 12
        if page["next"] is None:
            break
        cursor = {"cursor": page["next"]}
    assert found == list(read(rest, system)["state"]["stars"])
    assert get_error(rest.get(f"/universes/{system}", params={"limit": 1, "cursor": "?"}), 400)["argument"] == "cursor"


def test_the_compact_form_has_each_citation_once(rest: httpx.Client, system: str) -> None:
    whole, compact = read(rest, system), read(rest, system, format="compact")
    assert compact["sources"] == {SOURCE["id"]: {"title": "A catalogue"}}
    for key, body in compact["state"]["stars"].items():
        body["sources"] = [{**one, **compact["sources"][one["id"]]} for one in body.get("sources", [])]
        assert body == {"sources": [], **whole["state"]["stars"][key]}


@pytest.mark.parametrize("accepted", ["gzip", "gzip, br", "*", "gzip;q=0.5"])
def test_a_large_reply_is_compressed_if_the_client_accepts_it(rest: httpx.Client, system: str, accepted: str) -> None:
    with rest.stream("GET", f"/universes/{system}", headers={"Accept-Encoding": accepted}) as answer:
        raw = b"".join(answer.iter_raw())
    assert answer.headers["Content-Encoding"] == "gzip"
    assert "Accept-Encoding" in answer.headers["Vary"]
    assert gzip.decompress(raw) == rest.get(f"/universes/{system}", headers={"Accept-Encoding": "identity"}).content


@pytest.mark.parametrize("accepted", ["", "identity", "gzip;q=0", "br", "gzip;q=0.000, *"])
def test_a_client_that_does_not_accept_gzip_gets_plain_json(rest: httpx.Client, system: str, accepted: str) -> None:
    with rest.stream("GET", f"/universes/{system}", headers={"Accept-Encoding": accepted}) as answer:
        raw = b"".join(answer.iter_raw())
    assert "Content-Encoding" not in answer.headers
    assert raw.startswith(b'{"id":')


def test_an_event_stream_is_never_compressed(rest: httpx.Client, system: str) -> None:
    with rest.stream("GET", f"/universes/{system}/events", headers={"Accept-Encoding": "gzip"}) as answer:
        assert "Content-Encoding" not in answer.headers
