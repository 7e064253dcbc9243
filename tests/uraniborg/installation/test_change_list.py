"""`uraniborg changes`: who changed what, also by commands in a terminal without a server."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from pflow.service.history import ChangeRecord
from uraniborg.connect.clients import find_client
from uraniborg.connect.command import run_connect
from uraniborg.installation.command import list_changes, print_changes
from uraniborg.installation.folders_and_settings import change_setting
from uraniborg.kernel.actors import Actor, get_terminal_actor
from uraniborg.kernel.store.audit_log import FILE, record_change
from uraniborg.servers.credentials import AgentCredentials

ADA = Actor(kind="person", name="Ada", authenticated="sign_in")
AGENT = Actor(kind="agent", name="claude 2", authenticated="credential")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, folder in (("URANIBORG_HOME", "own"), ("PFLOW_HOME", "pflow"), ("HOME", "user")):
        monkeypatch.setenv(name, str(tmp_path / folder))
    monkeypatch.setenv("URANIBORG_USER", "Ada")
    return tmp_path / "own"


def list_facts() -> list[tuple[str, str]]:
    return [(one["change"], one["subject"]) for one in list_changes(100)["changes"]]


def test_the_last_change_of_both_records_comes_first(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    record_change("session deleted", "s1", ADA)
    ChangeRecord(tmp_path / "pflow").add("schedule", "nightly", AGENT)
    record_change("setting changed", "uraniborg.user", None, before="a", after="b")
    assert list_facts() == [
        ("setting changed", "uraniborg.user"),
        ("workflow scheduled", "nightly"),
        ("session deleted", "s1"),
    ]
    print_changes(2, as_json=False)
    text = capsys.readouterr().out
    assert "workflow scheduled  nightly\n    by claude 2 (agent), authenticated by credential\n" in text
    assert "before: a; after: b" in text
    assert "uraniborg changes --limit 4" in text


def test_the_order_is_that_of_the_record_and_not_of_the_clock(home: Path) -> None:
    for number in range(3):
        record_change("job deleted", f"job_{number}", ADA)
    lines = (home / "data" / FILE).read_text().splitlines(keepends=True)
    set_back = [line.replace('"at": "20', f'"at": "{20 - number}') for number, line in enumerate(lines)]
    (home / "data" / FILE).write_text("".join(set_back))
    assert [subject for _, subject in list_facts()] == ["job_2", "job_1", "job_0"]


def test_what_cannot_be_read_is_reported_and_the_rest_is_listed(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record_change("session deleted", "s1", ADA)
    with (home / "data" / FILE).open("a") as file:
        file.write("{half a line")
    (tmp_path / "pflow" / "runs.db").mkdir(parents=True)
    print_changes(50, as_json=False)
    printed = capsys.readouterr()
    assert "session deleted  s1" in printed.out
    assert "1 line of " in printed.err
    assert "The changes of workflows cannot be read" in printed.err
    print_changes(50, as_json=True)
    assert len(json.loads(capsys.readouterr().out)["problems"]) == 2


def test_connecting_and_removing_a_client_is_recorded(home: Path) -> None:
    run_connect("cursor", None, remove=False, print_only=False, use_sockets=False, skip_confirmation=True, as_json=True)
    run_connect("cursor", None, remove=True, print_only=False, use_sockets=False, skip_confirmation=True, as_json=True)
    file = str(find_client("cursor").file)
    assert list_facts() == [
        ("credentials revoked", "cursor"),
        ("client file changed", file),
        ("client file changed", file),
        ("credential issued", "cursor"),
        ("credential issued", "cursor"),
    ]
    assert {str(one["actor"]) for one in list_changes(9)["changes"]} == {str(get_terminal_actor().model_dump())}


def test_a_credential_is_recorded_when_it_is_first_issued_and_again_after_it_was_revoked() -> None:
    for _ in range(3):
        AgentCredentials().make_token("cursor", "universe", AGENT)
    token = AgentCredentials().make_token("cursor", "universe", AGENT)
    AgentCredentials().find_client(token, "paper-library")
    AgentCredentials().revoke("cursor", ADA)
    AgentCredentials().make_token("cursor", "universe", AGENT)
    assert [change for change, _ in list_facts()] == ["credential issued", "credentials revoked", "credential issued"]


def test_a_changed_setting_is_recorded_with_its_values() -> None:
    change_setting("paper_search.offline", True, ADA)
    (change,) = list_changes(9)["changes"]
    assert (change["subject"], change["actor"]) == ("paper_search.offline", ADA.model_dump())
    assert change["details"] == {"before": "False", "after": "True"}


def run(*arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "uraniborg", *arguments], check=True, capture_output=True, timeout=120)


def test_the_log_is_part_of_a_backup_and_states_the_restore(tmp_path: Path) -> None:
    record_change("session deleted", "s1", ADA)
    archive = str(tmp_path / "b.tar.gz")
    run("backup", archive)
    record_change("session deleted", "s2", ADA)
    run("restore", archive, "--replace")
    assert list_facts() == [("backup restored", archive), ("session deleted", "s1")]
    details = list_changes(1)["changes"][0]["details"]
    assert (Path(details["data_before"]) / FILE).read_text().count("s2") == 1, "the lines since are not lost"


def test_a_command_deletes_although_the_log_cannot_be_written_and_says_so(home: Path) -> None:
    run("universe", "new", "--id", "t")
    (home / "data" / FILE).mkdir()
    deleted = subprocess.run(
        [sys.executable, "-m", "uraniborg", "universe", "delete", "t", "--yes"],
        check=True,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert "Deleted t." in deleted.stdout
    assert "a change was made and is not recorded" in deleted.stderr
    assert "Traceback" not in deleted.stderr
