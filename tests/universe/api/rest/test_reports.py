"""Imports, exports, pictures, citations and differences over REST."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from defusedxml import ElementTree

from tests.universe.api.rest.rest_server import create_universe, get_error, run_server, send_command
from tests.universe.domain.exchange.archive_tables import PLANET, make_archive_csv

TABLE = make_archive_csv(PLANET, {**PLANET, "pl_name": "Stjerneborg b", "hostname": "Stjerneborg"}).decode()


@pytest.fixture(scope="module")
def rest(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    with run_server(tmp_path_factory.mktemp("reports")) as client:
        create_universe(client, **{"from": "trappist-1", "id": "t1"})
        send_command(client, "t1", {"type": "updateStar", "id": "trappist-1-b", "payload": {"mass": 0.5}})
        yield client


def test_a_table_becomes_one_universe_or_one_for_each_system(rest: httpx.Client) -> None:
    one = rest.post("/universes/import", json={"content": TABLE, "id": "both", "name": "Both"})
    assert one.status_code == 201, one.text
    assert [(made["id"], made["name"], made["bodies"]) for made in one.json()["universes"]] == [("both", "Both", 4)]
    assert one.json()["import"]["format"] == "exoplanet-archive pscomppars"
    each = rest.post("/universes/import", json={"content": TABLE, "each": True}).json()["universes"]
    assert [(made["name"], made["bodies"]) for made in each] == [("Hven-1", 2), ("Stjerneborg", 2)]
    assert rest.get(f"/universes/{each[0]['id']}").json()["state"]["stars"].keys() == {"hven-1", "hven-1-b"}
    dry = rest.post("/universes/import", json={"content": [TABLE], "dryRun": True}).json()
    assert (dry["universes"], len(dry["import"]["systems"])) == ([], 2)


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"content": "<html></html>"}, 422, "import_refused"),
        ({"content": TABLE, "each": True, "id": "x"}, 422, "invalid_argument"),
        ({"content": TABLE, "omegaOf": "moon"}, 400, "malformed_request"),
        ({"content": TABLE, "each": "yes"}, 400, "malformed_request"),
        ({"content": 1}, 400, "malformed_request"),
        ({"content": []}, 400, "malformed_request"),
        ({}, 400, "malformed_request"),
        ({"content": TABLE, "surplus": 1}, 400, "malformed_request"),
    ],
)
def test_imports_that_cannot_be_made_are_refused(rest: httpx.Client, body: Any, status: int, code: str) -> None:
    get_error(rest.post("/universes/import", json=body), status, code)


def test_a_universe_is_exported_in_every_format_and_comes_back(rest: httpx.Client) -> None:
    csv = rest.get("/universes/t1/export", params={"format": "csv", "version": 1})
    assert csv.headers["Content-Type"].startswith("text/csv")
    again = rest.post("/universes/import", json={"content": csv.text}).json()["universes"][0]["id"]
    found = rest.get("/universes/t1/differences", params={"with": again, "to": 1}).json()["differences"]["stars"]
    changed = {field.partition(".")[0] for fields in found["changed"].values() for field in fields}
    assert (found["added"], found["removed"]) == ([], [])
    assert changed <= {
        "orbitRotX",
        "orbitRotY",
        "orbitRotZ",
        "orbitalPhase",
        "orbitOffsetX",
        "orbitOffsetY",
        "orbitOffsetZ",
    }
    votable = rest.get("/universes/t1/export", params={"format": "votable"})
    assert ElementTree.fromstring(votable.content).tag.endswith("VOTABLE")
    script = rest.get("/universes/t1/export", params={"format": "rebound", "days": 10}).text
    assert "DAYS = 10.0" in script
    compile(script, "script", "exec")
    assert rest.get("/universes/t1/export").json()["format"] == "uraniborg-universe/1"
    assert rest.get("/universes/t1/export", params={"format": "rebound-csv"}).text.startswith("# start of")
    create_universe(rest, id="bare")
    get_error(rest.get("/universes/bare/export", params={"format": "csv"}), 422, "invalid_argument")


def test_a_universe_is_drawn(rest: httpx.Client) -> None:
    assert rest.get("/universes/t1/plot", params={"t": 3, "scale": "log"}).text.startswith("<svg")
    png = rest.get("/universes/t1/plot", params={"format": "png"})
    assert (png.headers["Content-Type"], png.content[:4]) == ("image/png", b"\x89PNG")


def test_sources_and_origins_are_cited(rest: httpx.Client) -> None:
    cited = rest.get("/universes/t1/cite").json()
    assert "agol2021" in {source["id"] for source in cited["sources"]}
    assert rest.get("/universes/t1/cite", params={"format": "bibtex"}).text == cited["bibtex"]
    more = rest.get("/universes/t1/cite", params={"physics": True}).json()["sources"]
    assert len(more) > len(cited["sources"])
    origin = rest.get("/universes/t1/cite", params={"body": "trappist-1-b", "field": "mass"}).json()
    assert (origin["value"], origin["status"], origin["command"]["version"]) == (0.5, "set", 2)
    values = rest.get("/universes/t1/cite", params={"body": "b"}).json()
    assert values["fields"]["mass"]["status"] == "set"
    assert "Agol et al. (2021)" in [source["shortCitation"] for source in values["sources"]]
    get_error(rest.get("/universes/t1/cite", params={"field": "mass"}), 400, "malformed_request")
    assert "habitableZone" in rest.get("/universes/t1/physics").text


def test_versions_and_universes_are_compared(rest: httpx.Client) -> None:
    found = rest.get("/universes/t1/differences", params={"from": 1}).json()
    assert (found["from"], found["to"]) == ({"id": "t1", "version": 1}, {"id": "t1", "version": 2})
    assert found["differences"]["stars"]["changed"]["trappist-1-b"]["mass"][1] == 0.5
    assert not found["equal"]
    first = rest.get("/universes/t1/differences").json()
    assert first["differences"]["stars"]["addedCount"] == 8
    assert rest.get("/universes/t1/differences", params={"with": "t1"}).json()["equal"]
    get_error(rest.get("/universes/t1/differences", params={"from": 77}), 404, "version_not_found")
    get_error(rest.get("/universes/t1/differences", params={"with": "nowhere"}), 404, "universe_not_found")


def test_a_seed_takes_settings(rest: httpx.Client) -> None:
    body = {"name": "S", "from": "seed:classic:1", "settings": {"maxSystems": 1, "maxDepth": 1}}
    made = rest.post("/universes", json=body).json()
    assert {one["bodyType"] for one in made["state"]["stars"].values()} <= {"star", "planet"}
    assert len(made["state"]["rootIds"]) == 1
    bad: list[Any] = [{"maxSystem": 1}, {"maxSystems": 0}, [1], {"seed": 3}]
    for settings in bad:
        answer = rest.post("/universes", json={**body, "settings": settings})
        assert get_error(answer, answer.status_code)["argument"]
        assert answer.status_code in (400, 422)
    get_error(rest.post("/universes", json={"name": "S", "settings": {}}), 400, "malformed_request")
    get_error(rest.post("/universes", json={**body, "from": "trappist-1"}), 400, "malformed_request")
