"""What all schedulers share, and files that are written with a rollback.

A scheduler gets the environment of the command, which locates its folders and programs.
"""

import os
import shutil
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from subprocess import CompletedProcess
from typing import ClassVar, Final, Literal

from pflow.errors import LibraryUnwritable, SchedulerUnavailable, WorkflowExists
from pflow.scheduling.job import Job
from uraniborg.kernel.boundary import decode_lossless, encode_lossless
from uraniborg.kernel.files import write_atomic

Kind = Literal["systemd", "cron", "launchd"]
_PATIENCE_S: Final = 60
_LONGEST: Final = 300


@dataclass(frozen=True, slots=True)
class Schedule:
    """A schedule that is installed. `path` is None for a line of the crontab."""

    name: str
    kind: Kind
    at: str
    path: Path | None


@dataclass(frozen=True)
class Scheduler(ABC):
    """`tool` is the program that installs jobs."""

    kind: ClassVar[Kind]
    tool: ClassVar[str]
    env: Mapping[str, str]

    @property
    def is_available(self) -> bool:
        return shutil.which(self.tool, path=self.env.get("PATH")) is not None

    @abstractmethod
    def render_files(self, job: Job) -> dict[str, str]:
        """Return the text of the job by the path of its file. Raise InvalidInputs."""

    @abstractmethod
    def install_job(self, job: Job) -> None:
        """Install the job, replacing an earlier job of the same workflow.

        Raise InvalidInputs, WorkflowExists for files that pflow did not write, LibraryUnwritable,
        SchedulerUnavailable.
        """

    @abstractmethod
    def remove_job(self, workflow_name: str) -> bool:
        """Remove the job of the workflow; return False if it is not installed. Raise the errors of `install_job`."""

    @abstractmethod
    def list_schedules(self) -> list[Schedule]:
        """Return the jobs that are installed. Raise SchedulerUnavailable."""

    def get_home_path(self, *parts: str) -> Path:
        return Path(self.env.get("HOME") or "~").expanduser().joinpath(*parts)

    def run_tool(self, *arguments: str, stdin: str = "") -> CompletedProcess[str]:
        """Run the tool. Raise SchedulerUnavailable if it is missing or does not end."""
        program = shutil.which(self.tool, path=self.env.get("PATH"))
        if program is None:
            raise SchedulerUnavailable(f"The program {self.tool} is not on PATH.", hint=self._alternative_hint)
        try:
            done = subprocess.run(  # noqa: S603 - the scheduler's own program, with arguments of ours
                [program, *arguments],
                input=encode_lossless(stdin),
                capture_output=True,
                timeout=_PATIENCE_S,
                check=False,
                env={**self.env, "LC_ALL": "C"},
            )
        except (OSError, subprocess.TimeoutExpired) as exc:
            reason = exc.strerror if isinstance(exc, OSError) else f"it did not end after {_PATIENCE_S} s"
            raise SchedulerUnavailable(f"{self.tool} cannot be run: {reason}.", hint=self._alternative_hint) from None
        # Not in text mode, which would change line ends of a crontab.
        return CompletedProcess(done.args, done.returncode, *map(decode_lossless, (done.stdout, done.stderr)))

    def run_tool_or_raise(self, *arguments: str, stdin: str = "") -> None:
        """Run the tool. Raise SchedulerUnavailable also if it fails."""
        done = self.run_tool(*arguments, stdin=stdin)
        if done.returncode:
            raise self.make_tool_error(done, *arguments)

    def make_tool_error(self, done: CompletedProcess[str], *arguments: str) -> SchedulerUnavailable:
        reason = done.stderr.strip()[:_LONGEST] or f"exit code {done.returncode}"
        return SchedulerUnavailable(
            f"`{self.tool} {' '.join(arguments)}` failed: {reason}", hint=self._alternative_hint
        )

    @property
    def _alternative_hint(self) -> str:
        other = "systemd" if self.kind == "cron" else "cron"
        return f"Use --as {other}, or leave out --install to print the schedule and install it by hand."


@contextmanager
def write_files_with_rollback(texts: Mapping[str, str], *, mark: str) -> Generator[None]:
    """Write the texts to their paths; restore the earlier content if the body raises SchedulerUnavailable.

    Raise WorkflowExists for a file without the mark, and LibraryUnwritable.
    """
    before = {Path(name): _read_text_or_none(Path(name)) for name in texts}
    for path, content in before.items():
        if content is not None and mark not in content:
            raise WorkflowExists(
                f"{path} was not written by pflow. Nothing was changed.",
                hint="Move it away, or save the workflow under another name.",
            )
    try:
        for name, text in texts.items():
            _write_or_remove(Path(name), text)
        yield
    except (SchedulerUnavailable, LibraryUnwritable):
        for path, content in before.items():
            _write_or_remove(path, content)
        raise


def remove_files(*files: Path) -> None:
    """Remove the files that exist. Raise LibraryUnwritable."""
    for path in files:
        _write_or_remove(path, None)


def _read_text_or_none(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return "" if os.path.lexists(path) else None
    except OSError as exc:
        raise LibraryUnwritable(path.name, exc) from exc


def _write_or_remove(path: Path, content: str | None) -> None:
    try:
        if content is None:
            path.unlink(missing_ok=True)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomic(path, content)
    except OSError as exc:
        raise LibraryUnwritable(path.name, exc) from exc
