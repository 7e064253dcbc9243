"""The marks of an unfinished review, stored after each key so that the review can be resumed."""

from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel, Field, ValidationError

from paper_search.review_models import PaperDecision
from paper_search.sessions.store import REVIEWS
from uraniborg.kernel.change_feed import ChangeFeed, Publisher
from uraniborg.kernel.files import hold_lock, make_private_folder, write_atomic
from uraniborg.kernel.settings import secure_own_folder


class Marks(BaseModel):
    """The decisions about papers that are not sent yet, and the position of the paper displayed last."""

    checkpoint_id: str
    decisions: dict[str, PaperDecision] = Field(default_factory=dict[str, PaperDecision])
    position: int = 0
    reviewer: str | None = None
    """The name under which the marks were made."""


class MarkStore:
    """One file of marks for each session, in the data folder."""

    def __init__(self, folder: Path | None = None, feed: Publisher | None = None) -> None:
        self._folder = folder or secure_own_folder("data", "paper_search", REVIEWS)
        self._feed = feed or ChangeFeed()

    def load(self, session_id: str, checkpoint_id: str = "") -> Marks:
        """Return the stored marks of the session; no marks if there is no file or it is damaged.

        Marks of an earlier checkpoint are still valid: its papers are in the session.
        """
        try:
            marks = Marks.model_validate_json(self._get_path(session_id).read_bytes())
        except (OSError, ValidationError):
            return Marks(checkpoint_id=checkpoint_id)
        if marks.checkpoint_id == checkpoint_id:
            return marks
        return Marks(checkpoint_id=checkpoint_id, decisions=marks.decisions, reviewer=marks.reviewer)

    def save(self, session_id: str, marks: Marks) -> None:
        """Store the marks of the session."""
        make_private_folder(self._folder)
        write_atomic(self._get_path(session_id), marks.model_dump_json())
        self._feed.publish("papers", session_id, checkpoint_id=marks.checkpoint_id, marked=len(marks.decisions))

    def change(
        self,
        session_id: str,
        checkpoint_id: str,
        decisions: Mapping[str, PaperDecision | None],
        reviewer: str | None = None,
    ) -> Marks:
        """Store marks beside those of the session, and remove those that are None. Return all marks."""
        make_private_folder(self._folder)
        with hold_lock(self._folder / "marks.lock", timeout_s=10):
            marks = self.load(session_id, checkpoint_id)
            for paper_id, decision in decisions.items():
                if decision is None:
                    marks.decisions.pop(paper_id, None)
                else:
                    marks.decisions[paper_id] = decision
            marks.reviewer = reviewer or marks.reviewer
            self.save(session_id, marks)
        return marks

    def delete(self, session_id: str) -> None:
        """Delete the marks of the session, if there are any."""
        self._get_path(session_id).unlink(missing_ok=True)

    def _get_path(self, session_id: str) -> Path:
        return self._folder / f"{session_id}.json"
