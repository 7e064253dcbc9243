"""What a scheduler runs and when, what all schedulers share, and files that are written with a rollback.

A scheduler gets the environment of the command, which locates its folders and programs.
"""

import os
import re
import shutil
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from subprocess import CompletedProcess
from typing import TYPE_CHECKING, ClassVar, Final, Literal

from pflow.config import SCHEDULE_VARIABLE
from pflow.domain.ir.model import Workflow, list_variables
from pflow.errors import InvalidInputs, LibraryUnwritable, SchedulerUnavailable, TemplateUnresolved, WorkflowExists
from pflow.service.engine.inputs_and_params import prepare_inputs
from uraniborg.kernel.boundary import decode_lossless, encode_lossless, is_encodable
from uraniborg.kernel.logging import redact
from uraniborg.kernel.redaction import is_sensitive
from uraniborg.kernel.store.files import write_atomic

if TYPE_CHECKING:
    from uraniborg.kernel.json_values import Json


DAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
FORMS: Final = "'mon 07:00', 'mon,thu 07:00', 'weekdays 18:30', 'weekends 09:00', 'daily 06:00', '07:00' or 'hourly'"
_ALL: Final = tuple(range(7))
_GROUPS: Final = {
    **dict.fromkeys(("daily", "day", "everyday"), _ALL),
    **dict.fromkeys(("weekdays", "weekday"), _ALL[:5]),
    **dict.fromkeys(("weekends", "weekend"), _ALL[5:]),
}
_FULL: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_TIME: Final = re.compile(r"([01]?[0-9]|2[0-3]):([0-5][0-9])", re.ASCII)
_LONGEST: Final = 200


@dataclass(frozen=True, slots=True)
class Timing:
    """Days of the week, Monday being 0, and a time of day in local time; without an hour, every hour."""

    days: tuple[int, ...]
    hour: int | None
    minute: int

    def __str__(self) -> str:
        """Return the form that `parse_timing` reads."""
        if self.hour is None:
            return "hourly"
        days = "daily" if self.days == _ALL else ",".join(DAYS[day] for day in self.days)
        return f"{days} {self.hour:02}:{self.minute:02}"

    def to_systemd_calendar(self) -> str:
        """Return the value of systemd's `OnCalendar`."""
        days = "" if self.days == _ALL else ",".join(DAYS[day].capitalize() for day in self.days) + " "
        hour = "*" if self.hour is None else f"{self.hour:02}"
        return f"{days}*-*-* {hour}:{self.minute:02}:00"

    def to_cron_fields(self) -> str:
        """Return the five fields of a cron line, in which Sunday is 0."""
        days = "*" if self.days == _ALL else ",".join(str(day) for day in sorted((day + 1) % 7 for day in self.days))
        return f"{self.minute} {'*' if self.hour is None else self.hour} * * {days}"

    def to_launchd_intervals(self) -> list[dict[str, int]]:
        """Return launchd's `StartCalendarInterval`, in which Sunday is 0."""
        time = {"Minute": self.minute} if self.hour is None else {"Hour": self.hour, "Minute": self.minute}
        return [time] if self.days == _ALL else [{"Weekday": (day + 1) % 7, **time} for day in self.days]


def parse_timing(text: str) -> Timing:
    """Return the timing of a text such as 'mon,thu 07:00'. Raise InvalidInputs, which lists the valid forms."""
    words = [word for word in text[:_LONGEST].lower().replace(",", " ").split() if word not in ("every", "at", "and")]
    if words in (["hourly"], ["hour"]):
        return Timing(_ALL, None, 0)
    time = _TIME.fullmatch(words[-1]) if words else None
    days = {day for word in words[:-1] for day in _parse_days(word)}
    if time is None or len(text) > _LONGEST or any(not _parse_days(word) for word in words[:-1]):
        raise InvalidInputs(
            f"The time of a schedule must be days and a time, got '{text[:60]}'.", hint=f"Write one of {FORMS}."
        )
    return Timing(tuple(sorted(days)) or _ALL, int(time[1]), int(time[2]))


def _parse_days(word: str) -> tuple[int, ...]:
    """Return the days that a word names; empty if it does not name a day."""
    if word in _GROUPS:
        return _GROUPS[word]
    first, is_range, last = word.partition("-")
    start, end = _parse_day(first), _parse_day(last if is_range else first)
    if start is None or end is None:
        return ()
    return tuple((start + step) % 7 for step in range((end - start) % 7 + 1))


def _parse_day(word: str) -> int | None:
    names = DAYS if word in DAYS else _FULL
    return names.index(word) if word in names else None


CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_UNSAFE: Final = re.compile(r"[\x00-\x1f\x7f\"$\\]|\s\Z")
_FILE: Final = "Write it to a file that only you can read, and give @FILE as the value: it is read at each run."
_ENVIRONMENT: Final = (
    " Or leave it out, and set a variable of this name in the environment of scheduled runs: for systemd in "
    "~/.config/environment.d/pflow.conf, for cron at the top of the crontab, for launchd with `launchctl setenv`."
)


@dataclass(frozen=True, slots=True)
class ScheduledJob:
    """`program` is how pflow is started, `inputs` are KEY=VALUE, `log` is for schedulers without a journal.

    `environment` has the variables that are passed on from the environment of the person.
    """

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
            # systemd does not accept a program with a quote in its path.
            if _UNSAFE.search(path) or not is_encodable(path) or (path == self.program[0] and "'" in path):
                raise InvalidInputs(
                    f"{ascii(path)[:200]} cannot be written into a schedule.",
                    hint='Use paths without control characters, ", $ and \\.',
                )
        for given in self.inputs:
            if "\0" in given:
                name = given.partition("=")[0]
                raise InvalidInputs(
                    f"The input '{name}' is not text.", hint=f"Write it to a file, and give {name}=@FILE."
                )

    @property
    def command(self) -> list[str]:
        return [*self.program, "run", "--quiet", self.workflow, *self.inputs]

    @property
    def variables(self) -> dict[str, str]:
        """The environment of the run, with the variable that marks a scheduled run."""
        return {**self.environment, SCHEDULE_VARIABLE: str(self.timing)}


def check_inputs_and_list_secrets(
    workflow: Workflow, given_texts: Mapping[str, str], values: "Mapping[str, Json]"
) -> list[str]:
    """Check the inputs of a scheduled run, and return the secrets that each run takes from its environment.

    `given_texts` are the inputs as text, `values` their values. Raise InvalidInputs for a secret among them and for
    values of the wrong type, and TemplateUnresolved for missing inputs.
    """
    secrets = [name for name, declared in workflow.inputs.items() if declared.secret]
    for name, text in given_texts.items():
        is_secret = name in secrets or is_sensitive(name) or redact(text) != text
        if is_secret and not (text.startswith("@") and not text.startswith("@@")):
            raise InvalidInputs(
                f"The input '{name}' is a secret, which is not written into a schedule.",
                hint=_FILE + (_ENVIRONMENT if name in secrets else ""),
            )
    prepare_inputs(
        replace(workflow, inputs={key: one for key, one in workflow.inputs.items() if key not in secrets}), values
    )
    needed = [one["name"] for one in list_variables(workflow) if one["required"] and not one["declared"]]
    missing = [name for name in needed if values.get(name) is None]
    if missing:
        raise TemplateUnresolved(missing, hint=f"Give {', '.join(f'{name}=VALUE' for name in missing)}.")
    return [name for name in secrets if workflow.inputs[name].required]


Kind = Literal["systemd", "cron", "launchd"]
_PATIENCE_S: Final = 60
_MAX_MESSAGE_CHARS: Final = 300


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
    def render_files(self, job: ScheduledJob) -> dict[str, str]:
        """Return the text of the job by the path of its file. Raise InvalidInputs."""

    @abstractmethod
    def install_job(self, job: ScheduledJob) -> None:
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
        reason = done.stderr.strip()[:_MAX_MESSAGE_CHARS] or f"exit code {done.returncode}"
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
