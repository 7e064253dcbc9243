"""The bodies that take values from a paper are found in all universes."""

from typing import Any

from universe import systems
from universe.provenance.paper_uses import find_paper_uses
from universe.service.universes import UniverseService

AGOL = {"doi": "https://doi.org/10.3847/PSJ/ABD022", "bibkey": "agol2021"}


def make_state(source: dict[str, Any]) -> dict[str, Any]:
    star = systems.load_system("trappist-1")["stars"]["trappist-1-e"]
    return {
        "stars": {"e": {**star, "id": "e", "parentId": None, "children": [], "sources": [{"title": "T", **source}]}}
    }


async def test_bodies_of_several_universes_are_found_by_any_spelling_of_the_doi(service: UniverseService) -> None:
    await service.create("First", systems.load_system("trappist-1"), universe_id="first")
    await service.create("Empty")
    found = await find_paper_uses(service, AGOL)
    assert found.is_complete
    assert {use.universe_id for use in found.uses} == {"first"}
    names = {use.body: use.fields for use in found.uses}
    assert "mass" in names["TRAPPIST-1 h"]
    await service.branch("first")
    assert len({use.universe_id for use in (await find_paper_uses(service, AGOL)).uses}) == 2


async def test_a_source_without_identifiers_is_found_by_its_id_and_one_with_others_is_not(
    service: UniverseService,
) -> None:
    await service.create("Named", make_state({"id": "agol2021", "fields": ["mass"]}), universe_id="named")
    await service.create(
        "Other", make_state({"id": "agol2021", "doi": "10.1000/other", "fields": ["mass"]}), universe_id="other"
    )
    assert [use.universe_id for use in (await find_paper_uses(service, AGOL)).uses] == ["named"]
    assert (await find_paper_uses(service, {"doi": "10.1000/nothing"})).uses == []
    assert (await find_paper_uses(service, {})).uses == []
