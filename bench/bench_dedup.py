"""Deduplication: pairwise F1 on DBLP-ACM and Cora, the records of one review beside bib-dedupe, speed and growth."""

import gc
import gzip
import json
import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from itertools import combinations
from pathlib import Path
from time import process_time
from typing import Any

from dedup_peer import deduplicate_with_peer, install_peer
from rapidfuzz import fuzz, process
from ratios import record_ratio

from paper_search.domain.dedup import deduplicate, merge_duplicates
from paper_search.models import Author, RawPaper, SourceRecord

SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
YEAR = re.compile(r"\b(?:1[89]|20)\d\d\b")
AUTHOR_END = re.compile(r"(?<=\.)(?=[A-Z])")
SYLLABLES = ("ra", "to", "mi", "sel", "van", "dor", "pex", "lun", "cri", "bas", "tem", "gal", "ori", "nep", "zin")

Pairs = set[tuple[str, str]]


def read_lines(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def read_pairs(path: Path) -> Pairs:
    _, *rows = path.read_text(encoding="utf-8").splitlines()
    return {order_pair(*row.split("\t")) for row in rows}


def order_pair(one: str, other: str) -> tuple[str, str]:
    return (one, other) if one < other else (other, one)


def read_dblp_acm(folder: Path) -> tuple[list[RawPaper], Pairs]:
    """Return the records of both sources, and the pairs of records of one paper."""
    papers = [
        RawPaper(
            title=row["title"] or "",
            authors=[Author(name=name) for name in row["authors"]],
            year=row["year"],
            venue=row["venue"],
            source=source,
            records=[SourceRecord(source=source, record_id=row["id"])],
        )
        for source in ("dblp", "acm")
        for row in read_lines(folder / f"dblp_acm.{source}.jsonl.gz")
    ]
    return papers, read_pairs(folder / "dblp_acm.matches.tsv")


def read_cora(folder: Path) -> tuple[list[RawPaper], Pairs]:
    """Citations as people typed them: one text for all authors, years such as "(1995)." and titles with debris."""
    papers = [
        RawPaper(
            title=row.get("title", ""),
            authors=[Author(name=row["author"])] if "author" in row else [],
            year=int(found.group()) if (found := YEAR.search(row.get("year", ""))) else None,
            venue=row.get("venue"),
            volume=row.get("volume"),
            pages=row.get("pages"),
            source="cora",
            records=[SourceRecord(source="cora", record_id=row["id"])],
        )
        for row in read_lines(folder / "cora.jsonl.gz")
    ]
    return papers, read_pairs(folder / "cora.matches.tsv")


def read_review(folder: Path) -> tuple[list[RawPaper], list[bool]]:
    """Return the records of one review's databases, and which of them the review kept as unique."""
    rows = read_lines(folder / "asysd_diabetes.jsonl.gz")
    papers = [
        RawPaper(
            title=row["title"] or "",
            authors=[Author(name=name) for name in AUTHOR_END.split(_get_known(row, "author") or "") if name],
            year=int(found.group()) if (found := YEAR.search(row["year"] or "")) else None,
            venue=_get_known(row, "journal"),
            volume=_get_known(row, "volume"),
            issue=_get_known(row, "number"),
            pages=_get_known(row, "pages"),
            doi=_get_known(row, "doi"),
            abstract=_get_known(row, "abstract"),
            source="review",
            records=[SourceRecord(source="review", record_id=row["record_id"])],
        )
        for row in rows
    ]
    return papers, [row["source"] == "unique" for row in rows]


def _get_known(row: dict[str, Any], name: str) -> str | None:
    return None if row[name] in ("", "NA") else row[name]


def count_errors(groups: Iterable[Iterable[int]], is_unique: list[bool]) -> tuple[int, int]:
    """Return the wrong merges (unique records beyond the first of a group) and the duplicates left (groups of none)."""
    counts = [sum(is_unique[index] for index in group) for group in groups]
    return sum(count - 1 for count in counts if count > 1), counts.count(0)


def make_peer_records(papers: list[RawPaper]) -> list[dict[str, str]]:
    return [
        {
            "ID": str(index),
            "ENTRYTYPE": "article",
            "title": paper.title,
            "author": " and ".join(author.name for author in paper.authors),
            "year": str(paper.year or ""),
            "journal": paper.venue or "",
            "volume": paper.volume or "",
            "number": paper.issue or "",
            "pages": paper.pages or "",
            "doi": paper.doi or "",
            "abstract": paper.abstract or "",
        }
        for index, paper in enumerate(papers)
    ]


def find_pairs(papers: Iterable[RawPaper], *, across_sources: bool) -> Pairs:
    """Every two records that ended in one paper."""
    return {
        order_pair(one.record_id, other.record_id)
        for paper in papers
        for one, other in combinations(paper.records, 2)
        if not across_sources or one.source != other.source
    }


def find_exact_pairs(papers: Iterable[RawPaper]) -> Pairs:
    """Return the pairs of the baseline: titles that are equal except for case and punctuation."""
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for paper in papers:
        groups["".join(re.findall(r"\w+", paper.title.lower()))].append(paper.records[0].record_id)
    return {order_pair(one, other) for group in groups.values() for one, other in combinations(group, 2)}


def compute_f1(found: Pairs, true: Pairs) -> float:
    return 2 * len(found & true) / (len(found) + len(true))


def make_papers(count: int) -> list[RawPaper]:
    """Papers of which a tenth are near duplicates, from real titles where the corpus is at hand."""
    chance = random.Random(7)
    known = list(corpus(count - count // 10) or invented(count - count // 10, chance))
    papers = [*known, *(make_near_duplicate(chance.choice(known), chance) for _ in range(count - len(known)))]
    chance.shuffle(papers)
    return papers


def corpus(count: int) -> list[RawPaper]:
    files = sorted((SHARED_DATA / "corpus").glob("acl_anthology.part*.jsonl.gz"))
    rows = [row for path in files for row in read_lines(path)]
    random.Random(7).shuffle(rows)
    return [
        make_paper(f"{number}", row["title"], row["authors"], row["year"], row.get("doi"))
        for number, row in enumerate(rows[:count])
    ]


def invented(count: int, chance: random.Random) -> list[RawPaper]:
    words = ["".join(chance.choices(SYLLABLES, k=chance.randint(2, 4))) for _ in range(20_000)]
    # Words are as unequally frequent as in real titles.
    weights = [1 / rank for rank in range(1, len(words) + 1)]
    return [
        make_paper(
            f"{number}",
            " ".join(chance.choices(words, weights, k=chance.randint(5, 12))).capitalize(),
            [f"{chance.choice(words).title()} {chance.choice(words).title()}" for _ in range(chance.randint(1, 5))],
            chance.randint(1990, 2024),
            f"10.5555/{number}",
        )
        for number in range(count)
    ]


def make_paper(record_id: str, title: str, names: list[str], year: int, doi: str | None) -> RawPaper:
    return RawPaper(
        title=title,
        authors=[Author(name=name) for name in names],
        year=year,
        doi=doi,
        identifiers={"doi": doi} if doi else {},
        source="first",
        records=[SourceRecord(source="first", record_id=record_id)],
    )


def make_near_duplicate(paper: RawPaper, chance: random.Random) -> RawPaper:
    """Return the paper as another source might: letters swapped or in capitals, initials, no DOI."""
    title = paper.title
    if len(title) > 4 and chance.random() < 0.5:
        place = chance.randrange(1, len(title) - 2)
        title = title[:place] + title[place + 1] + title[place] + title[place + 2 :]
    else:
        title = title.upper()
    names = [re.sub(r"^(\w)\w* (?:.* )?(\w+)$", r"\1. \2", author.name) for author in paper.authors]
    record = SourceRecord(source="second", record_id=f"{paper.records[0].record_id} {chance.random()}")
    authors = [Author(name=name) for name in names]
    return RawPaper(title=title, authors=authors, year=paper.year, source="second", records=[record])


def seconds(work: Callable[[], object]) -> float:
    started = process_time()
    work()
    return process_time() - started


def compare_in_a_loop(rows: list[str], titles: list[str]) -> None:
    for one in rows:
        for other in titles:
            fuzz.token_sort_ratio(one, other)


def report_quality() -> None:
    folder = SHARED_DATA / "dedup"
    if not folder.is_dir():
        print("DBLP-ACM and Cora: skipped, the shared data folder is not beside this checkout")
        return
    papers, true = read_dblp_acm(folder)
    found = find_pairs(merge_duplicates(papers), across_sources=True)
    print(f"DBLP-ACM pairwise F1 {compute_f1(found, true):.4f}  (target >= 0.97)")
    record_ratio("DBLP-ACM pairwise F1", compute_f1(found, true))
    papers, true = read_cora(folder)
    found = find_pairs(merge_duplicates(papers), across_sources=False)
    exact = compute_f1(find_exact_pairs(papers), true)
    record_ratio("Cora pairwise F1", compute_f1(found, true))
    print(f"Cora     pairwise F1 {compute_f1(found, true):.4f}  (target >= 0.82; exact matching gives {exact:.4f})")


def report_review() -> None:
    """Print the errors in the records of one review, and those of bib-dedupe in the same records."""
    folder = SHARED_DATA / "dedup"
    if not folder.is_dir():
        return
    papers, is_unique = read_review(folder)
    wrong, left = count_errors(deduplicate(papers).members, is_unique)
    ours = min(seconds(lambda: deduplicate(papers)) for _ in range(3))
    print(f"one review's databases, {len(papers):,} records of {sum(is_unique)} papers:")
    print(f"  ours        {wrong} wrong merges, {left} left  (targets <= 1, <= 2), {ours:.2f} s of processor time")
    record_ratio("wrong merges in one review's databases", wrong)
    record_ratio("duplicates left in one review's databases", left)
    if (python := install_peer()) is None:
        return
    found, theirs = deduplicate_with_peer(python, make_peer_records(papers))
    groups = [[int(name) for name in group] for group in found]
    single = set(range(len(papers))).difference(*groups)
    wrong, left = count_errors([*groups, *([index] for index in single)], is_unique)
    print(f"  bib-dedupe  {wrong} wrong merges, {left} left, {theirs:.2f} s: {theirs / ours:.0f}x of ours")
    record_ratio("bib-dedupe to ours", theirs / ours)


def report_speed(papers: list[RawPaper], sampled_rows: int = 40) -> None:
    titles = [paper.title.lower() for paper in papers]
    rows = titles[:sampled_rows]
    pairs = len(titles) * (len(titles) - 1) / 2
    scale = pairs / (len(rows) * len(titles))
    ours = min(seconds(lambda: merge_duplicates(papers)) for _ in range(3))
    loop = scale * min(seconds(lambda: compare_in_a_loop(rows, titles)) for _ in range(3))
    batch = scale * min(
        seconds(lambda: process.cdist(rows, titles, scorer=fuzz.token_sort_ratio, workers=1)) for _ in range(3)
    )
    print(
        f"{len(papers):,} records: {ours:.2f} s; comparing the titles of all {pairs:,.0f} pairs with token_sort_ratio"
        f" takes {loop:.0f} s in a loop, {batch:.0f} s in one call of cdist (both measured on {len(rows)} rows and"
        f" scaled to the number of pairs; processor time, best of three)"
    )
    print(f"speed-up over the pairwise loop  {loop / ours:.0f}x  (target >= 50x)")
    record_ratio("pairwise loop to ours", loop / ours)
    record_ratio("pairwise cdist to ours", batch / ours)
    print(f"speed-up over pairwise cdist     {batch / ours:.0f}x  (titles only, one core; no target)")


def report_growth(sizes: tuple[int, ...] = (1_000, 10_000, 100_000)) -> None:
    times: dict[int, float] = {}
    for size in sizes:
        papers = make_papers(size)
        gc.collect()
        times[size] = seconds(lambda papers=papers: merge_duplicates(papers)) / size
        growth = times[size] / times[sizes[0]]
        record_ratio(f"time per record at {size:,}", growth)
        print(f"{size:>7,} records: {times[size] * 1e6:.0f} us a record, {growth:.2f}x of that at {sizes[0]:,}")


def main() -> None:
    report_quality()
    report_review()
    report_speed(make_papers(10_000))
    print("growth (linear is 1.00x):")
    report_growth()


if __name__ == "__main__":
    main()
