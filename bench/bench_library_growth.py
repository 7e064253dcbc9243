"""How searching and memory grow with the shelf: 10,000, 110,481 and 1,000,000 papers.

The larger shelf recombines titles and abstracts of the corpus, so that words stay about as frequent. No claim but the
table: what a search takes, what the process holds, what lies on disk. BENCH_MOST lowers the largest size.
"""

import os
import resource
import subprocess
import sys
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import Final

from shelves import collection, corpus, make_temporary_folder, need_data, p50, timed, write_synthetic_corpus

SIZES: Final = (10_000, 110_481, 1_000_000)
MOST: Final = int(os.environ.get("BENCH_MOST", "1000000"))


def main() -> None:
    need_data()
    print("    papers   common word   two words    question   facet+   memory    disk   open    build")
    first: list[float] = []
    for size in SIZES:
        if size > MOST:
            continue
        source = write_synthetic_corpus(size, make_temporary_folder() / f"{size}.jsonl")
        command = [sys.executable, __file__, str(source), str(make_temporary_folder() / f"shelf{size}")]
        answer = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        build, disk, opened, memory, word, pair, question, facet = map(float, answer.split())
        print(
            f"  {size:>8,} {word:>9.2f} ms {pair:>8.2f} ms {question:>8.2f} ms {facet:>5.1f} ms {memory:>5.0f} MB "
            f"{disk:>5.0f} MB {opened:>4.1f} s {build:>6.0f} s"
        )
        first = first or [word, pair, question]
        grown = [now / then for now, then in zip((word, pair, question), first, strict=True)]
        print(f"           {grown[0]:>9.1f}x   {grown[1]:>8.1f}x   {grown[2]:>8.1f}x   of the smallest")


def _measure(source: Path, target: Path) -> None:
    from paper_library.service.library import Library
    from uraniborg.kernel.language.words import STOP_WORDS, split_words

    build = subprocess.run(
        [sys.executable, "-m", "paper_library", "build", str(source), "-o", str(target), "--json", "-q"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    seconds = float(build.split('"seconds":')[1].split(",")[0])
    disk = sum(path.stat().st_size for path in target.rglob("*") if path.is_file()) / 1e6
    opened = timed(lambda: Library.open(target))
    library = Library.open(target)
    counted = Counter(word for paper in islice(corpus(), 20_000) for word in set(split_words(paper["title"])))
    common = [word for word, _ in counted.most_common(120) if word not in STOP_WORDS][:50]
    pairs = [f"{one} {other}" for one, other in zip(common, common[5:], strict=False)]
    questions = [query["text"] for query in collection("autoscholar_acl")[1][:60]]
    asked = (common, pairs, questions)
    medians = [p50([timed(lambda q=q: library.search(q)) for q in queries for _ in (1, 2)]) for queries in asked]
    facets = p50([timed(lambda q=q: library.search(q, facets=["author"])) for q in pairs]) - medians[1]
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(seconds, disk, opened, memory, *(one * 1e3 for one in (*medians, facets)))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        _measure(Path(sys.argv[1]), Path(sys.argv[2]))
    else:
        main()
