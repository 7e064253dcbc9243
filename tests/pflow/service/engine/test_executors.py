"""Executors: coroutines on the loop, functions in threads, and shared objects."""

import asyncio
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from pflow.domain.node import NodeContext
from pflow.domain.node_interface import Interface
from pflow.service.engine.executors import Call, LocalExecutor, LocalSharedObjects, run_in_thread

THREADS = 32

SOON_S = 20


class FixedFunctions:
    """A registry of one function, which counts how often it was asked."""

    def __init__(self, function: Any) -> None:
        self._function = function
        self.asked = 0

    def load_function(self, _interface: Interface) -> Any:
        self.asked += 1
        return self._function


def make_call(**params: Any) -> Call:
    context = NodeContext("run_1", "flow", "a", Path("home"), Path(), Path("spool"))
    return Call(Interface("t", "", "m:f"), params, context, "pure")


async def test_a_coroutine_runs_on_the_loop_and_a_function_in_a_thread_of_its_own() -> None:
    def where(_params: Any, _context: Any) -> Any:
        return {"thread": threading.current_thread()}

    async def here(params: Any, context: Any) -> Any:
        return where(params, context)

    on_loop = await LocalExecutor(FixedFunctions(here)).run_node(make_call())
    in_other = await LocalExecutor(FixedFunctions(where)).run_node(make_call())
    assert on_loop == {"thread": threading.current_thread()}
    assert isinstance(in_other, dict)
    thread: Any = in_other["thread"]
    assert thread is not threading.current_thread()
    assert thread.daemon


async def test_the_function_of_a_type_is_looked_up_once_in_a_run() -> None:
    def same(params: Any, _context: Any) -> Any:
        return params

    given = FixedFunctions(same)
    executor = LocalExecutor(given)
    assert [await executor.run_node(make_call(n=n)) for n in range(3)] == [{"n": 0}, {"n": 1}, {"n": 2}]
    assert given.asked == 1


async def test_no_more_functions_run_at_once_than_there_are_threads_for() -> None:
    lock = threading.Lock()
    now, most = 0, 0
    all_in, too_many = threading.Event(), threading.Event()

    def busy(_params: Any, _context: Any) -> Any:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
            if now == THREADS:
                all_in.set()
            if now > THREADS:
                too_many.set()
        all_in.wait(SOON_S)
        too_many.wait(0.1)
        with lock:
            now -= 1
        return {}

    executor = LocalExecutor(FixedFunctions(busy))
    async with asyncio.timeout(SOON_S):
        await asyncio.gather(*(executor.run_node(make_call()) for _ in range(3 * THREADS)))
    assert most == THREADS


@pytest.mark.parametrize("raised", [ValueError("x"), SystemExit(3), KeyboardInterrupt(), asyncio.CancelledError()])
async def test_an_exception_of_a_function_is_raised_to_the_caller(raised: BaseException) -> None:
    def fails() -> None:
        raise raised

    with pytest.raises(type(raised)):
        await run_in_thread(fails)


async def test_a_stop_iteration_of_a_function_becomes_a_runtime_error() -> None:
    with pytest.raises(RuntimeError, match="StopIteration ended the node"):
        await run_in_thread(next, iter(()))


async def test_a_thread_that_is_given_up_on_is_not_waited_for() -> None:
    has_started, go, has_ended = threading.Event(), threading.Event(), threading.Event()

    def wait_for_go() -> None:
        has_started.set()
        go.wait(SOON_S)
        has_ended.set()

    task = asyncio.create_task(run_in_thread(wait_for_go))
    assert await asyncio.to_thread(has_started.wait, SOON_S)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not has_ended.is_set()
    go.set()
    assert await asyncio.to_thread(has_ended.wait, SOON_S)


ABANDONED = """
import asyncio, threading
from pflow.service.engine.executors import run_in_thread

async def main():
    try:
        async with asyncio.timeout(0.05):
            await run_in_thread(threading.Event().wait)
    except TimeoutError:
        print("given up")

asyncio.run(main())
"""


def test_a_process_ends_though_a_thread_that_was_given_up_on_never_does() -> None:
    done = subprocess.run([sys.executable, "-c", ABANDONED], capture_output=True, text=True, timeout=SOON_S, check=True)
    assert (done.stdout, done.stderr) == ("given up\n", "")


class SharedObject:
    def __init__(self) -> None:
        self.is_closed = False

    async def close(self) -> None:
        self.is_closed = True
        raise OSError("it would not close")


async def test_shared_objects_are_created_once_and_closed_at_the_end_even_if_closing_fails() -> None:
    made: list[SharedObject] = []

    async def make() -> SharedObject:
        await asyncio.sleep(0)
        made.append(SharedObject())
        return made[-1]

    shared_objects = LocalSharedObjects()
    got = await asyncio.gather(
        *(shared_objects.get_or_create("a", make) for _ in range(5)), shared_objects.get_or_create("b", make)
    )
    assert len(made) == 2
    assert len(set(map(id, got[:5]))) == 1
    await shared_objects.close()
    assert all(one.is_closed for one in made)


async def test_a_shared_object_that_could_not_be_created_is_tried_again() -> None:
    attempts = 0

    async def make() -> SharedObject:
        nonlocal attempts
        attempts += 1
        if attempts == 1:
            raise OSError("not yet")
        return SharedObject()

    shared_objects = LocalSharedObjects()
    with pytest.raises(OSError, match="not yet"):
        await shared_objects.get_or_create("a", make)
    assert isinstance(await shared_objects.get_or_create("a", make), SharedObject)


async def test_cancelling_one_waiting_task_does_not_cancel_the_shared_object() -> None:
    go = asyncio.Event()

    async def make() -> SharedObject:
        await go.wait()
        return SharedObject()

    shared_objects = LocalSharedObjects()
    impatient, patient = (asyncio.create_task(shared_objects.get_or_create("a", make)) for _ in range(2))
    await asyncio.sleep(0)
    impatient.cancel()
    await asyncio.gather(impatient, return_exceptions=True)
    go.set()
    assert isinstance(await patient, SharedObject)
    await shared_objects.close()
