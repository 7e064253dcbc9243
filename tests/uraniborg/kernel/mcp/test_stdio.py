import asyncio
import inspect
import json
import os
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

import pytest

from tests.forked_processes import Forked, template
from tests.uraniborg.kernel.mcp import sample_server
from tests.uraniborg.kernel.mcp.raw_messages import INITIALIZE, INITIALIZED, call
from uraniborg.kernel.mcp.stdio import run_stdio
from uraniborg.kernel.mcp.testing import connect_stdio_client, get_json, get_text

SCRIPT = str(Path(sample_server.__file__))
SOON = 30


class Process:
    """A sample server as a process, talked to in raw lines."""

    def __init__(self, process: subprocess.Popen[bytes] | Forked) -> None:
        self.process = process
        self.stdin, self.stdout, self.stderr = cast(
            "tuple[IO[bytes], IO[bytes], IO[bytes]]", (process.stdin, process.stdout, process.stderr)
        )

    def send(self, *messages: dict[str, Any]) -> None:
        self.stdin.write(b"".join(json.dumps(message).encode() + b"\n" for message in messages))
        self.stdin.flush()

    def initialize(self) -> None:
        self.send(INITIALIZE)
        assert json.loads(self.stdout.readline())["id"] == "init"
        self.send(INITIALIZED)

    def call_and_wait_for_its_start(self, name: str, **arguments: Any) -> None:
        self.send(call(name, arguments))
        assert self.stderr.readline() == b"started\n"

    def exit_code(self) -> int:
        return self.process.wait(SOON)


@contextmanager
def running(*args: str, from_the_start: bool = False) -> Generator[Process]:
    with begun_from_the_start(*args) if from_the_start else begun_as_it_is_loaded(*args) as process:
        try:
            yield Process(process)
        finally:
            process.kill()


def begun_from_the_start(*args: str) -> subprocess.Popen[bytes]:
    pipe = subprocess.PIPE
    return subprocess.Popen([sys.executable, SCRIPT, *args], stdin=pipe, stdout=pipe, stderr=pipe)


def begun_as_it_is_loaded(*args: str) -> Forked:
    return template(f"{sample_server.__name__}:main").start(*args, env=os.environ, cwd=Path.cwd())


async def test_print_and_child_processes_do_not_corrupt_the_protocol(tmp_path: Path) -> None:
    log = tmp_path / "stderr"
    with log.open("w") as stderr:
        async with connect_stdio_client(sys.executable, [SCRIPT], stderr=stderr) as client, asyncio.timeout(SOON):
            for _ in range(2):
                assert get_text(await client.call_tool("make_noise", {})) == "quiet"
    output = log.read_text().splitlines()
    assert sorted(output) == sorted(["printed", "written", "from the child"] * 2)


async def test_calls_run_side_by_side_and_text_of_any_kind_and_size_survives() -> None:
    texts = ["Ж量\u2028\u0000\n", "x" * 5_000_000, "", '"\\', "🂡" * 1_000]
    async with connect_stdio_client(sys.executable, [SCRIPT]) as client, asyncio.timeout(SOON):
        waiting = asyncio.create_task(client.call_tool("wait_forever", {}))
        results = await asyncio.gather(*(client.call_tool("say", {"text": text}) for text in texts))
        assert not waiting.done()
        waiting.cancel()
    assert [get_text(result) for result in results] == texts


async def test_environment_and_errors_reach_the_other_side() -> None:
    async with connect_stdio_client(sys.executable, [SCRIPT], {"PYTHONUTF8": "0", "LC_ALL": "C"}) as client:
        result = await client.call_tool("lose", {"paper_id": "é"})
    assert result.isError
    assert get_json(result)["error"]["paper_id"] == "é"


def test_the_end_of_input_ends_the_server_well() -> None:
    with running("cleanup", from_the_start=True) as server:
        server.initialize()
        server.stdin.close()
        assert server.exit_code() == 0
        assert server.stderr.read() == b"cleaned up\n"
        assert server.stdout.read() == b""


def test_cleanup_that_never_ends_holds_up_the_end_of_input_for_its_grace_and_no_longer() -> None:
    with running("endless-cleanup", "0.1") as server:
        server.initialize()
        server.stdin.close()
        assert server.exit_code() == 0
        first, *more = server.stderr.read().decode().splitlines()
    assert first == "cleaning"
    assert "cleanup failed" in more[0]


def test_cleanup_has_five_seconds_of_grace_unless_stated_otherwise() -> None:
    assert inspect.signature(run_stdio).parameters["grace"].default == 5.0


def test_a_call_that_outlasts_the_patience_is_refused_cancelled_and_the_server_ends() -> None:
    with running("cleanup", "5", "0.1") as server:
        server.initialize()
        server.call_and_wait_for_its_start("wait_forever")
        server.stdin.close()
        assert server.exit_code() == 0
        answer = json.loads(server.stdout.read())
        assert (answer["id"], answer["error"]["data"]["error"]["code"]) == (1, "input_ended")
        assert server.stderr.read().decode().splitlines()[-1] == "cleaned up"


def test_a_call_that_ignores_being_cancelled_is_abandoned_after_the_grace() -> None:
    with running("cleanup", "0.1", "0.1") as server:
        server.initialize()
        server.call_and_wait_for_its_start("ignore_cancellation")
        server.stdin.close()
        assert server.exit_code() == 0
        assert "the process ends before its calls" in server.stderr.read().decode()


def test_cleanup_that_ignores_being_cancelled_is_abandoned_after_its_grace() -> None:
    with running("stubborn-cleanup", "0.1") as server:
        server.initialize()
        server.stdin.close()
        assert server.exit_code() == 0
        output = server.stderr.read().decode()
    assert output.startswith("cleaning\n")
    assert "cleanup failed" in output


def test_the_server_ends_although_nobody_reads_its_answers() -> None:
    with running("cleanup", "0.1", "0.1") as server:
        server.initialize()
        server.send(call("large", {"size": 1_000_000}))
        server.stdin.close()
        assert server.exit_code() == 0


def test_answers_are_waited_for_sixty_seconds_unless_stated_otherwise() -> None:
    assert inspect.signature(run_stdio).parameters["patience"].default == 60.0


def test_the_server_does_not_wait_for_an_answer_that_cannot_be_read() -> None:
    with running() as server:
        server.initialize()
        server.call_and_wait_for_its_start("wait_forever")
        server.stdin.close()
        server.stdout.close()
        assert server.exit_code() == 0


def test_requests_received_before_the_end_of_input_are_answered(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    os.mkfifo(source)
    copying = {**call("copy_in_a_thread", {"source": str(source), "target": str(target)}), "id": "copying"}
    with running() as server:
        server.send(INITIALIZE, INITIALIZED, copying, call("say", {"text": "first"}))
        server.stdin.close()
        assert [json.loads(server.stdout.readline())["id"] for _ in range(2)] == ["init", 1]
        source.write_text("late")
        assert json.loads(server.stdout.readline())["result"]["content"][0]["text"] == "copied"
        assert server.stdout.read() == b""
        assert server.exit_code() == 0


def test_work_in_a_thread_is_finished_after_the_client_is_gone(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    os.mkfifo(source)
    with running() as server:
        server.initialize()
        server.call_and_wait_for_its_start("copy_in_a_thread", source=str(source), target=str(target))
        server.stdin.close()
        server.stdout.close()
        source.write_text("finished")
        assert server.exit_code() == 0
    assert target.read_text() == "finished"


def test_a_signal_ends_the_server_while_a_thread_is_all_that_is_left(tmp_path: Path) -> None:
    source = tmp_path / "source"
    os.mkfifo(source)
    with running("cleanup", "0.1", "0.1") as server:
        server.initialize()
        server.call_and_wait_for_its_start("copy_in_a_thread", source=str(source), target=str(tmp_path / "target"))
        server.stdin.close()
        assert b"the call is cancelled" in server.stderr.readline()
        assert server.stderr.readline() == b"cleaned up\n"
        server.process.send_signal(signal.SIGTERM)
        assert server.exit_code() == 143


def test_a_client_that_stops_listening_ends_the_server_although_input_is_open() -> None:
    with running() as server:
        server.initialize()
        server.stdout.close()
        server.send(call("say", {"text": "anyone?"}))
        assert server.exit_code() == 0
        assert server.stderr.read() == b""


@pytest.mark.parametrize(
    ("tool", "number", "code"),
    [
        ("wait_forever", signal.SIGINT, 130),
        ("block_the_loop", signal.SIGINT, 130),
        ("block_the_loop", signal.SIGTERM, 143),
    ],
)
def test_a_signal_ends_the_server_during_a_call(tool: str, number: signal.Signals, code: int) -> None:
    with running() as server:
        server.initialize()
        server.call_and_wait_for_its_start(tool)
        server.process.send_signal(number)
        assert server.exit_code() == code
        assert server.stderr.read() == b""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_is_followed_by_cleanup(number: signal.Signals, code: int) -> None:
    with running("cleanup", from_the_start=True) as server:
        server.initialize()
        server.call_and_wait_for_its_start("wait_forever")
        server.process.send_signal(number)
        assert server.exit_code() == code
        assert server.stderr.read() == b"cleaned up\n"


def test_a_second_signal_does_not_wait_for_cleanup() -> None:
    with running("endless-cleanup", "3600") as server:
        server.initialize()
        server.process.send_signal(signal.SIGINT)
        assert server.stderr.readline() == b"cleaning\n"
        server.process.send_signal(signal.SIGINT)
        assert server.exit_code() == 130


@pytest.mark.parametrize("tool", ["wait_forever", "block_the_loop"])
def test_cleanup_cannot_hold_up_the_end_for_longer_than_its_grace(tool: str) -> None:
    with running("endless-cleanup", "0.1") as server:
        server.initialize()
        server.call_and_wait_for_its_start(tool)
        server.process.send_signal(signal.SIGINT)
        assert server.exit_code() == 130


def test_lines_that_are_not_messages_are_answered_with_errors_and_blank_ones_are_ignored() -> None:
    with running() as server:
        server.stdin.write(b"garbage\n\n\xff\xfe\n[]\n   \n\r\n")
        server.stdin.flush()
        errors = [json.loads(server.stdout.readline()) for _ in range(3)]
        assert [(error["id"], error["error"]["code"]) for error in errors] == [
            (None, -32700),
            (None, -32700),
            (None, -32600),
        ]
        server.initialize()
        server.send(call("say", {"text": "fine"}))
        assert "fine" in json.loads(server.stdout.readline())["result"]["content"][0]["text"]


@pytest.mark.parametrize(
    ("last", "code"),
    [(b'{"jsonrpc": "2.0", "id": 9, "method": "ping"}', None), (b'{"jsonrpc": "2.0", "id": 9', -32700)],
)
def test_a_last_line_without_its_end_is_a_line(last: bytes, code: int | None) -> None:
    with running() as server:
        server.initialize()
        server.stdin.write(last)
        server.stdin.close()
        answer = json.loads(server.stdout.readline())
        assert (answer["id"], answer.get("error", {}).get("code")) == (None if code else 9, code)
        assert server.exit_code() == 0
        assert server.stdout.read() == b""


@pytest.mark.skipif(sys.platform != "linux", reason="open files are listed in /proc")
def test_children_hold_no_end_of_the_connection(tmp_path: Path) -> None:
    listing = tmp_path / "listing"
    with running() as server:
        server.initialize()
        server.send(call("list_open_files", {"target": str(listing)}))
        assert b"listed" in server.stdout.readline()
    listed = dict(line.split(" ", 1) for line in listing.read_text().splitlines())
    assert listed.keys() == {"0", "1", "2"}
    assert listed["0"] == os.devnull
    assert listed["1"] == listed["2"]
