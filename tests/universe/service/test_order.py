"""The order of a change: check, reduce, write, publish, reply; a failure stops the later steps."""

import asyncio

import orjson
import pytest

from tests.requirements import requirement
from tests.universe.domain.samples import EMPTY_STATE, add_star
from tests.universe.service.service_checks import (
    assert_log_intact,
    list_commands,
    list_versions,
    read_frames,
    read_log,
    read_state,
    read_version,
    wait_briefly,
)
from tests.universe.service.stores import TroubledStore
from universe.errors import (
    CommandRefused,
    MalformedCommand,
    MalformedState,
    StarNotFound,
    StoreUnavailable,
    UniverseNotFound,
    UnknownCommand,
)
from universe.service.universes import UniverseService
from universe.store.interface import LogChange


async def test_a_command_is_served_announced_and_answered_only_once_it_is_written(
    service: UniverseService, store: TroubledStore
) -> None:
    async with service.keep_in_memory("u") as live:
        feed = live.get_or_open_feed()
        async with store.holding("u") as held:
            sending = asyncio.create_task(service.send("u", add_star("sun")))
            await wait_briefly(held.reached.wait())
            assert list_versions(feed) == []
            assert await read_state(service) == EMPTY_STATE
            assert not sending.done()
        result = await wait_briefly(sending)
        assert result.version == 1
        assert list_versions(feed) == [1]
        assert (await read_state(service))["rootIds"] == ["sun"]


@requirement("UN-8")
async def test_a_caller_that_is_answered_finds_the_command_announced_and_in_the_log(service: UniverseService) -> None:
    async with service.keep_in_memory("u") as live:
        feed = live.get_or_open_feed()
        result = await service.send("u", add_star("sun"))
        assert list_versions(feed) == [1]
        reply = read_frames(feed)
    assert result.events == [{"type": "starAdded", "id": "sun"}]
    (entry,) = await read_log(service)
    assert (entry.kind, orjson.loads(entry.body), orjson.loads(entry.events)) == (
        "command",
        add_star("sun"),
        result.events,
    )
    printed = orjson.loads(reply.split(b"data: ")[1])
    assert printed == {"version": 1, "command": add_star("sun"), "events": result.events}


async def test_a_change_that_cannot_be_written_is_neither_announced_nor_served_and_the_next_command_works(
    service: UniverseService, store: TroubledStore
) -> None:
    async with service.keep_in_memory("u") as live:
        feed = live.get_or_open_feed()
        with store.trouble():
            for _ in range(3):
                with pytest.raises(StoreUnavailable) as caught:
                    await wait_briefly(service.send("u", add_star("lost")))
                assert caught.value.ids["universeId"] == "u"
        assert list_versions(feed) == []
        assert await read_state(service) == EMPTY_STATE
        assert (await wait_briefly(service.send("u", add_star("sun")))).version == 1
        assert list_versions(feed) == [1]
    assert [one["id"] for one in await list_commands(service)] == ["sun"]
    await assert_log_intact(service)


async def test_all_callers_that_waited_for_a_failed_write_receive_the_error(
    service: UniverseService, store: TroubledStore
) -> None:
    async with store.holding("u") as held:
        first = asyncio.create_task(service.send("u", add_star("a")))
        await wait_briefly(held.reached.wait())
        others = [asyncio.create_task(service.send("u", add_star(f"b{n}"))) for n in range(20)]
        await asyncio.sleep(0)  # they begin
        store_fails = store.trouble()
        store_fails.__enter__()
    failed = await wait_briefly(asyncio.gather(first, *others, return_exceptions=True))
    store_fails.__exit__(None, None, None)
    assert [type(one) for one in failed] == [StoreUnavailable] * 21
    assert await read_log(service) == []
    assert (await wait_briefly(service.send("u", add_star("sun")))).version == 1


async def test_a_write_whose_answer_was_lost_is_found_by_the_next_command_and_announced_first(
    service: UniverseService, store: TroubledStore
) -> None:
    async with service.keep_in_memory("u") as live:
        feed = live.get_or_open_feed()
        with store.trouble("writes, but the answer is lost"), pytest.raises(StoreUnavailable):
            await wait_briefly(service.send("u", add_star("sun")))
        result = await wait_briefly(service.send("u", {"type": "updateStar", "id": "sun", "payload": {"mass": 9}}))
        assert result.version == 2
        assert list_versions(feed) == [1, 2]
    assert result.state.stars["sun"]["mass"] == 9
    await assert_log_intact(service)


async def test_a_retry_with_its_key_after_a_lost_answer_is_done_once(
    service: UniverseService, store: TroubledStore
) -> None:
    with store.trouble("writes, but the answer is lost"), pytest.raises(StoreUnavailable):
        await wait_briefly(service.send("u", add_star("sun"), key="k"))
    result = await wait_briefly(service.send("u", add_star("sun"), key="k"))
    assert (result.version, result.events) == (1, [{"type": "starAdded", "id": "sun"}])
    assert result.state.rootIds == ("sun",)
    assert len(await read_log(service)) == 1


@pytest.mark.parametrize(
    ("command", "event"),
    [
        ({"type": "removeStar", "id": "x"}, {"type": "starNotFound", "id": "x"}),
        (
            {"type": "attachStar", "childId": "sun", "parentId": "sun"},
            {"type": "attachFailed", "reason": "cycle", "childId": "sun", "parentId": "sun"},
        ),
        ({"type": "detachStar", "childId": "sun"}, {"type": "detachFailed", "reason": "notAttached", "childId": "sun"}),
        ({"type": "removeRing", "planetId": "sun"}, {"type": "ringNotFound", "planetId": "sun"}),
        ({"type": "updateNebula", "id": "n", "patch": {}}, {"type": "nebulaNotFound", "id": "n"}),
    ],
)
async def test_a_refused_command_is_an_error_with_its_event_and_is_neither_written_nor_announced(
    service: UniverseService, store: TroubledStore, command: dict[str, object], event: dict[str, object]
) -> None:
    await service.send("u", add_star("sun"))
    before, appends = await read_state(service), store.appends
    async with service.keep_in_memory("u") as live:
        with pytest.raises(CommandRefused) as caught:
            await service.send("u", command)
        assert list_versions(live.get_or_open_feed(), 1) == []
    assert caught.value.ids["event"] == event
    assert caught.value.ids["universeId"] == "u"
    assert caught.value.ids["command"] == command["type"]
    assert (store.appends, len(await read_log(service))) == (appends, 1)
    assert await read_state(service) == before


@pytest.mark.parametrize(
    "command",
    [None, [], {}, "tick", 5, {"type": 1}, {"type": "tick", "dt": "5"}, {"type": "addStar", "id": "x"}, [{}], [None]],
)
async def test_an_invalid_command_never_reaches_the_store(
    service: UniverseService, store: TroubledStore, command: object
) -> None:
    with pytest.raises(MalformedCommand) as caught:
        await service.send("u", command)
    assert caught.value.ids["universeId"] == "u"
    assert store.appends == 0


async def test_an_unknown_command_is_named_and_never_reaches_the_store(
    service: UniverseService, store: TroubledStore
) -> None:
    with pytest.raises(UnknownCommand, match="explode"):
        await service.send("u", {"type": "explode"})
    assert store.appends == 0


@requirement("UN-14", "UN-16")
async def test_every_request_for_an_unknown_universe_names_it(service: UniverseService) -> None:
    requests = [
        service.send("u-missing", {"type": "tick"}),
        service.put("u-missing", {}),
        service.undo("u-missing"),
        service.restore("u-missing", 0),
        service.branch("u-missing"),
        service.view("u-missing"),
        service.read_history("u-missing"),
        service.rename("u-missing", "x"),
        service.delete("u-missing"),
    ]
    for one in requests:
        with pytest.raises(UniverseNotFound, match="u-missing") as caught:
            await one
        assert caught.value.ids["universeId"] == "u-missing"


async def test_a_command_cannot_be_changed_by_its_sender_afterwards(service: UniverseService) -> None:
    command = add_star("sun", note={"kept": [1]})
    await service.send("u", command)
    command["payload"]["note"]["kept"].append(2)
    command["payload"]["mass"] = -1
    sun = (await read_state(service))["stars"]["sun"]
    assert (sun["note"], sun["mass"]) == ({"kept": [1]}, 3.5)
    await assert_log_intact(service)


async def test_a_state_cannot_be_changed_by_the_caller_that_gave_it(service: UniverseService) -> None:
    given: dict[str, object] = {"stars": {}, "rootIds": ["a"], "time": 4}
    await service.put("u", given)
    given["rootIds"] = ["b"]
    assert (await read_state(service))["rootIds"] == ["a"]
    await assert_log_intact(service)


@pytest.mark.parametrize("state", [[], "x", {"planets": {}}, {"time": "now"}, {"stars": {"a": {}}}, {"time": None}])
async def test_an_invalid_state_is_refused_before_anything_is_written(
    service: UniverseService, store: TroubledStore, state: object
) -> None:
    with pytest.raises(MalformedState):
        await service.put("u", state)
    with pytest.raises(MalformedState):
        await service.create("x", state, universe_id="v")
    assert store.appends == 0
    with pytest.raises(UniverseNotFound):
        await service.read_record("v")


async def test_a_refused_command_does_not_affect_others_sent_at_the_same_time(service: UniverseService) -> None:
    """Commands sent at once are written together; each is answered for itself."""
    requests = [
        service.send("u", add_star("a")),
        service.send("u", {"type": "removeStar", "id": "x"}),
        service.send("u", add_star("b")),
        service.send("u", {"type": "removeStar", "id": "a"}),
    ]
    outcomes = await wait_briefly(asyncio.gather(*requests, return_exceptions=True))
    assert isinstance(outcomes[1], StarNotFound)
    assert [one.version for one in outcomes if not isinstance(one, BaseException)] == [1, 2, 3]
    assert (await read_state(service))["rootIds"] == ["b"]
    await assert_log_intact(service)


async def test_each_of_many_answers_shows_the_state_right_after_its_own_command(service: UniverseService) -> None:
    results = await wait_briefly(asyncio.gather(*(service.send("u", add_star(f"s{n}")) for n in range(30))))
    for number, result in enumerate(results):
        assert result.version == number + 1
        assert list(result.state.rootIds) == [f"s{n}" for n in range(number + 1)]


async def test_time_that_leaves_the_finite_numbers_is_refused(service: UniverseService) -> None:
    await service.send("u", {"type": "tick", "dt": 1e308})
    with pytest.raises((CommandRefused, MalformedCommand)):
        await service.send("u", {"type": "tick", "dt": 1e308})
    assert (await read_state(service))["time"] == 1e308


async def test_time_beyond_exact_integers_becomes_a_float_or_is_refused(service: UniverseService) -> None:
    await service.send("u", {"type": "tick", "dt": 2**63})
    try:
        await service.send("u", {"type": "tick", "dt": 2**63})
    except (CommandRefused, MalformedCommand):
        assert await read_version(service) == 1
    assert (await read_state(service))["time"] in (2**63, 2.0**64)


async def test_a_listener_to_all_universes_is_notified_of_every_change_and_no_more_after_it_left(
    service: UniverseService,
) -> None:
    reply: asyncio.Queue[LogChange] = asyncio.Queue()
    leave = service.add_change_listener(reply.put_nowait)
    await service.send("u", {"type": "tick"})
    assert await wait_briefly(reply.get()) == LogChange("u", 1)
    await service.create("Other", universe_id="v")
    assert await wait_briefly(reply.get()) == LogChange("v", 0)
    await service.delete("v")
    assert await wait_briefly(reply.get()) == LogChange("v", None)
    leave()
    second: asyncio.Queue[LogChange] = asyncio.Queue()
    service.add_change_listener(second.put_nowait)
    await service.send("u", {"type": "tick"})
    assert await wait_briefly(second.get()) == LogChange("u", 2)
    assert reply.empty()


async def test_a_listener_that_fails_does_not_stop_the_notification_of_others(service: UniverseService) -> None:
    reply: asyncio.Queue[LogChange] = asyncio.Queue()

    def fail(_change: LogChange) -> None:
        raise RuntimeError("this listener is broken")

    leave = service.add_change_listener(fail)
    await service.send("u", {"type": "tick"})
    leave()
    service.add_change_listener(reply.put_nowait)
    await service.send("u", {"type": "tick"})
    async with asyncio.timeout(2):
        while (await reply.get()) != LogChange("u", 2):
            pass
