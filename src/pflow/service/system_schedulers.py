"""Schedule with cron, launchd or systemd: the files or the line that each workflow gets."""

import os
import plistlib
import re
import shlex
from pathlib import Path
from typing import Any, Final

from pflow.config import SCHEDULE_VARIABLE
from pflow.errors import InvalidInputs
from pflow.service.scheduled_job import (
    CONTROL,
    Schedule,
    ScheduledJob,
    Scheduler,
    remove_files,
    write_files_with_rollback,
)

LONGEST: Final = 998
"""Bytes of a line that every cron takes."""
_MARK: Final = "# pflow-schedule:"
_LINE: Final = re.compile(r"[^\n]*\n|[^\n]+")
_OURS: Final = re.compile(rf"\s*[^#\s].* {_MARK}(\S+) (.*)")


class Cron(Scheduler):
    kind = "cron"
    tool = "crontab"

    def render_files(self, job: ScheduledJob) -> dict[str, str]:
        return {"crontab": f"{format_cron_line(job)}\n"}

    def install_job(self, job: ScheduledJob) -> None:
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


def format_cron_line(job: ScheduledJob) -> str:
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


LABEL: Final = "org.uraniborg.pflow."
_NOT_IN_XML: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ufffe\uffff]")


class Launchd(Scheduler):
    kind = "launchd"
    tool = "launchctl"

    @property
    def folder(self) -> Path:
        return self.get_home_path("Library", "LaunchAgents")

    def render_files(self, job: ScheduledJob) -> dict[str, str]:
        return {str(self._get_plist_path(job.workflow)): render_property_list(job)}

    def install_job(self, job: ScheduledJob) -> None:
        path = self._get_plist_path(job.workflow)
        with write_files_with_rollback(self.render_files(job), mark=SCHEDULE_VARIABLE):
            self._unload_agent(job.workflow)
            self.run_tool_or_raise("bootstrap", _get_user_domain(), str(path))

    def remove_job(self, workflow_name: str) -> bool:
        path = self._get_plist_path(workflow_name)
        if not path.is_file():
            return False
        if self.is_available:
            self._unload_agent(workflow_name)
        remove_files(path)
        return True

    def list_schedules(self) -> list[Schedule]:
        found: list[Schedule] = []
        for path in sorted(self.folder.glob(f"{LABEL}*.plist")):
            name = path.name.removeprefix(LABEL).removesuffix(".plist")
            found.append(Schedule(name, self.kind, _read_timing_or_empty(path), path))
        return found

    def _get_plist_path(self, name: str) -> Path:
        return self.folder / f"{LABEL}{name}.plist"

    def _unload_agent(self, name: str) -> None:
        self.run_tool("bootout", f"{_get_user_domain()}/{LABEL}{name}")  # fails where none was loaded


def render_property_list(job: ScheduledJob) -> str:
    """Return the text of the agent. Raise InvalidInputs for control characters, which XML cannot carry."""
    for given in job.inputs:
        if _NOT_IN_XML.search(given):
            name = given.partition("=")[0]
            message = f"The input '{name}' has a control character, which launchd cannot store."
            raise InvalidInputs(message, hint=f"Write it to a file, and give {name}=@FILE.")
    plain = {
        "Label": f"{LABEL}{job.workflow}",
        "ProgramArguments": job.command,
        "WorkingDirectory": job.folder,
        "EnvironmentVariables": job.variables,
        "StartCalendarInterval": job.timing.to_launchd_intervals(),
        "StandardOutPath": job.log,
        "StandardErrorPath": job.log,
        "Umask": 0o077,
    }
    return plistlib.dumps(plain, sort_keys=False).decode()


def _get_user_domain() -> str:
    return f"gui/{os.getuid()}"


def _read_timing_or_empty(path: Path) -> str:
    try:
        plain: Any = plistlib.loads(path.read_bytes())
        return str(plain["EnvironmentVariables"][SCHEDULE_VARIABLE])
    except Exception:  # for a damaged file, the parser raises many kinds of errors
        return ""


MARK: Final = "# Written by `pflow schedule`; `pflow schedule NAME --remove` removes it."
_AT: Final = re.compile(r"^Description=pflow \S+ at (.*)$", re.MULTILINE)
_PREFIX: Final = "pflow-"


class Systemd(Scheduler):
    kind = "systemd"
    tool = "systemctl"

    @property
    def folder(self) -> Path:
        configured = self.env.get("XDG_CONFIG_HOME") or ""
        return (Path(configured) if configured.startswith("/") else self.get_home_path(".config")) / "systemd" / "user"

    def render_files(self, job: ScheduledJob) -> dict[str, str]:
        service, timer = self._get_unit_paths(job.workflow)
        return {str(service): render_service(job), str(timer): render_timer(job)}

    def install_job(self, job: ScheduledJob) -> None:
        self.run_tool_or_raise("--version")  # before anything is written
        with write_files_with_rollback(self.render_files(job), mark=MARK):
            self.run_tool_or_raise("--user", "daemon-reload")
            self.run_tool_or_raise("--user", "enable", f"{_PREFIX}{job.workflow}.timer")
            # Not `enable --now`, with which a timer that runs already would keep its old time.
            self.run_tool_or_raise("--user", "restart", f"{_PREFIX}{job.workflow}.timer")

    def remove_job(self, workflow_name: str) -> bool:
        service, timer = self._get_unit_paths(workflow_name)
        if not any(MARK in _read_text_or_empty(path) for path in (service, timer)):
            return False
        if self.is_available:
            self.run_tool("--user", "disable", "--now", timer.name)
        remove_files(timer, service)
        if self.is_available:
            self.run_tool("--user", "daemon-reload")
        return True

    def list_schedules(self) -> list[Schedule]:
        timers = [(path, _read_text_or_empty(path)) for path in sorted(self.folder.glob(f"{_PREFIX}*.timer"))]
        return [
            Schedule(path.stem.removeprefix(_PREFIX), self.kind, found[1] if (found := _AT.search(text)) else "", path)
            for path, text in timers
            if MARK in text
        ]

    def _get_unit_paths(self, name: str) -> tuple[Path, Path]:
        return self.folder / f"{_PREFIX}{name}.service", self.folder / f"{_PREFIX}{name}.timer"


def render_service(job: ScheduledJob) -> str:
    """Return the text of the service that runs the workflow."""
    environment = "".join(
        f"Environment={_quote_systemd_word(f'{key}={value}')}\n" for key, value in job.variables.items()
    )
    # The program itself is not searched for variables, so a doubled $ would stay.
    first, *rest = map(_quote_systemd_word, job.command)
    command = " ".join([first, *(word.replace("$", "$$") for word in rest)])
    return (
        f"{MARK}\n[Unit]\nDescription=pflow {job.workflow} at {job.timing}\n\n"
        f"[Service]\nType=oneshot\nWorkingDirectory={job.folder.replace('%', '%%')}\n{environment}"
        f"UMask=0077\nExecStart={command}\n"
    )


def render_timer(job: ScheduledJob) -> str:
    """Return the text of the timer that starts the service; a missed run starts as soon as possible."""
    return (
        f"{MARK}\n[Unit]\nDescription=pflow {job.workflow} at {job.timing}\n\n"
        f"[Timer]\nOnCalendar={job.timing.to_systemd_calendar()}\nPersistent=true\n\n"
        "[Install]\nWantedBy=timers.target\n"
    )


def _quote_systemd_word(text: str) -> str:
    """Return a text as one quoted word, in which neither specifiers nor escapes mean anything."""
    quoted = text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return '"' + CONTROL.sub(lambda sign: f"\\x{ord(sign[0]):02x}", quoted) + '"'


def _read_text_or_empty(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
