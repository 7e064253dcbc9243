"""Many changes in one go: each sees what the ones before it did, and all are written at once."""

import orjson

from universe.domain.commands import Command
from universe.domain.events import Event, is_refusal, refusal
from universe.domain.provenance import Origin, track_state
from universe.domain.reducer import reduce
from universe.domain.state import KINDS, State, Touched, both, difference, trusted_state
from universe.errors import KeyReused, VersionConflict
from universe.service.results import Ask, GoBack, Job, Restore, Result
from universe.store.port import Entry, KeyUse
from universe.store.rebuilding import Replica

Answer = Result | Exception


class Batch:
    """What the changes so far would make of a universe, none of which has happened yet."""

    def __init__(self, replica: Replica, at: str) -> None:
        self.entries: list[Entry] = []
        self.uses: dict[str, KeyUse] = {}
        self.answers: list[tuple[Job, Answer]] = []
        self._id = replica.id
        self._replica = replica
        self._state, self._version = replica.state, replica.version
        self._steps: list[Touched | Restore] = []
        self._results: dict[str, Result] = {}
        self._at = at

    def known(self, ask: Ask) -> Result | None:
        """The result of an earlier request of this batch with the same key. Raises KeyReused."""
        if ask.key is None or ask.key not in self._results:
            return None
        check_same(self.uses[ask.key], ask)
        return self._results[ask.key]

    def add(self, ask: Ask) -> Result:
        """The result that `ask` will have once the batch is written. Raises CommandRefused or VersionConflict."""
        if ask.expected_version is not None and ask.expected_version != self._version:
            raise VersionConflict(self._id, ask.expected_version, self._version)
        first = self._version + 1
        assert not isinstance(ask.change, GoBack)
        if isinstance(ask.change, Restore):
            result = self._restore(ask.change, ask.author)
        else:
            result = self._reduce(ask.change, ask.author)
        if ask.key is not None:
            self.uses[ask.key] = KeyUse(ask.key, ask.digest(), first, result.version)
            self._results[ask.key] = result
        return result

    def take_effect(self, replica: Replica) -> None:
        """Bring the replica to where this batch leads."""
        for step in self._steps:
            if isinstance(step, Restore):
                replica.restore(step.plain, self._version)
            else:
                replica.follow(self._state, self._version, step)
        replica.state = self._state

    def _reduce(self, commands: list[Command], author: str) -> Result:
        before = state = self._state
        version = self._version
        events: list[Event] = []
        touched: Touched = {}
        entries: list[Entry] = []
        for index, command in enumerate(commands):
            outcome = reduce(state, command, Origin(version + 1, author))
            if outcome.events and is_refusal(outcome.events[0]):
                place = {"index": index} if len(commands) > 1 else {}
                raise refusal(outcome.events[0], state, universeId=self._id, command=command["type"], **place)
            state, version = outcome.state, version + 1
            events += outcome.events
            touched = both(touched, outcome.touched) if touched else outcome.touched
            kind = "continued" if index else "command"
            written = orjson.dumps(outcome.events)
            entries.append(Entry.sealed(self._id, version, kind, orjson.dumps(command), written, self._at, author))
        self._state, self._version = state, version
        self._steps.append(touched)
        self.entries += entries
        return Result(version, state, events, touched, self._replica, before)

    def _restore(self, restore: Restore, author: str) -> Result:
        before, after = self._state, trusted_state(restore.plain)
        if restore.reason == "put":
            after = track_state(before, after, Origin(self._version + 1, author))
            stars = {key: after.stars[key] for key in restore.plain.get("stars") or ()}
            restore = restore._replace(plain={**restore.plain, "stars": stars})
        self._state, self._version = after, self._version + 1
        event = restore.event()
        written = orjson.dumps([event])
        self.entries.append(Entry.sealed(self._id, self._version, "restore", restore.body(), written, self._at, author))
        self._steps.append(restore)
        return Result(self._version, after, [event], _difference(before, after), self._replica, before)


def check_same(use: KeyUse, ask: Ask) -> None:
    """Raises KeyReused if the key was used for another request."""
    if use.request != ask.digest():
        raise KeyReused(
            "This idempotency key was used for another request.",
            hint="Use a new key for each new request.",
            key=use.key[:100],
        )


def changed_between(before: State, after: State) -> Touched:
    """What differs between two states."""
    touched: Touched = {}
    for kind in KINDS:
        old, new = before.entities(kind), after.entities(kind)
        if old is not new:
            touched[kind] = {
                key: touch for key, touch in difference(old, new).items() if old.get(key) is not new.get(key)
            }
    return touched


def _difference(before: State, after: State) -> Touched:
    return {kind: difference(before.entities(kind), after.entities(kind)) for kind in KINDS}
