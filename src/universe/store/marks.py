"""Marks: the last version written of each universe, as lines of a file, and the losses found by them."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

_MOST_DELETED: Final = 1_000
"""How many deletions are remembered. A mark that a slow process writes after a deletion must not count."""

Key = tuple[str, str]
"""The id of a universe and the time it was made at: another universe of the same id is another universe."""


class Mark(NamedTuple):
    """A version that was written, and the digest of its entry; without a digest for version 0."""

    version: int
    digest: str


class Head(NamedTuple):
    """The last entry in the log of a universe."""

    universe_id: str
    made_at: str
    version: int
    digest: bytes

    @property
    def key(self) -> Key:
        return self.universe_id, self.made_at

    @property
    def mark(self) -> Mark:
        return Mark(self.version, self.digest.hex())


class Loss(NamedTuple):
    """A mark that the log did not reach when the store was opened; `left` is its version then, None for no universe."""

    mark: Mark
    left: int | None


@dataclass
class Marks:
    """The content of a mark file."""

    marks: dict[Key, Mark] = field(default_factory=dict[Key, Mark])
    losses: dict[Key, list[Loss]] = field(default_factory=dict[Key, list[Loss]])
    deleted: dict[Key, float] = field(default_factory=dict[Key, float])
    """When deletions were marked, in seconds since 1970."""

    def take(self, line: dict[str, Any]) -> None:
        """Follow one line of the file."""
        key = (line["id"], line["made"])
        if line["is"] == "deleted":
            self.marks.pop(key, None)
            self.losses.pop(key, None)
            self.deleted[key] = line["at"]
        elif key in self.deleted:
            return
        elif line["is"] == "mark":
            mark = Mark(line["version"], line["digest"])
            if key not in self.marks or self.marks[key].version < mark.version:
                self.marks[key] = mark
        else:
            self.losses.setdefault(key, []).append(Loss(Mark(line["version"], line["digest"]), line["left"]))
            self.marks.pop(key, None)

    def lines(self) -> list[bytes]:
        """Return the shortest file with the same content."""
        deleted = list(self.deleted.items())[-_MOST_DELETED:]
        losses = [loss_line(key, loss) for key, several in self.losses.items() for loss in several]
        marks = [line("mark", key, **mark._asdict()) for key, mark in self.marks.items()]
        return [*(line("deleted", key, at=at) for key, at in deleted), *losses, *marks]

    def undelete(self, keys: Iterable[Key]) -> None:
        """Forget that these were to be deleted."""
        for key in keys:
            self.deleted.pop(key, None)

    def accept(self, heads: Sequence[Head], universe_id: str | None) -> None:
        """Forget the losses of one universe, or of all, and mark the logs as they are."""
        for key in [*self.losses, *self.marks]:
            if universe_id in (None, key[0]):
                self.losses.pop(key, None)
                self.marks.pop(key, None)
        self.marks |= {head.key: head.mark for head in heads if universe_id in (None, head.universe_id)}

    def lost(self, heads: Sequence[Head]) -> dict[Key, Loss]:
        """Return the marks that these logs, read after the marks, do not reach."""
        present = {head.key: head for head in heads}
        found: dict[Key, Loss] = {}
        for key, mark in self.marks.items():
            head = present.get(key)
            if head is None:
                found[key] = Loss(mark, None)
            elif head.version < mark.version or (head.version == mark.version and head.mark != mark):
                found[key] = Loss(mark, head.version)
        return found


def is_news(head: Head, mark: Mark | None) -> bool:
    """Return True if the log is ahead of its mark."""
    return mark is None or head.version > mark.version


def mark_line(head: Head) -> bytes:
    """Return the line that marks a version as written."""
    return line("mark", head.key, **head.mark._asdict())


def loss_line(key: Key, loss: Loss) -> bytes:
    """Return the line that records a loss."""
    return line("loss", key, **loss.mark._asdict(), left=loss.left)


def line(kind: str, key: Key, **facts: Any) -> bytes:
    """Return a line of JSON behind its checksum: a flipped bit must neither raise an alarm nor hide one."""
    text = json.dumps({"is": kind, "id": key[0], "made": key[1], **facts}, separators=(",", ":")).encode()
    return b"%b %b\n" % (_checksum(text), text)


def _checksum(text: bytes) -> bytes:
    return hashlib.blake2b(text, digest_size=4).hexdigest().encode()


def parse_marks(content: bytes) -> Marks:
    """Return the marks in the content of a file, without lines that are damaged or incomplete."""
    marks = Marks()
    for line in content.split(b"\n"):
        checksum, _, text = line.partition(b" ")
        if text and checksum == _checksum(text):
            marks.take(json.loads(text))
    return marks
