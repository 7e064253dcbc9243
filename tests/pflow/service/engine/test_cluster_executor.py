"""Nodes on a real Dask cluster on this machine: a scheduler and two workers, some of which are killed."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

import pytest

from pflow.config import Settings
from pflow.errors import ClusterUnreachable
from pflow.service.engine import cluster_executor as cluster_module
from pflow.service.engine.cancellation import Cancellation
from pflow.service.engine.cluster_executor import PickledCall
from pflow.service.engine.results import RunResult
from pflow.service.operations import Service
from tests.pflow.mcp.agents import agent, execute_workflow
from tests.pflow.run_results import get_error, get_outputs
from tests.pflow.service.engine.counting_home import Home, build_graph, chain, node

pytestmark = pytest.mark.skipif(find_spec("distributed") is None, reason="the extra `dask` is not installed")

SOON_S = 30.0

ODD = """
import os
import sys

from pflow.errors import InvalidInputs, NodeFailed, NodeTimedOut
from pflow.domain.node import Outcome
from uraniborg.kernel.errors import NotFound


class TooSour(NodeFailed):
    code = "too_sour"


class Mute(Exception):
    def __str__(self):
        raise RuntimeError("no words")


def raises(params, context):
    raise {
        "failed": NodeFailed("It is broken.", hint="Mend it.", outputs={"half": [1, 2]}, part="lid"),
        "subclass": TooSour("It is sour.", hint="Sweeten it."),
        "timed-out": NodeTimedOut("It took too long.", hint="Wait."),
        "inputs": InvalidInputs("It does not fit.", hint="Give another.", problems=[1]),
        "other-part": NotFound("There is none.", hint="Make one.", thing="x"),
        "plain": ValueError("not this one"),
        "exit": SystemExit(3),
        "mute": Mute(),
        "odd-ids": NodeFailed("It is odd.", thing=object(), path=context.home / "x", words=("a", b"b")),
        "odd-outputs": NodeFailed("It is odd.", outputs={"thing": object()}),
    }[params["how"]]


def gives(params, context):
    return {
        "nothing": None,
        "action": Outcome({"a": 1}, "left"),
        "list": [1],
        "object": {"thing": object()},
        "bytes": {"raw": params.get("word", "").encode(), "set": {3, 1}},
        "number": {"large": 2**70, "none": float("nan"), "text": "ä\\u0000 🪐"},
    }[params["what"]]


def where(params, context):
    print("printed by a worker")
    print("and there", file=sys.stderr)
    return {"pid": os.getpid(), "long": len(params.get("long", ""))}


def says(params, context):
    import distributed

    distributed.print("said by a worker")
    distributed.get_worker().log_event("warn", "warned by a worker")
    return {}


def ends_its_process(params, context):
    os._exit(7)


def cuts_the_line(params, context):
    os.kill(params["pid"], 9)
    import time
    time.sleep(60)
"""


def declare_misbehaving_node(function: str) -> dict[str, Any]:
    return {
        "type": function.replace("_", "-"),
        "description": "Odd.",
        "run": f"odd.py:{function}",
        "effect": "pure",
        "open_params": True,
        "open_actions": True,
    }


FUNCTIONS = ("raises", "gives", "where", "says", "ends_its_process", "cuts_the_line")


def until(holds: Any, what: str) -> None:
    tick = threading.Event()
    for _ in range(int(SOON_S / 0.02)):
        if holds():
            return
        tick.wait(0.02)
    raise AssertionError(f"{what}: it never came true")


def declare_outputs(**sources: str) -> dict[str, Any]:
    """Return declarations of outputs."""
    return {name: {"source": source} for name, source in sources.items()}


class Cluster:
    """A scheduler, and as many workers of one thread each as are asked for."""

    def __init__(self, folder: Path, **settings: str) -> None:
        self._folder = folder
        self._file = folder / "scheduler.json"
        self._env = {
            **os.environ,
            "DASK_CONFIG": str(folder / "config"),
            "DASK_TEMPORARY_DIRECTORY": str(folder / "scratch"),
            "PYTHONDONTWRITEBYTECODE": "1",
            **settings,
        }
        self._count = 0
        self._workers: dict[subprocess.Popen[bytes], Path] = {}
        self._scheduler, _ = self._started("scheduler", "--port", "0", "--scheduler-file", str(self._file))

    @property
    def address(self) -> str:
        until(self._file.exists, "the scheduler starts")
        return json.loads(self._file.read_text())["address"]

    @property
    def scheduler_pid(self) -> int:
        return self._scheduler.pid

    @property
    def pids(self) -> set[int]:
        return {worker.pid for worker in self._workers if worker.poll() is None}

    def with_workers(self, count: int) -> "Cluster":
        """Itself, once it has as many workers. They wait for the scheduler themselves."""
        while len(self.pids) < count:
            process, log = self._started("worker", "--scheduler-file", str(self._file), "--no-nanny", "--nthreads", "1")
            self._workers[process] = log
        for process, log in self._workers.items():
            until(lambda p=process, log=log: p.poll() is not None or b"Registered" in log.read_bytes(), "a worker")
        assert len(self.pids) == count, [log.read_text() for log in self._workers.values()]
        return self

    def kill(self, *pids: int) -> None:
        for process in self._workers:
            if process.pid in pids:
                process.kill()
                process.wait(SOON_S)

    def kill_scheduler(self) -> None:
        self._scheduler.kill()
        self._scheduler.wait(SOON_S)

    def end(self) -> None:
        for process in (*self._workers, self._scheduler):
            process.kill()
        for process in (*self._workers, self._scheduler):
            process.wait(SOON_S)

    def _started(self, what: str, *more: str) -> tuple[subprocess.Popen[bytes], Path]:
        self._count += 1
        log = self._folder / f"{what}-{self._count}.log"
        argv = [sys.executable, "-m", "dask", what, *more, "--host", "127.0.0.1", "--dashboard-address", "127.0.0.1:0"]
        with log.open("wb") as stream:
            process = subprocess.Popen(
                argv, stdin=subprocess.DEVNULL, stdout=stream, stderr=stream, env=self._env, cwd=self._folder
            )
        return process, log


@contextmanager
def private_cluster(folder: Path, workers: int, **settings: str) -> Generator[Cluster]:
    folder.mkdir(parents=True)
    made = Cluster(folder, **settings)
    try:
        yield made.with_workers(workers)
    finally:
        made.end()


@pytest.fixture(scope="module", autouse=True)
def _own_dask_config(tmp_path_factory: pytest.TempPathFactory) -> Generator[None]:
    """Let Dask write its settings to a temporary folder instead of the home of the user."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DASK_CONFIG", str(tmp_path_factory.mktemp("dask")))
        yield


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Generator[Cluster]:
    with private_cluster(tmp_path_factory.mktemp("cluster") / "cluster", 2) as made:
        yield made


@pytest.fixture
def cluster(shared: Cluster) -> Cluster:
    return shared.with_workers(2)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return make_home(tmp_path)


def make_home(place: Path) -> Home:
    home = Home(place)
    home.record_nodes("odd", [declare_misbehaving_node(function) for function in FUNCTIONS], ODD)
    return home


def run(home: Home, address: str | None, ir: Any, inputs: Any = None, **more: Any) -> RunResult:
    """In a folder that homes beside each other share: where a node runs is part of what it gives."""
    service = Service(Settings(home=home.path, cluster=address), folder=home.place.parent)
    return service.run_document(ir, inputs, name="flow", **more)


class Running:
    """A run in a thread of its own."""

    def __init__(self, home: Home, address: str, ir: Any) -> None:
        self.cancellation = Cancellation()
        self._results: list[RunResult] = []
        self._thread = threading.Thread(target=self._run, args=(home, address, ir), daemon=True)
        self._thread.start()

    def _run(self, home: Home, address: str, ir: Any) -> None:
        self._results.append(run(home, address, ir, cancellation=self.cancellation))

    def until(self, holds: Any, what: str) -> None:
        until(lambda: holds() or not self._thread.is_alive(), what)
        assert holds(), (what, self._results)

    def result(self) -> RunResult:
        self._thread.join(SOON_S)
        assert self._results, "the run did not end"
        return self._results[0]


UNORDERED = ("completed_nodes", "warnings")
VARYING = ("run_id", "duration_ms", "timing", "started_at", "ended_at", "id", "lineage", "at", "resumed_from", "by")


def remove_timings(value: Any) -> Any:
    """Return the value without fields that differ in each run, and independent of the order of parallel nodes."""
    if isinstance(value, dict):
        plain = cast("dict[str, Any]", value)
        kept = {key: remove_timings(item) for key, item in plain.items() if key not in VARYING}
        return {key: sorted(item) if key in UNORDERED else item for key, item in kept.items()}
    return [remove_timings(item) for item in cast("list[Any]", value)] if isinstance(value, list) else value


def read_logged_run(home: Home, run_id: str) -> dict[str, Any]:
    log = home.service.history.open_log()
    report = log.get_run(run_id)
    log.close()
    nodes = sorted(remove_timings([{**one, "seq": 0} for one in report["nodes"]]), key=lambda one: one["node"])
    return remove_timings({**report, "nodes": nodes})


def read_stored_results(home: Home) -> Any:
    report = home.checkpoint()
    results = [{**one, "finished": one["finished"][:-2]} for one in report["results"]]  # by whom, and when
    return remove_timings({**report, "run": None, "results": sorted(results, key=lambda one: one["finished"])})


ITEMS = ["a", "b", "c", "d", "e", "f"]
INNER = chain(
    node("in", echo="${word}"),
    node("effect-in", "effect", echo="${in.value}"),
    inputs={"word": {"type": "string"}},
    outputs=declare_outputs(said="${in.echo}", deep="${effect-in.value}"),
)


def build_mixed_workflow(*, last: dict[str, Any]) -> dict[str, Any]:
    """Return a workflow with a batch, an error edge, an effect, a coroutine, a nested workflow and `last`."""
    return build_graph(
        [
            node("first", echo="${word}"),
            node("each", echo="${item} ${first.value}", batch={"items": ITEMS, "parallel": True}),
            node("some", echo="${item}", batch={"items": ITEMS, "parallel": True, "error_handling": "continue"}),
            node("breaks", "raises", how="failed"),
            node("mends", echo="${breaks.half} ${breaks.error}"),
            node("effect", "effect", echo="${first.value}"),
            node("loop", "on-loop", echo="${first.echo}"),
            node("within", "workflow", workflow_ir=INNER, inputs={"word": "${first.echo}"}),
            last,
        ],
        *("first>each", "first>some", "first>breaks", "breaks>mends:error", "first>effect", "first>loop"),
        *("first>within", "each>last", "some>last", "mends>last", "effect>last", "loop>last", "within>last"),
        inputs={"word": {"type": "string", "default": "wörd"}},
        outputs=declare_outputs(
            each="${each}",
            some="${some}",
            mends="${mends.echo}",
            effect="${effect.value}",
            within="${within}",
            last="${last.echo}",
        ),
    )


SUCCEEDS = node("last", echo="${each.results[5].value} ${within.said}")
FAILS = node("last", "raises", how="subclass")


@pytest.mark.parametrize("last", [SUCCEEDS, FAILS], ids=["succeeds", "fails"])
def test_outputs_checkpoint_log_and_reply_are_those_of_a_run_in_this_process(
    cluster: Cluster, tmp_path: Path, last: dict[str, Any]
) -> None:
    ir = build_mixed_workflow(last=last)
    here, there = (make_home(tmp_path / name) for name in ("here", "there"))
    for one in (here, there):
        one.order("fail-some[2]", text="no reason")
    ours, theirs = run(here, None, ir), run(there, cluster.address, ir)
    assert ours.success is (last is SUCCEEDS)
    assert remove_timings(theirs.reply()) == remove_timings(ours.reply())
    assert read_logged_run(there, theirs.run_id) == read_logged_run(here, ours.run_id)
    assert theirs.outputs.keys() == ours.outputs.keys()
    if ours.success:
        assert get_outputs(theirs)["last"] == f"{get_outputs(theirs)['each']['results'][5]['value']} wörd"
        assert not list(there.checkpoints.glob("*.json"))
    else:
        assert read_stored_results(there) == read_stored_results(here)
        assert (theirs.error_body or {})["code"] == "too_sour"


def test_a_run_that_failed_on_a_cluster_is_resumed_in_this_process_and_vice_versa(cluster: Cluster, home: Home) -> None:
    ir = chain(node("a"), node("b", "effect", echo="${a.value}"), node("c", echo="${b.value}"))
    home.order("fail-c")
    for address in (cluster.address, None):
        assert run(home, address, ir).error_body
    home.clear_orders("fail-c")
    result = run(home, cluster.address, ir)
    assert result.success
    assert result.progress.reused == ["a", "b"]
    assert home.runs() == {"a": 1, "b": 1, "c": 3}


def test_nodes_and_items_without_effects_run_on_workers_and_effects_are_had_here(cluster: Cluster, home: Home) -> None:
    for item in (0, 1):
        home.order(f"wait-each[{item}]")
    ir = chain(
        node("pure"),
        node("loop", "on-loop"),
        node("each", echo="${item}", batch={"items": [1, 2], "parallel": True}),
        node("effect", "effect"),
        node("effects", "effect", echo="${item}", batch={"items": [1, 2], "parallel": True}),
        node("made-effect", effect="effectful"),
        node("made-pure", "effect", effect="idempotent"),
    )
    running = Running(home, cluster.address, ir)
    running.until(lambda: home.runs().keys() >= {"each[0]", "each[1]"}, "both items run at once")
    home.clear_orders()
    assert running.result().success
    pids = {line["node"]: line["pid"] for line in home.lines()}
    away = {name for name, pid in pids.items() if pid in cluster.pids}
    assert away == {"pure", "loop", "each[0]", "each[1]", "made-pure"}
    assert {pid for name, pid in pids.items() if name not in away} == {os.getpid()}
    assert pids["each[0]"] != pids["each[1]"]


@pytest.mark.parametrize(
    "how",
    ["failed", "subclass", "timed-out", "inputs", "other-part", "plain", "exit", "mute", "odd-ids", "odd-outputs"],
)
def test_an_error_on_a_worker_is_the_same_as_a_local_one(cluster: Cluster, home: Home, how: str) -> None:
    ir = build_graph([node("a", "raises", how=how), node("b", "gives", what="nothing")], "a>b")
    handled = build_graph(
        [node("a", "raises", how=how), node("b", "echo", message="${a}", effect="effectful")],
        "a>b:error",
        outputs=declare_outputs(a="${b.echo}"),
    )
    ours, theirs = (run(home, address, ir, fresh=True).error_body for address in (None, cluster.address))
    assert ours is not None
    assert theirs == ours
    ours, theirs = (run(home, address, handled, fresh=True).outputs for address in (None, cluster.address))
    assert theirs == ours
    if how == "failed":
        assert theirs["a"] == {"half": [1, 2], "error": "It is broken."}


@pytest.mark.parametrize("what", ["nothing", "action", "list", "object", "bytes", "number"])
def test_outputs_of_a_worker_are_the_same_as_local_ones(cluster: Cluster, home: Home, what: str) -> None:
    ir = build_graph(
        [node("a", "gives", what=what, word="wörd"), node("b", "echo", message=1), node("c", "echo", message=2)],
        *("a>b", "a>c:left"),
        outputs=declare_outputs(a='${a ?? "none"}'),
    )
    ours, theirs = (run(home, address, ir, fresh=True) for address in (None, cluster.address))
    assert remove_timings(theirs.reply()) == remove_timings(ours.reply())
    assert (theirs.success, theirs.progress.actions) == (ours.success, ours.progress.actions)


def test_bytes_from_a_worker_that_contain_a_secret_are_not_stored(cluster: Cluster, home: Home) -> None:
    ir = chain(
        node("a", "gives", what="bytes", word="${api_key}"),
        node("b", "raises", how="failed"),
        inputs={"api_key": {"type": "string"}},
    )
    assert not run(home, cluster.address, ir, {"api_key": "dont-tell-anyone"}).success
    (kept,) = home.checkpoint()["results"]
    assert kept["outputs"] is None


def test_a_call_sent_to_a_worker_shows_none_of_its_content() -> None:
    assert repr(PickledCall(b"dont-tell-anyone")) == "PickledCall()"


def test_a_node_that_kills_its_worker_each_time_fails_with_an_explanation(home: Home, tmp_path: Path) -> None:
    settings = {"DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "0"}
    with private_cluster(tmp_path / "cluster", 1, **settings) as fragile:
        result = run(home, fragile.address, chain(node("a", "ends-its-process")))
    error = get_error(result)
    assert (error["code"], error["node"], error["exception"]) == ("node_failed", "a", "KilledWorker")
    assert error["message"].startswith("The cluster could not run it: KilledWorker")
    assert "logs of its workers" in error["hint"]


def test_a_node_that_takes_too_long_is_abandoned_and_never_started_later(cluster: Cluster, home: Home) -> None:
    home.order("wait-each[0]", "wait-each[1]")
    ir = chain(
        node(
            "each", echo="${item}", timeout=1.0, batch={"items": ITEMS, "parallel": True, "error_handling": "continue"}
        ),
        outputs=declare_outputs(errors="${each.errors}"),
    )
    running = Running(home, cluster.address, ir)
    running.until(lambda: len(home.runs()) == 2, "both workers are busy")
    result = running.result()
    assert result.success
    assert [one["code"] for one in get_outputs(result)["errors"]] == ["node_timed_out"] * len(ITEMS)
    home.clear_orders()
    assert run(home, cluster.address, chain(node("after"), node("and-after"))).success
    assert home.runs() == {"each[0]": 1, "each[1]": 1, "after": 1, "and-after": 1}


def test_a_cancelled_run_drops_the_nodes_that_no_worker_has_started(cluster: Cluster, home: Home) -> None:
    home.order("wait-each[0]", "wait-each[1]")
    ir = chain(node("first"), node("each", echo="${item}", batch={"items": ITEMS, "parallel": True}))
    running = Running(home, cluster.address, ir)
    running.until(lambda: len(home.runs()) == 3, "both workers are busy")
    running.cancellation.cancel()
    result = running.result()
    assert (result.error_body or {})["code"] == "run_cancelled"
    assert result.is_resumable
    home.clear_orders()
    # Both workers take it up after all that they were given before.
    assert run(home, cluster.address, chain(node("x", batch={"items": [1, 2], "parallel": True}))).success
    assert home.runs() == {"first": 1, "each[0]": 1, "each[1]": 1, "x[0]": 1, "x[1]": 1}


def test_a_run_that_is_taken_back_while_it_connects_ends_at_once(home: Home) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        running = Running(home, f"tcp://127.0.0.1:{silent.getsockname()[1]}", chain(node("a")))
        silent.settimeout(SOON_S)
        connection, _ = silent.accept()
        with connection:
            running.cancellation.cancel()
            result = running.result()
    assert (result.error_body or {})["code"] == "run_cancelled"
    assert result.duration_ms < 1000 * cluster_module._CONNECT_TIMEOUT_S  # pyright: ignore[reportPrivateUsage]


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@pytest.mark.parametrize(
    "address",
    ["tcp://127.0.0.1:{}", "127.0.0.1:{}", "", " ", "nonsense://x:1", "tcp://127.0.0.1:99999", "tcp://[", "\0"],
)
def test_an_address_without_a_scheduler_is_reported_with_a_hint(
    home: Home, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.setattr(cluster_module, "_CONNECT_TIMEOUT_S", 0.5)
    address = address.format(free_port())
    result = run(home, address, chain(node("effect", "effect"), node("a"), node("b")))
    error = get_error(result)
    assert isinstance(result.error, ClusterUnreachable)
    assert (error["code"], error["node"], error["address"]) == ("cluster_unreachable", "a", address)
    assert error["message"].startswith("No Dask scheduler answers at")
    assert "dask scheduler" in error["hint"]
    assert result.is_resumable
    assert result.progress.completed == ["effect"]


@pytest.mark.parametrize(
    "ir",
    [
        build_graph([node("a"), node("saver")], "a>saver:error"),
        chain(node("a", batch={"items": ITEMS, "error_handling": "continue"}), node("after")),
        chain(node("a", batch={"items": ITEMS, "error_handling": "continue", "parallel": True}), node("after")),
        chain(node("a", retry={"attempts": 3, "wait": 60})),
        build_graph([node("a", "workflow", workflow_ir=chain(node("b"))), node("saver")], "a>saver:error"),
    ],
    ids=["an error edge", "a batch that goes on", "a parallel one", "a retry", "a workflow within"],
)
def test_that_no_cluster_is_there_is_the_failure_of_no_node(
    home: Home, monkeypatch: pytest.MonkeyPatch, ir: dict[str, Any]
) -> None:
    monkeypatch.setattr(cluster_module, "_CONNECT_TIMEOUT_S", 0.5)
    result = run(home, f"tcp://127.0.0.1:{free_port()}", ir)
    assert (result.error_body or {})["code"] == "cluster_unreachable"
    assert result.is_resumable
    assert not home.runs()
    assert run(home, None, ir).success


def test_where_the_extra_is_not_installed_it_is_named(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    def absent() -> Any:
        raise ModuleNotFoundError("No module named 'distributed'")

    monkeypatch.setattr(cluster_module, "_import_and_silence_distributed", absent)
    error = get_error(run(home, "tcp://127.0.0.1:1", chain(node("a"))))
    assert error["cause"] == "missing_extra"
    assert "uraniborg[dask]" in error["hint"]


RUNNER = """
import json, sys
from pathlib import Path
from pflow.config import Settings
from pflow.service.operations import Service

home, folder, address = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
result = Service(Settings(home=home, cluster=address), folder=folder).execute("flow")
(home.parent / "reply.json").write_text(json.dumps(result.reply()))
"""


def run_in_process(home: Home, address: str, ir: Any) -> tuple[dict[str, Any], str, str]:
    """Run a workflow in a separate process, and return the reply and everything it printed."""
    home.draft("flow", ir)
    argv = [sys.executable, "-W", "default", "-c", RUNNER, str(home.path), str(home.place.parent), address]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=SOON_S, check=True)
    return json.loads((home.place / "reply.json").read_text()), done.stdout, done.stderr


def test_a_run_on_a_cluster_prints_nothing(cluster: Cluster, home: Home) -> None:
    ir = chain(
        node("a", "where"),
        node("says", "says"),
        node("large", "where", long="y" * 12_000_000),
        node("c", "raises", how="plain"),
    )
    reply, out, err = run_in_process(home, cluster.address, ir)
    assert (out, err) == ("", "")
    assert reply["checkpoint"]["completed_nodes"] == ["a", "says", "large"]
    assert reply["error"]["message"] == "ValueError: not this one"


async def test_the_server_of_an_agent_runs_nodes_on_the_cluster_that_it_is_set_to(cluster: Cluster, home: Home) -> None:
    home.draft("flow", chain(node("a", "where"), outputs=declare_outputs(pid="${a.pid}")))
    async with agent(home.path, PFLOW_CLUSTER=cluster.address) as client:
        reply = await execute_workflow(client, "flow")
    assert reply["outputs"]["pid"] in cluster.pids


def test_a_scheduler_that_is_gone_in_the_middle_is_reported_at_once_and_nothing_is_lost(
    home: Home, tmp_path: Path
) -> None:
    with private_cluster(tmp_path / "cluster", 1) as doomed:
        ir = chain(
            node("a"),
            node("effect", "effect"),
            node("cut", "cuts-the-line", pid=doomed.scheduler_pid),
            node("b"),
        )
        reply, out, err = run_in_process(home, doomed.address, ir)
        assert (out, err) == ("", "")
        assert (reply["error"]["code"], reply["error"]["node"]) == ("cluster_unreachable", "cut")
        assert "scheduler connection lost" in reply["error"]["message"]
        assert "run the workflow again" in reply["error"]["hint"]
        assert reply["checkpoint"]["resumable"]
        assert reply["duration_ms"] < 1000 * SOON_S
        assert doomed._scheduler.wait(SOON_S) == -signal.SIGKILL  # pyright: ignore[reportPrivateUsage]
    again = run(home, None, chain(node("a"), node("effect", "effect"), node("cut"), node("b")))
    assert again.success
    assert again.progress.reused == ["a", "effect"]
    assert home.runs() == {"a": 1, "effect": 1, "cut": 1, "b": 1}


def test_a_worker_that_is_killed_in_the_middle_of_a_batch_costs_nothing_but_time(cluster: Cluster, home: Home) -> None:
    home.order(*(f"wait-each[{item}]" for item in range(len(ITEMS))))
    ir = chain(
        node("before", "effect"),
        node("each", echo="${item}", batch={"items": ITEMS, "parallel": True}),
        node("effects", "effect", echo="${item.value}", batch={"items": "${each.results}", "parallel": True}),
        outputs=declare_outputs(said="${each.results}", count="${effects.success_count}"),
    )
    running = Running(home, cluster.address, ir)
    running.until(lambda: len(home.runs()) == 3, "both workers are busy")
    victim = next(line["pid"] for line in home.lines() if line["node"].startswith("each"))
    cluster.kill(victim)
    home.clear_orders()
    result = running.result()
    assert result.success, result.error_body
    assert [one["echo"] for one in get_outputs(result)["said"]] == ITEMS
    assert result.outputs["count"] == len(ITEMS)
    effects = {"before": 1, **{f"effects[{item}]": 1 for item in range(len(ITEMS))}}
    for event in ("began", "done"):
        assert {name: count for name, count in home.runs(event).items() if not name.startswith("each")} == effects
    (again,) = (name for name, count in home.runs().items() if count == 2)
    assert again in {line["node"] for line in home.lines() if line["pid"] == victim}
    assert victim not in {line["pid"] for line in home.lines("done")}


def test_a_cluster_that_loses_all_its_workers_fails_the_run_in_time_and_nothing_is_lost(
    shared: Cluster, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_module, "_NO_WORKER_S", 0.5)
    monkeypatch.setattr(cluster_module, "_CHECK_INTERVAL_S", 0.05)
    cluster = shared.with_workers(max(1, len(shared.pids)))
    home.order("wait-c")
    ir = chain(node("a"), node("b", "effect"), node("c"), node("d", "effect"))
    running = Running(home, cluster.address, ir)
    running.until(lambda: "c" in home.runs(), "it is with a worker")
    cluster.kill(*cluster.pids)
    result = running.result()
    home.clear_orders()
    error = get_error(result)
    assert (error["code"], error["node"]) == ("cluster_unreachable", "c")
    assert error["message"] == f"The Dask scheduler at {cluster.address} has had no worker for 0.5 seconds."
    assert "run the workflow again" in error["hint"]
    assert result.is_resumable
    again = run(home, None, ir)
    assert again.success
    assert again.progress.reused == ["a", "b"]
    assert home.runs("done") == {"a": 1, "b": 1, "c": 1, "d": 1}
