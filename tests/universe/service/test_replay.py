"""After any sequence of requests the served state equals the replayed log at every version."""

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import orjson
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    multiple,
    precondition,
    rule,
)

from tests.universe.domain.samples import EMPTY_STATE, Json
from tests.universe.domain.strategies import COMMANDS, FLAT, snapshots
from universe.domain.reducer import apply
from universe.domain.state import check_and_copy_plain_state, parse_state
from universe.errors import (
    CommandRefused,
    MalformedState,
    NothingToUndo,
    VersionConflict,
)
from universe.service.batch import ChangeResult
from universe.service.universes import UniverseService
from universe.service.verification import verify_log
from universe.store.replica import Replica, apply_entries_from_store, read_entry_pages, rebuild_replica
from universe.store.sqlite import SqliteStore


def of_kind(kind: str) -> st.SearchStrategy[Json]:
    return COMMANDS[kind]


commands = st.sampled_from(sorted(COMMANDS)).flatmap(of_kind)


def a_state(snapshot: Json, time: int) -> Json:
    return {
        **{name: value for name, value in snapshot.items() if name in EMPTY_STATE and value is not None},
        "time": time,
    }


@st.composite
def states(draw: st.DrawFn) -> Json:
    return a_state(draw(snapshots), draw(st.integers(-5, 5)))


def reduced(state: Json, given: list[Json]) -> Json | None:
    """Return the state after these commands by the reducer alone, or None if a command is refused."""
    now = parse_state(state)
    for command in given:
        after, events = apply(now, command)
        if after is now:
            assert events
            return None
        now = after
    return orjson.loads(orjson.dumps(now.to_plain()))


class Replay(RuleBasedStateMachine):
    """The model is a list of states for each universe: the one after every change."""

    universes = Bundle("universes")

    def __init__(self) -> None:
        super().__init__()
        self.folder = TemporaryDirectory()
        self.runner = asyncio.Runner()
        self.known: dict[str, list[Json]] = {}
        self.open()

    def open(self) -> None:
        self.service = UniverseService(SqliteStore(Path(self.folder.name) / "universes.db"), snapshot_every=3)
        self.running = self.service.running()
        self.runner.run(self.running.__aenter__())

    def close(self) -> None:
        self.runner.run(self.running.__aexit__(None, None, None))

    def teardown(self) -> None:
        self.close()
        self.runner.close()
        self.folder.cleanup()

    def run(self, coroutine: Any) -> Any:
        return self.runner.run(asyncio.wait_for(coroutine, 20))

    def follow(self, universe_id: str, result: ChangeResult, expected: Json | None) -> None:
        """Check an answered change against the expected state, and record the state of each new version."""
        known = self.known[universe_id]
        answered = orjson.loads(orjson.dumps(result.state.to_plain()))
        assert expected is None or answered == expected
        assert result.version >= len(known)
        for version in range(len(known), result.version):
            known.append(self.run(self.state_at(universe_id, version)))
        known.append(answered)

    async def state_at(self, universe_id: str, version: int | None = None) -> Json:
        return orjson.loads((await self.service.view(universe_id, version)).replica.mirror.to_json())

    @initialize(target=universes)
    def first(self) -> str:
        self.run(self.service.create("First", universe_id="first"))
        self.known["first"] = [EMPTY_STATE]
        self.follow("first", self.run(self.service.send("first", FLAT)), None)
        return "first"

    @rule(universe=universes, command=commands)
    def send(self, universe: str, command: Json) -> None:
        expected = reduced(self.known[universe][-1], [command])
        try:
            result = self.run(self.service.send(universe, command))
        except CommandRefused:
            assert expected is None
        else:
            assert expected is not None
            self.follow(universe, result, expected)

    @rule(universe=universes, given=st.lists(commands, min_size=1, max_size=5), stale=st.booleans())
    def send_list(self, universe: str, given: list[Json], stale: bool) -> None:
        known = self.known[universe]
        expected = reduced(known[-1], given)
        version = len(known) - 1 - stale
        try:
            result = self.run(self.service.send(universe, given, expected_version=version))
        except VersionConflict:
            assert stale
        except CommandRefused:
            assert expected is None
        else:
            assert not stale
            assert result.version == len(known) - 1 + len(given)
            self.follow(universe, result, expected)

    @rule(universe=universes, given=st.lists(commands, min_size=2, max_size=5))
    def send_at_once(self, universe: str, given: list[Json]) -> None:
        async def all_of_them() -> list[Any]:
            return await asyncio.gather(*(self.service.send(universe, one) for one in given), return_exceptions=True)

        done: dict[int, tuple[Json, ChangeResult]] = {}
        for command, outcome in zip(given, self.run(all_of_them()), strict=True):
            if not isinstance(outcome, CommandRefused):
                assert isinstance(outcome, ChangeResult), outcome
                done[outcome.version] = command, outcome
        assert sorted(done) == list(range(len(self.known[universe]), len(self.known[universe]) + len(done)))
        for _, (command, result) in sorted(done.items()):
            self.follow(universe, result, reduced(self.known[universe][-1], [command]))

    @rule(universe=universes)
    def undo(self, universe: str) -> None:
        try:
            result = self.run(self.service.undo(universe))
        except NothingToUndo:
            assert self.known[universe][-1] in self.known[universe][:2]  # as it began: empty, or with a state
        else:
            (event,) = result.events
            back_to: int = event["toVersion"]
            self.follow(universe, result, self.known[universe][back_to])

    @rule(universe=universes, state=states())
    def put(self, universe: str, state: Json) -> None:
        try:
            expected = {**EMPTY_STATE, **check_and_copy_plain_state(state)}
        except MalformedState:
            return
        self.follow(universe, self.run(self.service.put(universe, state)), expected)

    @rule(universe=universes, share=st.floats(0, 1))
    def restore(self, universe: str, share: float) -> None:
        known = self.known[universe]
        version = round(share * (len(known) - 1))
        self.follow(universe, self.run(self.service.restore(universe, version)), known[version])

    @rule(target=universes, universe=universes, share=st.floats(0, 1))
    def branch(self, universe: str, share: float) -> Any:
        if len(self.known) == 4:
            return multiple()  # pyright: ignore[reportUnknownVariableType]
        known = self.known[universe]
        version = round(share * (len(known) - 1))
        record = self.run(self.service.branch(universe, version=version))
        is_empty = known[version] == EMPTY_STATE
        self.known[record.id] = [EMPTY_STATE] if is_empty else [EMPTY_STATE, known[version]]
        return record.id

    @precondition(lambda self: len(self.known) > 1)
    @rule(universe=consumes(universes))
    def delete(self, universe: str) -> None:
        self.run(self.service.delete(universe))
        del self.known[universe]

    @rule()
    def reopen(self) -> None:
        self.close()
        self.open()

    @invariant()
    def what_is_served_is_what_the_log_leads_to(self) -> None:
        self.run(self.check())

    async def check(self) -> None:
        records = await self.service.list_records(limit=100)
        assert {one.id: one.version for one in records} == {name: len(one) - 1 for name, one in self.known.items()}
        for universe_id, known in self.known.items():
            seen = await self.service.view(universe_id)
            assert orjson.loads(seen.replica.mirror.to_json()) == known[-1]
            assert orjson.loads(orjson.dumps(seen.replica.state.to_plain())) == known[-1]
            replayed = Replica(universe_id)
            async for entries in read_entry_pages(self.service.store, universe_id):
                await apply_entries_from_store(self.service.store, replayed, entries)
            rebuilt = await rebuild_replica(self.service.store, universe_id)
            for replica in (replayed, rebuilt):
                assert replica.version == len(known) - 1
                assert replica.mirror.to_plain() == replica.state.to_plain() == known[-1]
                assert replica.mirror.json_size == len(replica.mirror.to_json())
                assert replica.mirror.to_json() == seen.replica.mirror.to_json()  # entities in the same order
            verdict = await verify_log(self.service.store, universe_id)
            assert verdict.is_intact, verdict.problems
            middle = len(known) // 2
            assert await self.state_at(universe_id, middle) == known[middle]


TestReplay = Replay.TestCase
TestReplay.settings = settings(
    max_examples=15,
    stateful_step_count=20,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
