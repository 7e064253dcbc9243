"""Summaries that a person or a model wrote: JSON files that belong to papers by name.

`DIR/TEMPLATE/NAME.json` holds one summary of the paper called NAME: its file's name without suffix, its BibTeX key, its
paper_id, or its DOI or arXiv id with `_` for everything but letters, digits, `.` and `-`. `DIR/NAME/TEMPLATE.json` is
understood as well.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import orjson

from paper_library.build.entry import Problem, origin_file
from paper_library.build.merge import Paper
from paper_library.build.readers.files import Unreadable, describe_failure, read_bytes
from paper_library.errors import InputNotFound
from paper_library.regular_files import resolve_links
from uraniborg.kernel.errors import is_out_of_room
from uraniborg.kernel.files import shown

_MAX_BYTES: Final = 64 << 20
_NOT_IN_A_FILE_NAME: Final = re.compile(r"[^\w.-]+")


class Summaries:
    """The files of one folder, by the two names each of them has."""

    def __init__(self, folder: Path | None) -> None:
        self._by_name: dict[str, list[tuple[str, Path]]] = {}
        self._left: dict[Path, str] = {}
        self._root = Path()
        if folder is None:
            return
        if not folder.is_dir():
            raise InputNotFound(
                f"There is no folder {shown(folder)}.", hint="Name a folder of TEMPLATE/NAME.json files."
            )
        self._root = folder.resolve()
        for path in sorted(folder.glob("*/*.json")):
            self._left[path] = f"{path.parent.name}/{path.name}"
            self._by_name.setdefault(_plain(path.stem), []).append((path.parent.name, path))
            self._by_name.setdefault(_plain(path.parent.name), []).append((path.stem, path))

    def add_to(self, paper: Paper) -> Iterator[Problem]:
        """Give the paper the summaries that bear one of its names; yield what is wrong with them."""
        if not self._by_name:
            return
        for name in dict.fromkeys(_names(paper)):
            for template, path in self._by_name.get(name, ()):
                if path in self._left:
                    origin = self._left.pop(path)
                    try:
                        paper.entry.summaries[template] = self._read(path)
                        paper.added_summaries.add(template)
                    except OSError as exc:
                        if is_out_of_room(exc):
                            raise
                        yield Problem(origin, "broken", f"The summary is left out. {describe_failure(exc)}")
                    except (ValueError, TypeError):
                        yield Problem(origin, "broken", "The summary is not JSON. Write one JSON value in UTF-8.")

    def _read(self, path: Path) -> Any:
        """Return the JSON value of a file. Raises OSError, also for a link out of the folder, ValueError, TypeError."""
        real = resolve_links(path)
        if not real.is_relative_to(self._root):
            raise Unreadable("It is a link that leads out of the folder of summaries. Copy the file there.")
        summary = orjson.loads(read_bytes(real, _MAX_BYTES))
        orjson.dumps(summary)  # which can be nested less deeply than what is read
        return summary

    def unused(self) -> list[Problem]:
        """Those that no paper bears the name of."""
        reason = "No paper has this name. Call it TEMPLATE/NAME.json by file name, BibTeX key, DOI or paper_id."
        return [Problem(origin, "skipped", reason) for origin in self._left.values()]


def _names(paper: Paper) -> Iterable[str]:
    yield paper.paper_id
    for key in paper.keys:
        yield _plain(key.partition(":")[2])
    for origin in paper.origins:
        if origin == origin_file(origin):  # a file of one paper
            yield _plain(Path(origin).stem)


def _plain(name: Any) -> str:
    return _NOT_IN_A_FILE_NAME.sub("_", name).lower()
