"""Prepared orbits: kept while no orbit changes, updated when one does, and prepared anew for other bodies."""

from tests.universe.domain.samples import add_star
from universe.service.state_views import BodyPositions
from universe.service.universes import UniverseService


async def test_a_new_name_keeps_the_prepared_orbits_and_a_new_orbit_replaces_one(service: UniverseService) -> None:
    positions = BodyPositions()
    for name in ("sun", "earth", "mars"):
        await service.send("u", add_star(name))

    async def send_and_prepare(command: dict[str, object]) -> object:
        await service.send("u", command)
        return await positions.prepare_orrery("u", (await service.view("u")).replica)

    first = await send_and_prepare({"type": "tick"})
    for payload in ({"name": "Terra"}, {"color": "#000000"}, {"mass": 3}):
        assert await send_and_prepare({"type": "updateStar", "id": "earth", "payload": payload}) is first
    await service.undo("u")
    assert await send_and_prepare({"type": "tick"}) is first
    moved = await send_and_prepare({"type": "updateStar", "id": "earth", "payload": {"orbitalDistance": 7}})
    assert moved is not first
    ids, located = await positions.compute_at("u", (await service.view("u")).replica, 0.0)
    assert ids == ["sun", "earth", "mars"]
    assert (located[1] ** 2).sum() == 49
    await send_and_prepare({"type": "removeStar", "id": "sun"})
    await send_and_prepare(add_star("sun"))
    assert (await positions.compute_at("u", (await service.view("u")).replica, 0.0))[0] == ["earth", "mars", "sun"]


async def test_a_new_universe_with_the_id_of_a_deleted_one_has_its_own_orbits(service: UniverseService) -> None:
    positions = BodyPositions()
    for distance in (5.0, 6.0):
        await service.send("u", add_star("earth"))
        await service.send("u", {"type": "updateStar", "id": "earth", "payload": {"orbitalDistance": distance}})
        _, located = await positions.compute_at("u", (await service.view("u")).replica, 0.0)
        assert (located[0] ** 2).sum() == distance**2
        await service.delete("u")
        await service.create("Again", universe_id="u")
