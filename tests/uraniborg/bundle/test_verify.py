"""Verification: what was changed is named, what can be repeated is repeated, and nothing of a hostile bundle runs."""

import asyncio
import hashlib
import json
import os
import re
import shutil
import stat
import tracemalloc
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final
from unittest.mock import Mock

import pytest

from tests.shared_folders import PATIENCE_S, make_once
from tests.uraniborg.bundle.forging import edit_json, edit_root, reseal
from tests.uraniborg.demo_runs import Demo, make_demo, read_demo, run_uraniborg
from universe.service.initial_states import load_or_generate_state
from universe.service.jobs.measurement import Measurement, measure, summarise_reply
from universe.service.jobs.options_and_replies import JobOptions
from universe.service.papers import make_paper_text_reader
from uraniborg.bundle import inspection, measurement_checks, reader
from uraniborg.bundle.command import verify_and_print
from uraniborg.bundle.export import ExportSelection, collect_files
from uraniborg.bundle.inspection import Check, TimeLimit, list_metadata_problems
from uraniborg.bundle.measurement_checks import check_plot
from uraniborg.bundle.pieces import BundleFile, Chosen, make_json_file, make_text_file
from uraniborg.bundle.reader import InvalidBundle, UnreadableBundle, open_bundle
from uraniborg.bundle.ro_crate_files import add_frame, make_methods_file
from uraniborg.bundle.run_checks import REPEATABLE
from uraniborg.bundle.search_and_workflow_pieces import make_shelf_piece
from uraniborg.bundle.verification import verify_bundle
from uraniborg.bundle.writer import write_bundle
from uraniborg.kernel.version import version
from uraniborg.part_services import open_jobs
from uraniborg.story.bundle_step import select_work
from uraniborg.story.finished_bundle import STORY
from uraniborg.story.folder import StoryFolder

pytestmark = pytest.mark.timeout(2 * PATIENCE_S)
DATE: Final = "2026-01-31"


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    return read_demo(make_once(tmp_path_factory, "demo", make_demo))


@pytest.fixture(scope="session")
def small(demo: Demo, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_once(tmp_path_factory, "small-bundle", lambda folder: export_part_of_story(demo, folder))


def export_part_of_story(demo: Demo, folder: Path) -> None:
    """Export the work of the story with one of its N-body runs, to repeat quickly."""
    home = folder / "home"
    shutil.copytree(demo.story_home, home)
    results = StoryFolder(home).read_results()
    every = select_work(results)
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("URANIBORG_HOME", str(home))
        patched.delenv("PFLOW_HOME", raising=False)
        files = asyncio.run(
            collect_files(
                replace(every, jobs=every.jobs[:1]),
                title="A part of the story.",
                folder=StoryFolder(home).own,
                text_of=make_paper_text_reader(StoryFolder(home).shelf),
            )
        )
    write_bundle(folder / "bundle", files)


@pytest.fixture
def bundle(small: Path, tmp_path: Path) -> Path:
    """Copy the bundle with one N-body run of the story."""
    return shutil.copytree(small / "bundle", tmp_path / "bundle")


def verify(path: Path, *, repeat: bool = True) -> list[Check]:
    with open_bundle(path) as opened:
        return list(verify_bundle(opened, repeat=repeat, more=[STORY]))


def list_differences(path: Path) -> list[str]:
    return [f"{check.item}: {check.detail}" for check in verify(path) if check.result == "differs"]


def change_json(bundle: Path, path: str, change: Callable[[Any], object]) -> None:
    """Change a JSON file, and write the digests and the metadata anew, as somebody who cheats would."""
    value = json.loads((bundle / path).read_text())
    change(value)
    (bundle / path).write_text(json.dumps(value))
    reseal(bundle)


RESULT: Final = "measurements/h-times-1/result.json"


def change_run(bundle: Path, change: Callable[[Any], object]) -> None:
    """Change the result of the N-body run and, as somebody who cheats would, the summary of its job."""
    change_json(bundle, RESULT, change)
    summary = summarise_reply("nbody", json.loads((bundle / RESULT).read_text()))
    change_json(bundle, "measurements/h-times-1/job.json", lambda job: job.update(summary=summary))


def count_papers(demo: Demo) -> tuple[int, int, int]:
    """Return the numbers of records that the sources returned, of papers that were reviewed, and of kept ones."""
    results = StoryFolder(demo.story_home).read_results()
    marks = [paper["status"] for paper in results["review"]["papers"]]
    returned = sum(source["returned"] for source in results["approve"]["sources"])
    return returned, len(marks), marks.count("include")


def test_a_bundle_matches_and_one_changed_byte_is_named(bundle: Path, demo: Demo, tmp_path: Path) -> None:
    inspection = verify(bundle)
    assert [check for check in inspection if check.result == "differs"] == []
    matched: dict[str, str] = {}
    for check in inspection:
        if check.result == "matched":
            matched[check.item] = f"{matched.get(check.item, '')}{check.detail}. "
    assert "8 bodies, integrated again" in matched["measurements/h-times-1/result.json"]
    for name in ("trappist-1", "h-times-2", "h-times-50"):
        assert "replayed to the state" in matched[f"universes/{name}/log.jsonl"]
    assert "7 nodes repeated: b, c, d, e, f, g, h" in matched["runs/masses-stopped.json"]
    returned, screened, included = count_papers(demo)
    log = json.loads((bundle / "searches" / "trappist-1" / "search-log.json").read_text())
    identified = sum(log["identified"].values())  # with the records that several queries of one source returned
    assert identified >= returned > screened > included > 0
    counts = f"{identified} identified, {screened} screened, {included} included"
    assert counts in matched["searches/trappist-1/result.json"]

    plot = bundle / "measurements" / "h-times-1" / "plot.svg"
    content = bytearray(plot.read_bytes())
    content[100] ^= 1
    plot.write_bytes(content)
    (bundle / "extra.txt").write_text("added")
    (bundle / "methods.md").unlink()
    done = run_uraniborg(tmp_path, "verify", str(bundle), "--digests-only", "--json")
    reply = json.loads(done.stdout)
    assert (done.returncode, done.stderr, reply["ok"]) == (1, "", False)
    found = {one["item"]: one["detail"] for one in reply["checks"] if one["result"] == "differs"}
    assert "was changed" in found["measurements/h-times-1/plot.svg"]
    assert "was added later" in found["extra.txt"]
    assert found["methods.md"] == "is missing"


ACCURACY = re.compile(r"(?<=accurate to )\S+(?= degrees)")
MEGNO = re.compile(r"(?<=MEGNO )\d[\d.]*")


def test_a_changed_mass_or_position_of_a_result_is_named_with_the_difference(bundle: Path) -> None:
    path = "measurements/h-times-1/result.json"

    def change(run: Any) -> None:
        run["end"]["trappist-1-h"]["mass"] *= 1.05
        run["end"]["trappist-1-b"]["position"][0] += 1e-6

    change_json(bundle, path, change)
    moved, heavier = list_differences(bundle)
    assert moved.startswith(f"{path}: end: the position of trappist-1-b differs by 1e-06 AU; the error is")
    assert heavier == (
        f"{path}: end: the mass of trappist-1-h differs by +5 % (1.02809e-06 instead of 9.79138e-07 solar masses)"
    )


def test_rounding_errors_of_another_processor_are_not_a_difference(bundle: Path) -> None:
    def change(run: Any) -> None:
        run["end"]["trappist-1-b"]["position"][0] += 1.8 * run["error"]["trappist-1-b"]["au"]
        run["verdict"] = ACCURACY.sub(lambda found: f"{float(found[0]) * 3:.1g}", run["verdict"])
        run["verdict"] = MEGNO.sub(lambda found: f"{float(found[0]) + 0.1:.2g}", run["verdict"])

    change_run(bundle, change)
    assert list_differences(bundle) == []


def test_what_rounding_decides_is_named_and_a_larger_change_of_it_is_a_difference(bundle: Path) -> None:
    def change(run: Any) -> None:
        run["steps"] += 1
        run["step"] *= 1.001
        run["shortestStep"] *= 1.05
        run["chaos"]["megno"] += 0.05
        run["energyDrift"]["final"] = run["energyDrift"]["max"] / 1e4

    plot, steps = bundle / "measurements/h-times-1/plot.svg", json.loads((bundle / RESULT).read_text())["steps"]
    assert f", {steps:,} steps" in plot.read_text()
    plot.write_text(plot.read_text().replace(f", {steps:,} steps", f", {steps + 1:,} steps"))
    change_run(bundle, change)
    assert list_differences(bundle) == []
    named = [check.detail for check in verify(bundle) if (check.item, check.result) == (RESULT, "not checked")]
    for name in ("steps", "step", "shortestStep", "chaos.megno", "energyDrift"):
        assert any(detail.startswith((f"{name} ", f"{name}:")) for detail in named), named

    def change_more(run: Any) -> None:
        change(run)
        run["steps"] *= 2
        run["chaos"]["megno"] += 0.3

    change_run(bundle, change_more)
    assert [one.partition(" is ")[0] for one in list_differences(bundle) if one.startswith(RESULT)] == [
        f"{RESULT}: chaos.megno",
        f"{RESULT}: steps",
    ]


@pytest.mark.parametrize(("number", "value"), [(ACCURACY, "1e-20"), (MEGNO, "9")])
def test_a_changed_number_of_a_verdict_is_a_difference(bundle: Path, number: re.Pattern[str], value: str) -> None:
    change_run(bundle, lambda run: run.update(verdict=number.sub(value, run["verdict"])))
    (different,) = list_differences(bundle)
    assert different.startswith(f"{RESULT}: the verdict is")


def test_an_error_that_the_repeated_run_does_not_have_hides_no_changed_position(bundle: Path) -> None:
    path = RESULT

    def change(run: Any) -> None:
        run["end"]["trappist-1-b"]["position"][0] += 1e-6
        run["error"]["trappist-1-b"]["au"] = 0.01
        run["error"]["trappist-1-c"] = {"au": None, "degrees": None}
        run["error"]["trappist-1-d"]["degrees"] *= 1.5  # as another machine might have
        run["trustworthy"] = False

    change_run(bundle, change)
    moved, larger, unknown, untrusted = [one for one in list_differences(bundle) if one.startswith(path)]
    assert moved.startswith(f"{path}: end: the position of trappist-1-b differs by 1e-06 AU; the error is")
    assert larger.startswith(f"{path}: the error of trappist-1-b is stated as 0.01 AU; the repeated run has ")
    assert unknown.startswith(f"{path}: the error of trappist-1-c is stated as unknown; the repeated run has ")
    assert untrusted == f"{path}: trustworthy is False, repeated True"


def test_changes_of_counts_commands_values_nodes_and_keys_are_found(bundle: Path, demo: Demo) -> None:
    shutil.rmtree(bundle / "measurements")
    search, universe = "searches/trappist-1", "universes/trappist-1"
    log = bundle / universe / "log.jsonl"
    log.write_text(log.read_text().replace('"mass":9.791375277253587e-7', '"mass":9.9e-7'))
    values = bundle / universe / "values.csv"
    values.write_text(values.read_text().replace("0.326 ± 0.020", "0.327 ± 0.020"))
    for path, key in ((f"{search}/papers.bib", "agol_2021_refining"), (f"{universe}/sources.bib", "agol2021,")):
        text = (bundle / path).read_text()
        assert key in text
        (bundle / path).write_text(text.replace(key, f"x{key}"))
    _, screened, _ = count_papers(demo)
    change_json(bundle, f"{search}/search-log.json", lambda flow: flow.update(screened=screened + 1))
    change_json(
        bundle,
        "runs/masses-stopped.json",
        lambda run: run["nodes"][3]["outputs"].update(value=1.0),
    )
    found = "\n".join(list_differences(bundle))
    for expected in (
        f"{search}/search-log.json: screened is {screened + 1}, made again {screened}",
        f"{search}/papers.bib: line 1 is “@article{{xagol_2021_refining,”, made again “@article{{agol_2021_refining,”",
        f"{universe}/log.jsonl: the replayed state differs from universe.json: trappist-1-h.mass is",
        f"{universe}/values.csv: line 64 is “TRAPPIST-1 h,mass,9.…asses,supported,0.327 ± 0.020,",
        f"{universe}/sources.bib: line 1 is “@article{{xagol2021,”, made again “@article{{agol2021,”",
        "runs/masses-stopped.json, node b: other outputs: value; value is 1.0, repeated 4.1267943653209906e-06",
    ):
        assert expected in found, found


def test_people_and_agents_are_compared_apart(bundle: Path) -> None:
    shutil.rmtree(bundle / "measurements")
    log = "searches/trappist-1/search-log.json"
    change_json(bundle, log, lambda flow: flow.update(judged_by_agent=1))
    assert f"{log}: judged_by_agent is 1, made again 0" in list_differences(bundle)


def test_an_answer_that_does_not_follow_from_its_runs_is_found(demo: Demo, tmp_path: Path) -> None:
    copy, path = tmp_path / "bundle", "comparisons/h-times-50.json"
    shutil.copytree(demo.folder / "demo-output", copy)
    (right, *_) = [check for check in verify(copy) if check.item == path]
    assert (right.result, "50 times as heavy" in right.detail) == ("matched", True)
    change_json(copy, path, lambda found: found.update(factor=2, answer="Yes."))
    (ratio, wrong) = [check for check in verify(copy) if check.item == path]
    assert (ratio.result, wrong.result) == ("differs", "differs")
    assert ratio.detail == "factor is 2, and the masses of trappist-1-h have the ratio 50"
    assert "the answer is “Yes.”, repeated “It cannot be said" in wrong.detail
    assert "twice as heavy" in wrong.detail


def test_only_pure_nodes_of_a_bundle_are_run(tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    nodes: list[dict[str, Any]] = [
        {"node": "run", "type": "shell", "inputs": {"command": f"touch {trap}"}, "outputs": {"stdout": ""}},
        {"node": "code", "type": "python", "inputs": {"code": f"open({str(trap)!r}, 'w')"}, "outputs": {}},
        {"node": "get", "type": "http", "inputs": {"url": "http://127.0.0.1:9/"}, "outputs": {}},
        {"node": "read", "type": "read-file", "inputs": {"file_path": "/etc/passwd"}, "outputs": {}},
        {"node": "ask", "type": "llm", "inputs": {"prompt": "hello"}, "outputs": {}},
        {"node": "none", "type": "no-such-type", "inputs": {}, "outputs": {}},
        {"node": "claim", "type": "universe-claim", "inputs": {"body": 3, "rows": 7}, "outputs": {}},
        {"node": "same", "type": "echo", "inputs": {"message": "hello"}, "outputs": {"echo": "hello"}},
    ]
    times = {"started_at": f"{DATE}T00:00:00Z", "ended_at": f"{DATE}T00:00:01Z"}
    run = {
        "id": "run_1",
        "workflow": "a",
        "status": "success",
        "failed_node": None,
        "resumed_from": None,
        **times,
        "nodes": [{**node, "status": "completed", "started_at": times["started_at"]} for node in nodes],
    }
    target = tmp_path / "bundle.zip"
    write_bundle(target, add_frame([make_json_file("runs/a.json", "a run", run)], title="A run.", date=DATE))
    found = {check.detail.partition(":")[0]: check for check in verify(target) if check.item.startswith("runs/")}
    assert found["run, code, get, read, ask"].result == "not repeated"
    assert found["none"].result == "not repeated"
    assert any("node claim" in check.item and "failed when it was repeated" in check.detail for check in found.values())
    assert not trap.exists()
    assert {"echo", "universe-claim"} == REPEATABLE


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("../outside.txt", "leaves the bundle"),
        ("/etc/passwd", "leaves the bundle"),
        ("a/../../outside.txt", "leaves the bundle"),
        ("a\\..\\outside.txt", "leaves the bundle"),
        ("C:/outside.txt", "leaves the bundle"),
    ],
)
def test_paths_that_leave_a_zip_are_refused(tmp_path: Path, name: str, problem: str) -> None:
    target = tmp_path / "bundle.zip"
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr(zipfile.ZipInfo(name), b"x")
    with pytest.raises(InvalidBundle, match=problem):
        verify(target)
    assert list(tmp_path.iterdir()) == [target]


def test_links_bombs_repeated_names_and_other_files_are_refused(tmp_path: Path) -> None:
    target = tmp_path / "bundle.zip"

    def refuse(problem: str, *entries: tuple[zipfile.ZipInfo, bytes]) -> None:
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
            for entry, content in entries:
                archive.writestr(entry, content, zipfile.ZIP_DEFLATED)
        with pytest.raises(InvalidBundle, match=problem):
            verify(target)

    link = zipfile.ZipInfo("link")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    refuse("is a link or a device", (link, b"/etc/passwd"))
    refuse("unpacks to more than 1000 times its size", (zipfile.ZipInfo("zeros"), bytes(64_000_000)))
    refuse("it has other data beside its files", (zipfile.ZipInfo("a/"), b"1"))
    refuse("is there twice", (zipfile.ZipInfo("a"), b"1"), (zipfile.ZipInfo("A"), b"2"))
    refuse("it has no SHA256SUMS", (zipfile.ZipInfo("a"), b"1"))
    target.write_bytes(b"PK\x03\x04 not a zip file")
    with pytest.raises(InvalidBundle, match="neither a folder nor a zip file"):
        verify(target)
    folder = tmp_path / "folder"
    folder.mkdir()
    os.symlink("/etc/passwd", folder / "link")
    with pytest.raises(InvalidBundle, match="'link' is not a regular file"):
        verify(folder)


@pytest.mark.parametrize(
    "content", [b"{", b"[]", b"null", b"[" * 200_000, b'{"state": 3, "nodes": [1]}', b"\xed\xa0\x80"]
)
def test_broken_files_are_differences_and_the_other_checks_go_on(tmp_path: Path, content: bytes) -> None:
    paths = (
        "runs/a.json", "universes/a/universe.json", "universes/a/log.jsonl", "measurements/a/universe.json",
        "measurements/a/job.json", "measurements/a/result.json", "searches/a/result.json", "shelves/a/papers.csl.json",
    )  # fmt: skip
    files = [BundleFile(path, path, content) for path in paths]
    target = tmp_path / "bundle.zip"
    write_bundle(target, add_frame(files, title="Broken.", date=DATE))
    inspection = verify(target)
    assert {check.item.partition("/")[0] for check in inspection if check.result == "differs"} == {
        *("runs", "universes", "measurements", "searches", "shelves"),
    }
    assert {check.item for check in inspection if check.result == "matched"} == {"files", "ro-crate-metadata.json"}


def test_a_bundle_of_another_form_differs_and_names_the_version_to_verify_it_with(bundle: Path) -> None:
    edit_root(bundle, schemaVersion="1")
    reseal(bundle)
    found = [check for check in verify(bundle) if check.item == "ro-crate-metadata.json" and check.result == "differs"]
    assert f"verify it with Uraniborg {version()}, which it names as its writer" in found[0].detail


def test_a_bundle_of_another_version_with_the_same_form_does_not_differ_and_its_version_is_not_checked(
    bundle: Path,
) -> None:
    for path in ("README.md", "ro-crate-metadata.json"):
        text = (bundle / path).read_text()
        (bundle / path).write_text(
            text.replace(f"Uraniborg {version()}.", "Uraniborg 99.0.").replace(
                f'"version": "{version()}"', '"version": "99.0"'
            )
        )
    reseal(bundle)
    inspection = verify(bundle)
    assert [check for check in inspection if check.result == "differs"] == []
    (named,) = [check for check in inspection if check.detail == "that Uraniborg 99.0 wrote the bundle"]
    assert (named.result, named.is_statement) == ("not checked", True)


class Clock:
    """A clock that stands still unless it is moved."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_measurements_share_one_time_limit_and_what_is_cut_is_not_checked_and_never_matches(
    bundle: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(bundle / "measurements/h-times-1", bundle / "measurements/i-second")
    shutil.copytree(bundle / "measurements/h-times-1", bundle / "measurements/j-third")
    clock, given = Clock(), list[float]()

    def measure_slowly(state: Any, options: JobOptions, **more: Any) -> Measurement:
        given.append(options.max_seconds)
        clock.now += 400.0
        return measure(state, options, **more)

    monkeypatch.setattr(measurement_checks, "measure", measure_slowly)
    with open_bundle(bundle) as opened:
        inspection = list(verify_bundle(opened, more=[STORY], limit=TimeLimit(600.0, clock)))
    assert given == [600.0, 200.0]
    results = {name: {one.result for one in inspection if one.item.startswith(f"measurements/{name}")} for name in (
        "h-times-1", "i-second", "j-third")}  # fmt: skip
    assert "matched" in results["h-times-1"]
    assert "matched" in results["i-second"]
    (cut,) = [one for one in inspection if one.item == "measurements/j-third" and one.detail.startswith("the time")]
    assert (cut.result, cut.detail) == (
        "not checked", "the time is over: --max-seconds allows more than 600 seconds"
    )  # fmt: skip
    assert "matched" not in results["j-third"]


def test_a_measurement_that_takes_longer_than_the_time_that_is_left_is_not_checked_and_never_matches(
    bundle: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TimeLimit, "check", Mock(return_value=1e-9))
    found = {(check.item, check.result): check.detail for check in verify(bundle)}
    assert "within 1e-09 seconds, the limit. It is the rest of the time" in found[RESULT, "not checked"]
    assert ("measurements/h-times-1/plot.svg", "not checked") in found
    assert (RESULT, "matched") not in found


def test_a_time_limit_of_nothing_leaves_every_part_not_checked_with_exit_code_6(
    bundle: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = verify_and_print(bundle, repeat=True, signer=None, more=[STORY], seconds=0, as_json=True, quiet=True)
    inspection = json.loads(capsys.readouterr().out)["checks"]
    assert code == 6
    assert {one["item"] for one in inspection if one["result"] == "matched"} == {"files", "ro-crate-metadata.json"}
    assert {"searches/trappist-1", "universes/h-times-2", "measurements/h-times-1"} <= {
        one["item"] for one in inspection if one["result"] == "not checked" and "the time is over" in one["detail"]
    }


def test_a_key_that_is_there_twice_and_numbers_beyond_all_limits_are_refused() -> None:
    for content in (
        b'{"a": 1, "a": 2}',
        b'[{"b": {"c": 1, "c": 1}}]',
        b'{"a": NaN}',
        b'{"a": 1e999}',
        b'{"a": Infinity}',
    ):
        with pytest.raises(UnreadableBundle):
            reader.parse_json(content)
    assert reader.parse_json(b'{"a": [{"b": 1}, {"b": 2}]}') == {"a": [{"b": 1}, {"b": 2}]}


@pytest.mark.parametrize("content", [b"[[],[],[],[]]", b'{"a":{},"b":{},"c":{},"d":{}}', b"1\n2\n3\n4\n5\n"])
def test_json_with_more_values_than_memory_is_meant_to_hold_is_refused_unparsed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes
) -> None:
    monkeypatch.setattr(reader, "MOST_VALUES", 4)
    target = tmp_path / "bundle.zip"
    write_bundle(target, add_frame([BundleFile("universes/a/log.jsonl", "a log", content)], title="A.", date=DATE))
    with open_bundle(target) as bundle, pytest.raises(UnreadableBundle, match="has more than 4 values"):
        bundle.read_json_lines("universes/a/log.jsonl")


def test_texts_that_are_much_larger_than_those_made_again_are_not_read_into_memory(tmp_path: Path) -> None:
    target = tmp_path / "bundle"
    files = [make_methods_file("A file.", []), make_text_file("a.txt", "a file", "a")]
    write_bundle(target, add_frame(files, title="A file.", date=DATE))
    for name in ("methods.md", "README.md", "a.txt"):
        (target / name).write_bytes(b"Nothing is proven here.\n" * 2_000_000)
    reseal(target)
    tracemalloc.start()
    found = {check.item: check for check in verify(target) if check.item in ("methods.md", "README.md", "a.txt")}
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [found[name].result for name in ("methods.md", "README.md", "a.txt")] == [
        "differs",
        "differs",
        "not checked",
    ]
    assert found["methods.md"].detail == "is larger than 1 MB"
    assert peak < 20_000_000


def test_a_list_of_digests_with_more_lines_than_files_is_one_difference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inspection, "MOST_FILES", 5)
    write_bundle(tmp_path / "bundle", add_frame([make_text_file("a.txt", "a file", "a")], title="A.", date=DATE))
    (tmp_path / "bundle" / "SHA256SUMS").write_text("x\n" * 100)
    found = [check.detail for check in verify(tmp_path / "bundle", repeat=False) if check.item == "SHA256SUMS"]
    assert found == ["has more than 5 lines"]


def test_control_characters_of_a_bundle_do_not_reach_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "bundle.zip"
    files = [make_text_file("runs/\x1b[2J\nmatched.json", "a run", "{}"), make_text_file("\x1b]0;a.txt", "a file", "a")]
    write_bundle(target, add_frame(files, title="\x1b[2J", date=DATE))
    assert verify_and_print(target, repeat=True, signer=None, more=[], as_json=False, quiet=True) == 1
    printed = capsys.readouterr().out
    assert "\x1b" not in printed
    assert r"runs/\x1b[2J\nmatched.json" in printed


def test_a_time_that_is_none_is_a_difference_and_ends_no_verification(tmp_path: Path) -> None:
    shelf: Any = {"name": "a", "build_id": "b", "built_at": 5, "papers": []}
    target = tmp_path / "bundle.zip"
    write_bundle(target, add_frame(make_shelf_piece(shelf, "shelves/a").files, title="A shelf.", date=DATE))
    assert any("cannot be checked: TypeError" in difference for difference in list_differences(target))


def test_a_measurement_starts_from_the_universe_of_its_name_if_another_has_the_same_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("URANIBORG_HOME", str(tmp_path / "home"))
    target = tmp_path / "bundle"
    asyncio.run(_export_twins(target))
    found = [check for check in verify(target) if check.item == "measurements/m/universe.json"]
    assert [(check.result, check.detail) for check in found] == [
        ("matched", "the start is version 1 of universes/second, replayed")
    ]

    def go_back(document: Any) -> None:
        document["version"] = -1

    for name in ("universe", "job", "result"):
        edit_json(target, f"measurements/m/{name}.json", go_back)
    reseal(target)
    assert not any(
        check.item == "measurements/m/universe.json" and check.result == "matched" and "start" in check.detail
        for check in verify(target)
    )


async def _export_twins(target: Path) -> None:
    """Export two universes with the same state, and a measurement of the second one."""
    async with open_jobs() as service:
        state = load_or_generate_state("trappist-1")
        for name in ("first", "second"):
            await service.universes.create(name.title(), state, universe_id=name)
        job = await service.create("second", {"kind": "rv", "days": 4, "samples": 5})
        assert (await service.wait("second", job.id)).state == "done"
    chosen = ExportSelection(universes=[Chosen("first"), Chosen("second")], jobs=[Chosen(job.id, "m")])
    files = await collect_files(chosen, title="Twins.", folder=target.parent)
    await asyncio.to_thread(write_bundle, target, files)


def test_a_plot_of_a_run_with_a_large_error_does_not_match_if_its_marks_are_elsewhere() -> None:
    stored = (SVG % 100).encode()
    (found,) = check_plot("plot.svg", stored, _Drawn(90.0))  # pyright: ignore[reportArgumentType]
    assert found.result == "not checked"
    assert "a mark 40 pixels away" in found.detail
    (found,) = check_plot("plot.svg", stored, _Drawn(0.0))  # pyright: ignore[reportArgumentType]
    assert found.result == "differs"


SVG: Final = '<svg>\n<style/>\n<rect/>\n<circle cx="%d" cy="5" r="2"/>\n</svg>'


class _Drawn:
    """A repeated run with this error, and its plot."""

    kind = "nbody"

    def __init__(self, degrees: float) -> None:
        self.reply: dict[str, Any] = {"error": {"b": {"degrees": degrees, "au": 1.0}}}

    def render_svg(self) -> str:
        return SVG % 60


def test_the_folder_around_a_bundle_stands_for_the_bundle(tmp_path: Path) -> None:
    target = tmp_path / "unpacked" / "bundle"
    target.parent.mkdir()
    files = [make_methods_file("A file.", []), make_text_file("a.txt", "a file", "a")]
    write_bundle(target, add_frame(files, title="A file.", date=DATE))
    assert [check for check in verify(target.parent) if check.result == "differs"] == []
    (target / "a.txt").write_text("changed")
    assert "a.txt" in "".join(list_differences(target.parent))


def test_a_folder_with_too_many_files_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "MOST_FILES", 2)
    for name in "abc":
        (tmp_path / name).touch()
    with pytest.raises(InvalidBundle, match="it has more than 2 files"):
        verify(tmp_path)


def test_the_metadata_of_a_bundle_must_follow_the_rules_of_ro_crate(tmp_path: Path) -> None:
    target = tmp_path / "bundle"
    write_bundle(target, add_frame([make_text_file("a b.txt", "a file", "a")], title="A file.", date=DATE))
    metadata = json.loads((target / "ro-crate-metadata.json").read_text())
    with open_bundle(target) as opened:
        assert list(list_metadata_problems(metadata, opened)) == []
        root = next(one for one in metadata["@graph"] if one["@id"] == "./")
        file = next(one for one in metadata["@graph"] if one["@id"] == "a%20b.txt")
        assert file["sha256"] == hashlib.sha256(b"a").hexdigest()
        del root["datePublished"], root["license"]
        root["hasPart"] = []
        file["sha256"] = "0" * 64
        found = "\n".join(list_metadata_problems(metadata, opened))
        for problem in ("has no license", "datePublished", "'a b.txt' is not a part of the root", "another SHA-256"):
            assert problem in found
        wrong: list[dict[str, Any]] = [{}, {"@graph": [3]}, {"@graph": [{"@id": "x"}]}, {"@context": "c", "@graph": []}]
        for broken in wrong:
            assert list(list_metadata_problems(broken, opened))
