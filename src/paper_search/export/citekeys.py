"""Citation keys of the papers of a collection; `uraniborg.kernel.bibliography.citation_keys` has the scheme."""

from collections.abc import Sequence

from paper_search.models import Paper
from uraniborg.kernel.bibliography.citation_keys import make_citation_key, suffixed_key


def citation_keys(papers: Sequence[Paper]) -> list[str]:
    """Return one key per paper, in order, no two the same.

    The first paper of a name keeps the plain key; later ones get `_a`, `_b` … `_z`, `_aa` …, so adding papers at the
    end changes no key.
    """
    taken: dict[str, int] = {}
    keys: list[str] = []
    for paper in papers:
        plain = citation_key(paper)
        repeats = taken.get(plain, 0)
        taken[plain] = repeats + 1
        keys.append(suffixed_key(plain, repeats))
    return keys


def citation_key(paper: Paper) -> str:
    """Return `family_year_word`; see `make_citation_key`."""
    return make_citation_key((author.name for author in paper.authors), paper.year, paper.title)
