"""`pflow run` as a process: its streams, signals and imports."""

import json
import os
import resource
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from tests.pflow.cli.commands import BOUND_S, GREETER, Workplace
from tests.requirements import requirement

HEAVY: Final = {
    "typer",
    "click",
    "pydantic",
    "pydantic_core",
    "rich",
    "mcp",
    "httpx",
    "fastapi",
    "structlog",
    "rapidfuzz",
}
COUNTING: Final[dict[str, Any]] = {
    "inputs": {"text": {"type": "string", "stdin": True, "default": "none"}, "other": {"default": "-"}},
    "nodes": [
        {"id": "count", "type": "shell", "params": {"command": "wc -c; printf '%s' ${other}", "stdin": "${text}"}}
    ],
    "outputs": {"count": {"source": "${count.stdout}"}},
}
"""Tells how many bytes its input has, and what the other one is."""
WAITING: Final[dict[str, Any]] = {
    "nodes": [
        {"id": "first", "type": "shell", "params": {"command": "echo once >> first.txt"}},
        {
            "id": "second",
            "type": "shell",
            "params": {"command": "test -e go && exit 0; sleep 300 & echo $$ $! > pids; wait"},
            "effect": "idempotent",
        },
    ],
    "edges": [{"from": "first", "to": "second"}],
}
"""Its second node waits for a signal, with a child of its own, unless there is a file `go`."""


def _wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + BOUND_S
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)


def _read_pids(workplace: Workplace) -> list[int]:
    path = workplace.folder / "pids"
    return [int(word) for word in path.read_text().split()] if path.exists() else []


def _is_gone(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return True
    return state in "ZX"


def _start_and_interrupt(workplace: Workplace, number: int, *options: str) -> tuple[int, str, str]:
    """Start a run, send it a signal while its second node waits, and return its result."""
    with workplace.start_process("run", "waiting", *options) as process:
        try:
            _wait_until(lambda: len(_read_pids(workplace)) == 2)
            process.send_signal(number)
            out, err = process.communicate(timeout=BOUND_S)
        finally:
            process.kill()
    return process.returncode, out.decode(), err.decode()


@requirement("PF-R20", "PF-E10")
def test_an_interrupt_ends_the_processes_leaves_a_checkpoint_and_exits_with_130(workplace: Workplace) -> None:
    workplace.write_draft("waiting", WAITING)
    code, out, err = _start_and_interrupt(workplace, signal.SIGINT)
    assert (code, out) == (130, "")
    assert "interrupted: 1 node is done. Run it again to resume" in err
    assert "Traceback" not in err
    _wait_until(lambda: all(map(_is_gone, _read_pids(workplace))))
    (workplace.folder / "go").touch()
    again = workplace.run_process("run", "waiting", "--json")
    assert (again.code, again.json["reused_nodes"]) == (0, ["first"])
    assert (workplace.folder / "first.txt").read_text() == "once\n"


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_sigterm_and_sighup_end_a_run_cleanly_with_their_exit_codes(workplace: Workplace, name: str) -> None:
    workplace.write_draft("waiting", WAITING)
    number = getattr(signal, name)
    code, out, _ = _start_and_interrupt(workplace, number, "--json")
    assert code == 128 + number
    reply = json.loads(out)
    assert reply["error"]["code"] == "run_cancelled"
    assert reply["checkpoint"]["completed_nodes"] == ["first"]
    _wait_until(lambda: all(map(_is_gone, _read_pids(workplace))))


def test_json_is_all_there_is_even_where_both_streams_are_one(workplace: Workplace) -> None:
    workplace.write_draft("greet", GREETER)
    done = workplace.run_process("run", "greet", "who=Ada", "--json", stderr=subprocess.STDOUT)
    assert (done.code, done.json["outputs"]) == (0, {"greeting": "HELLO ADA!"})
    done = workplace.run_process("run", "nothing", "--json", stderr=subprocess.STDOUT)
    assert (done.code, done.error["code"]) == (3, "workflow_not_found")


PRINTING: Final = """\
import os, subprocess, sys, threading

def speak(params, context):
    print("printed")
    sys.__stdout__.write("written")
    os.write(1, b"from below\\n")
    subprocess.run(["echo", "from a child"], check=True)
    return {"done": True}

def write_and_wait(params, context):
    sys.__stdout__.write("written")
    threading.Event().wait()

def babble(params, context):
    while True:
        print("and on")
        os.write(1, b"and on")
"""


@pytest.mark.parametrize("options", [("--json",), ("-q",), ()])
def test_output_that_a_node_writes_to_stdout_goes_to_stderr(workplace: Workplace, options: tuple[str, ...]) -> None:
    _declare_user_node(workplace, "speak")
    ir = {"nodes": [{"id": "a", "type": "speak"}], "outputs": {"done": {"source": "${a.done}"}}}
    workplace.write_draft("speaks", ir)
    done = workplace.run_process("run", "speaks", *options)
    assert done.code == 0
    if "--json" in options:
        assert done.json["outputs"] == {"done": True}
    else:
        assert done.out == "true\n"
    for output in ("printed", "written", "from below", "from a child"):
        assert output in done.err


@pytest.mark.parametrize("closed", [1, 2])
def test_a_stream_that_is_closed_from_the_start_is_not_an_error(workplace: Workplace, closed: int) -> None:
    workplace.write_draft("greet", GREETER)
    done = workplace.run_process("run", "greet", "who=Ada", "-q", preexec_fn=lambda: os.close(closed))
    assert (done.code, done.out) == (0, "" if closed == 1 else "HELLO ADA!\n")


def test_an_abandoned_node_that_still_prints_does_not_reach_the_result(workplace: Workplace) -> None:
    _declare_user_node(workplace, "babble")
    workplace.write_draft("babbles", {"nodes": [{"id": "a", "type": "babble", "timeout": 0.3}]})
    done = workplace.run_process("run", "babbles", "--json", stderr=subprocess.DEVNULL)
    assert (done.code, done.error["code"]) == (5, "node_timed_out")


def test_output_of_an_abandoned_node_is_not_lost_when_the_run_succeeds(workplace: Workplace) -> None:
    _declare_user_node(workplace, "write_and_wait")
    nodes = [
        {"id": "a", "type": "write_and_wait", "timeout": 0.3},
        {"id": "b", "type": "echo", "params": {"message": "x"}},
    ]
    workplace.write_draft("waits", {"nodes": nodes, "edges": [{"from": "a", "to": "b", "action": "error"}]})
    done = workplace.run_process("run", "waits", "--json")
    assert done.code == 0
    assert "written" in done.err


def test_a_full_disk_is_reported(workplace: Workplace) -> None:
    workplace.write_draft("greet", GREETER)
    with open("/dev/full", "wb") as full:
        done = workplace.run_process("run", "greet", "who=Ada", "-q", stdout=full)
    assert done.code == 5
    assert "error: The output could not be written: No space left on device." in done.err
    assert "Traceback" not in done.err


def test_a_run_that_cannot_be_recorded_on_a_full_disk_has_no_effect(workplace: Workplace) -> None:
    workplace.write_draft("touch", {"nodes": [{"id": "a", "type": "shell", "params": {"command": "touch done"}}]})
    env = {**workplace.env, "PYTHONDONTWRITEBYTECODE": "1"}  # a module that is cut off would break later runs
    done = workplace.run_process("run", "touch", preexec_fn=_limit_file_size, env=env)
    assert done.code == 5
    assert "error: The run was not started" in done.err
    assert "Free disk space" in done.err
    assert "Traceback" not in done.err
    assert not (workplace.folder / "done").exists()
    assert workplace.run_process("run", "touch").code == 0


def _limit_file_size() -> None:
    """Let no file of this process grow beyond half a page of a database, as a full disk does."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, resource.RLIM_INFINITY))


def _declare_user_node(workplace: Workplace, name: str) -> None:
    workplace.write_file(".pflow/nodes/printing.py", PRINTING)
    interface = {"type": name, "description": "Prints.", "run": f"printing.py:{name}", "effect": "pure"}
    workplace.write_file(
        ".pflow/nodes/printing.json", {"nodes": [{**interface, "outputs": {"done": {"type": "bool"}}}]}
    )


def test_piped_text_goes_to_the_input_declared_for_stdin(workplace: Workplace) -> None:
    workplace.write_draft("count", COUNTING)
    assert workplace.run_process("run", "count", "-q", given=b"four").out == "4\n-\n"
    path = workplace.write_file("six.txt", "sechs\n")
    with path.open("rb") as stream:
        assert workplace.run_process("run", "count", "-q", stdin=stream).out == "6\n-\n"


def test_an_input_that_is_given_is_not_read_from_stdin(workplace: Workplace) -> None:
    workplace.write_draft("count", COUNTING)
    assert workplace.run_process("run", "count", "text=xy", "-q", given=b"four").out == "2\n-\n"


def test_an_empty_pipe_is_ignored(workplace: Workplace) -> None:
    workplace.write_draft("count", COUNTING)
    assert workplace.run_process("run", "count", "-q", given=b"").out == "4\n-\n"


def test_any_input_can_be_read_from_stdin_and_then_no_other_is(workplace: Workplace) -> None:
    workplace.write_draft("count", COUNTING)
    assert workplace.run_process("run", "count", "other=-", "-q", given=b"piped").out == "4\npiped\n"


def test_a_workflow_that_asks_for_nothing_does_not_wait_for_stdin(workplace: Workplace) -> None:
    workplace.write_draft("greet", GREETER)
    reading, writing = os.pipe()
    try:
        assert workplace.run_process("run", "greet", "who=Ada", "-q", stdin=reading).out == "HELLO ADA!\n"
    finally:
        os.close(reading)
        os.close(writing)


def test_neither_a_device_nor_a_terminal_nor_a_closed_stdin_is_read(workplace: Workplace) -> None:
    workplace.write_draft("count", COUNTING)
    assert workplace.run_process("run", "count", "-q", stdin=subprocess.DEVNULL).out == "4\n-\n"
    ours, theirs = os.openpty()
    try:
        assert workplace.run_process("run", "count", "-q", stdin=theirs).out == "4\n-\n"
    finally:
        os.close(ours)
        os.close(theirs)
    assert workplace.run_process("run", "count", "-q", preexec_fn=lambda: os.close(0)).out == "4\n-\n"


def test_waiting_for_a_pipe_is_announced(workplace: Workplace) -> None:
    workplace.write_draft("count", COUNTING)
    with workplace.start_process("run", "count", "-q", stdin=subprocess.PIPE) as process:
        try:
            assert process.stderr
            assert process.stderr.readline() == b"Waiting for the value of 'text' on stdin.\n"
            assert process.communicate(b"abc", timeout=BOUND_S)[0] == b"3\n-\n"
        finally:
            process.kill()


def test_more_than_ten_megabytes_on_stdin_are_refused_with_a_hint(workplace: Workplace) -> None:
    workplace.write_draft("count", COUNTING)
    assert workplace.run_process("run", "count", "-q", given=b"x" * 10_000_000).out == "10000000\n-\n"
    done = workplace.run_process("run", "count", given=b"x" * 10_000_001)
    assert (done.code, done.out) == (2, "")
    assert "too large for 'text': over 10 MB" in done.err
    assert "read-file" in done.err


def test_stdin_that_is_not_text_is_refused(workplace: Workplace) -> None:
    workplace.write_draft("count", COUNTING)
    done = workplace.run_process("run", "count", "--json", given=b"\xff\xfe")
    assert (done.code, done.error["code"]) == (2, "usage")


def test_a_closed_pipe_is_not_an_error(workplace: Workplace) -> None:
    long = {"nodes": [{"id": "a", "type": "shell", "params": {"command": "seq 100000"}}]}
    workplace.write_draft("long", long)
    for options in ((), ("--json",)):
        with workplace.start_process("run", "long", "-q", *options) as process:
            try:
                assert process.stdout
                process.stdout.read(10)
                process.stdout.close()
                assert process.stderr
                assert process.stderr.read() == b""
                assert process.wait(timeout=BOUND_S) == 0
            finally:
                process.kill()


@pytest.mark.parametrize(("who", "out", "code"), [("who=Ada", b"HELLO ADA!\n", 0), ("whom=Ada", b"", 2)])
def test_a_closed_stderr_changes_nothing(workplace: Workplace, who: str, out: bytes, code: int) -> None:
    workplace.write_draft("greet", GREETER)
    with workplace.start_process("run", "greet", who) as process:
        try:
            assert process.stdout
            assert process.stderr
            process.stderr.close()
            assert process.stdout.read() == out
            assert process.wait(timeout=BOUND_S) == code
        finally:
            process.kill()


def test_on_a_terminal_control_characters_in_outputs_are_escaped(workplace: Workplace) -> None:
    workplace.write_draft("odd", {"nodes": [{"id": "a", "type": "echo", "params": {"message": "x\x1b[2Jy"}}],
                        "outputs": {"said": {"source": "${a.echo}"}}})  # fmt: skip
    ours, theirs = os.openpty()
    try:
        assert workplace.run_process("run", "odd", "-q", stdout=theirs).code == 0
        assert os.read(ours, 1000) == b"x\\x1b[2Jy\r\n"
    finally:
        os.close(ours)
        os.close(theirs)


def test_letters_that_the_stream_lacks_are_spelled_out(workplace: Workplace) -> None:
    workplace.write_draft("greet", GREETER)
    env = {**workplace.env, "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}
    with workplace.start_process("run", "greet", "who=Ægir", env=env) as process:
        out, err = process.communicate(timeout=BOUND_S)
    assert (process.returncode, out) == (0, b"HELLO \\xc6GIR!\n")
    assert b"Traceback" not in err
    with workplace.start_process("run", "greet", "who=Ægir", "--json", env=env) as process:
        out, _ = process.communicate(timeout=BOUND_S)
    assert json.loads(out)["outputs"] == {"greeting": "HELLO ÆGIR!"}


def _list_loaded_modules(workplace: Workplace, *arguments: str, **more: str) -> set[str]:
    """Return the names of all modules that the command imports, and of their packages."""
    env = {**workplace.env, "PYTHONPROFILEIMPORTTIME": "1", **more}
    with workplace.start_process(*arguments, env=env) as process:
        _, err = process.communicate(timeout=BOUND_S)
    assert process.returncode == 0
    lines = [line for line in err.decode().splitlines() if line.startswith("import time:")]
    names = {line.rpartition("|")[2].strip() for line in lines}
    return names | {name.partition(".")[0] for name in names}


def test_the_version_is_printed_without_loading_the_package(workplace: Workplace) -> None:
    loaded = _list_loaded_modules(workplace, "--version")
    assert "pflow" in loaded
    assert not loaded & {*HEAVY, "typing", "json", "importlib.metadata", "asyncio", "logging"}
    ours = {name for name in loaded if name.startswith("uraniborg.")}
    assert ours == {"uraniborg.kernel", "uraniborg.kernel.version"}


def test_a_run_imports_no_slow_module(workplace: Workplace) -> None:
    workplace.write_draft("shell", {"nodes": [{"id": "a", "type": "shell", "params": {"command": "true"}}]})
    for options in ((), ("--json",), ("-q",), ("--dry-run",)):
        loaded = _list_loaded_modules(workplace, "run", "shell", *options)
        assert {"pflow", "orjson"} <= loaded
        assert not loaded & HEAVY


def test_a_run_in_another_home_imports_no_slow_module_either(workplace: Workplace) -> None:
    workplace.write_draft("shell", {"nodes": [{"id": "a", "type": "shell", "params": {"command": "true"}}]})
    assert not _list_loaded_modules(workplace, "run", "shell", PFLOW_HOME=str(workplace.home)) & HEAVY
