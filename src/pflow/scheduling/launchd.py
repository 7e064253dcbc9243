"""Schedule with launchd, on macOS: a property list for each workflow."""

import os
import plistlib
import re
from pathlib import Path
from typing import Any, Final

from pflow.config import SCHEDULE_VARIABLE
from pflow.errors import InvalidInputs
from pflow.scheduling.job import Job
from pflow.scheduling.scheduler import Schedule, Scheduler, remove_files, write_files_with_rollback

LABEL: Final = "org.uraniborg.pflow."
_NOT_IN_XML: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ufffe\uffff]")


class Launchd(Scheduler):
    kind = "launchd"
    tool = "launchctl"

    @property
    def folder(self) -> Path:
        return self.get_home_path("Library", "LaunchAgents")

    def render_files(self, job: Job) -> dict[str, str]:
        return {str(self._get_plist_path(job.workflow)): render_property_list(job)}

    def install_job(self, job: Job) -> None:
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


def render_property_list(job: Job) -> str:
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
