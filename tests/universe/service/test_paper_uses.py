"""The bodies that take values from a paper are found in all universes."""

from typing import Any

import pytest

from universe.domain import systems
from universe.service.papers import PaperUseIndex
from universe.service.universes import UniverseService
from universe.store.interface import UniverseRecord

AGOL = {"doi": "https://doi.org/10.3847/PSJ/ABD022", "bibkey": "agol2021"}


def make_state(source: dict[str, Any]) -> dict[str, Any]:
    star = systems.load_system("trappist-1")["stars"]["trappist-1-e"]
    return {
        "stars": {"e": {**star, "id": "e", "parentId": None, "children": [], "sources": [{"title": "T", **source}]}}
    }


async def test_bodies_of_several_universes_are_found_by_any_spelling_of_the_doi(service: UniverseService) -> None:
    await service.create("First", systems.load_system("trappist-1"), universe_id="first")
    await service.create("Empty")
    index = PaperUseIndex(service)
    found = await index.find_uses(AGOL)
    assert found.is_complete
    assert {use.universe_id for use in found.uses} == {"first"}
    names = {use.body: use.fields for use in found.uses}
    assert "mass" in names["TRAPPIST-1 h"]
    await service.branch("first")
    assert len({use.universe_id for use in (await index.find_uses(AGOL)).uses}) == 2


async def test_a_source_without_identifiers_is_found_by_its_id_and_one_with_others_is_not(
    service: UniverseService,
) -> None:
    await service.create("Named", make_state({"id": "agol2021", "fields": ["mass"]}), universe_id="named")
    await service.create(
        "Other", make_state({"id": "agol2021", "doi": "10.1000/other", "fields": ["mass"]}), universe_id="other"
    )
    index = PaperUseIndex(service)
    assert [use.universe_id for use in (await index.find_uses(AGOL)).uses] == ["named"]
    assert (await index.find_uses({"doi": "10.1000/nothing"})).uses == []
    assert (await index.find_uses({})).uses == []


async def test_a_universe_is_read_again_only_when_it_has_changed(
    service: UniverseService, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        await service.create(f"U{number}", systems.load_system("trappist-1"), universe_id=f"u{number}")
    other = UniverseService(service.store)
    read: list[str] = []
    read_stars = other.read_stars

    async def count_and_read(record: UniverseRecord) -> Any:
        read.append(record.id)
        return await read_stars(record)

    monkeypatch.setattr(other, "read_stars", count_and_read)
    index = PaperUseIndex(other)
    assert len({use.universe_id for use in (await index.find_uses(AGOL)).uses}) == 3
    await service.send("u1", {"type": "removeStar", "id": "trappist-1-h"})
    await service.delete("u2")
    found = await index.find_uses(AGOL)
    assert {(use.universe_id, use.body == "TRAPPIST-1 h") for use in found.uses} >= {("u0", True)}
    assert "TRAPPIST-1 h" not in {use.body for use in found.uses if use.universe_id == "u1"}
    assert sorted(read) == ["u", "u0", "u1", "u1", "u2"]


async def test_a_search_without_time_is_incomplete_and_the_next_one_continues(service: UniverseService) -> None:
    await service.create("First", systems.load_system("trappist-1"), universe_id="first")
    index = PaperUseIndex(service)
    assert await index.find_uses(AGOL, read_s=-1) == ([], False)
    found = await index.find_uses(AGOL)
    assert found.is_complete
    assert found.uses
