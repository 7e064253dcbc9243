"""The runs of the console that wait for an approval: their requests, stored so that a restarted server resumes them."""

from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, Field, ValidationError

from uraniborg.kernel.files import hold_lock, make_private_folder, write_atomic
from uraniborg.kernel.settings import secure_own_folder

_MAX_WAITING: Final = 1_000


class _StoredRuns(BaseModel):
    requests: dict[str, dict[str, Any]] = Field(default_factory=dict[str, dict[str, Any]])


class WaitingRuns:
    """The requests of runs by the id of their approval, in a private file that servers share. Its methods block."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path or secure_own_folder("data") / "console" / "waiting-runs.json"

    def list_ids(self) -> list[str]:
        """Return the ids of the approvals, the oldest first."""
        return list(self._read().requests)

    def add(self, approval_id: str, request: dict[str, Any]) -> None:
        """Store a request. Raise OSError or Locked."""
        make_private_folder(self._path.parent)
        with hold_lock(self._lock_path, timeout_s=5):
            stored = self._read()
            stored.requests[approval_id] = request
            for oldest in list(stored.requests)[:-_MAX_WAITING]:
                del stored.requests[oldest]
            write_atomic(self._path, stored.model_dump_json())

    def take(self, approval_id: str) -> dict[str, Any] | None:
        """Remove a request and return it; None if there is none, or another server has taken it."""
        if approval_id not in self._read().requests:
            return None
        with hold_lock(self._lock_path, timeout_s=5):
            stored = self._read()
            request = stored.requests.pop(approval_id, None)
            write_atomic(self._path, stored.model_dump_json())
        return request

    @property
    def _lock_path(self) -> Path:
        return self._path.with_name(f"{self._path.name}.lock")

    def _read(self) -> _StoredRuns:
        try:
            return _StoredRuns.model_validate_json(self._path.read_bytes())
        except (OSError, ValidationError):
            return _StoredRuns()
