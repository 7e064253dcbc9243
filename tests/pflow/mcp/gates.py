"""Gates: positions at which a node waits, so that a test can act during the run."""

import os
import select
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.pflow.mcp.agents import PATIENCE_S


class Gate:
    """Two named pipes: the node reports its arrival through one, and is released through the other."""

    def __init__(self, folder: Path, name: str) -> None:
        self.came, self.go = folder / f"{name}.came", folder / f"{name}.go"
        self._ends: list[int] = []
        for path in (self.came, self.go):
            os.mkfifo(path)
            # Both ends at once: neither we nor the node have to wait for the other to open it.
            self._ends.append(os.open(path, os.O_RDWR | os.O_NONBLOCK))

    @property
    def command(self) -> str:
        """The command of a shell node that reports its process id, waits, and prints the word that releases it."""
        return f"echo $$ > '{self.came}'; read word < '{self.go}'; echo $word"

    def node(self, node_id: str, before: str = "", **more: Any) -> dict[str, Any]:
        return {"id": node_id, "type": "shell", "params": {"command": before + self.command}, **more}

    def wait(self) -> int:
        """Wait for a node to arrive, and return its process id."""
        report = b""
        while not report.endswith(b"\n"):
            assert select.select([self._ends[0]], [], [], PATIENCE_S)[0], "nobody came"
            report += os.read(self._ends[0], 1)
        return int(report)

    def fileno(self) -> int:
        """Return the descriptor for `select`: it is readable after a node has arrived."""
        return self._ends[0]

    def has_more(self) -> bool:
        """Return True if a node has arrived that was not waited for."""
        return bool(select.select([self], [], [], 0)[0])

    def open(self, word: str = "go") -> None:
        os.write(self._ends[1], f"{word}\n".encode())

    def close(self) -> None:
        for end in self._ends:
            os.close(end)


@contextmanager
def gate(folder: Path, name: str = "gate") -> Generator[Gate]:
    folder.mkdir(parents=True, exist_ok=True)
    made = Gate(folder, name)
    try:
        yield made
    finally:
        made.close()


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in "ZX"
