"""Requests to cancel a run that another process executes: a file for each, which the run watches."""

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import Final

from uraniborg.kernel.files import make_private_folder, write_atomic

FOLDER: Final = "cancel"
_POLL_S: Final = 0.2


def request_cancel(home: Path, run_id: str) -> None:
    """Ask the process of this run to cancel it. Raise OSError."""
    make_private_folder(home / FOLDER)
    write_atomic(home / FOLDER / run_id, b"")


async def cancel_when_requested(home: Path, run_id: str, task: "asyncio.Task[object]") -> None:
    """Cancel the task once a request for this run arrives; runs until cancelled itself."""
    path = home / FOLDER / run_id
    while not path.exists():  # noqa: ASYNC110 - another process creates the file
        await asyncio.sleep(_POLL_S)
    task.cancel()


def remove_cancel_request(home: Path, run_id: str) -> None:
    """Delete the request of a run that has ended, if there is one."""
    with suppress(OSError):
        (home / FOLDER / run_id).unlink()
