"""Tests of reviews at the terminal, which can be left and resumed."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from paper_search.cli.terminal_review import TerminalReview
from paper_search.domain.review_models import PaperDecision, ReviewStatus
from paper_search.errors import NonRetryableError, SessionFailed
from paper_search.service.sessions import SessionManager
from paper_search.store.saved_marks import MarkStore, ReviewerMarks
from paper_search.testing import FakeSource, ScriptedScreen
from paper_search.workflow import Decision, DecisionAction
from tests.paper_search.service.sessions.helpers import DataFolder, make_moon_papers, open_session


@pytest.fixture
def data_folder(tmp_path: Path) -> DataFolder:
    return DataFolder(tmp_path / "data", FakeSource("alpha", make_moon_papers(4)))


@pytest.fixture
def marks(data_folder: DataFolder) -> MarkStore:
    return MarkStore(data_folder.folder / "reviews")


async def run_review(manager: SessionManager, session_id: str, screen: ScriptedScreen) -> bool:
    async with asyncio.timeout(20):
        return await TerminalReview(manager, screen, "Ada").review_session(session_id)


async def test_a_person_reviews_from_the_strategy_to_the_result(data_folder: DataFolder, marks: MarkStore) -> None:
    async with data_folder.open_manager() as manager:
        session_id = (await open_session(manager))["session_id"]
        screen = ScriptedScreen("aiema", ["only dust"])
        assert await run_review(manager, session_id, screen)
        result = await manager.get_result(session_id)
    assert len(result.papers) == 3
    given = {paper.decisions[0].status: paper.decisions[0].reviewer for paper in result.papers if paper.decisions}
    assert given == {ReviewStatus.INCLUDE: "Ada", ReviewStatus.MAYBE: "Ada"}
    (excluded,) = [one for one in result.metadata.exclusions if one.reviewer]
    assert (excluded.detail, excluded.reviewer) == ("only dust", "Ada")
    assert "3 papers" in screen.written


async def test_a_review_that_is_left_is_resumed_by_another_process_with_its_marks(
    data_folder: DataFolder, marks: MarkStore
) -> None:
    async with data_folder.open_manager() as manager:
        session_id = (await open_session(manager))["session_id"]
        screen = ScriptedScreen("aiq")
        assert not await run_review(manager, session_id, screen)
        assert f"paper-search sessions resume {session_id[:8]}" in screen.written
    async with data_folder.open_manager() as manager:
        screen = ScriptedScreen("ia")
        assert await run_review(manager, session_id, screen)
        assert "1 mark of this review restored" in screen.written
        result = await manager.get_result(session_id)
    assert [paper.status for paper in result.papers].count(ReviewStatus.INCLUDE) == 2


async def test_a_refused_edit_is_explained_and_the_question_repeated(data_folder: DataFolder, marks: MarkStore) -> None:
    async with data_folder.open_manager() as manager:
        session_id = (await open_session(manager))["session_id"]
        screen = ScriptedScreen("eeaa", edits=["not json", '{"sources": ["nowhere"]}'])
        assert await run_review(manager, session_id, screen)
    assert "not JSON" in screen.written
    assert "Unknown sources: nowhere" in screen.written
    assert screen.written.count('"filters": {\n') == 1, "the second edit starts from the person's own text"


async def test_another_round_follows_a_reject_with_words(data_folder: DataFolder, marks: MarkStore) -> None:
    async with data_folder.open_manager() as manager:
        session_id = (await open_session(manager))["session_id"]
        screen = ScriptedScreen("airaa", ["more on Enceladus"])
        assert await run_review(manager, session_id, screen)
        result = await manager.get_result(session_id)
    assert "Round 2" in screen.written
    assert len(result.papers) == 4


async def test_an_earlier_decision_of_another_process_is_reported_and_contains_the_marks(
    data_folder: DataFolder, marks: MarkStore
) -> None:
    class Meddling(ScriptedScreen):
        def read_key(self) -> str:
            key = super().read_key()
            if key == "A":
                decision = Decision(action=DecisionAction.REJECT, note="from elsewhere")
                asyncio.run_coroutine_threadsafe(other.decide(session_id, decision, door="console"), loop).result(10)
            return key

    loop = asyncio.get_running_loop()
    async with data_folder.open_manager() as manager, data_folder.open_manager() as other:
        session_id = (await open_session(manager))["session_id"]
        await manager.decide(session_id, Decision(action=DecisionAction.APPROVE))
        screen = Meddling("iAq")
        assert not await run_review(manager, session_id, screen)
        included: Any = await manager.decide(session_id, Decision(action=DecisionAction.APPROVE))
    assert "decided before: reject, through console" in screen.written
    assert included["checkpoint"]["payload"]["status_counts"]["include"] == 1
    assert not marks.load(session_id, "any").decisions


@pytest.mark.parametrize(("reviewer", "name"), [(None, "Sophie Brahe"), ("Ada", "Ada")])
async def test_decisions_at_a_terminal_are_recorded_with_the_reviewer_or_the_name_of_the_person(
    data_folder: DataFolder, marks: MarkStore, monkeypatch: pytest.MonkeyPatch, reviewer: str | None, name: str
) -> None:
    monkeypatch.setenv("URANIBORG_USER", "Sophie Brahe")
    async with data_folder.open_manager() as manager:
        session_id = (await open_session(manager))["session_id"]
        assert await TerminalReview(manager, ScriptedScreen("aA"), reviewer).review_session(session_id)
        repeated: Any = await manager.decide(
            session_id, Decision(action=DecisionAction.APPROVE), checkpoint_id=f"{session_id}:0:strategy_confirmation"
        )
    earlier = repeated["already_decided"]
    assert (earlier["door"], earlier["decided_by"]) == ("terminal", name)


async def test_a_failed_search_ends_the_review_with_its_error(data_folder: DataFolder, marks: MarkStore) -> None:
    data_folder.engine.failures["dedup"] = ValueError("row 7")
    async with data_folder.open_manager() as manager:
        session_id = (await open_session(manager))["session_id"]
        with pytest.raises(SessionFailed, match="ValueError: row 7"):
            await run_review(manager, session_id, ScriptedScreen("a"))


def test_damaged_marks_and_marks_of_other_checkpoints_are_ignored(tmp_path: Path) -> None:
    store = MarkStore(tmp_path)
    assert store.load("s", "c") == ReviewerMarks(checkpoint_id="c")
    (tmp_path / "s.json").write_text("{half")
    assert store.load("s", "c") == ReviewerMarks(checkpoint_id="c")
    stored = ReviewerMarks(checkpoint_id="c", decisions={"p": PaperDecision(status=ReviewStatus.MAYBE)}, position=7)
    store.save("s", stored)
    assert store.load("s", "c") == stored
    assert store.load("s", "next") == ReviewerMarks(checkpoint_id="next", decisions=stored.decisions)
    store.delete_sent("s", store.collect("s"))
    store.delete_sent("s", store.collect("s"))
    assert store.load("s", "c").decisions == {}


async def test_marks_are_part_of_a_decision_through_another_interface(
    data_folder: DataFolder, marks: MarkStore
) -> None:
    async with data_folder.open_manager() as manager:
        session_id = (await open_session(manager))["session_id"]
        assert not await run_review(manager, session_id, ScriptedScreen("aiq"))
        await manager.decide(session_id, Decision(action=DecisionAction.REJECT, note="more"), door="console")
        screen = ScriptedScreen("aa")
        assert await run_review(manager, session_id, screen)
        result = await manager.get_result(session_id)
    assert "restored" not in screen.written
    assert [paper.status for paper in result.papers].count(ReviewStatus.INCLUDE) == 1


async def test_marks_keep_the_name_of_their_reviewer(data_folder: DataFolder, marks: MarkStore) -> None:
    async with data_folder.open_manager() as manager:
        session_id = (await open_session(manager))["session_id"]
        assert not await run_review(manager, session_id, ScriptedScreen("aiq"))
        async with asyncio.timeout(20):
            assert await TerminalReview(manager, ScriptedScreen("a")).review_session(session_id)
        result = await manager.get_result(session_id)
    assert [decision.reviewer for paper in result.papers for decision in paper.decisions] == ["Ada"]


async def test_sources_that_failed_are_named_above_the_papers(tmp_path: Path, marks: MarkStore) -> None:
    shut = FakeSource("beta", error=NonRetryableError("It is shut."))
    async with DataFolder(tmp_path / "data", FakeSource("alpha", make_moon_papers(2)), shut).open_manager() as manager:
        session_id = (await open_session(manager))["session_id"]
        screen = ScriptedScreen("aa")
        assert await run_review(manager, session_id, screen)
    assert "Not all sources could answer: beta (failed)." in screen.written
