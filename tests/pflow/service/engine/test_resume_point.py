"""ResumePoint: results for the next run after failures, kills, damage, clock changes and full disks."""

import errno
import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from pflow.errors import ResumePointUnusable
from pflow.store.earlier_runs import EarlierRuns
from pflow.store.resume_journal import StoredResult
from pflow.store.resume_point import ResumePoint
from pflow.store.run_recorder import RunRecorder
from tests.pflow.service.engine.recordings import start_recording
from tests.requirements import requirement

NOW = time.time()
LATER = b'"waiting": [], "run": "r"'


def make_result(
    node: str, print_: str = "f", *, effect: str = "pure", outputs: bytes | None = b'{"x":1}'
) -> StoredResult:
    return StoredResult(node, print_, "echo", "default", effect, outputs, "", NOW)


def record_results(recorder: RunRecorder, *results: StoredResult) -> RunRecorder:
    for one in results:
        recorder.record_result(one)
    return recorder


def close_journal(recorder: RunRecorder) -> None:
    """Close the journal as a kill of the process does: the file stays, without a lock."""
    recorder.journal.close()


def has_no_results(earlier: EarlierRuns) -> bool:
    return not earlier.results and not earlier.uncertain and earlier.lineage is None


def get_node_names(earlier: EarlierRuns) -> set[str]:
    return {node for node, _ in earlier.results}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "checkpoints"


@pytest.fixture
def checkpoints(folder: Path) -> ResumePoint:
    return ResumePoint(folder, "flow")


def leave_results(checkpoints: ResumePoint, *results: StoredResult, run: str = "run_1") -> None:
    """Record a failed run with these results."""
    assert record_results(start_recording(checkpoints, run), *results).store_or_clear_results(keep_results=True)


@requirement("PF-N3")
def test_results_of_a_failed_run_are_available_to_all_later_runs(checkpoints: ResumePoint, folder: Path) -> None:
    leave_results(checkpoints, make_result("a"), make_result("b", outputs=None), run="run_1")
    second = start_recording(checkpoints, "run_2")
    assert second.is_resuming
    assert second.lineage == "run_1"
    assert second.earlier.results == {("a", "f"): make_result("a"), ("b", "f"): make_result("b", outputs=None)}
    record_results(second, make_result("c")).store_or_clear_results(keep_results=True)
    third = start_recording(checkpoints, "run_3")
    assert third.lineage == "run_1"
    assert get_node_names(third.earlier) == {"a", "b", "c"}
    plain = json.loads((folder / "flow.json").read_bytes())
    assert plain["workflow"] == "flow"


def test_a_checkpoint_is_for_its_owner_alone(checkpoints: ResumePoint, folder: Path) -> None:
    leave_results(checkpoints, make_result("a"))
    assert (folder / "flow.json").stat().st_mode & 0o777 == 0o600
    assert folder.stat().st_mode & 0o777 == 0o700


def test_a_successful_run_leaves_nothing(checkpoints: ResumePoint, folder: Path) -> None:
    leave_results(checkpoints, make_result("a"))
    second = start_recording(checkpoints, "run_2")
    with checkpoints.lock_effect(("b", "f")):
        pass
    assert record_results(second, make_result("b")).store_or_clear_results(keep_results=False)
    assert [path.name for path in folder.iterdir()] == [".flow.lock"]
    assert not start_recording(checkpoints, "run_3").is_resuming


def test_results_of_a_dead_run_are_reused_and_its_running_node_is_uncertain(
    checkpoints: ResumePoint, folder: Path
) -> None:
    died = record_results(start_recording(checkpoints, "run_1"), make_result("a"))
    died.record_start(("b", "f"))
    died.record_result(make_result("b", effect="effectful"))
    died.record_start(("c", "f"))
    died.record_start(("d", "f"))
    died.record_failure(("d", "f"))
    close_journal(died)
    assert get_node_names(checkpoints.read_earlier_runs()) == {"a", "b"}
    earlier = start_recording(checkpoints, "run_2").earlier
    assert get_node_names(earlier) == {"a", "b"}
    assert earlier.uncertain == {("c", "f")}
    assert earlier.lineage == "run_1"
    assert sorted(path.name for path in folder.glob("*.journal")) == ["flow.run_2.journal"]


def test_an_uncertain_node_stays_uncertain_until_it_finishes(checkpoints: ResumePoint) -> None:
    first = start_recording(checkpoints, "run_1")
    first.record_start(("c", "f"))
    close_journal(first)
    start_recording(checkpoints, "run_2").store_or_clear_results(keep_results=True)
    third = start_recording(checkpoints, "run_3")
    assert third.earlier.uncertain == {("c", "f")}
    third.record_start(("c", "f"))
    record_results(third, make_result("c", effect="effectful")).store_or_clear_results(keep_results=True)
    assert checkpoints.read_earlier_runs().uncertain == set()


def test_a_run_that_lives_is_not_reused(checkpoints: ResumePoint) -> None:
    live = record_results(start_recording(checkpoints, "run_1"), make_result("a"))
    other = start_recording(checkpoints, "run_2")
    assert not other.is_resuming
    assert get_node_names(checkpoints.read_earlier_runs()) == set()
    other.store_or_clear_results(keep_results=False)
    assert live.store_or_clear_results(keep_results=True)
    assert get_node_names(start_recording(checkpoints, "run_3").earlier) == {"a"}


def test_from_the_start_means_from_nothing_also_after_a_run_that_died(checkpoints: ResumePoint) -> None:
    leave_results(checkpoints, make_result("a"))
    close_journal(record_results(start_recording(checkpoints, "run_2"), make_result("b")))
    recorder = start_recording(checkpoints, "run_3", fresh=True)
    assert not recorder.is_resuming
    assert has_no_results(recorder.earlier)
    assert recorder.lineage == "run_3"
    close_journal(recorder)
    assert get_node_names(start_recording(checkpoints, "run_4").earlier) == set()


@pytest.mark.parametrize("other", ["flow.b", "flo", "flow-2", "f"])
def test_workflows_with_a_common_name_prefix_do_not_affect_each_other(folder: Path, other: str) -> None:
    mine, theirs = ResumePoint(folder, "flow"), ResumePoint(folder, other)
    leave_results(theirs, make_result("a"))
    close_journal(record_results(start_recording(theirs, "run_2"), make_result("b")))
    with theirs.lock_effect(("b", "f")):
        before = {path.name: path.read_bytes() for path in folder.iterdir()}
        leave_results(mine, make_result("c"))
        start_recording(mine, "run_3", fresh=True).store_or_clear_results(keep_results=False)
        after = {path.name: path.read_bytes() for path in folder.iterdir() if path.name != ".flow.lock"}
    assert after == before
    assert get_node_names(start_recording(theirs, "run_4").earlier) == {"a", "b"}


@pytest.mark.parametrize(
    "text",
    [
        b"{",
        b"\xff\xff",
        b"[]",
        b"7",
        b"{}",
        b'{"format": 2}',
        b'{"format": 2, "at": "then", %b, "results": [], "uncertain": [], "lineage": null}' % LATER,
        b'{"format": 2, "at": 9e9, %b, "results": [{"finished": ["a"]}], "uncertain": [], "lineage": "r"}' % LATER,
        b'{"format": 2, "at": 9e9, %b, "results": [], "uncertain": [[1, 2]], "lineage": "r"}' % LATER,
        b'{"format": 2, "at": 9e9, %b, "results": [], "uncertain": [], "lineage": 7}' % LATER,
        b"[" * 100_000,
    ],
    ids=range(11),
)
def test_a_damaged_checkpoint_is_renamed_and_reported(checkpoints: ResumePoint, folder: Path, text: bytes) -> None:
    folder.mkdir()
    (folder / "flow.json").write_bytes(text)
    recorder = start_recording(checkpoints, "run_1")
    (report,) = recorder.earlier.notices
    assert "could not be read" in report
    assert not recorder.is_resuming
    assert (folder / "flow.damaged").read_bytes() == text


def test_a_damaged_checkpoint_is_reported_even_beside_the_journal_of_a_dead_run(
    checkpoints: ResumePoint, folder: Path
) -> None:
    leave_results(checkpoints, make_result("a"))
    close_journal(record_results(start_recording(checkpoints, "run_2"), make_result("b")))
    (folder / "flow.json").write_bytes(b"{")
    earlier = start_recording(checkpoints, "run_3").earlier
    assert get_node_names(earlier) == {"b"}
    assert [report for report in earlier.notices if "could not be read" in report]


def test_a_damaged_journal_is_reported_and_its_other_lines_are_used(checkpoints: ResumePoint) -> None:
    recorder = record_results(start_recording(checkpoints, "run_1"), make_result("a"))
    with recorder.journal.path.open("ab") as stream:
        stream.write(b"\xff\n")
    record_results(recorder, make_result("b"))
    close_journal(recorder)
    earlier = start_recording(checkpoints, "run_2").earlier
    assert get_node_names(earlier) == {"a", "b"}
    assert [report for report in earlier.notices if "damaged" in report]


def test_an_empty_file_left_by_a_full_disk_is_ignored_silently(checkpoints: ResumePoint, folder: Path) -> None:
    folder.mkdir()
    (folder / "flow.json").touch()
    earlier = start_recording(checkpoints, "run_1").earlier
    assert has_no_results(earlier)
    assert earlier.notices == []


def change_format(folder: Path, number: int) -> bytes:
    """Set the format of the checkpoint to this number, and return the content of its file."""
    plain = json.loads((folder / "flow.json").read_bytes())
    (folder / "flow.json").write_text(json.dumps({**plain, "format": number}))
    return (folder / "flow.json").read_bytes()


def test_the_checkpoint_of_an_older_version_is_ignored_and_reported(checkpoints: ResumePoint, folder: Path) -> None:
    leave_results(checkpoints, make_result("a"))
    change_format(folder, 1)
    recorder = start_recording(checkpoints, "run_2")
    assert has_no_results(recorder.earlier)
    assert "another version" in recorder.earlier.notices[0]


def test_the_checkpoint_of_a_newer_version_is_refused_and_stays_unchanged(
    checkpoints: ResumePoint, folder: Path
) -> None:
    leave_results(checkpoints, make_result("a"))
    content = change_format(folder, 3)
    for use in (
        lambda: start_recording(checkpoints, "run_2"),
        checkpoints.read_earlier_runs,
        checkpoints.move_results_to("other").__enter__,
    ):
        with pytest.raises(ResumePointUnusable, match="newer version") as refusal:
            use()
        assert "--fresh" in refusal.value.hint
    assert (folder / "flow.json").read_bytes() == content
    recorder = start_recording(checkpoints, "run_2", fresh=True)
    assert has_no_results(recorder.earlier)


def test_expired_results_are_ignored_and_reported(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checkpoints = ResumePoint(folder, "flow", hours=2)
    leave_results(checkpoints, make_result("a"))
    now = start_recording(checkpoints, "run_2").earlier
    assert get_node_names(now) == {"a"}
    monkeypatch.setattr("time.time", lambda: json.loads((folder / "flow.json").read_bytes())["at"] + 7201)
    later = start_recording(checkpoints, "run_3").earlier
    assert has_no_results(later)
    assert "expired" in later.notices[0]


def test_the_journal_of_a_run_that_died_long_ago_has_expired(checkpoints: ResumePoint, folder: Path) -> None:
    died = record_results(start_recording(checkpoints, "run_1"), make_result("a"))
    close_journal(died)
    long_ago = died.journal.path.stat().st_mtime - 25 * 3600
    os.utime(died.journal.path, (long_ago, long_ago))
    earlier = start_recording(checkpoints, "run_2").earlier
    assert has_no_results(earlier)
    assert "expired" in earlier.notices[0]
    assert not died.journal.path.exists()


def test_a_clock_that_goes_back_makes_nothing_too_old(
    checkpoints: ResumePoint, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    leave_results(checkpoints, make_result("a"))
    at = json.loads((folder / "flow.json").read_bytes())["at"]
    monkeypatch.setattr("time.time", lambda: at - 10 * 365 * 86_400)
    assert get_node_names(start_recording(checkpoints, "run_2").earlier) == {"a"}


def test_results_that_a_run_resumed_from_are_stored_even_if_they_expired_meanwhile(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkpoints = ResumePoint(folder, "flow", hours=1)
    leave_results(checkpoints, make_result("a"))
    leave_results(checkpoints, make_result("unused"), run="run_2")
    third = start_recording(checkpoints, "run_3")
    assert third.lookup.claim_result(("a", "f")) is not None
    at = json.loads((folder / "flow.json").read_bytes())["at"]
    monkeypatch.setattr("time.time", lambda: at + 4000)
    record_results(third, make_result("b")._replace(at=at + 4000)).store_or_clear_results(keep_results=True)
    earlier = start_recording(checkpoints, "run_4").earlier
    assert get_node_names(earlier) == {"a", "b"}
    assert "Some results of earlier runs" in earlier.notices[0]


def test_an_overwritten_idempotent_result_is_not_reused(checkpoints: ResumePoint) -> None:
    effects = [("w", "idempotent"), ("e", "effectful"), ("p", "pure")]
    leave_results(checkpoints, *(make_result(node, "one", effect=effect) for node, effect in effects))
    leave_results(checkpoints, *(make_result(node, "two", effect=effect) for node, effect in effects), run="run_2")
    kept = start_recording(checkpoints, "run_3").earlier.results
    assert kept.keys() == {("w", "two"), ("e", "one"), ("e", "two"), ("p", "one"), ("p", "two")}


def test_a_result_that_contains_a_secret_is_stored_without_outputs(checkpoints: ResumePoint, folder: Path) -> None:
    known = make_result("a", outputs=b'{"x":"zanzibar"}')
    recorder = record_results(start_recording(checkpoints, "run_1"), known, make_result("b"))
    assert recorder.store_or_clear_results(keep_results=True, contains_secret=lambda value: "zanzibar" in str(value))
    assert b"zanzibar" not in (folder / "flow.json").read_bytes()
    results = start_recording(checkpoints, "run_2").earlier.results
    assert {node: one.outputs for (node, _), one in results.items()} == {"a": None, "b": b'{"x":1}'}


def test_results_that_a_run_resumed_from_are_stored_even_if_another_run_started_over_meanwhile(
    checkpoints: ResumePoint,
) -> None:
    leave_results(checkpoints, make_result("a"))
    second = start_recording(checkpoints, "run_2")
    start_recording(checkpoints, "run_3", fresh=True).store_or_clear_results(keep_results=False)
    second.store_or_clear_results(keep_results=True)
    assert get_node_names(start_recording(checkpoints, "run_4").earlier) == {"a"}


@requirement("PF-E6")
def test_a_successful_run_does_not_clear_the_results_of_another_lineage(checkpoints: ResumePoint) -> None:
    fails, succeeds = start_recording(checkpoints, "run_1"), start_recording(checkpoints, "run_2")
    record_results(fails, make_result("a", effect="effectful")).store_or_clear_results(keep_results=True)
    record_results(succeeds, make_result("a", effect="effectful")).store_or_clear_results(keep_results=False)
    third = start_recording(checkpoints, "run_3")
    assert third.lineage == "run_1"
    assert get_node_names(third.earlier) == {"a"}


def test_of_two_runs_that_resume_from_the_same_run_the_last_success_clears_the_results(
    checkpoints: ResumePoint,
) -> None:
    leave_results(checkpoints, make_result("a"))
    one, other = start_recording(checkpoints, "run_2"), start_recording(checkpoints, "run_3")
    record_results(one, make_result("b", effect="effectful")).store_or_clear_results(keep_results=False)
    assert other.find_parallel_result(("b", "f")) == (make_result("b", effect="effectful"), False)
    other.store_or_clear_results(keep_results=False)
    assert has_no_results(checkpoints.read_earlier_runs())


def test_a_success_also_clears_the_journals_of_dead_runs_of_its_lineage(checkpoints: ResumePoint) -> None:
    leave_results(checkpoints, make_result("a"))
    one, other = start_recording(checkpoints, "run_2"), start_recording(checkpoints, "run_3")
    close_journal(record_results(one, make_result("b")))
    other.store_or_clear_results(keep_results=False)
    assert not start_recording(checkpoints, "run_4").is_resuming


def test_results_and_interruptions_of_a_parallel_run_are_known_while_it_lives_and_after(
    checkpoints: ResumePoint,
) -> None:
    leave_results(checkpoints, make_result("a"))
    one, other = start_recording(checkpoints, "run_2"), start_recording(checkpoints, "run_3")
    assert one.find_parallel_result(("b", "f")) == (None, False)
    other.record_start(("b", "f"))
    assert one.find_parallel_result(("b", "f")) == (None, True)
    record_results(other, make_result("b", effect="effectful"))
    other.record_start(("c", "f"))
    assert one.find_parallel_result(("b", "f")) == (make_result("b", effect="effectful"), False)
    close_journal(other)
    third = start_recording(checkpoints, "run_4")  # which takes over what died
    assert one.find_parallel_result(("b", "f")) == (make_result("b", effect="effectful"), False)
    assert one.find_parallel_result(("c", "f")) == (None, True)
    third.store_or_clear_results(keep_results=True)


def test_results_of_a_run_of_another_lineage_are_not_used(checkpoints: ResumePoint) -> None:
    mine, theirs = start_recording(checkpoints, "run_1"), start_recording(checkpoints, "run_2")
    record_results(theirs, make_result("b", effect="effectful"))
    assert mine.find_parallel_result(("b", "f")) == (None, False)


def test_results_of_items_follow_the_items_to_other_indexes_each_once(checkpoints: ResumePoint) -> None:
    leave_results(
        checkpoints,
        make_result("b[0]", "X"),
        make_result("b[1]", "X"),
        make_result("b[2]", "Y"),
        make_result("b[0]/in", "Z"),
    )
    recorder = start_recording(checkpoints, "run_2")
    asked: list[Any] = [
        recorder.lookup.claim_result(key) for key in [("b[1]", "Y"), ("b[2]", "X"), ("b[1]", "X"), ("b[3]", "X")]
    ]
    assert [one and one.node for one in asked] == ["b[2]", "b[0]", "b[1]", None]
    assert recorder.lookup.claim_result(("b[7]/in", "Z")) == make_result("b[0]/in", "Z")
    assert recorder.lookup.claim_result(("b[7]/in", "Z")) is None
    assert recorder.lookup.claim_result(("c[0]", "X")) is None


def test_an_interrupted_node_is_uncertain_with_any_parameters_and_an_item_at_any_index(
    checkpoints: ResumePoint,
) -> None:
    died = start_recording(checkpoints, "run_1")
    died.record_start(("a", "f"))
    died.record_start(("b[0]", "X"))
    close_journal(died)
    recorder = start_recording(checkpoints, "run_2")
    asked = [("a", "f"), ("a", "g"), ("b[0]", "Y"), ("b[3]", "X"), ("b[1]", "Y"), ("c", "f"), ("b", "X")]
    assert [recorder.earlier.was_interrupted(key) for key in asked] == [True, True, True, True, False, False, False]


def test_results_do_not_expire_while_a_node_waits_for_a_person(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checkpoints = ResumePoint(folder, "flow", hours=1)
    first = record_results(start_recording(checkpoints, "run_1"), make_result("a"))
    first.record_waiting(("ask", "f"))
    first.store_or_clear_results(keep_results=True)
    at = json.loads((folder / "flow.json").read_bytes())["at"]
    monkeypatch.setattr("time.time", lambda: at + 30 * 86_400)
    second = start_recording(checkpoints, "run_2")
    assert get_node_names(second.earlier) == {"a"}
    second.store_or_clear_results(keep_results=True)  # it did not come to the question
    monkeypatch.setattr("time.time", lambda: at + 60 * 86_400)
    third = start_recording(checkpoints, "run_3")
    assert get_node_names(third.earlier) == {"a"}
    record_results(third, make_result("ask")).store_or_clear_results(keep_results=True)
    monkeypatch.setattr("time.time", lambda: at + 90 * 86_400)
    assert has_no_results(start_recording(checkpoints, "run_4").earlier)


def test_results_in_the_journal_of_a_dead_run_do_not_expire_while_a_node_waits_for_a_person(folder: Path) -> None:
    checkpoints = ResumePoint(folder, "flow", hours=1)
    died = record_results(start_recording(checkpoints, "run_1"), make_result("a"))
    died.record_waiting(("ask", "f"))
    close_journal(died)
    (journal,) = folder.glob("*.journal")
    os.utime(journal, (0, 0))
    assert get_node_names(checkpoints.read_earlier_runs()) == {"a"}
    assert get_node_names(start_recording(checkpoints, "run_2").earlier) == {"a"}


def open_with_success(folder: Path, *succeeded: str) -> ResumePoint:
    """Return the resume point with a log in which these runs are successes."""
    return ResumePoint(folder, "flow", has_succeeded=lambda run: run in succeeded)


@requirement("PF-E10")
def test_a_run_that_is_logged_as_a_success_is_not_resumed(folder: Path) -> None:
    leave_results(ResumePoint(folder, "flow"), make_result("a"), run="run_1")
    close_journal(record_results(start_recording(ResumePoint(folder, "flow"), "run_2"), make_result("b")))
    assert has_no_results(open_with_success(folder, "run_2").read_earlier_runs())
    third = start_recording(open_with_success(folder, "run_2"), "run_3")
    assert not third.is_resuming
    assert [report for report in third.earlier.notices if "run_2, succeeded" in report]
    close_journal(third)
    assert get_node_names(start_recording(open_with_success(folder), "run_4").earlier) == set()


def test_a_run_with_keep_results_is_resumed_although_it_is_logged_as_a_success(folder: Path) -> None:
    close_journal(
        record_results(start_recording(ResumePoint(folder, "flow"), "run_1", keep_results=True), make_result("a"))
    )
    assert get_node_names(open_with_success(folder, "run_1").read_earlier_runs()) == {"a"}
    assert get_node_names(start_recording(open_with_success(folder, "run_1"), "run_2").earlier) == {"a"}


def test_a_success_leaves_the_results_of_runs_that_did_not_resume_from_the_same_one(folder: Path) -> None:
    other = record_results(start_recording(ResumePoint(folder, "flow"), "run_1"), make_result("a"))
    close_journal(record_results(start_recording(ResumePoint(folder, "flow"), "run_2"), make_result("b")))
    close_journal(other)
    assert get_node_names(open_with_success(folder, "run_2").read_earlier_runs()) == {"a"}
    assert get_node_names(start_recording(open_with_success(folder, "run_2"), "run_3").earlier) == {"a"}


@pytest.mark.parametrize("lives", [True, False])
def test_a_success_leaves_the_results_that_an_unfinished_run_shares_with_it(folder: Path, lives: bool) -> None:
    leave_results(ResumePoint(folder, "flow"), make_result("a"), run="run_1")
    unfinished = record_results(start_recording(ResumePoint(folder, "flow"), "run_2"), make_result("c"))
    close_journal(record_results(start_recording(ResumePoint(folder, "flow"), "run_3"), make_result("b")))
    if not lives:
        close_journal(unfinished)
    expected = {"a", "b"} if lives else {"a", "b", "c"}
    assert get_node_names(open_with_success(folder, "run_3").read_earlier_runs()) == expected
    assert get_node_names(start_recording(open_with_success(folder, "run_3"), "run_4").earlier) == expected


def test_results_move_with_a_renamed_workflow(folder: Path) -> None:
    leave_results(ResumePoint(folder, "draft"), make_result("a"))
    close_journal(record_results(start_recording(ResumePoint(folder, "draft"), "run_2"), make_result("b")))
    with ResumePoint(folder, "draft").move_results_to("final"):
        for name in ("draft", "final"):  # a kill here leaves the results to both
            assert get_node_names(ResumePoint(folder, name).read_earlier_runs()) == {"a", "b"}
    with ResumePoint(folder, "nothing-left").move_results_to("other"):
        pass
    assert get_node_names(start_recording(ResumePoint(folder, "final"), "run_3").earlier) == {"a", "b"}
    assert has_no_results(ResumePoint(folder, "draft").read_earlier_runs())


def test_results_stay_with_a_draft_that_could_not_be_saved(folder: Path) -> None:
    leave_results(ResumePoint(folder, "draft"), make_result("a"))
    with pytest.raises(FileNotFoundError, match="vanished"), ResumePoint(folder, "draft").move_results_to("final"):
        raise FileNotFoundError("vanished")
    assert get_node_names(ResumePoint(folder, "draft").read_earlier_runs()) == {"a"}
    assert has_no_results(ResumePoint(folder, "final").read_earlier_runs())


def test_only_the_newest_results_of_a_node_are_stored_but_all_with_effects(checkpoints: ResumePoint) -> None:
    many = [make_result("a", f"f{at}") for at in range(30)] + [
        make_result("e", f"f{at}", effect="effectful") for at in range(30)
    ]
    leave_results(checkpoints, *many)
    kept = checkpoints.read_earlier_runs().results
    assert [print_ for node, print_ in kept if node == "a"] == [f"f{at}" for at in range(10, 30)]
    assert len([1 for node, _ in kept if node == "e"]) == 30


def raise_disk_full(*_: Any, **__: Any) -> Any:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_without_earlier_results_a_disk_error_is_raised_as_it_is(
    checkpoints: ResumePoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pflow.store.resume_point.RunJournal", raise_disk_full)
    with pytest.raises(OSError, match="No space"):
        checkpoints.begin_run("run_1")


@pytest.mark.parametrize("killed", [True, False])
def test_a_run_that_cannot_read_earlier_results_is_refused_so_that_no_effect_is_repeated(
    checkpoints: ResumePoint, monkeypatch: pytest.MonkeyPatch, killed: bool
) -> None:
    first = record_results(start_recording(checkpoints, "run_1"), make_result("a", effect="effectful"))
    close_journal(first) if killed else first.store_or_clear_results(keep_results=True)
    with monkeypatch.context() as patch:
        patch.setattr("pflow.store.resume_point.write_atomic", raise_disk_full)
        patch.setattr("pflow.store.resume_point.RunJournal", raise_disk_full)
        with pytest.raises(ResumePointUnusable, match="No space"):
            start_recording(checkpoints, "run_2")
        with pytest.raises(OSError, match="No space"):
            checkpoints.begin_run("run_2", fresh=True)


def test_results_that_could_not_be_merged_stay_in_their_journal(
    checkpoints: ResumePoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder = record_results(start_recording(checkpoints, "run_1"), make_result("a"))
    with monkeypatch.context() as patch:
        patch.setattr("pflow.store.resume_point.write_atomic", raise_disk_full)
        assert not recorder.store_or_clear_results(keep_results=True)
    assert recorder.problem == "No space left on device"
    assert get_node_names(start_recording(checkpoints, "run_2").earlier) == {"a"}
