"""The dialogue with workers: replies, errors, and what follows if either side is killed."""

import asyncio
import json
import signal
import subprocess
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from tests.forked_processes import ROOT, SOON
from uraniborg.kernel.processes.worker_dialogue import RequestFailed, WorkerEnded, WorkerProcess, start_worker

MODULE: Final = "tests.uraniborg.kernel.processes.waiting_worker"
PARENT: Final = "tests.uraniborg.kernel.processes.parent_of_worker"
IS_READY: Final = """
echo '{"ready": {"port": 8000}}'
"""
ANSWER_IN_OTHER_ORDER: Final = """
read first; read second
printf '{"id": 1, "result": "two", "size": 5}\\na\\nb\\nc'
printf '{"id": 0, "progress": 1}\\n{"id": 7, "result": "unknown"}\\n{"id": 0, "result": "one"}\\n'
"""
END_AMID_A_MESSAGE: Final = """
read request
printf '{"id": 0, "result": "one", "size": 100}\\nbody'
"""
WRITE_NO_JSON: Final = """
read request
echo Welcome
sleep 600
"""


@asynccontextmanager
async def run_worker() -> AsyncGenerator[WorkerProcess[str, Any, Any]]:
    worker = await start_worker(MODULE, cwd=ROOT)
    try:
        yield worker
    finally:
        await worker.end(within_s=0)


async def start_script(script: str, ready: list[Any] | None = None) -> WorkerProcess[str, Any, Any]:
    process = await asyncio.create_subprocess_exec("sh", "-c", script, stdin=PIPE, stdout=PIPE)
    return WorkerProcess(process, None if ready is None else ready.append)


async def wait_until_gone(process_id: int) -> None:
    async with asyncio.timeout(SOON):
        while Path(f"/proc/{process_id}").exists():  # noqa: ASYNC110 - another process ends
            await asyncio.sleep(0.02)


async def test_a_request_has_its_progress_in_order_and_then_its_result() -> None:
    seen: list[int] = []

    async def note(progress: int) -> None:
        seen.append(progress)

    async with run_worker() as worker:
        assert (await worker.request("count", b"a\nb", on_progress=note)).result == 3
        assert seen == [0, 1, 2]
        assert (await worker.request("count")).result == 0
        assert await worker.end(within_s=SOON) == 0


async def test_replies_find_their_requests_in_any_order_and_have_bodies_of_any_bytes() -> None:
    worker = await start_script(ANSWER_IN_OTHER_ORDER)
    one, two = await asyncio.gather(worker.request("1"), worker.request("2"))
    assert (one, two) == (("one", b""), ("two", b"a\nb\nc"))
    await worker.end(within_s=SOON)


async def test_a_worker_says_that_it_is_ready() -> None:
    ready: list[Any] = []
    worker = await start_script(IS_READY, ready)
    assert await worker.wait() == 0
    assert ready == [{"port": 8000}]


async def test_an_error_has_the_code_status_and_ids_of_the_original() -> None:
    async with run_worker() as worker:
        with pytest.raises(RequestFailed, match="There is no moon") as refused:
            await worker.request("refuse")
        assert (refused.value.code, refused.value.status) == ("not_found", 404)
        body = {"code": "not_found", "message": "There is no moon.", "hint": "Look again.", "moon": "Neith"}
        assert refused.value.body() == {"error": body}
        with pytest.raises(RequestFailed) as broken:
            await worker.request("break")
        assert (broken.value.code, broken.value.status) == ("internal_error", 500)
        assert (await worker.request("count")).result == 0, "the worker continues"


async def test_the_output_of_a_worker_and_its_children_is_no_message() -> None:
    async with run_worker() as worker:
        assert (await worker.request("print")).result == ""


async def test_a_worker_that_is_killed_ends_its_requests_and_later_ones() -> None:
    async with run_worker() as worker:

        async def kill(_progress: object) -> None:
            worker.kill()

        with pytest.raises(WorkerEnded):
            await worker.request("wait", on_progress=kill)
        assert await worker.wait() == -signal.SIGKILL
        with pytest.raises(WorkerEnded):
            await worker.request("count")


async def test_an_error_while_progress_is_recorded_ends_the_request() -> None:
    async def fail(_progress: object) -> None:
        raise OSError("The disk is full.")

    async with run_worker() as worker:
        with pytest.raises(OSError, match="full"):
            await worker.request("count", on_progress=fail)
        assert (await worker.request("count")).result == 0


async def test_a_worker_that_is_ended_while_it_works_ends_at_once_with_its_request() -> None:
    async with run_worker() as worker:
        is_busy = asyncio.Event()

        async def note(_progress: object) -> None:
            is_busy.set()

        waiting = asyncio.create_task(worker.request("wait", on_progress=note))
        await is_busy.wait()
        assert await worker.end(within_s=SOON) == 1, "it ends in the middle of its work"
        with pytest.raises(WorkerEnded):
            await waiting


@pytest.mark.parametrize("script", [END_AMID_A_MESSAGE, WRITE_NO_JSON])
async def test_a_message_that_is_not_complete_ends_the_request(script: str) -> None:
    worker = await start_script(script)
    with pytest.raises(WorkerEnded):
        await worker.request("1")
    await worker.end(within_s=0)


async def test_a_worker_writes_all_characters_whatever_the_encoding_of_terminals(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", "latin-1")
    async with run_worker() as worker:
        assert (await worker.request("write")).result == "Müller … 星 \ud800"


@pytest.mark.parametrize("request_text", ["wait", "count"])
async def test_a_worker_ends_when_its_parent_is_killed(request_text: str) -> None:
    parent = await asyncio.create_subprocess_exec(sys.executable, "-m", PARENT, request_text, cwd=ROOT, stdout=PIPE)
    assert parent.stdout is not None
    worker = int(await parent.stdout.readline())
    assert Path(f"/proc/{worker}").exists()
    parent.kill()
    await parent.wait()
    await wait_until_gone(worker)


def test_a_worker_whose_parent_was_killed_amid_a_message_ends_without_a_traceback() -> None:
    request = json.dumps({"id": 0, "request": "count", "size": 100}).encode()
    for given in (request, request + b"\nbody", b""):
        ended = subprocess.run([sys.executable, "-m", MODULE], cwd=ROOT, input=given, capture_output=True, check=False)
        assert (ended.returncode, ended.stdout, ended.stderr) == (0, b"", b"")


EXIT_WHILE_READING: Final = """
import time
from uraniborg.kernel.processes.worker_dialogue import Parent
Parent().listen(print)
time.sleep(0.2)
"""


def test_a_worker_can_exit_while_it_waits_for_requests() -> None:
    with subprocess.Popen([sys.executable, "-c", EXIT_WHILE_READING], stdin=PIPE, stderr=PIPE) as process:
        assert process.stderr is not None
        assert process.stderr.read() == b""
        assert process.wait() == 0
