"""Ask once about an approval whose note asks for something, before the approval is applied."""

import hashlib
from datetime import date
from typing import Final

from paper_search.errors import NoteAsksForChange
from paper_search.intent.feedback import read_text
from paper_search.intent.feedback_requests import compile_phrases
from paper_search.intent.vocabulary import Vocabulary
from paper_search.sessions.store import SessionStore
from paper_search.workflow.checkpoints import Checkpoint, Decision, DecisionAction, StrategyPayload

_STEP: Final = "note-question"
_CHARACTERS: Final = 300


def ask_about_note(store: SessionStore, checkpoint: Checkpoint, note: str, asked: str) -> None:
    """Raise NoteAsksForChange for an approval whose note asks for something, unless it did so before. May block."""
    step = f"{_STEP}-{checkpoint.iteration}-{hashlib.sha256(note.strip().encode()).hexdigest()[:16]}"
    if store.read(checkpoint.run_id, step) is not None:
        return
    question = NoteAsksForChange(asked, is_strategy=isinstance(checkpoint.payload, StrategyPayload))
    store.write(checkpoint.run_id, step, f"{question.message} {question.hint}")
    raise question


def find_question(store: SessionStore, checkpoint: Checkpoint) -> str | None:
    """Return the question that was asked last about a note at this checkpoint, or None. May block."""
    prefix = f"{_STEP}-{checkpoint.iteration}-"
    asked = [step for step in store.list_steps(checkpoint.run_id) if step.startswith(prefix)]
    return store.read(checkpoint.run_id, asked[-1]) if asked else None


def find_requests(decision: Decision) -> str:
    """Return the part of an approval's note that asks for something, or "" for a courtesy or a remark."""
    note = decision.note or ""
    if decision.action is not DecisionAction.APPROVE or not note.strip():
        return ""
    reading = read_text(note, Vocabulary({}), date.max)
    clauses = [clause for clause in reading.unused if compile_phrases("asking").search(clause)]
    text = "; ".join(clauses) if clauses else note if reading.has_content else ""
    return " ".join(text.split())[:_CHARACTERS]
