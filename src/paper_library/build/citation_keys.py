"""The BibTeX keys of a shelf's papers: their owners', or made by the scheme that searches use; no two the same."""

from collections.abc import Mapping

from paper_library.build.merge import Paper
from uraniborg.kernel.bibliography.citation_keys import make_citation_key, suffixed_key


class CitationKeys:
    """Gives out keys. A key that a paper had stays its own; of two papers with one key the second gets a suffix."""

    def __init__(self, given: set[str], remembered: Mapping[str, str]) -> None:
        """`given` are the keys that entries have, `remembered` those that papers of this build had, by paper_id."""
        self._given = given
        self._remembered = remembered
        self._owners = {key: paper_id for paper_id, key in remembered.items() if key}
        self._taken: set[str] = set()
        self._repeats: dict[str, int] = {}

    def assign(self, paper: Paper) -> None:
        """Set the key of the next paper."""
        entry = paper.entry
        given = entry.identifiers.get("bibkey", "")
        had = self._remembered.get(paper.paper_id, "")
        if had and had not in self._taken and self._may_keep(had, given):
            paper.citation_key = had
        else:
            plain = given or make_citation_key(entry.authors, entry.year, entry.title)
            paper.citation_key = self._free(plain, paper.paper_id, is_given=bool(given))
        self._taken.add(paper.citation_key)

    def _may_keep(self, had: str, given: str) -> bool:
        if given:
            return had == given or (had.startswith(f"{given}_") and had not in self._given)
        return had not in self._given

    def _free(self, plain: str, paper_id: str, *, is_given: bool) -> str:
        repeats = self._repeats.get(plain, 0)
        while not self._is_free(key := suffixed_key(plain, repeats), paper_id, is_given=is_given and not repeats):
            repeats += 1
        self._repeats[plain] = repeats
        return key

    def _is_free(self, key: str, paper_id: str, *, is_given: bool) -> bool:
        if key in self._taken or (key in self._given and not is_given):
            return False
        return self._owners.get(key, paper_id) == paper_id
