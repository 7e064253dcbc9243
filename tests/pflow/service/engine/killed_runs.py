"""Runs in separate processes that are killed before a chosen step of the ending, or at any moment."""

import json
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any, Final

from tests.forked_processes import Forked, template
from tests.uraniborg.kernel.mcp.raw_messages import INITIALIZE, INITIALIZED

STEPS: Final = {
    *("open", "os.remove", "os.rename", "os.mkdir", "os.chmod", "os.truncate", "fcntl.flock", "fsync", "write"),
    *("sqlite3.connect", "execute", "executemany", "end"),
}
PRELOADED: Final = (
    *(
        "pflow.service.operations",
        "pflow.service.execution",
        "pflow.store.run_log",
        "pflow.store.resume_point",
        "pflow.store.run_recorder",
    ),
    *("pflow.cli.commands", "pflow.cli.run_command", "pflow.mcp_server", "pflow.nodes.shell", "pflow.nodes.approval"),
    *(
        "pflow.store.node_discovery",
        "pflow.store.node_registry",
        "pflow.service.engine.results",
        "pflow.api.prompts_and_progress",
    ),
    *("uraniborg.kernel.store.inbox", "uraniborg.kernel.mcp.stdio", "mcp.server.fastmcp"),
    *("anyio._backends._asyncio", "rich.logging", "structlog"),
)


def start_run(place: Path, surface: str, *arguments: str, moment: int = 0, sabotage: str = "") -> Forked:
    """Start a run of the draft `flow` as the Python API, the command or the MCP server runs it.

    `moment` is the step of ending the run before which the process is killed, 0 for none; `sabotage` is a fault that
    the process is given.
    """
    loaded = template(f"{__name__}:main", *PRELOADED)
    running = loaded.start(surface, str(moment), sabotage, *arguments, env=build_environment(place), cwd=place)
    if surface == "mcp":
        call = {"name": "execute", "arguments": {"name": "flow"}}
        messages = [INITIALIZE, INITIALIZED, {"id": 7, "method": "tools/call", "params": call}]
        lines = [json.dumps({"jsonrpc": "2.0", **one}) + "\n" for one in messages]
        running.stdin.write("".join(lines).encode())
        running.stdin.flush()
    else:
        running.stdin.close()
    return running


def build_environment(place: Path) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(place),
        "PFLOW_HOME": str(place / "home"),
        **inbox_environment(place),
    }


def inbox_environment(place: Path) -> dict[str, str]:
    """Return the variable with the folder of questions to people."""
    return {"URANIBORG_HOME": str(place / "uraniborg")}


def main() -> None:
    surface, moment, sabotage, *arguments = sys.argv[1:]
    if sabotage:
        SABOTAGES[sabotage]()
    if moment != "0":
        die_before_step_of_ending(int(moment))
    if surface == "api":
        run_as_python_does(Path.cwd(), *arguments)
    else:
        from pflow.__main__ import main as run_command

        sys.argv = ["pflow", *(["mcp", "serve"] if surface == "mcp" else ["run", "flow", "--json", *arguments])]
        run_command()


def run_as_python_does(place: Path, only: str | None = None) -> None:
    from pflow.config import Settings
    from pflow.service.operations import Service

    service = Service(Settings(home=place / "home"), folder=place)
    if only is None:
        print(json.dumps(service.execute("flow").reply()))
        return
    ir = json.loads((place / "home" / "workflows" / "drafts" / "flow.json").read_text())
    service.run_document(ir, name="flow", only=only)


def die_before_step_of_ending(moment: int) -> None:
    """Kill this process before the step with this number at the end of a run.

    A step is an operation that can change a file. If there are fewer steps, their number is in the file `steps`.
    """
    import uraniborg.kernel.store.sqlite as sqlite
    from pflow.service import execution

    run: Any = execution
    connection: Any = sqlite._NamedConnection  # pyright: ignore[reportPrivateUsage]
    record_end, ending, steps = run._record_end, 0, 0

    def step(event: str, _: object = None) -> None:
        nonlocal steps
        if ending == threading.get_ident() and event in STEPS:
            steps += 1
            if steps == moment:
                os.kill(os.getpid(), signal.SIGKILL)

    def counted(name: str, function: Any) -> Any:
        def call(*arguments: Any, **more: Any) -> Any:
            step(name)
            return function(*arguments, **more)

        return call

    def watched(*arguments: Any) -> Any:
        nonlocal ending
        ending = threading.get_ident()
        try:
            return record_end(*arguments)
        finally:
            step("end")
            ending = 0
            Path("steps").write_text(str(steps))

    run._record_end = watched
    for place, name in ((os, "fsync"), (os, "write"), (connection, "execute"), (connection, "executemany")):
        setattr(place, name, counted(name, getattr(place, name)))
    sys.addaudithook(step)


def forget_results() -> None:
    """Have nothing recorded of effects that finished."""
    from pflow.store.resume_journal import RunJournal

    journal: Any = RunJournal
    journal.write_result = lambda _journal, _result: None  # pyright: ignore[reportUnknownLambdaType]


def clear_before_logging() -> None:
    """Have a run that succeeded clear its results before it is logged, and dawdle in between."""
    from pflow.service import execution
    from pflow.store.run_recorder import RunRecorder

    run: Any = execution
    record_end = run._record_end

    def end(state: Any, result: Any, options: Any, log: Any, recorder: Any) -> Any:
        if result.success:
            recorder.store_or_clear_results(keep_results=False)
            recorder = RunRecorder(recorder.resume_point, state.run_id)
            threading.Event().wait(0.1)
        return record_end(state, result, options, log, recorder)

    run._record_end = end


def resume_successes() -> None:
    """Have a run dawdle before it clears its results, and the next one resume from these."""
    from pflow.store.run_log import RunLog
    from pflow.store.run_recorder import RunRecorder

    recording: Any = RunRecorder
    log: Any = RunLog
    end_recording = recording.store_or_clear_results

    def end(*arguments: Any, **more: Any) -> bool:
        threading.Event().wait(0.1)
        return end_recording(*arguments, **more)

    recording.store_or_clear_results = end
    log.has_succeeded = lambda _log, _run_id: False  # pyright: ignore[reportUnknownLambdaType]


SABOTAGES: Final = {one.__name__: one for one in (forget_results, clear_before_logging, resume_successes)}
