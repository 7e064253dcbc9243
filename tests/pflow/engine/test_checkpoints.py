"""Checkpoints: what a run leaves is there for the next, whatever became of the run, the file, the clock or the disk."""

import errno
import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from pflow.engine.checkpoints import Checkpoints
from pflow.engine.journals import Result
from pflow.engine.past import Past
from pflow.engine.recorder import Recorder
from pflow.errors import CheckpointUnusable
from tests.requirements import requirement

NOW = time.time()
LATER = b'"waiting": [], "run": "r"'


def result(node: str, print_: str = "f", *, effect: str = "pure", outputs: bytes | None = b'{"x":1}') -> Result:
    return Result(node, print_, "echo", "default", effect, outputs, "", NOW)


def finish(recorder: Recorder, *results: Result) -> Recorder:
    for one in results:
        recorder.finished(one)
    return recorder


def dies(recorder: Recorder) -> None:
    """As if its process were killed: the file stays, and nobody holds it."""
    recorder.journal.close()


def is_nothing(past: Past) -> bool:
    return not past.results and not past.uncertain and past.lineage is None


def nodes(past: Past) -> set[str]:
    return {node for node, _ in past.results}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "checkpoints"


@pytest.fixture
def checkpoints(folder: Path) -> Checkpoints:
    return Checkpoints(folder, "flow")


def left(checkpoints: Checkpoints, *results: Result, run: str = "run_1") -> None:
    """A run that failed and left these."""
    assert finish(checkpoints.begin(run), *results).end(keep=True)


@requirement("PF-N3")
def test_what_a_failed_run_finished_is_there_for_the_next_and_all_that_follow(
    checkpoints: Checkpoints, folder: Path
) -> None:
    left(checkpoints, result("a"), result("b", outputs=None), run="run_1")
    second = checkpoints.begin("run_2")
    assert second.is_resuming
    assert second.lineage == "run_1"
    assert second.past.results == {("a", "f"): result("a"), ("b", "f"): result("b", outputs=None)}
    finish(second, result("c")).end(keep=True)
    third = checkpoints.begin("run_3")
    assert third.lineage == "run_1"
    assert nodes(third.past) == {"a", "b", "c"}
    plain = json.loads((folder / "flow.json").read_bytes())
    assert plain["workflow"] == "flow"


def test_a_checkpoint_is_for_its_owner_alone(checkpoints: Checkpoints, folder: Path) -> None:
    left(checkpoints, result("a"))
    assert (folder / "flow.json").stat().st_mode & 0o777 == 0o600
    assert folder.stat().st_mode & 0o777 == 0o700


def test_a_run_that_went_well_leaves_nothing(checkpoints: Checkpoints, folder: Path) -> None:
    left(checkpoints, result("a"))
    second = checkpoints.begin("run_2")
    with checkpoints.one_at_a_time(("b", "f")):
        pass
    assert finish(second, result("b")).end(keep=False)
    assert [path.name for path in folder.iterdir()] == [".flow.lock"]
    assert not checkpoints.begin("run_3").is_resuming


def test_what_a_run_that_died_finished_is_taken_over_and_what_it_was_at_is_uncertain(
    checkpoints: Checkpoints, folder: Path
) -> None:
    died = finish(checkpoints.begin("run_1"), result("a"))
    died.started("b", "f")
    died.finished(result("b", effect="effectful"))
    died.started("c", "f")
    died.started("d", "f")
    died.failed("d", "f")
    dies(died)
    assert nodes(checkpoints.peek()) == {"a", "b"}
    past = checkpoints.begin("run_2").past
    assert nodes(past) == {"a", "b"}
    assert past.uncertain == {("c", "f")}
    assert past.lineage == "run_1"
    assert sorted(path.name for path in folder.glob("*.journal")) == ["flow.run_2.journal"]


def test_what_was_uncertain_stays_so_until_it_finishes(checkpoints: Checkpoints) -> None:
    first = checkpoints.begin("run_1")
    first.started("c", "f")
    dies(first)
    checkpoints.begin("run_2").end(keep=True)
    third = checkpoints.begin("run_3")
    assert third.past.uncertain == {("c", "f")}
    third.started("c", "f")
    finish(third, result("c", effect="effectful")).end(keep=True)
    assert checkpoints.peek().uncertain == set()


def test_a_run_that_lives_is_not_taken_over(checkpoints: Checkpoints) -> None:
    live = finish(checkpoints.begin("run_1"), result("a"))
    other = checkpoints.begin("run_2")
    assert not other.is_resuming
    assert nodes(checkpoints.peek()) == set()
    other.end(keep=False)
    assert live.end(keep=True)
    assert nodes(checkpoints.begin("run_3").past) == {"a"}


def test_afresh_means_from_nothing_also_after_a_run_that_died(checkpoints: Checkpoints) -> None:
    left(checkpoints, result("a"))
    dies(finish(checkpoints.begin("run_2"), result("b")))
    recorder = checkpoints.begin("run_3", fresh=True)
    assert not recorder.is_resuming
    assert is_nothing(recorder.past)
    assert recorder.lineage == "run_3"
    dies(recorder)
    assert nodes(checkpoints.begin("run_4").past) == set()


@pytest.mark.parametrize("other", ["flow.b", "flo", "flow-2", "f"])
def test_workflows_whose_names_begin_alike_do_not_touch_each_other(folder: Path, other: str) -> None:
    mine, theirs = Checkpoints(folder, "flow"), Checkpoints(folder, other)
    left(theirs, result("a"))
    dies(finish(theirs.begin("run_2"), result("b")))
    with theirs.one_at_a_time(("b", "f")):
        before = {path.name: path.read_bytes() for path in folder.iterdir()}
        left(mine, result("c"))
        mine.begin("run_3", fresh=True).end(keep=False)
        after = {path.name: path.read_bytes() for path in folder.iterdir() if path.name != ".flow.lock"}
    assert after == before
    assert nodes(theirs.begin("run_4").past) == {"a", "b"}


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
def test_a_damaged_checkpoint_is_put_aside_and_said_so(checkpoints: Checkpoints, folder: Path, text: bytes) -> None:
    folder.mkdir()
    (folder / "flow.json").write_bytes(text)
    recorder = checkpoints.begin("run_1")
    (told,) = recorder.past.notices
    assert "could not be read" in told
    assert not recorder.is_resuming
    assert (folder / "flow.damaged").read_bytes() == text


def test_a_damaged_checkpoint_is_said_so_also_beside_the_journal_of_a_run_that_died(
    checkpoints: Checkpoints, folder: Path
) -> None:
    left(checkpoints, result("a"))
    dies(finish(checkpoints.begin("run_2"), result("b")))
    (folder / "flow.json").write_bytes(b"{")
    past = checkpoints.begin("run_3").past
    assert nodes(past) == {"b"}
    assert [told for told in past.notices if "could not be read" in told]


def test_a_damaged_journal_is_said_so_and_the_rest_of_it_used(checkpoints: Checkpoints) -> None:
    recorder = finish(checkpoints.begin("run_1"), result("a"))
    with recorder.journal.path.open("ab") as stream:
        stream.write(b"\xff\n")
    finish(recorder, result("b"))
    dies(recorder)
    past = checkpoints.begin("run_2").past
    assert nodes(past) == {"a", "b"}
    assert [told for told in past.notices if "damaged" in told]


def test_an_empty_file_that_a_full_disk_left_is_nothing_to_speak_of(checkpoints: Checkpoints, folder: Path) -> None:
    folder.mkdir()
    (folder / "flow.json").touch()
    past = checkpoints.begin("run_1").past
    assert is_nothing(past)
    assert past.notices == []


def change_format(folder: Path, number: int) -> bytes:
    """Say that the checkpoint is of this format, and return what its file then holds."""
    plain = json.loads((folder / "flow.json").read_bytes())
    (folder / "flow.json").write_text(json.dumps({**plain, "format": number}))
    return (folder / "flow.json").read_bytes()


def test_the_checkpoint_of_an_older_version_is_not_used_and_said_so(checkpoints: Checkpoints, folder: Path) -> None:
    left(checkpoints, result("a"))
    change_format(folder, 1)
    recorder = checkpoints.begin("run_2")
    assert is_nothing(recorder.past)
    assert "another version" in recorder.past.notices[0]


def test_the_checkpoint_of_a_newer_version_is_refused_and_left_as_it_is(checkpoints: Checkpoints, folder: Path) -> None:
    left(checkpoints, result("a"))
    content = change_format(folder, 3)
    for use in (lambda: checkpoints.begin("run_2"), checkpoints.peek, checkpoints.moved_to("other").__enter__):
        with pytest.raises(CheckpointUnusable, match="newer version") as refusal:
            use()
        assert "--fresh" in refusal.value.hint
    assert (folder / "flow.json").read_bytes() == content
    recorder = checkpoints.begin("run_2", fresh=True)
    assert is_nothing(recorder.past)


def test_what_is_too_old_is_not_used_and_said_so(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checkpoints = Checkpoints(folder, "flow", hours=2)
    left(checkpoints, result("a"))
    now = checkpoints.begin("run_2").past
    assert nodes(now) == {"a"}
    monkeypatch.setattr("time.time", lambda: json.loads((folder / "flow.json").read_bytes())["at"] + 7201)
    later = checkpoints.begin("run_3").past
    assert is_nothing(later)
    assert "too old" in later.notices[0]


def test_the_journal_of_a_run_that_died_long_ago_is_too_old_as_well(checkpoints: Checkpoints, folder: Path) -> None:
    died = finish(checkpoints.begin("run_1"), result("a"))
    dies(died)
    long_ago = died.journal.path.stat().st_mtime - 25 * 3600
    os.utime(died.journal.path, (long_ago, long_ago))
    past = checkpoints.begin("run_2").past
    assert is_nothing(past)
    assert "too old" in past.notices[0]
    assert not died.journal.path.exists()


def test_a_clock_that_goes_back_makes_nothing_too_old(
    checkpoints: Checkpoints, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left(checkpoints, result("a"))
    at = json.loads((folder / "flow.json").read_bytes())["at"]
    monkeypatch.setattr("time.time", lambda: at - 10 * 365 * 86_400)
    assert nodes(checkpoints.begin("run_2").past) == {"a"}


def test_what_a_run_went_on_from_is_kept_though_it_grew_too_old_meanwhile(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkpoints = Checkpoints(folder, "flow", hours=1)
    left(checkpoints, result("a"))
    left(checkpoints, result("unused"), run="run_2")
    third = checkpoints.begin("run_3")
    assert third.earlier(("a", "f")) is not None
    at = json.loads((folder / "flow.json").read_bytes())["at"]
    monkeypatch.setattr("time.time", lambda: at + 4000)
    finish(third, result("b")._replace(at=at + 4000)).end(keep=True)
    past = checkpoints.begin("run_4").past
    assert nodes(past) == {"a", "b"}
    assert "Some of what" in past.notices[0]


def test_what_was_overwritten_does_not_stand_for_itself_any_more(checkpoints: Checkpoints) -> None:
    effects = [("w", "idempotent"), ("e", "effectful"), ("p", "pure")]
    left(checkpoints, *(result(node, "one", effect=effect) for node, effect in effects))
    left(checkpoints, *(result(node, "two", effect=effect) for node, effect in effects), run="run_2")
    kept = checkpoints.begin("run_3").past.results
    assert kept.keys() == {("w", "two"), ("e", "one"), ("e", "two"), ("p", "one"), ("p", "two")}


def test_what_turns_out_to_hold_a_secret_is_kept_without_it(checkpoints: Checkpoints, folder: Path) -> None:
    known = result("a", outputs=b'{"x":"zanzibar"}')
    recorder = finish(checkpoints.begin("run_1"), known, result("b"))
    assert recorder.end(keep=True, is_secret=lambda value: "zanzibar" in str(value))
    assert b"zanzibar" not in (folder / "flow.json").read_bytes()
    results = checkpoints.begin("run_2").past.results
    assert {node: one.outputs for (node, _), one in results.items()} == {"a": None, "b": b'{"x":1}'}


def test_what_a_run_went_on_from_is_kept_though_another_began_afresh_meanwhile(checkpoints: Checkpoints) -> None:
    left(checkpoints, result("a"))
    second = checkpoints.begin("run_2")
    checkpoints.begin("run_3", fresh=True).end(keep=False)
    second.end(keep=True)
    assert nodes(checkpoints.begin("run_4").past) == {"a"}


@requirement("PF-E6")
def test_a_run_that_went_well_does_not_forget_what_another_left(checkpoints: Checkpoints) -> None:
    fails, succeeds = checkpoints.begin("run_1"), checkpoints.begin("run_2")
    finish(fails, result("a", effect="effectful")).end(keep=True)
    finish(succeeds, result("a", effect="effectful")).end(keep=False)
    third = checkpoints.begin("run_3")
    assert third.lineage == "run_1"
    assert nodes(third.past) == {"a"}


def test_of_two_that_go_on_from_the_same_run_the_last_to_go_well_forgets(checkpoints: Checkpoints) -> None:
    left(checkpoints, result("a"))
    one, other = checkpoints.begin("run_2"), checkpoints.begin("run_3")
    finish(one, result("b", effect="effectful")).end(keep=False)
    assert checkpoints.elsewhere(other, ("b", "f")) == (result("b", effect="effectful"), False)
    other.end(keep=False)
    assert is_nothing(checkpoints.peek())


def test_success_forgets_also_what_one_that_died_on_the_same_way_left(checkpoints: Checkpoints) -> None:
    left(checkpoints, result("a"))
    one, other = checkpoints.begin("run_2"), checkpoints.begin("run_3")
    dies(finish(one, result("b")))
    other.end(keep=False)
    assert not checkpoints.begin("run_4").is_resuming


def test_what_another_finished_or_was_interrupted_at_is_known_while_both_live_and_after(
    checkpoints: Checkpoints,
) -> None:
    left(checkpoints, result("a"))
    one, other = checkpoints.begin("run_2"), checkpoints.begin("run_3")
    assert checkpoints.elsewhere(one, ("b", "f")) == (None, False)
    other.started("b", "f")
    assert checkpoints.elsewhere(one, ("b", "f")) == (None, True)
    finish(other, result("b", effect="effectful"))
    other.started("c", "f")
    assert checkpoints.elsewhere(one, ("b", "f")) == (result("b", effect="effectful"), False)
    dies(other)
    third = checkpoints.begin("run_4")  # which takes over what died
    assert checkpoints.elsewhere(one, ("b", "f")) == (result("b", effect="effectful"), False)
    assert checkpoints.elsewhere(one, ("c", "f")) == (None, True)
    third.end(keep=True)


def test_who_goes_on_from_another_run_is_not_listened_to(checkpoints: Checkpoints) -> None:
    mine, theirs = checkpoints.begin("run_1"), checkpoints.begin("run_2")
    finish(theirs, result("b", effect="effectful"))
    assert checkpoints.elsewhere(mine, ("b", "f")) == (None, False)


def test_results_of_items_follow_the_items_to_other_places_each_to_one(checkpoints: Checkpoints) -> None:
    left(checkpoints, result("b[0]", "X"), result("b[1]", "X"), result("b[2]", "Y"), result("b[0]/in", "Z"))
    recorder = checkpoints.begin("run_2")
    asked: list[Any] = [recorder.earlier(key) for key in [("b[1]", "Y"), ("b[2]", "X"), ("b[1]", "X"), ("b[3]", "X")]]
    assert [one and one.node for one in asked] == ["b[2]", "b[0]", "b[1]", None]
    assert recorder.earlier(("b[7]/in", "Z")) == result("b[0]/in", "Z")
    assert recorder.earlier(("b[7]/in", "Z")) is None
    assert recorder.earlier(("c[0]", "X")) is None


def test_what_was_interrupted_is_so_whatever_it_is_given_now_and_an_item_wherever_it_is_now(
    checkpoints: Checkpoints,
) -> None:
    died = checkpoints.begin("run_1")
    died.started("a", "f")
    died.started("b[0]", "X")
    dies(died)
    recorder = checkpoints.begin("run_2")
    asked = [("a", "f"), ("a", "g"), ("b[0]", "Y"), ("b[3]", "X"), ("b[1]", "Y"), ("c", "f"), ("b", "X")]
    assert [recorder.was_interrupted(key) for key in asked] == [True, True, True, True, False, False, False]


def test_what_waits_for_a_person_does_not_grow_too_old(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checkpoints = Checkpoints(folder, "flow", hours=1)
    first = finish(checkpoints.begin("run_1"), result("a"))
    first.waits("ask", "f")
    first.end(keep=True)
    at = json.loads((folder / "flow.json").read_bytes())["at"]
    monkeypatch.setattr("time.time", lambda: at + 30 * 86_400)
    second = checkpoints.begin("run_2")
    assert nodes(second.past) == {"a"}
    second.end(keep=True)  # it did not come to the question
    monkeypatch.setattr("time.time", lambda: at + 60 * 86_400)
    third = checkpoints.begin("run_3")
    assert nodes(third.past) == {"a"}
    finish(third, result("ask")).end(keep=True)
    monkeypatch.setattr("time.time", lambda: at + 90 * 86_400)
    assert is_nothing(checkpoints.begin("run_4").past)


def test_what_waits_for_a_person_does_not_grow_too_old_in_the_journal_of_a_run_that_died(folder: Path) -> None:
    checkpoints = Checkpoints(folder, "flow", hours=1)
    died = finish(checkpoints.begin("run_1"), result("a"))
    died.waits("ask", "f")
    dies(died)
    (journal,) = folder.glob("*.journal")
    os.utime(journal, (0, 0))
    assert nodes(checkpoints.peek()) == {"a"}
    assert nodes(checkpoints.begin("run_2").past) == {"a"}


def logged(folder: Path, *succeeded: str) -> Checkpoints:
    """The checkpoints where these runs are logged as successes."""
    return Checkpoints(folder, "flow", has_succeeded=lambda run: run in succeeded)


@requirement("PF-E10")
def test_a_run_that_is_logged_as_a_success_is_not_resumed(folder: Path) -> None:
    left(Checkpoints(folder, "flow"), result("a"), run="run_1")
    dies(finish(Checkpoints(folder, "flow").begin("run_2"), result("b")))
    assert is_nothing(logged(folder, "run_2").peek())
    third = logged(folder, "run_2").begin("run_3")
    assert not third.is_resuming
    assert [told for told in third.past.notices if "run_2, succeeded" in told]
    dies(third)
    assert nodes(logged(folder).begin("run_4").past) == set()


def test_a_run_that_kept_its_results_on_purpose_is_resumed_although_it_is_logged_as_a_success(folder: Path) -> None:
    dies(finish(Checkpoints(folder, "flow").begin("run_1", keep_results=True), result("a")))
    assert nodes(logged(folder, "run_1").peek()) == {"a"}
    assert nodes(logged(folder, "run_1").begin("run_2").past) == {"a"}


def test_a_success_leaves_the_results_of_runs_that_did_not_resume_from_the_same_one(folder: Path) -> None:
    other = finish(Checkpoints(folder, "flow").begin("run_1"), result("a"))
    dies(finish(Checkpoints(folder, "flow").begin("run_2"), result("b")))
    dies(other)
    assert nodes(logged(folder, "run_2").peek()) == {"a"}
    assert nodes(logged(folder, "run_2").begin("run_3").past) == {"a"}


@pytest.mark.parametrize("lives", [True, False])
def test_a_success_leaves_the_results_that_an_unfinished_run_shares_with_it(folder: Path, lives: bool) -> None:
    left(Checkpoints(folder, "flow"), result("a"), run="run_1")
    unfinished = finish(Checkpoints(folder, "flow").begin("run_2"), result("c"))
    dies(finish(Checkpoints(folder, "flow").begin("run_3"), result("b")))
    if not lives:
        dies(unfinished)
    expected = {"a", "b"} if lives else {"a", "b", "c"}
    assert nodes(logged(folder, "run_3").peek()) == expected
    assert nodes(logged(folder, "run_3").begin("run_4").past) == expected


def test_what_is_left_goes_along_when_a_workflow_is_given_another_name(folder: Path) -> None:
    left(Checkpoints(folder, "draft"), result("a"))
    dies(finish(Checkpoints(folder, "draft").begin("run_2"), result("b")))
    with Checkpoints(folder, "draft").moved_to("final"):
        for name in ("draft", "final"):  # a kill here leaves the results to both
            assert nodes(Checkpoints(folder, name).peek()) == {"a", "b"}
    with Checkpoints(folder, "nothing-left").moved_to("other"):
        pass
    assert nodes(Checkpoints(folder, "final").begin("run_3").past) == {"a", "b"}
    assert is_nothing(Checkpoints(folder, "draft").peek())


def test_results_stay_with_a_draft_that_could_not_be_saved(folder: Path) -> None:
    left(Checkpoints(folder, "draft"), result("a"))
    with pytest.raises(FileNotFoundError, match="vanished"), Checkpoints(folder, "draft").moved_to("final"):
        raise FileNotFoundError("vanished")
    assert nodes(Checkpoints(folder, "draft").peek()) == {"a"}
    assert is_nothing(Checkpoints(folder, "final").peek())


def test_of_many_results_of_one_node_the_newest_are_kept_and_all_that_had_effects(checkpoints: Checkpoints) -> None:
    many = [result("a", f"f{at}") for at in range(30)] + [result("e", f"f{at}", effect="effectful") for at in range(30)]
    left(checkpoints, *many)
    kept = checkpoints.peek().results
    assert [print_ for node, print_ in kept if node == "a"] == [f"f{at}" for at in range(10, 30)]
    assert len([1 for node, _ in kept if node == "e"]) == 30


def no_room(*_: Any, **__: Any) -> Any:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_without_anything_left_a_disk_that_refuses_is_an_error_of_the_disk(
    checkpoints: Checkpoints, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pflow.engine.checkpoints.Journal", no_room)
    with pytest.raises(OSError, match="No space"):
        checkpoints.begin("run_1")


@pytest.mark.parametrize("killed", [True, False])
def test_a_run_that_cannot_go_on_from_what_is_left_is_refused_lest_effects_are_had_twice(
    checkpoints: Checkpoints, monkeypatch: pytest.MonkeyPatch, killed: bool
) -> None:
    first = finish(checkpoints.begin("run_1"), result("a", effect="effectful"))
    dies(first) if killed else first.end(keep=True)
    with monkeypatch.context() as patch:
        patch.setattr("pflow.engine.checkpoints.write_atomic", no_room)
        patch.setattr("pflow.engine.checkpoints.Journal", no_room)
        with pytest.raises(CheckpointUnusable, match="No space"):
            checkpoints.begin("run_2")
        with pytest.raises(OSError, match="No space"):
            checkpoints.begin("run_2", fresh=True)


def test_what_could_not_be_folded_stays_in_its_journal_for_the_next(
    checkpoints: Checkpoints, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder = finish(checkpoints.begin("run_1"), result("a"))
    with monkeypatch.context() as patch:
        patch.setattr("pflow.engine.checkpoints.write_atomic", no_room)
        assert not recorder.end(keep=True)
    assert recorder.problem == "No space left on device"
    assert nodes(checkpoints.begin("run_2").past) == {"a"}
