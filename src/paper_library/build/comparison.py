"""What an update changed, paper by paper."""

from typing import Any, Final

import orjson

from paper_library.build.gathering import Group
from paper_library.build.metadata import Described
from paper_library.build.report import Report
from paper_library.build.unbuilding import OldShelf

_NOT_COMPARED: Final = frozenset({"paper_id", "citation_key", "outline", "translation_chars"})


class Comparison:
    """Compares the papers of a build with those of the shelf that it updates."""

    def __init__(self, old: OldShelf, report: Report) -> None:
        self._old = old
        self._report = report

    def note(self, made: Described, group: Group, *, is_old: bool) -> None:
        """Report what became of a paper; `is_old` if entries of the old shelf are part of it."""
        paper_id, title = made.paper.paper_id, made.paper.entry.title
        for absorbed in group.absorbed:
            if (no := self._old.numbers.get(absorbed)) is not None:
                self._report.note_change("merged", absorbed, self._old.metadata(no)["title"])
        no = self._old.numbers.get(paper_id)
        if no is None:
            self._report.note_change("added", paper_id, title)
        elif self._old.digest(no) == made.digest or not (fields := self._differing(no, made)):
            self._report.unchanged += 1
        else:
            self._report.note_change("changed" if is_old else "replaced", paper_id, title, fields)

    def _differing(self, no: int, made: Described) -> list[str]:
        """Return the fields of the reply that differ; of a shelf of schema 1 only those that it has."""
        old, new = self._old.metadata(no), orjson.loads(made.metadata)
        fields = [name for name in (*new, *(old.keys() - new.keys())) if self._differs(name, old, new)]
        if self._old.bibtex(no) != made.paper.entry.bibtex:
            fields.append("bibtex")
        texts = {(one.kind, one.name, one.sha256) for one in made.assets if not one.is_derived}
        if not fields and not texts <= self._old.assets(no):
            fields.append("content")
        return fields

    def _differs(self, name: str, old: dict[str, Any], new: dict[str, Any]) -> bool:
        if name == "citation_key":
            return self._old.has_entries and old.get(name) != new.get(name)
        return name not in _NOT_COMPARED and (old.get(name) or None) != (new.get(name) or None)
