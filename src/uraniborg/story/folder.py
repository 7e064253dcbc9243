"""Give the story a data folder of its own, so that it never touches the data of its reader."""

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from uraniborg.kernel.processes.child_processes import build_child_environment
from uraniborg.kernel.settings import HOME, data_dir
from uraniborg.kernel.store.change_feed import FEED_FOLDER
from uraniborg.kernel.store.files import make_private_folder, write_atomic
from uraniborg.kernel.version import version
from uraniborg.story.errors import START_OVER, StoryUnreadable

if TYPE_CHECKING:
    from uraniborg.kernel.json_values import JsonObject
    from uraniborg.story.replies import StoryView
    from uraniborg.story.results import Results, StepRecord

DEMO_FOLDER: Final = "demo"
"""The home of the story, inside the data folder of the reader."""
OWN_FOLDER: Final = "story"
"""The folder of the story's own files, beside those of the parts. It also marks a data folder as that of a story."""
SHELF: Final = "trappist-1"
"""The name of the shelf of the kept papers."""
_FORMAT: Final = 3
_OWN_SETTINGS: Final = ("URANIBORG_CONFIG", "PFLOW_HOME")


def find_story_home() -> Path:
    """Return the home of the story: that of this process if a story is in it, else a folder in the data folder."""
    named = os.environ.get(HOME)
    if named and (Path(named) / "data" / OWN_FOLDER).is_dir():
        return Path(named)
    return data_dir() / DEMO_FOLDER


class StoryFolder:
    """The files of a story."""

    def __init__(self, home: Path) -> None:
        self.home = home.absolute()
        self.own = self.home / "data" / OWN_FOLDER
        self.state_file = self.own / "state.json"
        self.view_file = self.own / "view.json"
        self.lease_file = self.own / ".running"
        self.running_step_file = self.own / ".running-step"
        self.papers_file = self.own / "papers.json"
        self.shelf = self.home / "data" / "library" / "shelves" / SHELF
        self.plots = self.own / "plots"
        self.bundle = self.own / "bundle"

    def is_data_folder(self) -> bool:
        """Return True if the data folder of this process is that of the story: its pages then show the story's data."""
        return data_dir() == self.home / "data"

    def make_environment(self) -> dict[str, str]:
        """Return the environment of the processes of the story. It has none of the reader's settings and no network."""
        inherited = {name: value for name, value in build_child_environment().items() if name not in _OWN_SETTINGS}
        return {**inherited, HOME: str(self.home), "URANIBORG_PAPER_SEARCH__OFFLINE": "1"}

    def read_records(self) -> "dict[str, StepRecord]":
        """Return the records of the steps by id, in the order of their end. Raise StoryUnreadable."""
        try:
            stored: Any = json.loads(self.state_file.read_bytes())
        except FileNotFoundError:
            return {}
        except ValueError:
            stored = None
        if not isinstance(stored, dict) or cast("JsonObject", stored).get("format") != _FORMAT:
            raise StoryUnreadable("The stored state of the story cannot be read.", hint=START_OVER)
        return cast("dict[str, StepRecord]", stored["steps"])

    def read_results(self) -> "Results":
        """Return the results of the steps by id. Raise StoryUnreadable."""
        return cast("Results", {key: record["result"] for key, record in self.read_records().items()})

    def write_records(self, records: "dict[str, StepRecord]") -> None:
        """Store the records. Raise OSError."""
        make_private_folder(self.own)
        text = json.dumps({"format": _FORMAT, "steps": records}, ensure_ascii=False, indent=1)
        write_atomic(self.state_file, text + "\n")

    def find_feeds(self) -> list[Path]:
        """Return the folders of the change feeds in which the story is announced: that of the story and our own one."""
        return list(dict.fromkeys((self.home / "data" / FEED_FOLDER, data_dir() / FEED_FOLDER)))

    def read_view(self) -> "StoryView | None":
        """Return the stored view of the steps, or None if there is none of this version of the program."""
        try:
            stored: Any = json.loads(self.view_file.read_bytes())
        except (FileNotFoundError, ValueError):
            return None
        fields = cast("JsonObject", stored) if isinstance(stored, dict) else {}
        return cast("StoryView | None", fields.get("view")) if fields.get("version") == version() else None

    def write_view(self, view: "StoryView") -> None:
        """Store the view. Raise OSError."""
        make_private_folder(self.own)
        write_atomic(self.view_file, json.dumps({"version": version(), "view": view}, ensure_ascii=False))
