"""`uraniborg doctor`: a sound installation passes, and each fault is found, named and given a remedy."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from uraniborg.doctor import Check, run_checks
from uraniborg.kernel.inbox import Inbox


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("URANIBORG_HOME", str(tmp_path / "u"))
    monkeypatch.setenv("PFLOW_HOME", str(tmp_path / "pflow"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "u"


def find_checks(status: str) -> list[Check]:
    return [check for check in run_checks() if check.status == status]


def test_an_empty_installation_has_no_failure_and_no_warning(home: Path) -> None:
    assert find_checks("failure") == []
    assert find_checks("warning") == []
    assert not home.exists()  # looking creates nothing


def test_a_damaged_database_is_a_failure_with_the_remedy(home: Path) -> None:
    with closing(Inbox()) as inbox:
        for number in range(200):
            inbox.put(f"q{number}", "pflow", "approval", "s", {"question": "?" * 500})
    database = home / "data" / "inbox.db"
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    content = bytearray(database.read_bytes())
    content[8_192:40_960] = b"\x55" * (40_960 - 8_192)
    database.write_bytes(content)
    (check,) = find_checks("failure")
    assert check.name == "inbox"
    assert "uraniborg restore" in check.hint


@pytest.mark.skipif(os.name == "nt", reason="Windows has no modes")
def test_data_that_others_may_read_are_a_warning(home: Path) -> None:
    with closing(Inbox()):
        pass
    (home / "data" / "universe").mkdir(parents=True)
    (home / "data" / "universe").chmod(0o755)
    (check,) = find_checks("warning")
    assert check.name == "universes"
    assert check.hint.startswith("chmod go= ")


def test_keys_are_listed_and_never_shown(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENALEX_API_KEY", "key-that-must-not-appear")
    checks = list(run_checks())
    assert any(check.name == "sources.openalex.api_key" and check.status == "ok" for check in checks)
    assert "key-that-must-not-appear" not in str(checks)


def test_an_invalid_setting_fails_its_topics_and_the_others_still_run(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("URANIBORG_LIBRARY__PORT", "many")
    failures = find_checks("failure")
    assert {check.topic for check in failures} >= {"shelf", "ports"}
    assert any(check.topic == "keys" for check in run_checks())
