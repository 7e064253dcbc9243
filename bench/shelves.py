"""Shelves for the benchmarks, built from the data beside the checkout and kept for as long as the run lasts."""

import atexit
import gzip
import json
import os
import random
import shutil
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

from paper_library.domain.entries import BuildReport
from paper_library.service.build.builder import build_shelf

DATA: Final = Path(__file__).parents[2] / "shared" / "data"
CORPUS: Final = sorted((DATA / "corpus").glob("*.jsonl.gz"))


def need_data() -> None:
    if not CORPUS:
        print("  skipped: the data is not beside this checkout")
        sys.exit(0)


@cache
def make_temporary_folder() -> Path:
    """Return a folder that is removed at the end of the run."""
    folder = Path(tempfile.mkdtemp(prefix="bench-shelves-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@cache
def build_corpus_shelf() -> tuple[Path, BuildReport]:
    """Return the shelf of the whole corpus. BENCH_SHELF may name an existing shelf."""
    if given := os.environ.get("BENCH_SHELF"):
        return Path(given), BuildReport()
    target = make_temporary_folder() / "corpus"
    return target, build_shelf(CORPUS, target)


def corpus() -> Iterator[dict[str, Any]]:
    """Yield the papers of the corpus."""
    for path in CORPUS:
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            yield from map(json.loads, lines)


def collection(name: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]], dict[str, dict[str, float]]]:
    """Documents, queries and judgements of a test collection."""
    folder = DATA / "ir" / name
    documents: list[dict[str, Any]] = []
    if (folder / "corpus.jsonl.gz").exists():
        with gzip.open(folder / "corpus.jsonl.gz", "rt", encoding="utf-8") as lines:
            documents = [json.loads(line) for line in lines]
    queries = [json.loads(line) for line in (folder / "queries.jsonl").read_text().splitlines()]
    judged: dict[str, dict[str, float]] = defaultdict(dict)
    for line in (folder / "qrels.tsv").read_text().splitlines():
        query, document, *grade = line.split("\t")
        if grade and grade[0].replace(".", "", 1).isdigit():
            judged[query][document] = float(grade[0])
    return documents, queries, judged


def write_synthetic_corpus(count: int, path: Path) -> Path:
    """Write a JSONL file of `count` papers, recombined from the corpus so that word frequencies stay the same."""
    chosen = random.Random(7)
    real = list(corpus())
    with path.open("w", encoding="utf-8") as out:
        for number in range(count):
            one, other = real[number % len(real)], chosen.choice(real)
            paper = {**one, "id": f"s{number}", "doi": None, "abstract": other["abstract"], "url": None}
            if number >= len(real):
                paper["title"] = f"{one['title']} {number}"
            out.write(json.dumps(paper) + "\n")
    return path


def p50(times: list[float]) -> float:
    return sorted(times)[len(times) // 2]


def timed(work: Any) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started
