"""Exports of work of any kind: complete, the same each time, and never over the files of somebody else."""

import json
import re
import shutil
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.shared_folders import PATIENCE_S, make_once
from tests.uraniborg.demo_runs import Demo, make_demo, read_demo
from uraniborg.bundle.command import choose_and_export
from uraniborg.bundle.pieces import Chosen, make_names, make_text_file
from uraniborg.bundle.reader import open_bundle
from uraniborg.bundle.verification import verify_bundle
from uraniborg.bundle.writer import NotABundle, delete_listed_files, write_bundle
from uraniborg.kernel.errors import NotFound, UsageError
from uraniborg.kernel.store.files import AlreadyExists, Unwritable
from uraniborg.story.finished_bundle import read_story_bundle
from uraniborg.story.folder import StoryFolder

pytestmark = [pytest.mark.timeout(2 * PATIENCE_S), pytest.mark.usefixtures("forked_workers")]


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    return read_demo(make_once(tmp_path_factory, "demo", make_demo))


def export(target: Path, **chosen: Sequence[str]) -> None:
    choose_and_export(target, chosen, read_story_bundle, title=None, replace=False, as_json=True, quiet=True)


def test_chosen_work_is_exported_described_and_verified_and_the_same_work_gives_the_same_bytes(
    demo: Demo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    home = tmp_path / "home"
    shutil.copytree(demo.story_home, home)
    monkeypatch.setenv("URANIBORG_HOME", str(home))
    monkeypatch.delenv("PFLOW_HOME", raising=False)
    results = StoryFolder(home).read_results()
    chosen = {
        "searches": [results["ask"]["session_id"][:12]],
        "shelves": ["trappist-1"],
        "workflows": ["masses"],
        "runs": [str(results["give"]["run"]["run_id"])],
        "universes": [results["build"]["universe_id"]],
    }
    export(tmp_path / "one.zip", **chosen)
    printed = json.loads(capsys.readouterr().out)
    (tmp_path / "again").mkdir()
    export(tmp_path / "again" / "one.zip", **chosen)
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "again" / "one.zip").read_bytes()
    with open_bundle(tmp_path / "one.zip") as bundle:
        assert sorted(one["path"] for one in printed["files"]) == bundle.paths
        assert [check for check in verify_bundle(bundle) if check.result == "differs"] == []
        methods = bundle.read("methods.md").decode()
        run = bundle.read(f"runs/{chosen['runs'][0]}.json").decode()
        (log,) = [path for path in bundle.paths if path.endswith("/search-log.json")]
        flow = json.loads(bundle.read(log))
        assert bundle.has("workflows/masses.json")
    assert "Export of 1 search, 1 shelf, 1 workflow, 1 run and 1 universe." in methods
    assert "Offline trial, not a search" in methods
    identified = sum(flow["identified"].values())
    marks = [paper["status"] for paper in results["review"]["papers"]]
    kept = marks.count("include")
    assert identified > len(marks) == len(results["approve"]["papers"]) > kept > 0
    assert (
        f"Of {identified} records, {identified - len(marks)} were removed before screening, {len(marks)} screened "
        f"({len(marks)} judged by a program) and {len(marks) - kept} excluded; {kept} papers are kept." in methods
    )
    assert "steered by 2 decisions: Ada (2)." in methods
    assert f"The shelf trappist-1 has {kept} papers" in methods
    assert re.search(
        r"\(run \S+\) resumed the run \S+, used 11 nodes, of which 10 were reused, and ended with success\.", methods
    )
    assert " replayed recorded answers of " in methods
    assert " searched " not in methods.partition("replayed")[0]
    assert "has 8 bodies at version 9, after 8 commands (8 by Ada); of 72 values:" in methods
    assert str(home) not in run
    with pytest.raises(NotFound):
        export(tmp_path / "two.zip", universes=["no-such-universe"])
    assert not (tmp_path / "two.zip").exists()


def test_an_export_without_a_choice_and_without_a_story_says_what_to_choose(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("URANIBORG_HOME", str(tmp_path / "home"))
    with pytest.raises(UsageError, match="Nothing is chosen, and there is no story") as refused:
        export(tmp_path / "bundle")
    assert "--universe" in refused.value.hint


def test_a_bundle_replaces_only_a_bundle_and_only_if_asked(tmp_path: Path) -> None:
    files = [make_text_file("SHA256SUMS", "digests", "new")]
    target = tmp_path / "bundle"
    write_bundle(target, files)
    with pytest.raises(AlreadyExists):
        write_bundle(target, files)
    (target / "old.txt").write_text("old")
    write_bundle(target, files, replace=True)
    assert [path.name for path in target.iterdir()] == ["SHA256SUMS"]
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.tex").write_text("years of work")
    with pytest.raises(NotABundle):
        write_bundle(mine, files, replace=True)
    assert (mine / "thesis.tex").read_text() == "years of work"
    with pytest.raises(Unwritable, match="does not exist"):
        write_bundle(tmp_path / "none" / "bundle.zip", files)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bundle", "mine"]


def test_a_bundle_that_cannot_be_written_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "bundle.zip"
    write_bundle(target, [make_text_file("SHA256SUMS", "digests", "old")])
    before = target.read_bytes()

    def fill_disk(*_arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(zipfile.ZipFile, "writestr", fill_disk)
    with pytest.raises(Unwritable, match="No space left on device"):
        write_bundle(target, [make_text_file("SHA256SUMS", "digests", "new")], replace=True)
    assert target.read_bytes() == before
    assert list(tmp_path.iterdir()) == [target]


def test_names_in_a_bundle_are_safe_and_differ() -> None:
    chosen = [Chosen("../a b"), Chosen("A b"), Chosen("a-B"), Chosen("…"), Chosen("x" * 200), Chosen("id", "nice name")]
    assert make_names(chosen) == ["a-b", "A-b-2", "a-B-3", "item", "x" * 80, "nice-name"]


def test_only_the_listed_files_of_an_older_bundle_are_deleted(tmp_path: Path) -> None:
    folder, outside = tmp_path / "bundle", tmp_path / "outside.txt"
    (folder / "runs").mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    (folder / "linked").symlink_to(tmp_path / "elsewhere")
    kept = [folder / "mine.txt", outside, tmp_path / "elsewhere" / "theirs.txt"]
    for path in [folder / "runs" / "old.json", *kept]:
        path.write_text("text")
    listed = ["runs/old.json", "runs/gone.json", "../outside.txt", str(outside), "linked/theirs.txt", "", "runs"]
    (folder / "SHA256SUMS").write_text("".join(f"{'0' * 64}  {path}\n" for path in listed) + "no digest\n")
    delete_listed_files(folder)
    assert not (folder / "runs" / "old.json").exists()
    assert all(path.exists() for path in kept)
    delete_listed_files(tmp_path / "nowhere")
