"""The result of one check."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Literal

Status = Literal["ok", "note", "warning", "failure"]


@dataclass(frozen=True)
class Check:
    """The result of one check. `hint` says what to do; every warning and failure has one."""

    topic: str
    name: str
    status: Status
    detail: str
    hint: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return the result as JSON values, without an empty hint."""
        return {key: value for key, value in asdict(self).items() if value != ""}


Checks = Iterator[Check]
