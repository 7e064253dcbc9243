"""An unpacked data folder, and the present version's commands and server on it."""

import json
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.fixtures import observatory
from tests.fixtures.data import unpack
from tests.fixtures.workflow_data import FOLDER
from tests.installed_programs import Program
from tests.paper_search.service.sessions.processes import Server, serving


class OldData:
    """The data folder of an older version, below `folder`. `ids` lists what is in it by kind and name."""

    def __init__(self, archive: Path, folder: Path) -> None:
        unpack(archive, folder)
        self.folder = folder
        self.home = folder / "home"
        self.data = self.home / "data"
        self.pflow = folder / "pflow"
        self.shelf = folder / "shelf"
        self.effects = folder / "effects"
        self.ids: dict[str, dict[str, str]] = json.loads((folder / "index.json").read_text())
        self.sources = folder / "plugin"
        self._env = observatory.install(self.sources)

    def session_file(self, name: str) -> Path:
        return self.data / "paper_search" / "sessions" / f"{self.ids['sessions'][name]}.db"

    @contextmanager
    def server(self) -> Generator[Server]:
        """Yield the search server on this folder, with the sources of the sessions."""
        with serving(self.home, env=self._env) as server:
            yield server
            server.check_log()

    def run(self, command: str, *arguments: str, code: int = 0, **env: str) -> Any:
        """Return the JSON that a command prints."""
        given = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "URANIBORG_HOME": str(self.home),
            "PFLOW_HOME": str(self.pflow),
            "URANIBORG_PFLOW__CHECKPOINT_HOURS": "1000000",
            "EFFECTS": str(self.effects),
            "URANIBORG_PFLOW__PASS_ENV": '["EFFECTS", "OPEN"]',  # as the version that wrote the data passed everything
            **env,
        }
        done = Program(command).run(*arguments, "--json", env=given, cwd=FOLDER)
        assert done.returncode == code, done.stdout + done.stderr
        return json.loads(done.stdout)
