"""Match JSON summaries in a folder with papers by name.

`DIR/TEMPLATE/NAME.json` is a summary of the paper NAME: the stem of its file, its BibTeX key, its paper_id, or its DOI
or arXiv id with `_` for all characters except letters, digits, `.` and `-`. `DIR/NAME/TEMPLATE.json` works too.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from paper_library.build.entry import Problem, strip_line_number
from paper_library.build.merge import Paper
from paper_library.build.readers.text_files import Unreadable, describe_read_error, read_bytes
from paper_library.errors import InputNotFound
from paper_library.regular_files import resolve_links
from uraniborg.kernel.boundary import make_encodable, parse_json
from uraniborg.kernel.errors import is_out_of_room
from uraniborg.kernel.files import display_path

_MAX_BYTES: Final = 64 << 20
_NOT_IN_A_FILE_NAME: Final = re.compile(r"[^\w.-]+")


class SummaryFolder:
    """The summaries of one folder, by paper name."""

    def __init__(self, folder: Path | None) -> None:
        self._by_name: dict[str, list[tuple[str, Path]]] = {}
        self._unused: dict[Path, str] = {}
        self._root = Path()
        if folder is None:
            return
        if not folder.is_dir():
            raise InputNotFound(
                f"The folder {display_path(folder)} does not exist.",
                hint="Name a folder with TEMPLATE/NAME.json files.",
            )
        self._root = folder.resolve()
        for path in sorted(folder.glob("*/*.json")):
            folder_name, stem = make_encodable(path.parent.name), make_encodable(path.stem)
            self._unused[path] = f"{folder_name}/{stem}{path.suffix}"
            self._by_name.setdefault(_normalise_name(stem), []).append((folder_name, path))
            self._by_name.setdefault(_normalise_name(folder_name), []).append((stem, path))

    def add_summaries_to(self, paper: Paper) -> Iterator[Problem]:
        """Add the summaries of the paper to its entry; yield their problems."""
        if not self._by_name:
            return
        for name in dict.fromkeys(_list_possible_names(paper)):
            for template, path in self._by_name.get(name, ()):
                if path in self._unused:
                    origin = self._unused.pop(path)
                    try:
                        paper.entry.summaries[template] = self._read_summary(path)
                        paper.added_summaries.add(template)
                    except OSError as exc:
                        if is_out_of_room(exc):
                            raise
                        yield Problem(origin, "broken", f"The summary is left out. {describe_read_error(exc)}")
                    except ValueError:
                        yield Problem(origin, "broken", "The summary is not JSON. Write one JSON value in UTF-8.")

    def _read_summary(self, path: Path) -> Any:
        """Return the JSON of a file. Raise OSError, also for links out of the folder, or ValueError."""
        real = resolve_links(path)
        if not real.is_relative_to(self._root):
            raise Unreadable("The link leads out of the summary folder. Copy the file into the folder.")
        return parse_json(read_bytes(real, _MAX_BYTES))

    def list_unused_as_problems(self) -> list[Problem]:
        """Return a problem for each summary without a paper."""
        reason = "No paper has this name. In TEMPLATE/NAME.json, NAME is a file name, BibTeX key, DOI or paper_id."
        return [Problem(origin, "skipped", reason) for origin in self._unused.values()]


def _list_possible_names(paper: Paper) -> Iterable[str]:
    yield paper.paper_id
    for key in paper.keys:
        yield _normalise_name(key.partition(":")[2])
    for origin in paper.origins:
        if origin == strip_line_number(origin):  # a file of one paper
            yield _normalise_name(Path(origin).stem)


def _normalise_name(name: Any) -> str:
    return _NOT_IN_A_FILE_NAME.sub("_", name).lower()
