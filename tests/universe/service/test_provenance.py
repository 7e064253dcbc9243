"""Authors of changes are in the log, and values and sources are restored together."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.universe.actors import name_actor
from tests.universe.domain.samples import a_payload
from universe.domain import systems
from universe.domain.provenance.value_status import compute_value_status
from universe.errors import MalformedRequest, StarNotFound
from universe.service.argument_validation import check_and_strip_author
from universe.service.reply_encoding import describe_log_entry
from universe.service.universes import UniverseService
from universe.service.value_origins import find_value_inputs, trace_value_origin
from universe.service.verification import verify_log
from universe.store.interface import StoredEntry
from universe.store.replica import Replica, rebuild_replica
from universe.store.sqlite import SqliteStore
from uraniborg.kernel.actors import describe_actor, get_process_actor

trace: Any = trace_value_origin


def read_other_paper(_source: object) -> str:
    return "a paper about something else"


E = "trappist-1-e"
HEAVIER = {"type": "updateStar", "id": E, "payload": {"mass": 3e-6}, "reason": "to see"}


@pytest.fixture
async def trappist(service: UniverseService) -> UniverseService:
    await service.create("TRAPPIST-1", systems.load_system("trappist-1"), universe_id="t", actor=name_actor("Erik"))
    return service


async def test_every_entry_of_the_log_has_its_author(trappist: UniverseService) -> None:
    await trappist.send("t", HEAVIER, actor=name_actor("  Tycho Brahe "))
    await trappist.undo("t", actor=name_actor("Sophie"))
    await trappist.restore("t", 2)
    entries = await trappist.read_history("t")
    assert [entry.author for entry in entries] == ["Erik", "Tycho Brahe", "Sophie", describe_actor(get_process_actor())]
    assert [describe_log_entry(entry, "t")["author"] for entry in entries] == [entry.author for entry in entries]
    branch = await trappist.branch("t", actor=name_actor("Kirstine"))
    assert [entry.author for entry in await trappist.read_history(branch.id)] == ["Kirstine"]


@pytest.mark.parametrize("author", ["", "  ", "a\nb", "a\0b", "x" * 221, "\ud800", 7])
def test_an_author_who_cannot_be_shown_is_refused(author: str) -> None:
    with pytest.raises(MalformedRequest) as caught:
        check_and_strip_author(author)
    assert caught.value.ids["argument"] == "author"


async def test_another_author_is_damage(trappist: UniverseService) -> None:
    await trappist.send("t", HEAVIER, actor=name_actor("Tycho"))
    entry = (await trappist.read_history("t"))[1]
    assert entry.is_intact("t")
    assert not entry._replace(author="Kepler").is_intact("t")
    assert not entry._replace(author=None).is_intact("t")
    unknown = StoredEntry.make_with_digest("t", 2, entry.kind, entry.body, entry.events, entry.at)
    assert unknown.is_intact("t")
    assert not unknown._replace(author="").is_intact("t")


async def test_undo_restore_and_branch_bring_values_and_sources_back_together(trappist: UniverseService) -> None:
    before = (await trappist.view("t")).replica.state
    changed = (await trappist.send("t", HEAVIER, actor=name_actor("Tycho"))).state
    assert changed.stars[E]["setBy"]["mass"] == {"version": 2, "by": "Tycho", "reason": "to see"}
    assert (await trappist.undo("t")).state == before
    assert (await trappist.restore("t", 2)).state == changed
    branch = await trappist.branch("t", version=2)
    body = (await trappist.view(branch.id)).replica.state.stars[E]
    assert body["sources"] == changed.stars[E]["sources"]
    assert body["setBy"]["mass"] == {**changed.stars[E]["setBy"]["mass"], "universe": "t"}


async def test_a_state_that_is_put_loses_the_sources_of_values_that_differ(trappist: UniverseService) -> None:
    plain = (await trappist.view("t")).replica.mirror.to_plain()
    plain["stars"] = {**plain["stars"], E: {**plain["stars"][E], "mass": 9e-6}}
    result = await trappist.put("t", plain, actor=name_actor("Tycho"))
    assert result.state.stars[E]["setBy"]["mass"] == {"version": 2, "by": "Tycho"}
    assert "mass" not in result.state.stars[E]["sources"][0]["fields"]
    assert list((await trappist.view("t")).replica.mirror.to_plain()["stars"]) == list(plain["stars"])
    assert (await verify_log(trappist.store, "t")).is_intact


async def test_the_log_and_snapshots_lead_to_the_same_bytes(file: Path) -> None:
    async with UniverseService(SqliteStore(file), snapshot_every=2, actor=name_actor("Tycho")).running() as service:
        await service.create("T", systems.load_system("trappist-1"), universe_id="t")
        for number in range(1, 6):
            await service.send("t", {"type": "updateStar", "id": "trappist-1", "payload": {"mass": 0.1 * number}})
            await service.send(
                "t", {**HEAVIER, "payload": {"mass": 1e-6 * number}}, actor=name_actor(f"author {number}")
            )
        served = (await service.view("t")).replica.mirror.to_json()
        assert (await verify_log(service.store, "t")).is_intact
        assert (await rebuild_replica(service.store, "t")).mirror.to_json() == served
        whole = Replica("t")
        whole.apply_entries(await service.store.read_entries("t", after=0, limit=100))
        assert whole.mirror.to_json() == served


async def test_a_repeated_request_is_answered_as_before_for_any_caller(trappist: UniverseService) -> None:
    first = await trappist.send("t", HEAVIER, key="k", actor=name_actor("Tycho"))
    again = await trappist.send("t", HEAVIER, key="k", actor=name_actor("Sophie"))
    assert (again.version, again.state.stars) == (first.version, first.state.stars)
    assert [entry.author for entry in await trappist.read_history("t")] == ["Erik", "Tycho"]


async def test_a_database_without_authors_opens_and_its_commands_withdraw_nothing(file: Path) -> None:
    async with UniverseService(SqliteStore(file)).running() as service:
        await service.create("T", systems.load_system("trappist-1"), universe_id="t")
    with closing(sqlite3.connect(file)) as connection:
        old = StoredEntry.make_with_digest(
            "t", 2, "command", orjson.dumps(HEAVIER), b"[]", "2026-01-01T00:00:00.000000Z"
        )
        connection.execute("INSERT INTO log VALUES ('t', ?, ?, ?, ?, ?, ?, NULL, NULL)", old[:6])
        connection.execute("UPDATE universes SET version = 2 WHERE id = 't'")
        first = connection.execute("SELECT kind, body, events, at FROM log WHERE version = 1").fetchone()
        digest = StoredEntry.make_with_digest("t", 1, *first).digest
        connection.execute("UPDATE log SET author = NULL, identity = NULL, digest = ? WHERE version = 1", (digest,))
        connection.execute("ALTER TABLE log DROP COLUMN identity")
        connection.execute("ALTER TABLE log DROP COLUMN author")
        connection.execute("ALTER TABLE universes DROP COLUMN created_by")
        connection.execute("ALTER TABLE universes DROP COLUMN renamed_by")
        connection.execute("DROP TABLE deletions")
        connection.execute("DELETE FROM migrations WHERE name IN ('0002 authors', '0005 actors')")
        connection.commit()
    file.with_name(f"{file.name}.mark").unlink()
    async with UniverseService(SqliteStore(file), actor=name_actor("Tycho")).running() as service:
        body = (await service.view("t")).replica.state.stars[E]
        assert (body["mass"], "setBy" in body) == (3e-6, False)
        assert "mass" in body["sources"][0]["fields"]
        stale = await trace(service, "t", E, "mass")
        assert stale["status"] == "unverified claim", "the citation of a value that was changed without withdrawing it"
        assert "The shipped data give 2.078414629e-06" in stale["sources"][0]["reason"]
        assert [describe_log_entry(entry, "t")["author"] for entry in await service.read_history("t")] == [None, None]
        assert (await verify_log(service.store, "t")).is_intact
        after = (await service.send("t", {**HEAVIER, "payload": {"mass": 4e-6}})).state.stars[E]
        assert after["setBy"]["mass"]["by"] == "Tycho"
        assert "mass" not in after["sources"][0]["fields"]
        assert (await verify_log(service.store, "t")).is_intact


async def test_the_chain_of_a_cited_value_names_the_paper_and_the_entry(trappist: UniverseService) -> None:
    chain = await trace(trappist, "t", "TRAPPIST-1 E", "mass")
    assert (chain["body"], chain["unit"], chain["status"], chain["mark"]) == (E, "solar masses", "cited", "")
    assert [one["doi"] for one in chain["sources"]] == ["10.3847/PSJ/abd022"]
    assert (chain["command"]["version"], chain["command"]["author"], chain["command"]["type"]) == (1, "Erik", "create")


async def test_a_block_of_values_is_refused_and_its_values_are_named(trappist: UniverseService) -> None:
    with pytest.raises(MalformedRequest, match="'kepler' has several values") as refused:
        await trace(trappist, "t", E, "kepler")
    assert "kepler.osculatingPeriod" in refused.value.hint


async def test_the_chain_of_a_shipped_value_states_the_conversion_and_the_data_file(trappist: UniverseService) -> None:
    (source,) = (await trace(trappist, "t", E, "mass"))["sources"]
    assert source["conversion"] == "0.692 Earth masses = 2.078414629e-06 solar masses"
    assert (source["dataFile"], source["location"]) == ("universe/systems/data/trappist-1.json", None)
    (source,) = (await trace(trappist, "t", E, "radius"))["sources"]
    assert source["conversion"] == "0.92 Earth radii, drawn 5 times as large = 0.0001961208396 AU"
    (source,) = (await trace(trappist, "t", E, "kepler.osculatingPeriod"))["sources"]
    assert source["conversion"] == "6.101013 days, as stated"


async def test_a_computed_shipped_value_names_its_inputs_and_not_the_paper_as_its_source(
    trappist: UniverseService,
) -> None:
    chain = await trace(trappist, "t", E, "kepler.semiMajorAxis")
    assert (chain["status"], chain["computed"]["how"]) == ("computed", "by Kepler's third law")
    (period,) = chain["computed"]["from"]
    assert (period["field"], period["status"]) == ("kepler.osculatingPeriod", "cited")
    assert list(chain["computed"]["masses"]) == [f"trappist-1{letter}" for letter in ("", "-b", "-c", "-d", "-e")]
    assert {one["status"] for one in chain["computed"]["masses"].values()} == {"cited"}
    await trappist.send(
        "t", {"type": "updateStar", "id": "trappist-1-c", "payload": {"mass": 4e-6}}, actor=name_actor("Tycho")
    )
    masses = (await trace(trappist, "t", E, "kepler.semiMajorAxis"))["computed"]["masses"]
    assert masses["trappist-1-c"]["mark"] == "set by Tycho in version 2"
    mean = await trace(trappist, "t", E, "kepler.period")
    assert (mean["status"], mean["sources"][0]["computed"]) == ("computed", True)
    speed = await trace(trappist, "t", E, "orbitalSpeed")
    assert [one["field"] for one in speed["computed"]["from"]] == ["kepler.period"]


@pytest.mark.parametrize(
    ("field", "forged"),
    [
        ("mass", {"mass": 42.0}),
        ("kepler.period", {"kepler": {"period": 7.0}}),
        ("mass", {"sources": {"doi": "10.1/forged"}}),
        ("mass", {"sources": {"title": "Forged"}}),
        ("mass", {"sources": {"authors": ["Forger, A."]}}),
        ("mass", {"sources": {"year": 1601}}),
        ("mass", {"physical": {"epochJulianDate": 2451545.0}}),
        ("mass", {"id": "somewhere-else"}),
    ],
    ids=["value", "nested value", "doi", "title", "authors", "year", "epoch", "body"],
)
async def test_a_forged_state_is_not_cited_by_the_name_of_a_shipped_source(
    service: UniverseService, field: str, forged: dict[str, Any]
) -> None:
    body: dict[str, Any] = {**systems.load_system("trappist-1")["stars"][E], "parentId": None}
    for name, value in forged.items():
        inner = body[name][0] if name == "sources" else body[name]
        inner.update(value) if isinstance(value, dict) else body.update({name: value})
    await service.create("F", {"stars": {body["id"]: body}, "rootIds": [body["id"]]}, universe_id="f")
    chain = await trace(service, "f", body["id"], field)
    assert (chain["status"], chain["mark"]) == ("unverified claim", "unverified claim")


@pytest.mark.parametrize("name", systems.list_system_names())
def test_every_source_of_a_shipped_value_states_it_or_gives_its_inputs(name: str) -> None:
    stars = systems.load_system(name)["stars"]
    for body in stars.values():
        for source in body["sources"]:
            for field in source["fields"]:
                status = compute_value_status(body, field)
                assert status.status in ("cited", "computed"), (body["id"], field)
                assert status.shipped is not None
                assert status.shipped.stated or find_value_inputs(stars, body["id"], field), (body["id"], field)


def test_a_stated_axis_does_not_cite_the_publication_of_the_period() -> None:
    io = systems.load_system("solar-system")["stars"]["io"]
    cites = {one["id"]: one["fields"] for one in io["sources"]}
    assert [key for key, fields in cites.items() if "kepler.semiMajorAxis" in fields] == ["jplsats"]


@pytest.mark.parametrize("way", ["create", "put", "replaceSnapshot"])
async def test_the_author_in_an_imported_record_is_not_verified(service: UniverseService, way: str) -> None:
    body: dict[str, Any] = {**systems.load_system("trappist-1")["stars"][E], "parentId": None, "mass": 42.0}
    forged = {**body, "setBy": {"mass": {"by": "NASA", "version": 1}}}
    state = {"stars": {E: forged}, "rootIds": [E], "groups": {}, "rootGroupIds": []}
    if way == "create":
        await service.create("F", state, universe_id="f", actor=name_actor("Tycho"))
    else:
        await service.create("F", universe_id="f")
        snapshot = {"type": "replaceSnapshot", "snapshot": state}
        await (service.put("f", state) if way == "put" else service.send("f", snapshot))
    for universe_id in ("f", (await service.branch("f")).id):
        chain = await trace(service, universe_id, E, "mass")
        assert chain["mark"] == "unverified claim, set by NASA in version 1, imported and not verified"
        assert chain["command"] == {"version": 1, "author": "NASA", "imported": True}
        assert (await verify_log(service.store, universe_id)).is_intact


async def test_the_chain_of_a_changed_value_names_who_set_it_and_why(trappist: UniverseService) -> None:
    await trappist.send("t", HEAVIER, actor=name_actor("Tycho"))
    chain = await trace(trappist, "t", E, "physical.massKg")
    assert (chain["status"], chain["unit"], chain["sources"]) == ("computed", "kg", [])
    assert chain["mark"] == "recomputed after a change by Tycho in version 2"
    (basis,) = chain["computed"]["from"]
    assert (basis["field"], basis["mark"]) == ("mass", "set by Tycho in version 2")
    assert basis["command"].items() >= {"author": "Tycho", "reason": "to see", "type": "updateStar"}.items()
    earlier = await trace(trappist, "t", E, "mass", version=1)
    assert earlier["status"] == "cited"


async def test_a_claim_keeps_the_citations_of_other_fields_of_the_same_paper(trappist: UniverseService) -> None:
    """Bibliographies write the same paper in other ways: names, upper and lower case, the volume."""
    shipped = next(one for one in systems.load_system("trappist-1")["stars"][E]["sources"] if one["id"] == "agol2021")
    claim = {
        "id": "agol2021",
        "title": shipped["title"],
        "year": 2021,
        "doi": "10.3847/psj/abd022",
        "authors": ["Eric Agol", "Caroline Dorn"],
        "venue": "The Planetary Science Journal",
        "fields": ["mass"],
    }
    await trappist.send("t", {**HEAVIER, "payload": {"mass": 3e-6, "sources": [claim]}})
    assert (await trace(trappist, "t", E, "mass"))["status"] == "unverified claim"
    assert (await trace(trappist, "t", E, "radius"))["status"] == "cited"


async def test_a_claim_is_checked_against_its_location(trappist: UniverseService) -> None:
    claim = {"id": "brahe", "title": "Masses of TRAPPIST-1", "fields": ["mass"]}
    await trappist.send("t", {**HEAVIER, "payload": {"mass": 3e-6, "sources": [claim]}}, actor=name_actor("Tycho"))
    chain = await trace(trappist, "t", E, "mass")
    assert (chain["status"], chain["mark"]) == ("unverified claim", "unverified claim, cited by Tycho in version 2")
    row = {"table": "Planets of TRAPPIST-1", "header": ["Planet", "Mass (M_Earth)"], "row": ["e", "0.692"]}
    located = {**claim, "locations": {"mass": row}}
    mass = 0.692 * 3.0034893e-6
    await trappist.send("t", {**HEAVIER, "payload": {"mass": mass, "sources": [located]}}, actor=name_actor("Tycho"))
    chain = await trace(trappist, "t", E, "mass")
    assert (chain["status"], chain["mark"]) == ("supported", "")
    assert chain["sources"][0]["location"] == row
    assert chain["sources"][0]["conversion"] == "0.692 Earth masses = 2.07841e-06 solar masses"
    read = await trace(trappist, "t", E, "mass", text_of=read_other_paper)
    assert read["status"] == "unverified claim"


async def test_the_log_names_who_set_a_value_that_never_was_cited(service: UniverseService) -> None:
    await service.send("u", {"type": "addStar", "id": "ven", "payload": a_payload(None)}, actor=name_actor("Tycho"))
    await service.send("u", {"type": "updateStar", "id": "ven", "payload": {"mass": 2}}, actor=name_actor("Sophie"))
    await service.send("u", {"type": "updateStar", "id": "ven", "payload": {"radius": 3}}, actor=name_actor("Erik"))
    await service.undo("u", actor=name_actor("Kirstine"))
    await service.restore("u", 1, actor=name_actor("Kirstine"))
    at_four = await trace(service, "u", "ven", "mass", version=4)
    assert (at_four["status"], at_four["command"]["author"]) == ("without source", "Sophie")
    assert (await trace(service, "u", "ven", "mass"))["command"]["author"] == "Tycho"
    assert (await trace(service, "u", "ven", "radius"))["unit"] == "scene units"


async def test_an_unknown_body_or_field_is_answered_with_the_nearest(trappist: UniverseService) -> None:
    with pytest.raises(StarNotFound) as body:
        await trace(trappist, "t", "trapist-1-e", "mass")
    assert E in body.value.ids["nearest"]
    with pytest.raises(MalformedRequest) as field:
        await trace(trappist, "t", E, "period")
    assert field.value.ids["nearest"] == ["kepler.period"]
    with pytest.raises(MalformedRequest):
        await trace(trappist, "t", E, "")
    await trappist.send("t", {"type": "updateStar", "id": E, "payload": {"name": "TRAPPIST-1 b"}})
    with pytest.raises(MalformedRequest) as several:
        await trace(trappist, "t", "trappist-1 b", "mass")
    assert set(several.value.ids["allowed"]) == {E, "trappist-1-b"}
