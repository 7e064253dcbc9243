"""Ask a run that another process executes to stop: a file for each request, which the run watches."""

import asyncio
import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from uraniborg.kernel.files import make_private_folder, write_atomic

_FOLDER: Final = "cancel"
_POLL_S: Final = 0.2


def request_cancel(home: Path, run_id: str) -> None:
    """Ask the process of this run to cancel it. Raise OSError."""
    make_private_folder(home / _FOLDER)
    write_atomic(home / _FOLDER / run_id, b"")


class CancelWatcher:
    """Cancels the task of a run when another process requests it, until `stop` is called."""

    def __init__(self, home: Path, run_id: str, task: "asyncio.Task[object]") -> None:
        self._path = home / _FOLDER / run_id
        self._task = task
        self._timer = asyncio.get_running_loop().call_later(_POLL_S, self._check)

    def stop(self) -> None:
        """Stop watching, and delete the request if there is one."""
        self._timer.cancel()
        with suppress(OSError):
            self._path.unlink()

    def _check(self) -> None:
        if os.path.lexists(self._path):
            self._task.cancel()
        else:
            self._timer = asyncio.get_running_loop().call_later(_POLL_S, self._check)
