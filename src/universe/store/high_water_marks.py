"""Compare a database with the last written versions of its universes, to reveal what it has lost."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

_MAX_DELETIONS: Final = 1_000
"""The most deletions remembered, so that marks written after a deletion by a slow process are ignored."""

Key = tuple[str, str]
"""The id and the creation time of a universe, which distinguish it from an earlier one with the same id."""


class WrittenMark(NamedTuple):
    """A version that was written, and the digest of its entry; without a digest for version 0."""

    version: int
    digest: str


class Head(NamedTuple):
    """The last entry in the log of a universe."""

    universe_id: str
    created_at: str
    version: int
    digest: bytes

    @property
    def key(self) -> Key:
        """The id and the creation time."""
        return self.universe_id, self.created_at

    @property
    def mark(self) -> WrittenMark:
        """The mark for this entry."""
        return WrittenMark(self.version, self.digest.hex())


class Loss(NamedTuple):
    """A mark that the log did not reach when the store was opened.

    `left` is the last version that the log had then; None if there was no universe.
    """

    mark: WrittenMark
    left: int | None


@dataclass
class WrittenMarks:
    """The content of a mark file."""

    marks: dict[Key, WrittenMark] = field(default_factory=dict[Key, WrittenMark])
    losses: dict[Key, list[Loss]] = field(default_factory=dict[Key, list[Loss]])
    deleted: dict[Key, float] = field(default_factory=dict[Key, float])
    """When deletions were marked, in seconds since 1970."""

    def apply_line(self, fields: dict[str, Any]) -> None:
        key = (fields["id"], fields["made"])
        if fields["is"] == "deleted":
            self.marks.pop(key, None)
            self.losses.pop(key, None)
            self.deleted[key] = fields["at"]
        elif key in self.deleted:
            return
        elif fields["is"] == "mark":
            mark = WrittenMark(fields["version"], fields["digest"])
            if key not in self.marks or self.marks[key].version < mark.version:
                self.marks[key] = mark
        else:
            self.losses.setdefault(key, []).append(
                Loss(WrittenMark(fields["version"], fields["digest"]), fields["left"])
            )
            self.marks.pop(key, None)

    def format_lines(self) -> list[bytes]:
        """Return the lines of the shortest file with the same content."""
        deleted = list(self.deleted.items())[-_MAX_DELETIONS:]
        losses = [format_loss_line(key, loss) for key, several in self.losses.items() for loss in several]
        marks = [format_line("mark", key, **mark._asdict()) for key, mark in self.marks.items()]
        return [*(format_line("deleted", key, at=at) for key, at in deleted), *losses, *marks]

    def undelete(self, keys: Iterable[Key]) -> None:
        """Remove the deletions of these universes, which still exist."""
        for key in keys:
            self.deleted.pop(key, None)

    def accept_losses(self, heads: Sequence[Head], universe_id: str | None) -> None:
        """Remove the losses of one universe, or of all, and mark the current ends of the logs."""
        for key in [*self.losses, *self.marks]:
            if universe_id in (None, key[0]):
                self.losses.pop(key, None)
                self.marks.pop(key, None)
        self.marks |= {head.key: head.mark for head in heads if universe_id in (None, head.universe_id)}

    def find_losses(self, heads: Sequence[Head]) -> dict[Key, Loss]:
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


def is_ahead(head: Head, mark: WrittenMark | None) -> bool:
    """Return True if the log is ahead of its mark."""
    return mark is None or head.version > mark.version


def format_mark_line(head: Head) -> bytes:
    """Return the line that marks a version as written."""
    return format_line("mark", head.key, **head.mark._asdict())


def format_loss_line(key: Key, loss: Loss) -> bytes:
    return format_line("loss", key, **loss.mark._asdict(), left=loss.left)


def format_line(kind: str, key: Key, **facts: Any) -> bytes:
    """Return a line of JSON behind its checksum: a flipped bit must neither raise an alarm nor hide one."""
    text = json.dumps({"is": kind, "id": key[0], "made": key[1], **facts}, separators=(",", ":")).encode()
    return b"%b %b\n" % (_compute_checksum(text), text)


def _compute_checksum(text: bytes) -> bytes:
    return hashlib.blake2b(text, digest_size=4).hexdigest().encode()


def parse_marks(content: bytes) -> WrittenMarks:
    """Return the marks in the content of a file, without lines that are damaged or incomplete."""
    marks = WrittenMarks()
    for line in content.split(b"\n"):
        checksum, _, text = line.partition(b" ")
        if text and checksum == _compute_checksum(text):
            marks.apply_line(json.loads(text))
    return marks
