"""What an update changed, paper by paper."""

import orjson

from paper_library.build.gathering import Group
from paper_library.build.metadata import Described
from paper_library.build.report import Report
from paper_library.build.unbuilding import OldShelf
from paper_library.store.comparing import differing_fields


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
        fields = differing_fields(self._old.metadata(no), orjson.loads(made.metadata))
        if self._old.bibtex(no) != made.paper.entry.bibtex:
            fields.append("bibtex")
        texts = {(one.kind, one.name, one.sha256) for one in made.assets if not one.is_derived}
        return fields if fields or texts <= self._old.assets(no) else ["content"]
