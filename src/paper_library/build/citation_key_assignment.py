"""Give each paper of a shelf a BibTeX key of its own, from its entries or its metadata."""

from collections.abc import Mapping

from paper_library.build.merge import Paper
from uraniborg.kernel.bibliography.citation_keys import add_key_suffix, clean_citation_key, make_citation_key


class CitationKeyAssigner:
    """An assigner of keys. A paper keeps an earlier key; of two papers with one key the second gets a suffix."""

    def __init__(self, keys_of_entries: set[str], earlier_keys: Mapping[str, str]) -> None:
        """Store the keys that entries have, and the earlier keys of papers by paper_id."""
        self._given = keys_of_entries
        self._remembered = earlier_keys
        self._owners = {key: paper_id for paper_id, key in earlier_keys.items() if key}
        self._taken: set[str] = set()
        self._repeats: dict[str, int] = {}

    def assign_key(self, paper: Paper) -> None:
        """Set the key of the next paper."""
        entry = paper.entry
        given = clean_citation_key(entry.identifiers.get("bibkey", ""))
        earlier = self._remembered.get(paper.paper_id, "")
        if earlier and earlier not in self._taken and self._can_keep_key(earlier, given):
            paper.citation_key = earlier
        else:
            plain = given or make_citation_key(entry.authors, entry.year, entry.title)
            paper.citation_key = self._find_free_key(plain, paper.paper_id, is_given=bool(given))
        self._taken.add(paper.citation_key)

    def _can_keep_key(self, earlier: str, given: str) -> bool:
        if given:
            return earlier == given or (earlier.startswith(f"{given}_") and earlier not in self._given)
        return earlier not in self._given

    def _find_free_key(self, plain: str, paper_id: str, *, is_given: bool) -> str:
        repeats = self._repeats.get(plain, 0)
        while not self._is_free_key(key := add_key_suffix(plain, repeats), paper_id, is_given=is_given and not repeats):
            repeats += 1
        self._repeats[plain] = repeats
        return key

    def _is_free_key(self, key: str, paper_id: str, *, is_given: bool) -> bool:
        if key in self._taken or (key in self._given and not is_given):
            return False
        return self._owners.get(key, paper_id) == paper_id
