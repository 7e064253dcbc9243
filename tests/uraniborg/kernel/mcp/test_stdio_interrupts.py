import os
import signal
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.forked_processes import template
from tests.uraniborg.kernel.mcp import interruptible_server
from tests.uraniborg.kernel.mcp.test_stdio import Process

GRACE_S = 1.0


@contextmanager
def running(how: str = "well", door: str = "both") -> Generator[Process]:
    served = template(f"{interruptible_server.__name__}:main")
    with served.start(how, door, env=os.environ, cwd=Path.cwd()) as process:
        try:
            yield Process(process)
        finally:
            process.kill()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("door", ["both", "run"])
def test_a_signal_ends_the_running_work_and_then_cleans_up(number: signal.Signals, code: int, door: str) -> None:
    with running(door=door) as server:
        server.initialize()
        server.process.send_signal(number)
        assert server.exit_code() == code
        assert server.stderr.read().splitlines() == [b"interrupted", b"ended what ran", b"cleaned up"]


def test_it_is_awaited_during_a_call_and_needs_no_cleanup() -> None:
    with running(door="alone") as server:
        server.initialize()
        server.call_and_wait_for_its_start("wait_forever")
        server.process.send_signal(signal.SIGINT)
        assert server.exit_code() == 130
        assert server.stderr.read().splitlines() == [b"interrupted", b"ended what ran"]


def test_the_end_of_input_interrupts_nothing() -> None:
    with running() as server:
        server.initialize()
        server.stdin.close()
        assert server.exit_code() == 0
        assert server.stderr.read() == b"cleaned up\n"


def test_a_client_that_leaves_interrupts_nothing_either(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    os.mkfifo(source)
    with running(door="alone") as server:
        server.initialize()
        server.call_and_wait_for_its_start("copy_in_a_thread", source=str(source), target=str(target))
        server.stdin.close()
        server.stdout.close()
        source.write_text("finished")
        assert server.exit_code() == 0
        assert server.stderr.read() == b""
    assert target.read_text() == "finished"


def test_one_that_fails_is_logged_and_cleanup_follows_all_the_same() -> None:
    with running("fails") as server:
        server.initialize()
        server.process.send_signal(signal.SIGINT)
        assert server.exit_code() == 130
        stderr = server.stderr.read().decode()
    assert stderr.startswith("interrupted\n")
    assert stderr.endswith("cleaned up\n")
    assert "cleanup failed" in stderr


def test_one_that_never_ends_cannot_hold_up_the_end_for_longer_than_the_grace() -> None:
    with running("forever", str(GRACE_S)) as server:
        server.initialize()
        server.process.send_signal(signal.SIGINT)
        assert server.exit_code() == 130
        assert server.stderr.readline() == b"interrupted\n"


def test_a_second_signal_does_not_wait_for_it() -> None:
    with running("forever", "3600") as server:
        server.initialize()
        server.process.send_signal(signal.SIGINT)
        assert server.stderr.readline() == b"interrupted\n"
        server.process.send_signal(signal.SIGINT)
        assert server.exit_code() == 130


def test_a_loop_that_is_kept_busy_does_not_keep_the_signal_from_ending_the_server() -> None:
    with running("well", str(GRACE_S)) as server:
        server.initialize()
        server.call_and_wait_for_its_start("block_the_loop")
        server.process.send_signal(signal.SIGINT)
        assert server.exit_code() == 130
        assert server.stderr.read() == b"", "there was nobody to ask"


def test_a_signal_after_the_client_has_left_ends_the_running_work(tmp_path: Path) -> None:
    source = tmp_path / "source"
    os.mkfifo(source)
    with running(door=str(GRACE_S)) as server:
        server.initialize()
        server.call_and_wait_for_its_start("copy_in_a_thread", source=str(source), target=str(tmp_path / "target"))
        server.stdin.close()
        assert b"the call is cancelled" in server.stderr.readline()
        assert server.stderr.readline() == b"cleaned up\n"
        server.process.send_signal(signal.SIGINT)
        assert server.exit_code() == 130
        assert server.stderr.read().splitlines() == [b"interrupted", b"ended what ran"]
