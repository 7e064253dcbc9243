"""The log of changes: one line for each, whole and private, and never in the way of the change itself."""

import json
import multiprocessing
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from uraniborg.kernel.actors import Actor
from uraniborg.kernel.store import audit_log
from uraniborg.kernel.store.audit_log import FILE, OLDER_FILE, read_changes, record_change

ADA = Actor(kind="person", name="Ada", authenticated="sign_in")


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("URANIBORG_HOME", str(tmp_path))
    return tmp_path / "data"


def list_subjects() -> list[str]:
    return [change["subject"] for change in read_changes().changes]


def test_a_change_is_stored_with_its_time_its_actor_and_what_was_changed(data: Path) -> None:
    record_change("session deleted", "s1", ADA, reason="no longer needed", nothing=None)
    (change,) = read_changes().changes
    assert change["at"].startswith("20")
    assert change["at"].endswith("Z")
    assert (change["change"], change["subject"]) == ("session deleted", "s1")
    assert change["actor"] == ADA.model_dump()
    assert change["details"] == {"reason": "no longer needed"}
    assert stat.S_IMODE((data / FILE).stat().st_mode) == 0o600
    assert stat.S_IMODE(data.stat().st_mode) == 0o700


def test_a_change_without_an_actor_is_one_of_the_program() -> None:
    record_change("job deleted", "job_1", None)
    (change,) = read_changes().changes
    assert change["actor"] is not None
    assert change["actor"]["kind"] == "software"


@pytest.mark.parametrize("damage", [b'{"at": "2026', b"\xff\xfe\n", b"[1]\n", b'{"at": 7}\n', b"[" * 100_000 + b"\n"])
def test_a_damaged_line_is_counted_and_costs_no_other_line(data: Path, damage: bytes) -> None:
    record_change("job deleted", "before", ADA)
    with (data / FILE).open("ab") as file:
        file.write(damage)
    record_change("job deleted", "after", ADA)
    assert list_subjects() == ["before", "after"]
    assert read_changes().damaged_lines == 1


def test_an_actor_that_cannot_be_read_is_unknown_and_its_change_stays(data: Path) -> None:
    record_change("job deleted", "j", ADA)
    text = (data / FILE).read_text()
    (data / FILE).write_text(text.replace('"person"', '"oracle"'))
    (change,) = read_changes().changes
    assert change["actor"] is None


def test_a_full_log_begins_a_new_file_and_keeps_the_one_before(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit_log, "MOST_BYTES", 2_000)
    for number in range(40):
        record_change("job deleted", f"job_{number}", ADA)
    found = list_subjects()
    assert found == [f"job_{number}" for number in range(40 - len(found), 40)]
    assert sum((data / name).stat().st_size for name in (FILE, OLDER_FILE)) < 5_000


def write_three_bytes(_descriptor: int, _line: bytes) -> int:
    return 3


@pytest.mark.parametrize("failure", ["folder", "disk"])
def test_a_log_that_cannot_be_written_does_not_stop_the_change_and_the_program_says_so(
    data: Path, failure: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    if failure == "folder":
        (data / FILE).mkdir(parents=True)
    else:
        monkeypatch.setattr(os, "write", write_three_bytes)
    record_change("session deleted", "s1", ADA)
    assert "a change was made and is not recorded" in caplog.text
    assert "s1" in caplog.text
    assert "Ada" in caplog.text


def record_many(first: int) -> None:
    for number in range(first, first + 50):
        record_change("job deleted", str(number), ADA, filler="x" * 900)


def test_processes_that_write_at_once_lose_and_mix_no_lines() -> None:
    processes = [multiprocessing.get_context("fork").Process(target=record_many, args=(at,)) for at in (0, 50, 100)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert sorted(map(int, list_subjects())) == list(range(150))
    assert read_changes().damaged_lines == 0


@pytest.mark.parametrize("subject", ["two\nlines", "\x1b[31m", "\udc80", "x" * 100_000])
def test_no_subject_breaks_a_line(data: Path, subject: str) -> None:
    record_change("job deleted", subject, ADA)
    record_change("job deleted", "next", ADA)
    assert len(list_subjects()) == 2
    lines: list[Any] = [json.loads(line) for line in (data / FILE).read_text(encoding="ascii").splitlines()]
    assert len(lines) == 2
