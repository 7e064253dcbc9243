"""How each part displays its questions in the inbox, and checks an answer."""

from importlib import import_module
from typing import Final, Protocol, cast

from uraniborg.kernel.actors import Actor
from uraniborg.kernel.deciders import check_person_decides, load_decider_settings
from uraniborg.kernel.json_values import JsonObject
from uraniborg.kernel.store.inbox import InboxDecision, InboxEntry, InboxPort

_MODULES: Final = {"paper_search": "paper_search.service.sessions.inbox_answers", "pflow": "pflow.service.approvals"}
"""The module of each part that displays its questions and checks the answers."""


class PartQuestions(Protocol):
    """The interface of such a module."""

    def check_answer(self, entry: InboxEntry, given: InboxDecision) -> None: ...

    def decide(
        self, inbox: InboxPort, entry: InboxEntry, given: InboxDecision, door: str, actor: Actor
    ) -> InboxEntry: ...

    def format_payload(self, payload: JsonObject) -> list[str]: ...


def load_part_questions(part: str) -> PartQuestions | None:
    """Return the module of a part, or None for an unknown part."""
    module = _MODULES.get(part)
    return cast("PartQuestions", import_module(module)) if module else None


def check_answer(entry: InboxEntry, decision: InboxDecision) -> None:
    """Raise the error of the part if the decision does not fit a question that waits."""
    if entry.state == "pending" and (questions := load_part_questions(entry.part)) is not None:
        questions.check_answer(entry, decision)


def check_and_decide(inbox: InboxPort, entry_id: str, decision: InboxDecision, door: str, actor: Actor) -> InboxEntry:
    """Store a decision that fits its question, and return the entry.

    Raise DecisionNotFound, AlreadyDecided, DecisionWithdrawn, PersonRequired, or the error of the part for an unfit
    decision.
    """
    entry = inbox.get(entry_id)
    if entry.state == "pending" and load_decider_settings().require_person:
        check_person_decides(door, actor, entry_id)
    questions = load_part_questions(entry.part) if entry.state == "pending" else None
    if questions is None:
        return inbox.decide(entry_id, decision, door, actor)
    return questions.decide(inbox, entry, decision, door, actor)
