"""The story as a service: its steps, the processes that run them, inputs that change the words, and the bundle."""

import asyncio
import csv
import hashlib
import json
import os
import shutil
import signal
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, cast

import pytest

from paper_search.domain.review_models import PaperDecision, ReviewStatus
from pflow.store.run_log import RunLog
from tests.shared_folders import PATIENCE_S, make_once
from tests.uraniborg.demo_runs import YEARS, Demo, make_demo, read_demo
from uraniborg.kernel.actors import Actor
from uraniborg.kernel.errors import InvalidInput, Unavailable, UraniborgError
from uraniborg.kernel.json_values import Json
from uraniborg.kernel.store.files import Lease
from uraniborg.kernel.version import version
from uraniborg.story import worker as runner
from uraniborg.story.agents import SCREENER, propose_mark
from uraniborg.story.errors import StepNotFound, StepNotReady, StepRunning, StoryUnreadable
from uraniborg.story.results import StepInputs, StepResult
from uraniborg.story.review_step import describe_review, read_marks
from uraniborg.story.search_steps import explain_strike, find_redundant_query
from uraniborg.story.service import Story
from uraniborg.story.steps import DeclaredStep, Description, StepContext
from uraniborg.story.universe_steps import PLANET, preview_branch
from uraniborg.story.worker import check_ready, find_step, load_steps

pytestmark = [pytest.mark.timeout(2 * PATIENCE_S), pytest.mark.usefixtures("forked_workers")]

PLANETS: Final = "bcdefgh"
ADA: Final = Actor(kind="person", name="Ada", authenticated="account")
BO: Final = Actor(kind="person", name="Bo", authenticated="sign_in")


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    return read_demo(make_once(tmp_path_factory, "demo", make_demo))


@pytest.fixture(scope="session")
def steps(demo: Demo) -> dict[str, dict[str, Any]]:
    return {step["id"]: {**step} for step in asyncio.run(Story(demo.story_home).list_steps())}


@pytest.fixture
def copied(demo: Demo, tmp_path: Path) -> Story:
    shutil.copytree(demo.story_home, tmp_path / "home")
    return Story(tmp_path / "home")


def test_every_step_has_one_sentence_an_actor_and_a_person(steps: dict[str, dict[str, Any]]) -> None:
    assert list(steps) == [
        *("ask", "approve", "review", "shelve", "read", "give", "build"),
        *("branch", "integrate", "compare", "break", "scrub", "export"),
    ]
    for step in steps.values():
        assert step["status"] == "done"
        assert step["sentence"].endswith(".")
        assert step["by"] == "Ada"


def test_the_question_of_the_agent_waits_until_the_person_strikes_a_query(steps: dict[str, dict[str, Any]]) -> None:
    asked, approved = steps["ask"]["result"], steps["approve"]["result"]
    assert (asked["state"], asked["searched"]) == ("pending", [])
    assert approved["decision"].startswith("edit, through terminal, by Ada")
    assert approved["approved"] == asked["queries"][1:]
    assert approved["reason"].startswith("Suggested by the demo: Query 1 asks for every word")
    assert asked["server_pid"] != approved["server_pid"]


def test_every_paper_of_the_review_has_a_mark_and_a_reason(steps: dict[str, dict[str, Any]]) -> None:
    papers = steps["review"]["result"]["papers"]
    kept = [paper for paper in papers if paper["status"] == "include"]
    assert len(papers) == len(steps["approve"]["result"]["papers"])
    assert all(paper["reason"] for paper in papers)
    assert "10.3847/psj/abd022" in {paper["doi"] for paper in kept}
    assert steps["shelve"]["result"]["papers"] == len(kept)


def test_the_workflow_stops_at_the_star_and_resumes_with_the_given_mass(steps: dict[str, dict[str, Any]]) -> None:
    stopped, resumed = steps["read"]["result"]["run"], steps["give"]["result"]["run"]
    assert (stopped["success"], stopped["checkpoint"]["failed_node"]) == (False, "star")
    assert (resumed["success"], resumed["resumed_from"]) == (True, stopped["run_id"])
    assert resumed["reused_nodes"] == stopped["checkpoint"]["completed_nodes"]
    assert list(resumed["not_reused"]) == ["star"]


def test_seven_masses_are_supported_by_rows_on_the_shelf_and_the_given_one_is_unverified(
    steps: dict[str, dict[str, Any]],
) -> None:
    masses = {one["body"]: one for one in steps["build"]["result"]["masses"]}
    for letter in PLANETS:
        mass = masses[f"trappist-1-{letter}"]
        assert (mass["status"], mass["is_on_shelf"], mass["location"]["row"][0]) == ("supported", True, letter)
    assert masses["trappist-1"]["status"] == "unverified claim"
    assert masses["trappist-1-h"]["as_written"] == "0.326 ± 0.020"


def test_the_branch_is_heavier_and_its_earlier_version_is_not(steps: dict[str, dict[str, Any]]) -> None:
    first, last = steps["scrub"]["result"]["versions"]
    assert last["mass"] == pytest.approx(2 * first["mass"])
    assert (first["status"], last["status"]) == ("supported", "set")
    assert steps["scrub"]["result"]["version_after"] == last["version"]
    assert steps["branch"]["result"]["from"]["version_after"] == steps["build"]["result"]["version"]


def test_steps_that_make_a_universe_say_what_a_repetition_replaces(steps: dict[str, dict[str, Any]]) -> None:
    for key, factor in (("branch", 2), ("break", 50)):
        facts = {fact["label"]: fact["text"] for fact in steps[key]["facts"]}
        assert f"the universe “TRAPPIST-1, h times {factor}”, its N-body run and" in facts["if run again"]


def test_the_comparison_has_five_laplace_angles_of_both_runs_and_their_errors(steps: dict[str, dict[str, Any]]) -> None:
    found = steps["compare"]["result"]
    assert [row["names"] for row in found["resonances"]] == [list(PLANETS[index : index + 3]) for index in range(5)]
    assert found["trustworthy"] == [True, True]
    facts = {fact["label"]: fact["text"] for fact in steps["compare"]["facts"]}
    assert facts["error"].startswith("The integration itself is accurate to ")
    assert facts["error"].endswith("The uncertainty of the masses and orbits it starts from is not included.")
    assert facts["holds for"].startswith(f"{YEARS:g} years. ")
    for run in found["angles"]:
        for angle in run["angles"]:
            assert len(angle["degrees"]) == len(run["days"]) > 100
            assert all(0 <= degrees <= 360 for degrees in angle["degrees"])


async def list_words(story: Story) -> tuple[str, str]:
    """Return the words for the mass and the span that the question, the titles and the sentences have in common."""
    state = await story.get_state()
    steps = {step["id"]: step for step in state["steps"]}
    mass = steps["branch"]["title"].removeprefix("Planet h becomes ")
    span = steps["integrate"]["sentence"].partition(" moved for ")[2].split(",")[0].removesuffix(".")
    assert f"planet h is {mass}?" in state["question"]
    assert f"with TRAPPIST-1 h {mass}," in steps["compare"]["sentence"]
    assert f"these {span}" in steps["compare"]["sentence"]
    return mass, span


async def test_a_step_that_cannot_run_says_why_and_other_inputs_change_the_words(copied: Story) -> None:
    stored = copied.folder.state_file.read_bytes()
    assert await list_words(copied) == ("twice as heavy", f"{YEARS:g} years")
    with pytest.raises(StepNotFound):
        await copied.run_step("dance")
    try:
        with pytest.raises(UraniborgError, match="is done and cannot be run again") as done:
            await copied.run_step("approve")
        assert (done.value.code, done.value.status) == ("step_done", 409)
        with pytest.raises(UraniborgError, match=r"factor must be a number from 0\.01 to 1000, got '-1'") as refused:
            await copied.run_step("branch", {"factor": -1})
        assert (refused.value.code, refused.value.status) == ("invalid_argument", 422)
        assert refused.value.hint == "Give how many times as heavy planet h becomes."
        with pytest.raises(UraniborgError, match="'speed' is not an input of the step branch"):
            await copied.run_step("branch", {"speed": 2})
        assert copied.folder.state_file.read_bytes() == stored

        for factor, words, mass, is_reused in (
            (50, "50 times", "16.3", [False, False]),
            (0.5, "half", "0.163", [True, False]),
        ):
            branch = await copied.run_step("branch", {"factor": factor}, actor=BO)
            assert f"{mass} instead of 0.326 Earth masses, {words} as much" in branch["sentence"]
            integrated: Any = await copied.run_step("integrate", {"years": 0.1}, actor=BO)
            assert [run["is_reused"] for run in integrated["result"]["runs"]] == is_reused
            compared: Any = await copied.run_step("compare", actor=BO)
            assert (compared["by"], compared["actor"]) == ("Bo", BO.model_dump())
            assert await list_words(copied) == (f"{words} as heavy", "0.1 years")
        state = await copied.get_state()
        assert (state["next"], state["is_complete"]) == ("break", False)

        copied.folder.state_file.write_text("{")
        copied.folder.view_file.unlink()
        with pytest.raises(UraniborgError, match="The stored state of the story cannot be read"):
            await copied.get_state()
    finally:
        await copied.aclose()


def test_a_step_needs_the_steps_before_it() -> None:
    steps = load_steps()
    with pytest.raises(StepNotReady, match="needs the step 'ask' first") as refused:
        check_ready(steps, find_step(steps, "build"), {})
    assert refused.value.code == "step_not_ready"


async def test_a_step_that_is_interrupted_can_be_run_again_and_a_story_that_runs_elsewhere_cannot(
    copied: Story,
) -> None:
    try:
        async with asyncio.timeout(PATIENCE_S):
            has_progress = asyncio.Event()
            running = asyncio.create_task(
                copied.run_step("integrate", {"years": 20}, progress=lambda done: has_progress.set() if done else None)
            )
            await has_progress.wait()
            assert (await copied.get_state())["running"] == "integrate"
            with pytest.raises(StepRunning):
                await copied.run_step("scrub")
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
        assert (await copied.get_state())["running"] is None
        done = await copied.run_step("integrate", {"years": YEARS})
        assert done["status"] == "done"

        lease = Lease(copied.folder.lease_file)
        assert lease.acquire()
        copied.folder.running_step_file.write_text("export")  # as the runner of another process does
        try:
            assert (await copied.get_state())["running"] == "export"
            with pytest.raises(UraniborgError, match="Another step is running"):
                await copied.run_step("compare")
            with pytest.raises(StepRunning):
                await copied.restart()
        finally:
            lease.release()
        state = await copied.get_state()
        assert (state["running"], state["interrupted"]) == (None, "export")
        kept = copied.folder.home / "pflow" / "mine.json"  # a person worked in the console of the story
        kept.parent.mkdir(exist_ok=True)
        kept.write_text("{}")
        await copied.restart()
        assert kept.exists()
        assert not copied.folder.state_file.exists()
    finally:
        await copied.aclose()


async def run_until_progress(story: Story, then: Callable[[], object]) -> None:
    """Run a step that takes long, and call `then` at its first progress."""
    await story.run_step("integrate", {"years": 20}, progress=lambda done: then() if done else None)


async def test_a_step_whose_process_is_killed_fails_and_can_be_run_again(copied: Story) -> None:
    def kill() -> None:
        for worker in list_workers():
            os.kill(int(worker), signal.SIGKILL)

    try:
        with pytest.raises(Unavailable, match="The process of the story ended too early") as ended:
            await run_until_progress(copied, kill)
        assert (ended.value.code, ended.value.ids) == ("unavailable", {"step": "integrate"})
        assert (await copied.run_step("integrate", {"years": YEARS}))["status"] == "done"
    finally:
        await copied.aclose()


async def test_a_step_does_not_outlive_the_process_that_asked_for_it(copied: Story) -> None:
    code = (
        "import asyncio, os, signal, sys; from pathlib import Path; from uraniborg.story.service import Story; "
        "kill = lambda done: os.kill(os.getpid(), signal.SIGKILL) if done else None; "
        "asyncio.run(Story(Path(sys.argv[1])).run_step('integrate', {'years': 20}, progress=kill))"
    )
    parent = await asyncio.create_subprocess_exec(sys.executable, "-c", code, str(copied.folder.home))
    assert await parent.wait() == -signal.SIGKILL
    async with asyncio.timeout(PATIENCE_S):
        while (await copied.get_state())["running"]:  # noqa: ASYNC110 - another process ends
            await asyncio.sleep(0.02)
    state = await copied.get_state()
    assert (state["interrupted"], state["next"]) == ("integrate", None), "the step was not finished"


async def test_a_step_whose_server_was_killed_is_shown_as_interrupted(
    copied: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def run_and_report(context: StepContext, _inputs: StepInputs) -> StepResult:
        context.progress(0.5)
        return cast("Any", {})

    def fail_to_report(_done: float) -> None:
        raise BrokenPipeError

    step = DeclaredStep(
        "integrate", "", "you", "", run_and_report, lambda _: "", lambda _: Description(""), can_repeat=True
    )
    monkeypatch.setattr(runner, "load_steps", lambda: (step,))
    monkeypatch.setenv("URANIBORG_USER", "Ada")  # which the runner sets
    with pytest.raises(BrokenPipeError):
        await runner.run_step(copied.folder, step.id, {}, actor=ADA, door="console", progress=fail_to_report)
    state = await copied.get_state()
    assert (state["running"], state["interrupted"]) == (None, "integrate")


async def test_the_process_of_the_steps_ends_when_it_is_idle_and_another_one_takes_its_place(tmp_path: Path) -> None:
    story = Story(tmp_path, idle_s=None)
    await story.list_steps()
    assert len(list_workers()) == 1, "a process without a time limit stays"
    await story.aclose()
    story = Story(tmp_path, idle_s=0.0)
    try:
        for _ in range(2):
            story.folder.view_file.unlink()
            assert len(await story.list_steps()) == 13
            async with asyncio.timeout(PATIENCE_S):
                while list_workers():
                    await asyncio.to_thread(time.sleep, 0.01)
    finally:
        await story.aclose()


def list_workers() -> list[str]:
    """Return the ids of the processes that run steps for this one."""
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    return [one for one in children if b"-m\0uraniborg.story.worker" in read_command_line(one)]


def read_command_line(pid: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):  # the process has ended
        return b""


async def test_a_step_runs_after_another_process_has_restarted_the_story(tmp_path: Path) -> None:
    story, other = Story(tmp_path), Story(tmp_path)
    try:
        await story.list_steps()
        workers = list_workers()
        await other.restart()
        assert (await story.run_step("ask"))["status"] == "done"
        assert set(workers) <= set(list_workers()), "the process is the one from before the restart"
    finally:
        await story.aclose()
        await other.aclose()


def test_a_broken_state_file_is_named_with_the_remedy(tmp_path: Path) -> None:
    folder = Story(tmp_path).folder
    folder.own.mkdir(parents=True)
    for content in ("{", '{"format": 2, "steps": {}}', '{"format": 99, "steps": {}}', "[]"):
        folder.state_file.write_text(content)
        with pytest.raises(StoryUnreadable) as unreadable:
            folder.read_records()
        assert "--restart" in unreadable.value.hint


@pytest.mark.parametrize("content", ["{", "[]", "null", "{}", f'{{"version": "{version()}"}}', "\udcff"])
def test_a_broken_view_is_computed_again(tmp_path: Path, content: str) -> None:
    folder = Story(tmp_path).folder
    view: Any = {"steps": []}
    folder.write_view(view)
    assert folder.read_view() == view
    folder.view_file.write_text(content, errors="surrogateescape")
    assert folder.read_view() is None


def test_the_bundle_describes_every_file_and_every_digest_is_right(demo: Demo) -> None:
    bundle = demo.folder / "demo-output"
    paths = {path.relative_to(bundle).as_posix() for path in bundle.rglob("*") if path.is_file()}
    sums = dict(line.split("  ")[::-1] for line in (bundle / "SHA256SUMS").read_text().splitlines())
    assert set(sums) == paths - {"SHA256SUMS"}
    for path, digest in sums.items():
        assert hashlib.sha256((bundle / path).read_bytes()).hexdigest() == digest
    readme = (bundle / "README.md").read_text()
    assert all(f"`{path}`" in readme for path in paths - {"README.md"})
    crate = json.loads((bundle / "ro-crate-metadata.json").read_text())["@graph"]
    assert {one["@id"]: one["sha256"] for one in crate if one["@type"] == "File"} == {
        path: digest for path, digest in sums.items() if path != "ro-crate-metadata.json"
    }
    with zipfile.ZipFile(Story(demo.story_home).folder.bundle.with_suffix(".zip")) as packed:
        assert {name.removeprefix("bundle/") for name in packed.namelist()} == paths


def test_the_bundle_has_the_search_the_sources_the_logs_and_the_answers(
    demo: Demo, steps: dict[str, dict[str, Any]]
) -> None:
    bundle = demo.folder / "demo-output"
    answer = (bundle / "answer.md").read_text()
    for step in ("compare", "break"):
        assert steps[step]["result"]["answer"] in answer
    methods = (bundle / "methods.md").read_text()
    assert "A person gave the mass of trappist-1, 0.0898 solar masses" in methods
    assert f"was integrated for {YEARS:g} years by the method gauss" in methods
    assert "The uncertainty of the masses and orbits it starts from is not included." in methods
    search, universe = bundle / "searches" / "trappist-1", bundle / "universes" / "trappist-1"
    assert (search / "search-log.md").read_text().startswith("# Search log\n\n- **Offline trial")
    kept = [paper["title"] for paper in steps["review"]["result"]["papers"] if paper["status"] == "include"]
    assert steps["shelve"]["result"]["papers"] == len(kept) > len(steps["shelve"]["result"]["texts"]) > 0
    assert (search / "papers.bib").read_text().count("@") == len(kept)
    assert sorted(one["title"] for one in json.loads((search / "papers.csl.json").read_text())) == sorted(kept)
    decisions = json.loads((search / "decisions.json").read_text())
    assert [(one["decided_by"], one["decision"]["action"]) for one in decisions] == [
        ("Ada", "edit"),
        ("Ada", "approve"),
    ]
    with (universe / "values.csv").open(encoding="utf-8", newline="") as table:
        masses = {row["body"]: row for row in csv.DictReader(table) if row["field"] == "mass"}
    assert masses["TRAPPIST-1 h"]["row"].startswith("h | 0.326 ± 0.020")
    log = [json.loads(line) for line in (universe / "log.jsonl").read_text().splitlines()]
    assert [entry["version"] for entry in log] == list(range(1, 10))
    assert {entry["author"] for entry in log} == {"Ada"}
    assert all(entry["actor"] == ADA.model_dump() for entry in log)
    run = json.loads((bundle / "measurements" / "h-times-50" / "result.json").read_text())
    assert run["trustworthy"]
    assert run["start"]["trappist-1-h"]["mass"] == pytest.approx(50 * float(masses["TRAPPIST-1 h"]["value"]))


def test_the_log_says_that_a_program_judged_the_papers_that_the_person_did_not(
    demo: Demo, steps: dict[str, dict[str, Any]]
) -> None:
    papers = steps["review"]["result"]["papers"]
    assert {(paper["judge"], paper["reviewer"]) for paper in papers} == {("program", "demo (software)")}
    search = demo.folder / "demo-output" / "searches" / "trappist-1"
    flow = json.loads((search / "search-log.json").read_text())
    assert (flow["judged_by_person"], flow["judged_by_program"]) == (0, len(papers))
    assert f"judged by a program (n = {len(papers)})" in (search / "search-log.md").read_text()
    _, review = json.loads((search / "decisions.json").read_text())
    assert review["decision"]["data"] is None, "the person has sent no verdict"
    assert review["decision"]["marks"]["actors"] == {"demo (software)": SCREENER.model_dump()}


async def test_only_the_marks_that_the_person_gives_are_verdicts_of_the_person(tmp_path: Path) -> None:
    story = Story(tmp_path)
    try:
        for step_id in ("ask", "approve"):
            approved: Any = await story.run_step(step_id, actor=BO)
        papers = approved["result"]["papers"]
        waiting = await story.get_step("review")
        assert waiting["links"] == [{"label": "the review", "path": f"/searches/{await find_session(story)}/review"}]
        suggested = [fact["label"].partition(" ")[2] for fact in waiting["facts"]]
        assert suggested == [paper["proposed"]["status"] for paper in papers]
        assert suggested[0] == "include"
        with pytest.raises(UraniborgError, match="'no' is not a verdict"):
            await story.run_step("review", {"marks": {"1": "no"}}, actor=BO)
        done: Any = await story.run_step(
            "review", {"marks": {"1": {"status": "exclude", "reason": "mine"}}}, actor=BO, door="console"
        )
    finally:
        await story.aclose()
    rows = {paper["id"]: paper for paper in done["result"]["papers"]}
    own = rows.pop(papers[0]["id"])
    assert (own["status"], own["reason"], own["reviewer"], own["judge"]) == ("exclude", "mine", "Bo", "person")
    assert {row["judge"] for row in rows.values()} == {"program"}
    assert done["sentence"].endswith(
        f"You judged 1 of them: the search log says that a program judged the other {len(rows)}."
    )


async def find_session(story: Story) -> str:
    asked: Any = (await story.get_step("ask"))["result"]
    return asked["session_id"]


@pytest.mark.parametrize(
    ("judges", "words"),
    [
        (("program", "program"), "You judged none of them: the search log says that a program judged 2."),
        (("person", "program"), "You judged 1 of them: the search log says that a program judged the other 1."),
        (("person", "person"), "You judged each of them; the search log records your verdicts."),
        ((None, None), "You judged each of them; the search log records your verdicts."),
    ],
)
def test_the_review_says_who_judged(judges: tuple[str | None, ...], words: str) -> None:
    rows: Any = [
        {"title": key, "year": 2021, "status": "include", "reason": None} | ({"judge": judge} if judge else {})
        for key, judge in zip("ab", judges, strict=True)
    ]
    results: Any = {"ask": {"session_id": "s"}, "review": {"decision": "", "papers": rows}}
    assert describe_review(results).sentence == f"You approved the review, which keeps 2 of 2 papers. {words}"


def test_the_preview_of_the_branch_says_where_the_planet_keeps_its_mass() -> None:
    masses: Any = [{"body": PLANET, "name": "TRAPPIST-1 h", "earth_masses": 0.326}]
    results: Any = {"build": {"masses": masses}}
    assert preview_branch(results).endswith("in the universe, TRAPPIST-1 h keeps its 0.326 Earth masses.")


def test_a_query_is_redundant_if_it_asks_for_all_words_of_another_and_more() -> None:
    a, both, other = (cast("Any", {"boolean_query": text}) for text in ("a", "a AND b", "c"))
    assert find_redundant_query([a, both]) == 2
    assert find_redundant_query([both, other]) == 2
    assert explain_strike([a, both], 2).startswith("Query 2 asks for every word of query 1 and more")
    assert explain_strike([a, other], 1) == "", "nobody has given a reason"


@pytest.mark.parametrize(
    ("query", "other", "is_redundant"),
    [
        ('("a-1 b" OR "a 1 b") AND c', "a AND 1 AND c", True),
        ('("a b" OR "as b") AND c', "a AND c", False),
        ("a AND c", "(a OR b) AND c", True),
        ("(a OR b) AND c", "a AND c", False),
        ("a AND b", "b AND a", False),
        ("a AND b NOT c", "a NOT b", False),
        ("a AND b", "", False),
    ],
)
def test_only_a_query_that_matches_nothing_else_is_called_redundant(query: str, other: str, is_redundant: bool) -> None:
    queries: Any = [{"boolean_query": query}, {"boolean_query": other, "words": "" if other else "a"}]
    assert explain_strike(queries, 1).startswith("Query 1 asks for every word of query 2") == is_redundant


def test_every_query_of_the_ladder_has_a_text_and_can_be_struck(steps: dict[str, dict[str, Any]]) -> None:
    asked = steps["ask"]["result"]
    assert all(asked["queries"])
    assert len(set(asked["queries"])) == len(asked["queries"])
    assert any(not one["boolean_query"] for one in asked["strategy_queries"]), "a query of words is among them"
    (strike,) = next(step for step in load_steps() if step.id == "approve").inputs
    assert strike.read({"strike": len(asked["queries"])}, cast("Any", {})) == len(asked["queries"])


def test_marks_are_proposed_from_words_and_those_of_a_person_are_their_own() -> None:
    assert propose_mark("Masses of planets", "") == {
        "status": "include",
        "reason": "Title or summary names masses (“Masses”).",
    }
    assert propose_mark("Massive stars", "flares") == {
        "status": "exclude",
        "reason": "Title and summary name none of masses, resonance, stability.",
    }
    papers: Any = [{"id": "p1"}, {"id": "p2"}]
    assert read_marks({}, papers) == {}
    excluded = PaperDecision(status=ReviewStatus.EXCLUDE)
    assert read_marks({"p1": "exclude"}, papers) == {"p1": excluded}
    assert read_marks({"2": {"status": "exclude"}}, papers) == {"p2": excluded}
    for unknown in ("p3", "3", "0"):
        with pytest.raises(InvalidInput, match=f"'{unknown}' is not a paper of this search"):
            read_marks({unknown: "include"}, papers)
    verdicts: list[Json] = ["undecided", {"status": 7}, None, [1]]
    for verdict in verdicts:
        with pytest.raises(InvalidInput, match="is not a verdict"):
            read_marks({"p1": verdict}, papers)


@pytest.mark.soak
async def test_ten_years_with_twice_the_mass_hold_all_resonances_and_with_fifty_times_the_chain_breaks(
    copied: Story,
) -> None:
    recorded = json.loads(Path(__file__).with_name("ten_years.json").read_text(encoding="utf-8"))
    try:
        await copied.run_step("integrate", {"years": 10})
        twice: Any = (await copied.run_step("compare"))["result"]
        fifty: Any = (await copied.run_step("break"))["result"]
    finally:
        await copied.aclose()
    assert (twice["verdict"], fifty["verdict"]) == ("yes", "no")
    for found, runs in ((twice, ("1", "2")), (fifty, ("1", "50"))):
        for index, run in enumerate(runs):
            for row, expected in zip(found["resonances"], recorded[run]["resonances"], strict=True):
                assert (row["angle"], row["behaviour"][index]) == (expected["angle"], expected["behaviour"])
                if expected["behaviour"] == "librates":
                    assert row["halfRange"][index] == pytest.approx(expected["halfRange"], abs=0.05)


def test_the_runs_of_the_workflow_name_who_ran_the_step(demo: Demo) -> None:
    (path,) = demo.story_home.rglob("runs.db")
    log = RunLog(path)
    try:
        runs = log.list_runs()
    finally:
        log.close()
    assert len(runs) >= 2
    assert all(run["actor"] == ADA.model_dump() for run in runs)
