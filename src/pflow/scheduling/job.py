"""A workflow that a scheduler runs: the command, its folder and environment. Pure: nothing is installed here."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from pflow.errors import InvalidInputs
from pflow.scheduling.timing import Timing

CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_UNSAFE: Final = re.compile(r"[\x00-\x1f\x7f\"$\\]|\s\Z")


@dataclass(frozen=True, slots=True)
class Job:
    """`program` is how pflow is started, `inputs` are KEY=VALUE, `log` is for schedulers without a journal."""

    workflow: str
    timing: Timing
    program: tuple[str, ...]
    inputs: tuple[str, ...]
    folder: str
    environment: Mapping[str, str]
    log: str

    def __post_init__(self) -> None:
        """Raise InvalidInputs for text that no scheduler can carry."""
        for path in (self.program[0], self.folder, self.log, *self.environment.values()):
            # systemd takes no program with a quote in its path.
            if _UNSAFE.search(path) or not _is_text(path) or (path == self.program[0] and "'" in path):
                raise InvalidInputs(
                    f"{ascii(path)[:200]} cannot be written into a schedule.",
                    hint='Use paths without control characters, ", $ and \\.',
                )
        for given in self.inputs:
            if "\0" in given or not _is_text(given):
                name = given.partition("=")[0]
                raise InvalidInputs(
                    f"The input '{name}' is not text.", hint=f"Write it to a file, and give {name}=@FILE."
                )

    @property
    def command(self) -> list[str]:
        return [*self.program, "run", "--quiet", self.workflow, *self.inputs]


def _is_text(text: str) -> bool:
    """Return False for half characters, as a path of another encoding has."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
