"""A session that stops after any step reaches the same result in another process."""

# pyright: reportPrivateUsage=false

import asyncio
import shutil
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from paper_search.errors import SessionFailed
from paper_search.models import SourceRecord
from paper_search.testing import FakeSource
from tests.paper_search.service.sessions.helpers import (
    APPROVE,
    DEDUP_ERROR,
    NARROWER,
    REJECT,
    REVIEW,
    DataFolder,
    GatedFolder,
    complete_session,
    list_stored_decisions,
    make_edit,
    make_moon_papers,
    make_reject,
    open_review,
    open_session,
    run_in_background,
    wait_for_checkpoint,
    wait_until,
)
from tests.requirements import requirement
from uraniborg.kernel.store.inbox import InboxDecision


@requirement("PS-REQ-13")
async def test_a_new_manager_continues_every_session_without_repeating_steps(data_folder: DataFolder) -> None:
    expected: list[Any] = []
    async with data_folder.open_manager() as manager:
        expected += [await open_session(manager), await open_review(manager), await complete_session(manager)]
        reply = await open_review(manager)
        expected.append(await manager.decide(reply["session_id"], make_reject({"free_text_feedback": "Europa"})))
    asked, ran = list(data_folder.engine.asked), list(data_folder.engine.ran)
    async with data_folder.open_manager() as manager:
        for reply in expected:
            assert manager.get(reply["session_id"]) is None
            back = await manager.get_state(reply["session_id"])
            assert {**back, "sources": reply["sources"]} == reply
        assert (data_folder.engine.asked, data_folder.engine.ran) == (asked, ran)
        for reply in expected:
            session_id = reply["session_id"]
            while not reply["is_complete"]:
                reply = await manager.decide(session_id, APPROVE)  # noqa: PLW2901 - it goes on from there
            assert len((await manager.get_result(session_id)).papers) == 3
    assert data_folder.engine.asked == [asked[0] + 2]
    assert data_folder.engine.ran.count("intent") == 4


@requirement("PS-REQ-13")
@pytest.mark.parametrize("fails", [False, True], ids=["with papers", "with an error"])
async def test_a_restored_session_is_complete_once_its_search_has_ended_and_not_before(
    data_folder: DataFolder, fails: bool
) -> None:
    async with data_folder.open_manager() as manager:
        session_id = (await open_session(manager))["session_id"]
    async with data_folder.open_manager() as manager:
        assert not (await manager.get_state(session_id))["is_complete"]
        session = manager.get(session_id)
        assert session is not None
        assert not session.is_complete
        if fails:
            data_folder.engine.failures["dedup"] = DEDUP_ERROR
            with pytest.raises(SessionFailed):
                await manager.decide(session_id, APPROVE)
        else:
            await manager.decide(session_id, APPROVE)
            assert not session.is_complete
            await manager.decide(session_id, APPROVE)
        assert session.is_complete
        data_folder.clock.advance(minutes=2)
        await manager.park_idle()
        assert session.is_complete
    async with data_folder.open_manager() as manager:
        assert (await manager.get_state(session_id))["is_complete"]


async def test_a_session_killed_during_its_search_continues_without_another_checkpoint(gated: GatedFolder) -> None:
    async with gated.data_folder.open_manager() as manager:
        reply = await open_session(manager)
        session_id = reply["session_id"]
        async with run_in_background(manager.decide(session_id, APPROVE)):
            await gated.wait_for_search()
            await manager.aclose()
    gated.gate.set()
    async with gated.data_folder.open_manager() as manager:
        repeated: Any = await manager.decide(session_id, REJECT, checkpoint_id=reply["checkpoint_id"])
        assert repeated["already_decided"]["action"] == "approve"
        assert (repeated["checkpoint_kind"], repeated["iteration"], repeated["round"]) == (REVIEW, 1, 0)
    assert list_stored_decisions(gated.data_folder, session_id) == ["decision-0"]
    assert gated.data_folder.engine.ran.count("intent") == 1


@pytest.mark.parametrize("first_call", ["state", "repeat"])
async def test_a_decision_stored_while_no_process_ran_the_session_is_carried_out_once(
    data_folder: DataFolder, first_call: str
) -> None:
    async with data_folder.open_manager() as manager:
        reply = await open_session(manager)
    session_id, given = reply["session_id"], reply["checkpoint_id"]
    with closing(data_folder.inbox()) as inbox:
        inbox.decide(given, InboxDecision(action="edit", data=NARROWER, note="only this"), "console")
    async with data_folder.open_manager() as manager:
        if first_call == "repeat":
            repeated: Any = await manager.decide(session_id, REJECT, checkpoint_id=given)
            assert repeated["already_decided"]["door"] == "console"
            assert repeated["checkpoint_kind"] == REVIEW
        await manager.get_state(session_id)
        session = manager.get(session_id)
        assert session is not None
        await wait_until(lambda: session.pending is not None)
        reply: Any = await manager.get_state(session_id)
        assert (reply["checkpoint_kind"], reply["iteration"], reply["round"]) == (REVIEW, 1, 0)
    source = data_folder.engine.sources[0]
    assert isinstance(source, FakeSource)
    assert [[query.boolean_query for query in strategy.queries] for strategy in source.asked] == [["Europa"]]
    assert list_stored_decisions(data_folder, session_id) == ["decision-0"]


STEPS_OF_A_SESSION = 30
"""The number of steps of the session below; a test checks it."""
ITS_DECISIONS = [
    make_reject(note="also Io"),
    APPROVE,
    make_reject({"free_text_feedback": "x"}),
    make_edit(NARROWER),
    APPROVE,
]


class EarlierRun:
    """A complete earlier session: its folder, its replies and the ids of its papers."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.replies: list[Any] = []
        self.papers: list[str] = []

    async def run_session(self) -> None:
        async with DataFolder(self.folder).open_manager() as manager:
            self.replies.append(await open_session(manager))
            session_id = self.replies[0]["session_id"]
            for decision in ITS_DECISIONS:
                self.replies.append(await manager.decide(session_id, decision))
            self.papers = [paper.id for paper in (await manager.get_result(session_id)).papers]

    def copy_with_steps(self, folder: Path, steps: int) -> tuple[DataFolder, list[str]]:
        """Return a copy of the data folder with only the first steps, and the names of these steps."""
        shutil.copytree(self.folder, folder / "data")
        data_folder, session_id = DataFolder(folder / "data"), self.replies[0]["session_id"]
        store = data_folder.store()
        left = [(step, store.read(session_id, step) or "") for step in store.list_steps(session_id)[:steps]]
        store.delete(session_id)
        for number, (step, value) in enumerate(left):
            store.write(session_id, step, value, create_session=number == 0)
        return data_folder, [step for step, _ in left]


@pytest.fixture(scope="module")
def earlier_run(tmp_path_factory: pytest.TempPathFactory) -> EarlierRun:
    made = EarlierRun(tmp_path_factory.mktemp("past"))
    asyncio.run(made.run_session())
    return made


def test_the_number_of_steps_to_kill_after_is_the_number_of_stored_steps(earlier_run: EarlierRun) -> None:
    steps = DataFolder(earlier_run.folder).store().list_steps(earlier_run.replies[0]["session_id"])
    assert len(steps) == STEPS_OF_A_SESSION
    assert earlier_run.replies[-1]["is_complete"]
    assert earlier_run.papers


@pytest.mark.parametrize("steps", range(1, STEPS_OF_A_SESSION + 1))
async def test_a_session_killed_after_any_step_reaches_the_same_result_with_the_same_decisions(
    earlier_run: EarlierRun, tmp_path: Path, steps: int
) -> None:
    data_folder, stored_steps = earlier_run.copy_with_steps(tmp_path, steps)
    last = earlier_run.replies[-1]
    session_id = last["session_id"]
    async with data_folder.open_manager() as manager:
        reply = await wait_for_checkpoint(manager, session_id)
        varying = {"elapsed_s": 0, "iteration": 5}
        assert {**reply, **varying} == {**last, **varying}
        assert [paper.id for paper in (await manager.get_result(session_id)).papers] == earlier_run.papers
    assert data_folder.engine.ran.count("intent") == ("intent" not in stored_steps)
    assert data_folder.engine.ran.count("dedup") == 2 - sum(step.endswith("/dedup") for step in stored_steps)
    assert data_folder.engine.asked == [2 - sum(step.endswith("/search") for step in stored_steps)]
    assert len(list_stored_decisions(data_folder, session_id)) == 5


@requirement("PS-PROP-9")
@pytest.mark.parametrize("steps", [6, 21, 29])
async def test_decisions_before_a_kill_are_counted_by_the_manager_that_continues(
    earlier_run: EarlierRun, tmp_path: Path, steps: int
) -> None:
    data_folder, stored_steps = earlier_run.copy_with_steps(tmp_path, steps)
    assert "ended" not in stored_steps
    async with data_folder.open_manager() as manager:
        reply = await wait_for_checkpoint(manager, earlier_run.replies[0]["session_id"])
    assert (reply["is_complete"], reply["iteration"]) == (True, 5)


@requirement("PS-PROP-9")
async def test_the_iteration_never_decreases_while_a_continued_session_works(gated: GatedFolder) -> None:
    async with gated.data_folder.open_manager() as manager:
        session_id = (await open_session(manager))["session_id"]
        async with run_in_background(manager.decide(session_id, APPROVE)):
            await gated.wait_for_search()
            assert (await manager.get_state(session_id))["iteration"] == 1
            await manager.aclose()
    asked = len(gated.source.asked)
    async with gated.data_folder.open_manager() as manager:
        await manager.get_state(session_id)
        await wait_until(lambda: len(gated.source.asked) > asked)
        assert (await manager.get_state(session_id))["iteration"] == 1


@pytest.mark.parametrize("steps", range(1, STEPS_OF_A_SESSION + 1))
async def test_a_session_killed_after_any_step_repeats_its_undecided_checkpoint(
    earlier_run: EarlierRun, tmp_path: Path, steps: int
) -> None:
    data_folder, stored_steps = earlier_run.copy_with_steps(tmp_path, steps)
    session_id = earlier_run.replies[0]["session_id"]
    decided = sum(step.startswith("decision-") for step in stored_steps)
    with closing(data_folder.inbox()) as inbox:
        entries = [inbox.get(reply["checkpoint_id"]) for reply in earlier_run.replies[:-1]]
        inbox.forget("paper_search", session_id)
        for entry in entries[:decided]:
            inbox.put(entry.id, entry.part, entry.kind, entry.subject, entry.payload)
            assert entry.decision is not None
            inbox.decide(entry.id, entry.decision, "agent")
    async with data_folder.open_manager() as manager:
        reply = await wait_for_checkpoint(manager, session_id)
        expected = earlier_run.replies[decided]
        for key in ("checkpoint_id", "checkpoint_kind", "checkpoint", "round", "is_complete"):
            assert reply.get(key) == expected.get(key), key
        for decision in ITS_DECISIONS[decided:]:
            reply = await manager.decide(session_id, decision)
        assert reply["is_complete"]
        assert [paper.id for paper in (await manager.get_result(session_id)).papers] == earlier_run.papers


async def test_merges_and_splits_are_as_they_were_in_a_process_that_resumes_the_session(tmp_path: Path) -> None:
    papers = make_moon_papers(3)
    twin = papers[0].model_copy(update={"source": "beta", "records": [SourceRecord(source="beta", record_id="twin")]})
    data_folder = DataFolder(tmp_path, FakeSource("alpha", papers), FakeSource("beta", [twin]))
    async with data_folder.open_manager() as manager:
        reply = await open_review(manager)
        session_id = reply["session_id"]
        found = (await manager.get_collection(session_id)).papers
        split = next(paper.id for paper in found if len(paper.records) == 2)
        merge = [paper.id for paper in found if paper.id != split]
        await manager.decide(session_id, make_reject({"split": [split], "merge": [merge]}))
        await manager.decide(session_id, APPROVE)  # the same records come again
        before = await manager.get_collection(session_id)
    async with data_folder.open_manager() as manager:
        assert (await manager.get_state(session_id)).get("checkpoint_kind") == REVIEW
        assert await manager.get_collection(session_id) == before
        await manager.decide(session_id, APPROVE)
        result = await manager.get_result(session_id)
    records = sorted(sorted(record.record_id for record in paper.records) for paper in result.papers)
    titles = [paper.title.casefold() for paper in papers]
    assert records == sorted([titles[:1], ["twin"], titles[1:]])
    assert [one.kind for one in result.metadata.corrections] == ["merge", "split"]
    assert all(one.at for one in result.metadata.corrections)
