"""Store runs that wait for an approval, so that a restarted server resumes them."""

from pathlib import Path
from typing import Final

from pydantic import BaseModel, Field

from pflow.run_replies import RunRequest
from uraniborg.console.shared_file import SharedFile
from uraniborg.kernel.files import make_private_folder
from uraniborg.kernel.settings import secure_own_folder

_MAX_WAITING: Final = 1_000


class _StoredRuns(BaseModel):
    requests: dict[str, RunRequest] = Field(default_factory=dict[str, RunRequest])


class WaitingRuns:
    """The requests of runs by the id of their approval, in a private file that servers share.

    Its methods block, and raise OSError or Locked.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._file = SharedFile(
            path or secure_own_folder("data") / "console" / "waiting-runs.json", lambda _: _StoredRuns()
        )

    def list_ids(self) -> list[str]:
        """Return the ids of the approvals, the oldest first."""
        return list(self._file.read().requests)

    def add(self, approval_id: str, request: RunRequest) -> None:
        make_private_folder(self._file.path.parent)
        with self._file.change() as stored:
            stored.requests[approval_id] = request
            for oldest in list(stored.requests)[:-_MAX_WAITING]:
                del stored.requests[oldest]

    def take(self, approval_id: str) -> RunRequest | None:
        """Remove a request and return it; None if there is none, or another server has taken it."""
        if approval_id not in self._file.read().requests:
            return None
        with self._file.change() as stored:
            return stored.requests.pop(approval_id, None)
