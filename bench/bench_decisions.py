"""How long a decision taken in another process takes to reach the process that waits for it.

The other process does what a command that decides does: it writes into the inbox. The clock runs from before it does
until the waiting session has written the decision into its journal and gone on. The peer, in the same run and in turn,
is the same decision taken in the waiting process itself. Decisions come at random moments while many sessions wait.
"""

import asyncio
import itertools
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from ratios import record_ratio

from paper_search.config import AppConfig
from paper_search.service.sessions import SessionManager, WorkflowSession
from paper_search.store.session_files import SessionFiles
from paper_search.workflow.checkpoints import Decision, DecisionAction
from uraniborg.kernel.store.inbox import Inbox

DECISIONS: Final = 200
PEER_EVERY: Final = 4
"""One decision in so many is taken in the waiting process itself."""
WARM_UP: Final = 12
WAITING: Final = 50
ROUNDS: Final = 10
"""Each session is rejected at its strategy until its rounds are used up; nothing is searched, so nothing is timed but
the decision."""
DECIDER: Final = """
import sys
import time
from pathlib import Path

from uraniborg.kernel.store.inbox import Inbox, InboxDecision

inbox = Inbox(Path(sys.argv[1]))
for line in sys.stdin:
    entry_id, pause = line.split()
    time.sleep(float(pause))
    begun = time.monotonic()
    inbox.decide(entry_id, InboxDecision(action="reject"), "bench")
    print(begun, time.monotonic(), flush=True)
"""


class OtherProcess:
    def __init__(self, inbox: Path) -> None:
        command = [sys.executable, "-c", DECIDER, str(inbox)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def decide(self, entry_id: str, pause: float) -> tuple[float, float]:
        """When the decision was begun and when it was on disk, by the clock that all processes share."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(entry_id, pause, file=self._process.stdin, flush=True)
        begun, written = self._process.stdout.readline().split()
        return float(begun), float(written)

    def end(self) -> None:
        self._process.communicate()


class Waiter:
    """Notes when the session has gone on from the checkpoint it waits at."""

    def __init__(self, session: WorkflowSession) -> None:
        assert session.pending is not None
        self.entry_id = session.pending.checkpoint.checkpoint_id
        self._session = session
        self._events = session.events
        self.went_on = 0.0

    async def until_the_next_checkpoint(self) -> None:
        await self._session.wait_until_passed(self.entry_id, 30.0, self._note)

    async def _note(self, session: WorkflowSession) -> None:
        if not self.went_on and session.events > self._events:
            self.went_on = time.monotonic()


async def decide_elsewhere(waiter: Waiter, other: OtherProcess) -> tuple[float, float]:
    """Seconds from before the decision, and from when it was on disk."""
    watching = asyncio.create_task(waiter.until_the_next_checkpoint())
    begun, written = await asyncio.to_thread(other.decide, waiter.entry_id, random.uniform(0, 0.05))
    await watching
    return waiter.went_on - begun, waiter.went_on - written


async def decide_here(waiter: Waiter, manager: SessionManager, session_id: str) -> float:
    watching = asyncio.create_task(waiter.until_the_next_checkpoint())
    await asyncio.sleep(random.uniform(0, 0.05))
    begun = time.monotonic()
    await manager.decide(session_id, Decision(action=DecisionAction.REJECT), checkpoint_id=waiter.entry_id)
    await watching
    return waiter.went_on - begun


async def measure_delays(folder: Path) -> tuple[list[tuple[float, float]], list[float]]:
    manager = SessionManager(store=SessionFiles(folder / "sessions"), inbox=Inbox(folder / "inbox.db"))
    other = OtherProcess(folder / "inbox.db")
    config = AppConfig(max_rounds=ROUNDS)
    from_elsewhere: list[tuple[float, float]] = []
    from_here: list[float] = []
    try:
        queries = [f"tidal heating of moon {number}" for number in range(WAITING)]
        opened = await asyncio.gather(*(manager.start(query, config) for query in queries))
        turns = itertools.cycle(reply["session_id"] for reply in opened)
        for number in itertools.count():
            session_id = next(turns)
            session = manager.get(session_id)
            assert session is not None
            if number == WARM_UP:
                from_elsewhere, from_here = [], []
            if number % PEER_EVERY:
                from_elsewhere.append(await decide_elsewhere(Waiter(session), other))
            else:
                from_here.append(await decide_here(Waiter(session), manager, session_id))
            if len(from_elsewhere) == DECISIONS:
                break
    finally:
        other.end()
        await manager.aclose()
    return from_elsewhere, from_here


def p95(seconds: list[float]) -> float:
    return sorted(seconds)[int(len(seconds) * 0.95)]


def format_line(name: str, seconds: list[float]) -> str:
    p50 = statistics.median(seconds)
    figures = f"p50 {p50 * 1000:5.1f} ms  p95 {p95(seconds) * 1000:5.1f} ms  worst {max(seconds) * 1000:5.1f} ms"
    return f"  {name:<34} {figures}"


def main() -> None:
    random.seed(7)
    with tempfile.TemporaryDirectory() as folder:
        from_elsewhere, from_here = asyncio.run(measure_delays(Path(folder)))
    whole = [total for total, _ in from_elsewhere]
    print(
        f"{len(whole)} decisions in another process, {len(from_here)} in the waiting one, while {WAITING} sessions wait"
    )
    print(format_line("in the waiting process itself", from_here))
    print(format_line("in another process", whole))
    print(format_line("the same, from when it was on disk", [after for _, after in from_elsewhere]))
    ratio = statistics.median(whole) / statistics.median(from_here)
    record_ratio("another process to the waiting one", ratio)
    record_ratio("p95 to 200 ms", p95(whole) / 0.2)
    print(f"ratio of the medians {ratio:.1f}x; p95 is {p95(whole) / 0.2:.2f}x of 200 ms  (target: under 1x)")


if __name__ == "__main__":
    main()
