"""A command always ends with the right exit code, and reports its failure on the right stream."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import pytest
from pydantic import BaseModel

from uraniborg.kernel.errors import Conflict, InternalError, InvalidInput, NotFound, Unavailable, UraniborgError
from uraniborg.kernel.logging import register_secret
from uraniborg.kernel.terminal.command_runner import print_error, run_command
from uraniborg.kernel.terminal.output_streams import can_use_color

IMPORT: Final = "from uraniborg.kernel.terminal.command_runner import run_command"


def ending(main: Callable[[], int | None], *, as_json: bool = False) -> object:
    with pytest.raises(SystemExit) as caught:
        run_command(main, as_json=as_json)
    return caught.value.code


def raising(error: BaseException) -> Callable[[], int | None]:
    def main() -> int | None:
        raise error

    return main


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (InvalidInput("x"), 2),
        (NotFound("x"), 3),
        (Conflict("x"), 4),
        (Unavailable("x"), 5),
        (InternalError("x"), 70),
        (UraniborgError("x"), 1),
    ],
)
@pytest.mark.parametrize("as_json", [True, False])
def test_each_error_ends_with_its_exit_code(error: UraniborgError, code: int, as_json: bool) -> None:
    assert print_error(error, as_json=as_json) == code
    assert ending(raising(error), as_json=as_json) == code


def test_people_get_message_and_hint_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    print_error(NotFound("There is no session 'x'.", hint="List them."), as_json=False)
    print_error(NotFound("Nothing to add."), as_json=False)
    assert capsys.readouterr() == (
        "",
        "error: There is no session 'x'.\nhint: List them.\nerror: Nothing to add.\n",
    )


def test_programs_get_one_json_line_on_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    at = datetime(2024, 1, 1, tzinfo=UTC)
    print_error(NotFound("no\nsession \ud800", hint="List\nthem.", session_id="x", at=at), as_json=True)
    out, err = capsys.readouterr()
    assert err == ""
    assert out.count("\n") == 1
    assert json.loads(out)["error"] == {
        "code": "not_found",
        "message": "no\nsession \ud800",
        "hint": "List\nthem.",
        "session_id": "x",
        "at": str(at),
    }


@pytest.mark.parametrize("as_json", [True, False])
def test_secrets_never_reach_the_screen(capsys: pytest.CaptureFixture[str], as_json: bool) -> None:
    register_secret("open-sesame-77")
    print_error(
        Unavailable("GET /?q=open-sesame-77 failed", hint="open-sesame-77", key="open-sesame-77"), as_json=as_json
    )
    assert "open-sesame-77" not in "".join(capsys.readouterr())


def test_foreign_text_cannot_command_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    print_error(NotFound("title \x1b]0;owned\x07\x1b[2J\r\u202e", hint="\x9b31m"), as_json=False)
    err = capsys.readouterr().err
    assert err == "error: title \\x1b]0;owned\\x07\\x1b[2J\\r\\u202e\nhint: \\x9b31m\n"


@pytest.mark.parametrize(
    ("tty", "env", "expected"),
    [
        (True, {}, True),
        (True, {"NO_COLOR": ""}, True),
        (True, {"NO_COLOR": "1"}, False),
        (True, {"TERM": "dumb"}, False),
        (False, {}, False),
    ],
)
def test_colour_is_only_for_terminals_that_want_it(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tty: bool,
    env: dict[str, str],
    expected: bool,
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: tty)
    assert can_use_color(sys.stderr) is expected
    print_error(NotFound("gone", hint="look"), as_json=False)
    assert ("\x1b[" in capsys.readouterr().err) is expected


@pytest.mark.parametrize(("returned", "code"), [(None, 0), (0, 0), (7, 7)])
def test_the_return_value_of_a_command_is_its_exit_code(returned: int | None, code: int) -> None:
    assert ending(lambda: returned) == code


def test_a_command_that_exits_by_itself_is_left_to(capsys: pytest.CaptureFixture[str]) -> None:
    assert ending(raising(SystemExit(9))) == 9
    assert "".join(capsys.readouterr()) == ""


def test_an_interrupt_ends_with_130_and_without_a_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    assert ending(raising(KeyboardInterrupt())) == 130
    assert capsys.readouterr() == ("", "Interrupted.\n")


def test_an_unexpected_failure_is_logged_and_shown_without_its_inside(
    capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    assert ending(raising(ZeroDivisionError("at /home/someone")), as_json=True) == 70
    out, _ = capsys.readouterr()
    assert json.loads(out)["error"]["code"] == "internal_error"
    assert "/home/someone" not in out
    (record,) = caplog.records
    assert "Traceback" in record.getMessage()
    assert "ZeroDivisionError: at /home/someone" in record.getMessage()


def test_a_validation_error_that_escapes_becomes_invalid_input(capsys: pytest.CaptureFixture[str]) -> None:
    class Model(BaseModel):
        year: int

    def main() -> None:
        Model.model_validate({"year": "soon"})

    assert ending(main) == 2
    err = capsys.readouterr().err
    assert "year" in err
    assert "soon" not in err


def command(body: str, *, unbuffered: str = "") -> subprocess.Popen[str]:
    code = f"import os, sys\n{IMPORT}\ndef main():\n    {body}\nrun_command(main)"
    return subprocess.Popen(
        [sys.executable, "-c", code],
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
    )


def run_without_reader(body: str, unbuffered: str = "") -> tuple[int, str]:
    """Return the exit code and the stderr of a command whose output nobody reads."""
    with command(f"sys.stdin.readline(); {body}", unbuffered=unbuffered) as process:
        assert process.stdout
        assert process.stdin
        assert process.stderr
        process.stdout.close()
        process.stdin.write("go\n")
        process.stdin.close()
        stderr = process.stderr.read()
        return process.wait(timeout=30), stderr


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(
    "body", ["print('x' * 1_000_000)", "print('x')", "print('x', flush=True); print('y', flush=True)"]
)
def test_a_reader_that_has_gone_away_ends_the_command_quietly(body: str, unbuffered: str) -> None:
    assert run_without_reader(body, unbuffered) == (0, "")


def test_a_broken_pipe_to_another_process_is_reported_as_a_failure() -> None:
    with command("r, w = os.pipe(); os.close(r); os.write(w, b'x')") as process:
        _, err = process.communicate(timeout=30)
        assert process.returncode == 70
        assert "error: " in err


@pytest.mark.parametrize("body", ["open('/nonexistent/file')", "raise ConnectionRefusedError(111, 'refused')"])
def test_a_failure_without_a_reader_is_reported_as_that_failure(body: str) -> None:
    code, stderr = run_without_reader(body)
    assert code == 70
    assert "Something went wrong" in stderr


@pytest.mark.parametrize("before", ["import io; sys.stdout = io.StringIO()", "sys.stdout.close()"])
def test_something_else_in_the_place_of_stdout_hides_no_failure(before: str) -> None:
    with command(f"{before}; open('/nonexistent/file')") as process:
        _, err = process.communicate(timeout=30)
        assert process.returncode == 70
        assert "Something went wrong" in err
        assert err.count("Traceback") == 1, "that of the log"


def test_ctrl_c_ends_a_running_command_with_130() -> None:
    with command("print('running', flush=True); sys.stdin.read()") as process:
        assert process.stdout
        assert process.stdout.readline() == "running\n"
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
        assert (process.returncode, err) == (130, "Interrupted.\n")


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_a_command_runs_with_closed_streams(closed: str, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    body = f"print('result'); print('news', file=sys.stderr); open({str(ran)!r}, 'w').close()"
    code = f"import sys\n{IMPORT}\ndef main():\n    {body}\nrun_command(main)"
    command = f'exec "$0" -c "$1" {closed}'
    done = subprocess.run(["sh", "-c", command, sys.executable, code], capture_output=True, timeout=30, check=False)
    assert done.returncode == 0
    assert ran.exists()
    assert b"Traceback" not in done.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no device that is always full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_output_that_cannot_be_written_is_reported_as_a_failure(unbuffered: str) -> None:
    code = f"{IMPORT}; run_command(lambda: print('result', flush=True))"
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-c", code],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=30,
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
            check=False,
        )
    assert done.returncode == 5
    assert re.match("error: .* could not .*: No space left on device.\nhint: ", done.stderr)
    assert "Traceback" not in done.stderr


def test_a_message_is_wrapped_on_a_terminal_and_whole_in_a_pipe(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("NO_COLOR", "1")
    error = NotFound("There is no universe. " * 5, hint="Look again.")
    print_error(error, as_json=False)
    assert capsys.readouterr().err.count("\n") == 2
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    print_error(error, as_json=False)
    first, second, *_, last = capsys.readouterr().err.splitlines()
    assert first.startswith("error: There")
    assert second.startswith("  ")
    assert last == "hint: Look again."
    assert max(map(len, (first, second))) <= 40
