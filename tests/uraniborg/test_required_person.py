"""The setting that demands a person: `uraniborg decide` asks at the controlling terminal."""

import os
import pty
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from uraniborg.kernel.actors import Actor
from uraniborg.kernel.deciders import PersonRequired, check_person_decides, load_decider_settings
from uraniborg.kernel.processes.child_processes import build_child_environment
from uraniborg.kernel.store.inbox import Inbox, InboxDecision

PROMPT = b"Type approve to confirm: "
PATIENCE_S = 50.0


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("URANIBORG_HOME", str(tmp_path))
    monkeypatch.setenv("URANIBORG_REQUIRE_PERSON", "1")
    inbox = Inbox(tmp_path / "data" / "inbox.db")
    inbox.put("apr_1", "pflow", "approval", "apr_1", {"question": "Send it?", "workflow": "asks", "node": "ask"})
    inbox.close()
    return tmp_path


def read_decision(home: Path) -> InboxDecision | None:
    inbox = Inbox(home / "data" / "inbox.db")
    try:
        return inbox.get("apr_1").decision
    finally:
        inbox.close()


COMMAND = (sys.executable, "-m", "uraniborg", "decide", "apr_1", "approve")


def decide_at_terminal(typed: bytes, piped: bytes = b"") -> tuple[int, bytes]:
    """Decide in a process with its own terminal, whose stdin and stdout are pipes.

    Return the exit code and the text at the terminal. `typed` is typed there once it is asked for, `piped` is stdin.
    """
    source, sink = os.pipe()
    os.write(sink, piped)
    os.close(sink)
    child, terminal = pty.fork()
    if child == 0:
        os.set_inheritable(os.dup(0), True)  # reading the other end fails once the process has ended
        os.dup2(source, 0)
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        os.execv(COMMAND[0], COMMAND)
    os.close(source)
    shown, deadline = b"", time.monotonic() + PATIENCE_S
    try:
        while time.monotonic() < deadline:
            if select.select([terminal], [], [], 0.1)[0]:
                try:
                    part = os.read(terminal, 4_096)
                except OSError:  # the process has ended
                    break
                shown += part
                if PROMPT in shown and typed:
                    os.write(terminal, typed)
                    typed = b""
        else:
            os.kill(child, signal.SIGKILL)
    finally:
        _, status = os.waitpid(child, 0)
        os.close(terminal)
    return os.waitstatus_to_exitcode(status), shown


def test_a_person_confirms_at_the_terminal(home: Path) -> None:
    exit_code, shown = decide_at_terminal(b"approve\n")
    assert exit_code == 0, shown
    assert b"Send it?" in shown
    assert read_decision(home) == InboxDecision(action="approve")


def test_another_word_decides_nothing_and_piped_input_is_not_read(home: Path) -> None:
    exit_code, shown = decide_at_terminal(b"no\n", piped=b"approve\n")
    assert exit_code == 4, shown
    assert read_decision(home) is None


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_process_without_a_terminal_is_refused(home: Path, options: list[str]) -> None:
    done = subprocess.run(
        [*COMMAND, *options],
        input="approve\n",
        capture_output=True,
        text=True,
        start_new_session=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 4
    assert "no terminal" in done.stdout + done.stderr
    assert ("no_terminal" in done.stdout) is bool(options)
    assert read_decision(home) is None


def test_without_the_setting_no_terminal_is_needed(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("URANIBORG_REQUIRE_PERSON", "0")
    done = subprocess.run(COMMAND, capture_output=True, start_new_session=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 0
    assert read_decision(home) == InboxDecision(action="approve")


@pytest.mark.parametrize("door", ["client", "terminal", "console"])
def test_interfaces_of_persons_may_decide(door: str) -> None:
    person = Actor(kind="person", name="Ada", authenticated="sign_in")
    check_person_decides(door, person, "apr_1")
    check_person_decides(door, None, "apr_1")
    for kind in ("software", "agent"):
        with pytest.raises(PersonRequired):
            check_person_decides(door, person.model_copy(update={"kind": kind}), "apr_1")


def test_the_refusal_of_an_agent_names_the_ways_to_decide() -> None:
    with pytest.raises(PersonRequired) as refusal:
        check_person_decides("agent", None, "apr_1")
    assert refusal.value.code == "person_required"
    assert "dialog" in refusal.value.hint
    assert "`uraniborg decide apr_1 ACTION`" in refusal.value.hint


def test_the_setting_is_read_from_the_settings_file_but_not_from_a_dotenv_file(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("URANIBORG_REQUIRE_PERSON")
    monkeypatch.chdir(home)
    assert not load_decider_settings().require_person
    (home / "config").mkdir()
    (home / "config" / "uraniborg.toml").write_text("[decisions]\nrequire_person = true\n")
    assert load_decider_settings().require_person
    (home / ".env").write_text("URANIBORG_REQUIRE_PERSON=0\n")
    assert load_decider_settings().require_person


@pytest.mark.parametrize(
    ("name", "value"),
    [("URANIBORG_REQUIRE_PERSON", "0"), ("URANIBORG_REQUIRE_PERSON", ""), ("URANIBORG_CONFIG", os.devnull)],
)
def test_the_environment_does_not_overrule_a_settings_file_that_demands_a_person(
    home: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.delenv("URANIBORG_REQUIRE_PERSON")
    (home / "config").mkdir()
    (home / "config" / "uraniborg.toml").write_text("[decisions]\nrequire_person = true\n")
    monkeypatch.setenv(name, value)
    assert load_decider_settings().require_person
    done = subprocess.run(COMMAND, capture_output=True, start_new_session=True, timeout=PATIENCE_S, check=False)
    assert done.returncode != 0
    assert read_decision(home) is None


def test_a_settings_file_demands_a_person_also_from_processes_that_look_elsewhere_for_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("URANIBORG_HOME", "URANIBORG_REQUIRE_PERSON", "URANIBORG_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    file = tmp_path / "config" / "uraniborg" / "uraniborg.toml"
    file.parent.mkdir(parents=True)
    file.write_text("[decisions]\nrequire_person = true\n")
    assert load_decider_settings().require_person
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "other"))
    assert load_decider_settings().require_person
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "data").symlink_to(tmp_path / "data" / "uraniborg")
    monkeypatch.setenv("URANIBORG_HOME", str(tmp_path / "home"))
    assert load_decider_settings().require_person
    file.write_text("[decisions]\nrequire_person = false\n")
    assert not load_decider_settings().require_person, "the person has switched it off"
    file.unlink()
    assert not load_decider_settings().require_person


def test_a_named_settings_file_that_demands_a_person_counts_without_its_variable_too(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("URANIBORG_REQUIRE_PERSON")
    (home / "mine.toml").write_text("[decisions]\nrequire_person = true\n")
    monkeypatch.setenv("URANIBORG_CONFIG", str(home / "mine.toml"))
    assert load_decider_settings().require_person
    monkeypatch.setenv("URANIBORG_CONFIG", os.devnull)
    assert load_decider_settings().require_person


def test_child_processes_inherit_the_demand_for_a_person(home: Path) -> None:
    assert build_child_environment()["URANIBORG_REQUIRE_PERSON"] == "1"


def test_a_text_for_the_terminal_reaches_it_and_no_pipe() -> None:
    command = "from uraniborg.kernel.terminal.questions import show_at_terminal; print(show_at_terminal('the code'))"
    source, sink = os.pipe()
    child, terminal = pty.fork()
    if child == 0:
        os.dup2(sink, 1)
        os.execv(sys.executable, [sys.executable, "-c", command])
    os.close(sink)
    with os.fdopen(source, "rb") as piped:
        assert select.select([terminal], [], [], PATIENCE_S)[0]
        assert b"the code" in os.read(terminal, 1_000)
        assert piped.read() == b"True\n"
    os.waitpid(child, 0)
    os.close(terminal)
    without = subprocess.run([sys.executable, "-c", command], capture_output=True, check=True, start_new_session=True)
    assert without.stdout == b"False\n"
