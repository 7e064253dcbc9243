"""Count in how many papers each word and each pair of neighbouring words occurs, for the planner of searches.

python tools/count_words.py FOLDER

FOLDER holds `corpus`, `joss`, `fulltext` and `api` as in the project's shared data; part 0 of the corpus is left out,
since the benchmark of recall searches it. Writes counts only, never a sentence: a word is counted if it occurs in at
least 10 papers, a pair if it occurs in at least 15 and more often than its two words would meet by chance.
"""

import gzip
import html
import json
import math
import re
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, cast

from uraniborg.kernel.language.words import extract_terms

TARGET: Final = Path(__file__).resolve().parents[1] / "src/paper_search/domain/intent/data/word_counts.txt"
_LEAST_WORD: Final = 10
_LEAST_PAIR: Final = 15
_LEAST_ASSOCIATION: Final = 2.5
"""The natural logarithm of how many times more often a pair occurs than by chance."""
_MOST_CHARACTERS: Final = 20_000
_TAGS: Final = re.compile("<[^>]+>")


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) == 2 else sys.exit(__doc__)
    words: Counter[str] = Counter()
    pairs: Counter[tuple[str, str]] = Counter()
    papers = 0
    for text in _iterate_papers(folder):
        papers += 1
        terms = extract_terms(text)
        words.update(set(terms))
        pairs.update(set(pairwise(terms)))
    lines = [
        "# In how many papers each stem, and each pair of neighbouring stems, occurs; first the number of all papers.",
        "# Written by tools/count_words.py.",
        str(papers),
    ]
    lines += [f"{word} {count}" for word, count in sorted(words.items()) if count >= _LEAST_WORD and word.isascii()]
    for (first, second), count in sorted(pairs.items()):
        chance = words[first] * words[second] / papers
        if count >= _LEAST_PAIR and math.log(count / chance) > _LEAST_ASSOCIATION and f"{first}{second}".isalpha():
            lines.append(f"{first} {second} {count}")
    TARGET.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{papers} papers, {len(lines) - 3} lines: {TARGET.name}")


def _iterate_papers(folder: Path) -> Iterator[str]:
    for path in sorted((folder / "corpus").glob("*.gz")):
        if "part0" not in path.name:
            with gzip.open(path, "rt", encoding="utf-8") as lines:
                yield from (f"{paper['title']}\n{paper.get('abstract') or ''}" for paper in map(json.loads, lines))
    for path in sorted((folder / "joss").rglob("*.md")):
        yield path.read_text(encoding="utf-8", errors="replace")[:_MOST_CHARACTERS]
    for path in sorted((folder / "fulltext").rglob("*.xml")):
        yield _TAGS.sub(" ", path.read_text(encoding="utf-8", errors="replace"))[:_MOST_CHARACTERS]
    known: set[str] = set()
    for path in sorted((folder / "api").rglob("*.json")):
        try:
            body: object = json.loads(path.read_text(encoding="utf-8", errors="replace"))
        except ValueError:
            continue
        yield from (text for text in _iterate_records(body) if text not in known and not known.add(text))


def _iterate_records(value: object) -> Iterator[str]:
    """Yield the title and abstract of each record in the answer of an interface, whatever its form."""
    if isinstance(value, list):
        for item in cast("list[object]", value):
            yield from _iterate_records(item)
    if not isinstance(value, dict):
        return
    record = cast("dict[str, Any]", value)
    title = record.get("title") or record.get("display_name")
    title = title[0] if isinstance(title, list) and title else title
    abstract = record.get("abstract") or record.get("abstractText") or record.get("summary")
    if isinstance(title, str) and len(title) > 15:
        yield html.unescape(_TAGS.sub(" ", f"{title}\n{abstract if isinstance(abstract, str) else ''}"))
    for item in record.values():
        yield from _iterate_records(item)


if __name__ == "__main__":
    main()
