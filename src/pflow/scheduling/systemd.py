"""Schedule with systemd: a service and a timer of the user for each workflow."""

import re
from pathlib import Path
from typing import Final

from pflow.scheduling.job import CONTROL, Job
from pflow.scheduling.scheduler import Schedule, Scheduler, remove_files, write_files_with_rollback

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

    def render_files(self, job: Job) -> dict[str, str]:
        service, timer = self._get_unit_paths(job.workflow)
        return {str(service): render_service(job), str(timer): render_timer(job)}

    def install_job(self, job: Job) -> None:
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


def render_service(job: Job) -> str:
    """Return the text of the service that runs the workflow."""
    environment = "".join(f"Environment={_quote_word(f'{key}={value}')}\n" for key, value in job.variables.items())
    # The program itself is not searched for variables, so a doubled $ would stay.
    first, *rest = map(_quote_word, job.command)
    command = " ".join([first, *(word.replace("$", "$$") for word in rest)])
    return (
        f"{MARK}\n[Unit]\nDescription=pflow {job.workflow} at {job.timing}\n\n"
        f"[Service]\nType=oneshot\nWorkingDirectory={job.folder.replace('%', '%%')}\n{environment}"
        f"UMask=0077\nExecStart={command}\n"
    )


def render_timer(job: Job) -> str:
    """Return the text of the timer that starts the service; a missed run starts as soon as possible."""
    return (
        f"{MARK}\n[Unit]\nDescription=pflow {job.workflow} at {job.timing}\n\n"
        f"[Timer]\nOnCalendar={job.timing.to_systemd_calendar()}\nPersistent=true\n\n"
        "[Install]\nWantedBy=timers.target\n"
    )


def _quote_word(text: str) -> str:
    """Return a text as one quoted word, in which neither specifiers nor escapes mean anything."""
    quoted = text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return '"' + CONTROL.sub(lambda sign: f"\\x{ord(sign[0]):02x}", quoted) + '"'


def _read_text_or_empty(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
