"""The stored marks of reviewers are part of the next decision, through whichever interface it comes."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from paper_search.domain.review_models import ExclusionReason, PaperDecision, PaperMerge, PaperSplit, ReviewStatus
from paper_search.errors import InvalidDecision
from paper_search.service.review.session_review import SessionReview
from paper_search.service.sessions import SessionManager
from paper_search.store import saved_marks
from paper_search.store.saved_marks import MarkStore
from paper_search.store.session_files import SessionFiles
from paper_search.testing import FakeSource
from tests.paper_search.service.sessions.helpers import APPROVE, DataFolder, make_moon_papers, make_reject, open_review
from uraniborg.inbox_questions import check_and_decide
from uraniborg.kernel.actors import Actor
from uraniborg.kernel.store.change_feed import NullPublisher
from uraniborg.kernel.store.inbox import Inbox, InboxDecision

ADA = Actor(kind="person", name="Ada", authenticated="sign_in")
AGENT = Actor(kind="agent", name="assistant", authenticated="credential")
Approve = Callable[[SessionManager, DataFolder, dict[str, Any]], Awaitable[Any]]


async def approve_as_agent(manager: SessionManager, _: DataFolder, reply: dict[str, Any]) -> None:
    await manager.decide(reply["session_id"], APPROVE, actor=AGENT)


async def approve_in_dialog(manager: SessionManager, _: DataFolder, reply: dict[str, Any]) -> None:
    actor = Actor(kind="person", name="client", authenticated="dialog")
    await manager.decide(reply["session_id"], APPROVE, checkpoint_id=reply["checkpoint_id"], door="client", actor=actor)


async def approve_in_inbox(manager: SessionManager, data_folder: DataFolder, reply: dict[str, Any]) -> None:
    with closing(data_folder.inbox()) as inbox:
        given = InboxDecision(action="approve")
        await asyncio.to_thread(check_and_decide, inbox, reply["checkpoint_id"], given, "console", ADA)
    await manager.decide(reply["session_id"], APPROVE, checkpoint_id=reply["checkpoint_id"])


async def approve_on_page(manager: SessionManager, _: DataFolder, reply: dict[str, Any]) -> None:
    await manager.decide(reply["session_id"], APPROVE, door="console", actor=ADA, reviewer="Ada")


DOORS = pytest.mark.parametrize("approve", [approve_as_agent, approve_in_dialog, approve_in_inbox, approve_on_page])


def test_what_changes_after_it_was_collected_waits_for_the_next_decision(tmp_path: Path) -> None:
    marks = MarkStore(tmp_path, NullPublisher())
    include, exclude = (PaperDecision(status=status) for status in (ReviewStatus.INCLUDE, ReviewStatus.EXCLUDE))
    first, second = PaperMerge(papers=["a", "b"]), PaperMerge(papers=["c", "d"])
    marks.change("ses_1", "c1", {"p1": include, "p2": include}, "Ada")
    with marks.change_corrections("ses_1", "c1", "Ada") as corrections:
        corrections.merge, corrections.split = [first], [PaperSplit(paper="x")]
    sent = marks.collect("ses_1")
    marks.change("ses_1", "c1", {"p2": exclude, "p3": include}, "Ada")
    with marks.change_corrections("ses_1", "c1", "Ada") as corrections:
        corrections.merge, corrections.split = [first, second], [PaperSplit(paper="x"), PaperSplit(paper="y")]
    marks.delete_sent("ses_1", sent)
    left = marks.collect("ses_1")
    assert left.reviews == {"Ada": {"p2": exclude, "p3": include}}
    assert (left.corrections.merge, left.corrections.split) == ([second], [PaperSplit(paper="y")])
    marks.delete_sent("ses_1", left)
    assert marks.collect("ses_1").is_empty
    assert not list(tmp_path.glob("*.json"))


def test_the_last_change_can_be_undone_however_many_papers_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(saved_marks, "_MAX_UNDO_PAPERS", 3)
    marks, include = MarkStore(tmp_path, NullPublisher()), PaperDecision(status=ReviewStatus.INCLUDE)
    marks.change("ses_1", "c1", {"p1": include}, "Ada")
    marks.change("ses_1", "c1", {f"p{number}": include for number in range(2, 7)}, "Ada")
    assert list(marks.undo("ses_1", "c1", "Ada")[0].decisions) == ["p1"]
    assert list(marks.undo("ses_1", "c1", "Ada")[0].decisions) == ["p1"]


def test_the_last_hundred_changes_can_be_undone(tmp_path: Path) -> None:
    marks, include = MarkStore(tmp_path, NullPublisher()), PaperDecision(status=ReviewStatus.INCLUDE)
    for number in range(102):
        marks.change("ses_1", "c1", {f"p{number}": include}, "Ada")
    for _ in range(101):
        marks.undo("ses_1", "c1", "Ada")
    assert list(marks.collect("ses_1").reviews["Ada"]) == ["p0", "p1"]


class UserFolder(DataFolder):
    """The data folder of the user, where the console and `uraniborg decide` look."""

    def store(self) -> SessionFiles:
        return SessionFiles()

    def inbox(self) -> Inbox:
        return Inbox()

    def create_manager(self, **changes: Any) -> SessionManager:
        return super().create_manager(marks=MarkStore(), **changes)


@pytest.fixture
def data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DataFolder:
    monkeypatch.setenv("URANIBORG_HOME", str(tmp_path / "home"))
    return UserFolder(tmp_path / "home", FakeSource("alpha", make_moon_papers(6)))


async def mark_and_merge(manager: SessionManager) -> tuple[dict[str, Any], list[str]]:
    """Open a review; let Ada exclude the first paper, somebody exclude the second, and Ada merge the others."""
    reply = await open_review(manager)
    ids = [paper["id"] for paper in reply["checkpoint"]["payload"]["papers"]]
    review = SessionReview(manager)
    excluded = PaperDecision(status=ReviewStatus.EXCLUDE, reason="no data")
    await review.mark_papers(reply["session_id"], {ids[0]: excluded}, "Ada")
    await review.mark_papers(reply["session_id"], {ids[1]: excluded})
    await review.correct_duplicates(reply["session_id"], PaperMerge(papers=ids[2:4]), "Ada")
    return reply, ids


@DOORS
async def test_an_approval_applies_the_stored_marks_and_merges_of_people(
    manager: SessionManager, data_folder: DataFolder, approve: Approve
) -> None:
    reply, ids = await mark_and_merge(manager)
    await approve(manager, data_folder, reply)
    result = await manager.get_result(reply["session_id"])
    gone = {one.paper_id: one for one in result.metadata.exclusions if one.reason is ExclusionReason.BY_PERSON}
    assert set(gone) == set(ids[:2]), "people excluded them, also if an agent approved"
    assert gone[ids[0]].reviewer == "Ada"
    (merge,) = result.metadata.corrections
    assert (merge.kind, merge.reviewer, merge.by_agent) == ("merge", "Ada", False)


@DOORS
async def test_marks_are_sent_once(manager: SessionManager, data_folder: DataFolder, approve: Approve) -> None:
    reply, _ = await mark_and_merge(manager)
    await approve(manager, data_folder, reply)
    assert manager.marks.collect(reply["session_id"]).reviews == {}
    assert await SessionReview(manager).list_corrections(reply["session_id"]) != []


async def test_a_repeated_approval_is_the_same_as_sent_although_marks_were_added(manager: SessionManager) -> None:
    reply, _ = await mark_and_merge(manager)
    await manager.decide(reply["session_id"], APPROVE, checkpoint_id=reply["checkpoint_id"])
    repeated: Any = await manager.decide(reply["session_id"], APPROVE, checkpoint_id=reply["checkpoint_id"])
    assert repeated["already_decided"]["same_as_sent"] is True
    data = {"note": "another answer"}
    other: Any = await manager.decide(reply["session_id"], make_reject(data), checkpoint_id=reply["checkpoint_id"])
    assert other["already_decided"]["same_as_sent"] is False


async def test_what_an_agent_says_itself_stays_an_agents_decision(manager: SessionManager) -> None:
    reply, ids = await mark_and_merge(manager)
    data = {"decisions": {ids[0]: "include", ids[4]: {"status": "exclude", "reason": "off topic"}}}
    decision = APPROVE.model_copy(update={"revised_data": data})
    await manager.decide(reply["session_id"], decision, actor=AGENT)
    result = await manager.get_result(reply["session_id"])
    reasons = {one.paper_id: one.reason for one in result.metadata.exclusions}
    assert reasons[ids[0]] is ExclusionReason.BY_PERSON, "the person's mark counts, not the agent's"
    assert reasons[ids[4]] is ExclusionReason.BY_AGENT


async def test_an_agent_cannot_change_the_marks_of_a_person_by_naming_them(manager: SessionManager) -> None:
    reply, ids = await mark_and_merge(manager)
    data = {"reviews": {"Ada": {ids[0]: {"status": "include"}}}}
    decision = APPROVE.model_copy(update={"revised_data": data})
    await manager.decide(reply["session_id"], decision, actor=AGENT)
    result = await manager.get_result(reply["session_id"])
    assert {one.paper_id: one.reason for one in result.metadata.exclusions}[ids[0]] is ExclusionReason.BY_PERSON


async def test_a_mark_that_is_stored_while_the_decision_is_taken_waits_for_the_next_one(
    manager: SessionManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    reply, ids = await mark_and_merge(manager)
    session_id, marks = reply["session_id"], manager.marks
    late = {ids[4]: PaperDecision(status=ReviewStatus.INCLUDE, reason=None)}
    collect = marks.collect

    def collect_and_mark(*given: Any) -> Any:
        collected = collect(*given)
        marks.change(session_id, reply["checkpoint_id"], late, "Ben")
        return collected

    monkeypatch.setattr(marks, "collect", collect_and_mark)
    await manager.decide(session_id, make_reject({"marked_relevant": [ids[4]]}))
    assert marks.collect(session_id).reviews == {"Ben": late}


async def test_marks_survive_a_decision_that_is_refused(manager: SessionManager) -> None:
    reply, _ = await mark_and_merge(manager)
    before = manager.marks.collect(reply["session_id"]).reviews
    refused = APPROVE.model_copy(update={"revised_data": {"decisions": {"p_unknown": "include"}}})
    with pytest.raises(InvalidDecision, match="No such papers"):
        await manager.decide(reply["session_id"], refused)
    assert manager.marks.collect(reply["session_id"]).reviews == before


async def test_a_restarted_process_applies_the_marks_of_a_decision_that_it_did_not_see(
    data_folder: DataFolder,
) -> None:
    async with data_folder.open_manager() as manager:
        reply, ids = await mark_and_merge(manager)
    with closing(data_folder.inbox()) as inbox:
        await asyncio.to_thread(
            check_and_decide, inbox, reply["checkpoint_id"], InboxDecision(action="approve"), "console", ADA
        )
    async with data_folder.open_manager() as manager:
        await manager.decide(reply["session_id"], APPROVE, checkpoint_id=reply["checkpoint_id"])
        result = await manager.get_result(reply["session_id"])
    assert {*ids[:2]} <= {one.paper_id for one in result.metadata.exclusions}
