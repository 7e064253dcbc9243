"""Runs of six effects that are killed at random moments and run again until the log has a success.

Each effect adds a line to one file when it begins and one when it is done, so that what happened is known from outside.
The effects follow one another: when one begins, the ones before it have finished.
"""

import json
import random
import re
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from pflow.store.resume_point import ResumePoint
from pflow.store.run_log import RunLog
from tests.forked_processes import SOON, Forked
from tests.pflow.service.engine.counting_home import Home, chain, node
from tests.pflow.service.engine.killed_runs import start_run

SURFACES: Final = ("api", "cli", "mcp")
EFFECTS: Final = ("a", "b", "n/x", "d[0]", "d[1]", "e")
_EVENT: Final = re.compile(rb'\{"event": "(\w+)", "node": "([^"{]+)"')
"""The beginning of a line. A name without its end is followed by the `{` of the next line, and does not match."""
ORDER: Final = ("a", "b", "n/x", "n/p", "d[0]", "d[1]", "e", "end")


def _make_shell_effect(name: str) -> dict[str, Any]:
    lines = [f"echo '{json.dumps({'event': event, 'node': name})}' >> lines" for event in ("began", "done")]
    return node(name, "shell", command="; ".join(lines), effect="effectful")


FLOW: Final = chain(
    node("a", "effect"),
    _make_shell_effect("b"),
    node("n", "workflow", workflow_ir=chain(node("x", "effect"), node("p"))),
    node("d", "effect", v="${item}", batch={"items": [1, 2]}),
    _make_shell_effect("e"),
    node("end", v="${e.exit_code}"),
)


@dataclass
class Report:
    """The results of the kills."""

    kills: int = 0
    successes: int = 0
    kills_by_progress: Counter[int] = field(default_factory=Counter[int])
    """The number of kills by the number of effects, of six, that had started."""
    problems: list[str] = field(default_factory=list[str])


class _Round:
    """The runs up to one that is logged as a success, and the lines of their effects."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self.excused: list[str] = []
        """Effects that were in progress at a kill: each entry allows one more start of the effect."""
        self._earlier = len(_read_all_events(home))
        self._last_run = 0

    def list_begun_effects(self) -> list[str]:
        return [node for event, node in self._read_all_events() if event == "began" and node in EFFECTS]

    def record_run_start(self) -> None:
        self._last_run = len(self._read_all_events())

    def note_kill(self) -> None:
        """Excuse the effects that may have been in progress.

        They are recorded as started without a result, and no later effect has started.
        """
        left = ResumePoint(self.home.checkpoints, "flow").read_earlier_runs()
        finished, started = ({name for name, _ in keys} for keys in (left.results, left.uncertain))
        reached = max((ORDER.index(node) for _, node in self._read_all_events()), default=0)
        self.excused += [name for name in ORDER[reached:] if name in started - finished]

    def find_problems(self, reply: dict[str, Any] | None) -> Iterator[str]:
        """Yield the problems after a run that succeeded; `reply` is the reply of that run, if it was received."""
        lines = self._read_all_events()
        begun, done = Counter(self.list_begun_effects()), {node for event, node in lines if event == "done"}
        for name in EFFECTS:
            if name not in done:
                yield f"{name} is missing"
            if begun[name] > 1 + self.excused.count(name):
                yield f"{name} was repeated: it began {begun[name]} times, {self.excused.count(name)} were in progress"
        before = {node for event, node in lines[: self._last_run] if event == "began"}
        for event, name in lines[self._last_run :]:
            warning = f"'{name}' was interrupted in an earlier run"
            if reply and event == "began" and name in before & set(EFFECTS) and warning not in str(reply["warnings"]):
                yield f"{name} was repeated without a warning"

    def _read_all_events(self) -> list[tuple[str, str]]:
        return _read_all_events(self.home)[self._earlier :]


def _read_all_events(home: Home) -> list[tuple[str, str]]:
    return _read_events(home.place / "lines")


def _read_events(path: Path, start_at: int = 0) -> list[tuple[str, str]]:
    """Return the event and the effect of each line, from this byte on.

    A line that crosses a page of the file may be read half-written, and a kill may leave it so. Its first two keys
    are enough.
    """
    if not path.exists():
        return []
    with path.open("rb") as stream:
        stream.seek(start_at)
        return [(event.decode(), name.decode()) for event, name in _EVENT.findall(stream.read())]


def kill_at_random(place: Path, kills: int, seed: int, sabotage: str = "") -> Report:
    """Kill runs until so many were killed and the last round has ended. One run of four is left to its end."""
    home, chance, report = Home(place), random.Random(seed), Report()
    home.draft("flow", FLOW)
    round_, logged = _Round(home), None
    while report.kills < kills or round_.list_begun_effects():
        round_.record_run_start()
        surface = chance.choice(SURFACES)
        left = len(EFFECTS) - len(set(round_.list_begun_effects()))
        kill_after_effects = None if chance.random() < 1 / 4 else chance.randint(0, left)
        reply = _run_until_killed(
            home,
            surface,
            sabotage,
            kill_after_effects,
            chance.uniform(0, 0.04 if kill_after_effects in (0, left) else 0.004),
        )
        with closing(RunLog(home.path / "runs.db")) as log:
            last = next(iter(log.list_runs("flow", 1)), {"id": None})
        status = "interrupted" if last["id"] == logged else last["status"]  # it may be killed before it is logged
        logged = last["id"]
        if reply is None:
            report.kills += 1
            report.kills_by_progress[len(set(round_.list_begun_effects()))] += 1
            round_.note_kill()
        if status == "success":
            report.successes += 1
            report.problems += round_.find_problems(reply)
            round_ = _Round(home)
        elif reply is not None:
            report.problems.append(f"A run that was not killed is {status}: {reply}")
            break
    return report


def _run_until_killed(
    home: Home, surface: str, sabotage: str, kill_after_effects: int | None, delay_s: float
) -> dict[str, Any] | None:
    """Return the reply of a run, or None if it was killed: so long after so many effects had begun."""
    path = home.place / "lines"
    before = path.stat().st_size if path.exists() else 0
    with ThreadPoolExecutor(1) as reader, start_run(home.place, surface, sabotage=sabotage) as running:
        last_line = reader.submit(_read_last_line, running)  # at once: a server ends when its reply was read
        if kill_after_effects is not None:
            _kill_after(path, before, running, kill_after_effects, delay_s)
        out = last_line.result(SOON)
        if running.wait() == -signal.SIGKILL:
            return None
        assert out, running.stderr.read()
    reply = json.loads(out)
    return json.loads(reply["result"]["content"][0]["text"]) if surface == "mcp" else reply


def _read_last_line(running: Forked) -> bytes:
    """Return the last line of a run's output, and end a server that has answered."""
    last = b""
    while line := running.stdout.readline():
        last = line
        if b'"id":7' in line:
            running.stdin.close()
    return last


def _kill_after(path: Path, before: int, running: Forked, effects: int, delay_s: float) -> None:
    pause, deadline = threading.Event(), time.monotonic() + SOON
    while running.poll() is None:
        begun = [node for event, node in _read_events(path, before) if event == "began" and node in EFFECTS]
        if len(begun) >= effects:
            break
        assert time.monotonic() < deadline
        pause.wait(0.0003)
    pause.wait(delay_s)
    running.kill()
