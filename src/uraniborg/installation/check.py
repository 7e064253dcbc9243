"""How one check of the installation reports its result."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from uraniborg.installation.replies import CheckFacts

Status = Literal["ok", "note", "warning", "failure"]


@dataclass(frozen=True)
class InstallationCheck:
    """The result of one check. `hint` says what to do; every warning and failure has one."""

    topic: str
    name: str
    status: Status
    detail: str
    hint: str = ""

    def as_dict(self) -> "CheckFacts":
        """Return the result as JSON values, without an empty hint."""
        facts: CheckFacts = {"topic": self.topic, "name": self.name, "status": self.status, "detail": self.detail}
        if self.hint:
            facts["hint"] = self.hint
        return facts


Checks = Iterator[InstallationCheck]
