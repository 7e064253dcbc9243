"""Give papers citation keys, the same in every export; the kernel has the scheme."""

from collections import Counter
from collections.abc import Sequence

from paper_search.editorial_notices import unmark_title
from paper_search.models import Paper
from uraniborg.kernel.bibliography.references import add_key_suffix, make_citation_key


def citation_keys(papers: Sequence[Paper]) -> list[str]:
    """Return one key per paper, in order, no two the same. A key that a paper already has is not changed.

    Of papers with the same plain key the one with the smallest id keeps it; the others get `_a`, `_b` … `_z`, `_aa` …
    in the order of their ids, so a key does not depend on the order of the papers. A plain key has two underscores
    and a suffixed one three, so the two never collide.
    """
    keys: dict[int, str] = {}
    taken, repeats = set[str](), Counter[str]()
    by_id = sorted(range(len(papers)), key=lambda position: papers[position].id)
    for position in by_id:
        given = papers[position].citation_key
        if given and given not in taken:
            keys[position] = given
            taken.add(given)
    for position in by_id:
        if position in keys:
            continue
        plain = make_plain_citation_key(papers[position])
        while (key := add_key_suffix(plain, repeats[plain])) in taken:
            repeats[plain] += 1
        repeats[plain] += 1
        keys[position] = key
        taken.add(key)
    return [keys[position] for position in range(len(papers))]


def make_plain_citation_key(paper: Paper) -> str:
    """Return `family_year_word` (see `make_citation_key`).

    If there is no author, the first editor is used. A mark such as `RETRACTED: ` is not part of the key, so that a
    retraction changes no key.
    """
    names = (person.name for person in (*paper.authors, *paper.editors))
    return make_citation_key(names, paper.year, unmark_title(paper.title))


def add_citation_keys(papers: Sequence[Paper]) -> list[Paper]:
    keys = citation_keys(papers)
    return [paper.model_copy(update={"citation_key": key}) for paper, key in zip(papers, keys, strict=True)]
