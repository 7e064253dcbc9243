"""Schedule with the user's crontab: one line for each workflow. All other lines stay as they are."""

import re
import shlex
from typing import Final

from pflow.errors import InvalidInputs
from pflow.scheduling.job import CONTROL, Job
from pflow.scheduling.scheduler import Schedule, Scheduler

LONGEST: Final = 998
"""Bytes of a line that every cron takes."""
_MARK: Final = "# pflow-schedule:"
_LINE: Final = re.compile(r"[^\n]*\n|[^\n]+")
_OURS: Final = re.compile(rf"\s*[^#\s].* {_MARK}(\S+) (.*)")


class Cron(Scheduler):
    kind = "cron"
    tool = "crontab"

    def render_files(self, job: Job) -> dict[str, str]:
        return {"crontab": f"{format_cron_line(job)}\n"}

    def install_job(self, job: Job) -> None:
        line = self.render_files(job)["crontab"]
        lines = [one for one in self._read_crontab() if _parse_workflow_name(one) != job.workflow]
        if lines and not lines[-1].endswith("\n"):
            lines[-1] += "\n"
        self.run_tool_or_raise("-", stdin="".join([*lines, line]))

    def remove_job(self, workflow_name: str) -> bool:
        lines = self._read_crontab() if self.is_available else []
        others = [one for one in lines if _parse_workflow_name(one) != workflow_name]
        if len(others) == len(lines):
            return False
        self.run_tool_or_raise("-", stdin="".join(others))
        return True

    def list_schedules(self) -> list[Schedule]:
        lines = self._read_crontab() if self.is_available else []
        return [Schedule(found[1], self.kind, found[2], None) for found in map(_OURS.match, lines) if found]

    def _read_crontab(self) -> list[str]:
        """Return the lines of the crontab. Raise SchedulerUnavailable if it cannot be read."""
        done = self.run_tool("-l")
        if done.returncode and "no crontab" not in done.stderr + done.stdout:
            raise self.make_tool_error(done, "-l")
        return [] if done.returncode else _LINE.findall(done.stdout)


def format_cron_line(job: Job) -> str:
    """Return the line, without a line break. Raise InvalidInputs for inputs that cron cannot store."""
    for given in job.inputs:
        # Versions of cron treat a backslash differently.
        if "\\" in given or CONTROL.search(given):
            name = given.partition("=")[0]
            message = f"The input '{name}' has a line break, control character or backslash, which cron cannot store."
            raise InvalidInputs(message, hint=f"Write it to a file, and give {name}=@FILE.")
    settings = " ".join(f"{key}={shlex.quote(value)}" for key, value in job.variables.items())
    command = f"{settings} {shlex.join(job.command)}"
    command = f"umask 077; cd {shlex.quote(job.folder)} && {command} >> {shlex.quote(job.log)} 2>&1"
    # To cron a % ends the command, also in quotes.
    line = f"{job.timing.to_cron_fields()} {command} {_MARK}{job.workflow} {job.timing}".replace("%", r"\%")
    if len(line.encode()) > LONGEST:
        message = f"The cron line has {len(line.encode()):,} bytes; cron accepts {LONGEST}."
        raise InvalidInputs(message, hint="Give long inputs as KEY=@FILE, or use a shorter PATH.")
    return line


def _parse_workflow_name(line: str) -> str | None:
    found = _OURS.match(line)
    return found[1] if found else None
