"""Store the marks of an unfinished review after each key, so that the review can be resumed."""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, Final, cast

from pydantic import BaseModel, Field, ValidationError, model_validator

from paper_search.domain.review_models import PaperDecision, PaperMerge, PaperSplit
from paper_search.store.session_files import REVIEWS
from uraniborg.kernel.actors import Actor
from uraniborg.kernel.settings import secure_own_folder
from uraniborg.kernel.store.change_feed import ChangeFeed, Publisher
from uraniborg.kernel.store.files import hold_lock, make_private, make_private_folder, write_atomic

UNNAMED_REVIEWER: Final = ""
"""The key of the marks that were made without a name."""
_MAX_UNDO_STEPS: Final = 100
_MAX_UNDO_PAPERS: Final = 10_000
_MAX_ANNOUNCED: Final = 20

PaperDecisions = dict[str, PaperDecision]
UndoStep = dict[str, PaperDecision | None]
"""The marks before a change, by paper id; None for a paper without a mark."""


class Corrections(BaseModel):
    """The merges and splits of all reviewers that are not sent yet."""

    merge: list[PaperMerge] = Field(default_factory=list[PaperMerge])
    split: list[PaperSplit] = Field(default_factory=list[PaperSplit])


class ReviewerMarks(BaseModel):
    """The decisions of one reviewer that are not sent yet, and the position of the paper displayed last."""

    checkpoint_id: str
    decisions: PaperDecisions = Field(default_factory=PaperDecisions)
    position: int = 0
    reviewer: str | None = None
    """The name under which the marks were made."""


class StoredMarks(BaseModel):
    """The marks and corrections of all reviewers that wait for a decision."""

    reviews: dict[str, PaperDecisions] = Field(default_factory=dict[str, PaperDecisions])
    """By reviewer; marks without a name are under UNNAMED_REVIEWER."""
    corrections: Corrections = Field(default_factory=Corrections)
    actors: dict[str, Actor] = Field(default_factory=dict[str, Actor])
    """By reviewer: who made the last change under this name. Earlier versions stored none."""

    @property
    def is_empty(self) -> bool:
        """Return whether nothing waits."""
        return not (any(self.reviews.values()) or self.corrections.merge or self.corrections.split)


class _MarkFile(StoredMarks):
    """The file of a session."""

    checkpoint_id: str = ""
    position: int = 0
    reviewer: str | None = None
    """The reviewer who made marks last."""
    undo: dict[str, list[UndoStep]] = Field(default_factory=dict[str, list[UndoStep]])

    def record_actor(self, reviewer: str | None, actor: Actor | None) -> None:
        """Store who made the last change under the name of the reviewer."""
        if actor is not None:
            self.actors[reviewer or UNNAMED_REVIEWER] = actor
        else:
            self.actors.pop(reviewer or UNNAMED_REVIEWER, None)

    @model_validator(mode="before")
    @classmethod
    def _read_marks_of_one_reviewer(cls, value: Any) -> Any:
        # Earlier versions stored the marks of the last reviewer only.
        if not isinstance(value, dict) or "decisions" not in value:
            return cast("Any", value)
        fields = dict(cast("dict[str, object]", value))
        decisions = fields.pop("decisions")
        return {**fields, "reviews": {fields.get("reviewer") or UNNAMED_REVIEWER: decisions}}


class MarkStore:
    """One file of marks for each session, in the data folder."""

    def __init__(self, folder: Path | None = None, feed: Publisher | None = None) -> None:
        self._given_folder = folder
        self._feed = feed or ChangeFeed()

    @cached_property
    def _folder(self) -> Path:
        return self._given_folder or secure_own_folder("data", "paper_search", REVIEWS)

    def load(self, session_id: str, checkpoint_id: str = "", reviewer: str | None = None) -> ReviewerMarks:
        """Return the marks of the reviewer, or without a name those of the reviewer who made marks last.

        A missing or damaged file has no marks. Marks of an earlier checkpoint are still valid: its papers are in the
        session.
        """
        stored = self._read(session_id)
        name = reviewer or stored.reviewer
        return ReviewerMarks(
            checkpoint_id=checkpoint_id,
            decisions=stored.reviews.get(name or UNNAMED_REVIEWER, {}),
            position=stored.position if stored.checkpoint_id == checkpoint_id and name == stored.reviewer else 0,
            reviewer=name,
        )

    def save(self, session_id: str, marks: ReviewerMarks, actor: Actor | None = None) -> None:
        """Store the marks of one reviewer in place of the reviewer's earlier ones. `actor` is who made them."""
        with self._change_file(session_id) as stored:
            stored.checkpoint_id, stored.position, stored.reviewer = marks.checkpoint_id, marks.position, marks.reviewer
            stored.reviews[marks.reviewer or UNNAMED_REVIEWER] = marks.decisions
            stored.record_actor(marks.reviewer, actor)
        self._announce(session_id, marks, ())

    def change(
        self,
        session_id: str,
        checkpoint_id: str,
        decisions: Mapping[str, PaperDecision | None],
        reviewer: str | None = None,
        actor: Actor | None = None,
    ) -> ReviewerMarks:
        """Store marks beside those of the reviewer, and remove those that are None. Return the reviewer's marks.

        `actor` is who marked; without one it is unknown, and the marks count as those of a person.
        """
        name = reviewer or UNNAMED_REVIEWER
        with self._change_file(session_id) as stored:
            own = stored.reviews.setdefault(name, {})
            stored.undo[name] = _limit_steps([*stored.undo.get(name, ()), {key: own.get(key) for key in decisions}])
            _apply(own, decisions)
            stored.checkpoint_id, stored.reviewer = checkpoint_id, reviewer
            stored.record_actor(reviewer, actor)
            marks = ReviewerMarks(checkpoint_id=checkpoint_id, decisions=own, reviewer=reviewer)
        self._announce(session_id, marks, decisions)
        return marks

    def undo(
        self, session_id: str, checkpoint_id: str, reviewer: str | None = None, actor: Actor | None = None
    ) -> tuple[ReviewerMarks, UndoStep]:
        """Undo the reviewer's last change. Return the reviewer's marks, and the marks of the papers that it changed."""
        name = reviewer or UNNAMED_REVIEWER
        with self._change_file(session_id) as stored:
            own = stored.reviews.setdefault(name, {})
            steps = stored.undo.get(name) or [{}]
            last = steps.pop()
            _apply(own, last)
            stored.record_actor(reviewer, actor)
            marks = ReviewerMarks(checkpoint_id=checkpoint_id, decisions=own, reviewer=reviewer)
        self._announce(session_id, marks, last)
        return marks, last

    @contextmanager
    def change_corrections(
        self, session_id: str, checkpoint_id: str, reviewer: str | None, actor: Actor | None = None
    ) -> Generator[Corrections]:
        """Yield the merges and splits that wait, to change them; store them at the end, unless an error is raised."""
        with self._change_file(session_id) as stored:
            yield stored.corrections
            stored.checkpoint_id = checkpoint_id
            stored.record_actor(reviewer, actor)
        self._announce(session_id, ReviewerMarks(checkpoint_id=checkpoint_id, reviewer=reviewer), ())

    def collect(self, session_id: str) -> StoredMarks:
        """Return all that waits for the decision."""
        stored = self._read(session_id)
        return StoredMarks(reviews=stored.reviews, corrections=stored.corrections, actors=stored.actors)

    def delete_sent(self, session_id: str, sent: StoredMarks) -> None:
        """Delete what was sent with a decision; what was stored after it was collected waits for the next one."""
        if not self._get_path(session_id).exists():
            return
        with self._change_file(session_id) as stored:
            left = {name: _leave_unsent(own, sent.reviews.get(name, {})) for name, own in stored.reviews.items()}
            stored.reviews = {name: own for name, own in left.items() if own}
            merged, split = sent.corrections.merge, sent.corrections.split
            stored.corrections.merge = [one for one in stored.corrections.merge if one not in merged]
            stored.corrections.split = [one for one in stored.corrections.split if one not in split]
            stored.undo = {}

    @contextmanager
    def _change_file(self, session_id: str) -> Generator[_MarkFile]:
        make_private_folder(self._folder)
        lock = self._folder / "marks.lock"
        with hold_lock(lock, timeout_s=10):
            make_private(lock)
            stored = self._read(session_id)
            yield stored
            if stored.reviews or stored.undo or stored.corrections != Corrections():
                write_atomic(self._get_path(session_id), stored.model_dump_json())
            else:
                self._get_path(session_id).unlink(missing_ok=True)

    def _read(self, session_id: str) -> _MarkFile:
        try:
            return _MarkFile.model_validate_json(self._get_path(session_id).read_bytes())
        except (OSError, ValidationError):
            return _MarkFile()

    def _announce(self, session_id: str, marks: ReviewerMarks, changed: "Mapping[str, object] | tuple[()]") -> None:
        """Announce which papers were marked by whom, and not how: other reviewers may not know it yet."""
        self._feed.publish(
            "papers",
            session_id,
            checkpoint_id=marks.checkpoint_id,
            marked=len(marks.decisions),
            reviewer=marks.reviewer,
            papers=list(changed)[:_MAX_ANNOUNCED],
        )

    def _get_path(self, session_id: str) -> Path:
        return self._folder / f"{session_id}.json"


def _apply(own: PaperDecisions, decisions: Mapping[str, PaperDecision | None]) -> None:
    for paper_id, decision in decisions.items():
        if decision is None:
            own.pop(paper_id, None)
        else:
            own[paper_id] = decision


def _limit_steps(steps: list[UndoStep]) -> list[UndoStep]:
    """Return the last steps, as many as may be stored; at least one."""
    kept: list[UndoStep] = []
    count = 0
    for step in reversed(steps[-_MAX_UNDO_STEPS:]):
        count += len(step)
        if kept and count > _MAX_UNDO_PAPERS:
            break
        kept.append(step)
    return kept[::-1]


def _leave_unsent(own: PaperDecisions, sent: PaperDecisions) -> PaperDecisions:
    return {paper_id: mark for paper_id, mark in own.items() if sent.get(paper_id) != mark}
