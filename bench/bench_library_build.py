"""How fast a shelf is built, and in how much memory.

Claim: at least 2,500 papers a second without full texts, from compressed JSON lines to a verified folder; memory beside
the index writer's fixed share grows by what is needed to tell papers apart, not by what they say. The peer in the same
run only feeds title and abstract to a raw tantivy index: no identity, no merging, no database, no facets.
"""

import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

from ratios import record_ratio
from shelves import CORPUS, corpus, make_temporary_folder, need_data

PARTS: Final = (1, 4)
"""How many of the four parts of the corpus; what the peak grows by is what a paper costs."""


def main() -> None:
    need_data()
    peaks: dict[int, float] = {}
    seconds = 0.0
    for parts in PARTS:
        lines = subprocess.run(
            [sys.executable, __file__, str(parts), str(make_temporary_folder() / f"shelf{parts}")],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()
        papers, seconds, peak = int(lines[0]), float(lines[1]), float(lines[2])
        peaks[papers] = peak
        rate = papers / seconds
        print(f"  {papers:>8,} papers in {seconds:5.1f} s: {rate:,.0f} a second (claim 2,500), peak {peak:.0f} MB")
    (few, low), (many, high) = sorted(peaks.items())
    print(f"  each paper more takes {(high - low) * 1e6 / (many - few):.0f} bytes of memory")
    started = time.perf_counter()
    papers = _measure_raw_write()
    raw = time.perf_counter() - started
    rate = papers / raw
    record_ratio("ours to raw tantivy", seconds / raw)
    print(f"  raw tantivy, title and abstract only: {rate:,.0f} a second; ours takes {seconds / raw:.2f}x of its time")


def _build(parts: int, target: Path) -> None:
    from paper_library.service.build.builder import build_shelf

    started = time.perf_counter()
    report = build_shelf(CORPUS[:parts], target)
    seconds = time.perf_counter() - started
    print(report.entries, seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def _measure_raw_write() -> int:
    import tantivy

    builder = tantivy.SchemaBuilder()
    for name in ("title", "abstract"):
        builder.add_text_field(name, stored=True, tokenizer_name="en_stem")
    folder = make_temporary_folder() / "raw"
    folder.mkdir()
    index = tantivy.Index(builder.build(), path=str(folder))
    writer = index.writer(256_000_000, 2)
    count = 0
    for paper in corpus():
        writer.add_document(tantivy.Document(title=paper["title"], abstract=paper["abstract"]))
        count += 1
    writer.commit()
    writer.wait_merging_threads()
    return count


if __name__ == "__main__":
    if len(sys.argv) > 1:
        _build(int(sys.argv[1]), Path(sys.argv[2]))
    else:
        main()
