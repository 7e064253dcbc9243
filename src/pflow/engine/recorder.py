"""What one run writes down, and what it goes on from."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from pflow.engine.journals import Journal, Key, Result
from pflow.engine.past import IsSecret, Lookup, Past, without_places
from pflow.errors import NodeFailed

if TYPE_CHECKING:
    from pflow.engine.checkpoints import Checkpoints


class Recorder:
    """What one run writes down, and what it goes on from."""

    def __init__(
        self,
        checkpoints: "Checkpoints",
        journal: Journal,
        past: Past,
        run_id: str,
        lineage: str,
        stamp: tuple[int, int, int] | None,
    ) -> None:
        self.checkpoints = checkpoints
        self.journal = journal
        self.past = past
        self.run_id = run_id
        self.lineage = lineage
        self.stamp = stamp
        """What the checkpoint was like when it was read."""
        self.lookup = Lookup(past)
        self.under_way: set[Key] = set()
        """Nodes with effects that have begun, and not ended."""
        self.took = past.took()
        self.used: set[Key] = set()
        """Results of earlier runs that stood for a node."""
        self.problem = ""
        """Why what this run does cannot be written down any more."""

    @property
    def is_resuming(self) -> bool:
        return self.past.lineage is not None

    def earlier(self, key: Key) -> Result | None:
        """The result of an earlier run that can stand for this one."""
        result = self.lookup.earlier(key)
        if result is not None:
            self.used.add(result.key)
        return result

    def started(self, node: str, fingerprint: str) -> None:
        """Raises NodeFailed: what cannot be written down must not be done, or it might be done twice."""
        try:
            self.journal.started(node, fingerprint)
            self.under_way.add((node, fingerprint))
        except OSError as exc:
            raise NodeFailed(
                f"'{node}' was not begun: that it begins cannot be written down ({exc.strerror}).",
                hint="Make room on the disk of the pflow home, and run it again.",
            ) from exc

    def failed(self, node: str, fingerprint: str) -> None:
        self.under_way.discard((node, fingerprint))
        self._written(lambda: self.journal.failed(node, fingerprint))

    def waits(self, node: str, fingerprint: str) -> None:
        """Record that a node waits for a person: until the person decides, no result is too old to be reused."""
        self._written(lambda: self.journal.waits(node, fingerprint))

    def finished(self, result: Result) -> None:
        self.under_way.discard(result.key)
        self._written(lambda: self.journal.finished(result))

    def end(self, *, keep: bool, is_secret: IsSecret = lambda _: False) -> bool:
        """End the run, and say whether what is to be kept is on disk."""
        return self._written(lambda: self.checkpoints.settle(self, keep=keep, is_secret=is_secret))

    def was_interrupted(self, key: Key) -> bool:
        """Whether an earlier run had begun it, and not ended it, whatever it was given then. Of a batch, also an item
        that was given the same in another place."""
        uncertain = self.past.uncertain
        return any(one[0] == key[0] or without_places(one) == without_places(key) for one in uncertain)

    def _written(self, write: Callable[[], None]) -> bool:
        try:
            write()
        except OSError as exc:
            self.problem = exc.strerror or type(exc).__name__
        return not self.problem
