"""How fast the shelf is searched, at the 110,481 papers of the corpus.

Claims: the median search with snippets through our Python API takes at most 2x of raw tantivy that returns stored
fields and snippets, and is at least 10x faster than SQLite FTS5 with bm25 and snippets on the 50 most common words;
counting one facet over the result of any query takes under 5x of that search. All alternate, query by query.
"""

import sqlite3
from collections import Counter
from collections.abc import Callable
from typing import Any, Final

import tantivy
from ratios import record_ratio
from shelves import build_corpus_shelf, collection, corpus, make_temporary_folder, need_data, p50, timed

from paper_library.service.library import Library
from uraniborg.kernel.language.words import STOP_WORDS, split_words

ROUNDS: Final = 3
LIMIT: Final = 10
KINDS: Final = ("author", "venue", "keyword", "institution", "tag", "year")

Search = Callable[[str], Any]


def main() -> None:
    need_data()
    library = Library.open(build_corpus_shelf()[0])
    ours = library.search
    raw, fts = _make_tantivy_search(), _make_fts5_search()
    counted = Counter(word for paper in corpus() for word in set(split_words(f"{paper['title']} {paper['abstract']}")))
    common = [word for word, _ in counted.most_common(50)]
    content = [word for word, _ in counted.most_common(200) if word not in STOP_WORDS][:50]
    questions = [query["text"] for query in collection("autoscholar_acl")[1]]
    pairs = [f"{one} {other}" for one, other in zip(content, content[7:], strict=False)]
    print("  p50 in ms                     ours    tantivy  ratio    FTS5   ratio")
    for name, queries in (
        ("50 most common words", common),
        ("50 common content words", content),
        ("pairs of them", pairs),
        ("questions", questions),
    ):
        _compare(name, queries, ours, raw, fts if name != "questions" else None)
    print("  one facet over the whole result, against the search with snippets (p50):")
    for kind in KINDS:
        ratio = _measure_facet_ratio(library, kind, [*content, *pairs])
        print(f"    {kind:<12} {ratio:.2f}x")


def _compare(name: str, queries: list[str], ours: Search, raw: Search, fts: Search | None) -> None:
    times: dict[str, list[float]] = {"ours": [], "raw": [], "fts": []}
    for _ in range(ROUNDS):
        for query in queries:
            times["ours"].append(timed(lambda query=query: ours(query)))
            times["raw"].append(timed(lambda query=query: raw(query)))
            if fts:
                times["fts"].append(timed(lambda query=query: fts(query)))
    mine, theirs = p50(times["ours"]) * 1e3, p50(times["raw"]) * 1e3
    line = f"  {name:<26} {mine:7.2f} {theirs:10.2f} {mine / theirs:5.2f}x"
    record_ratio(f"{name}: ours to tantivy", mine / theirs)
    if fts:
        slow = p50(times["fts"]) * 1e3
        line += f" {slow:8.1f} {slow / mine:6.1f}x"
        record_ratio(f"{name}: FTS5 to ours", slow / mine)
    print(line)


def _measure_facet_ratio(library: Library, kind: str, queries: list[str]) -> float:
    """Return the cost of counting facets as a multiple of the cost of the search."""
    plain: list[float] = []
    counting: list[float] = []
    for _ in range(ROUNDS):
        for query in queries:
            without = timed(lambda query=query: library.search(query))
            counting.append(timed(lambda query=query: library.search(query, facets=[kind])) - without)
            plain.append(without)
    return max(p50(counting), 0.0) / p50(plain)


def _make_tantivy_search() -> Search:
    """As its documentation has it: English stems, stored fields, snippets of the abstract."""
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("title", stored=True, tokenizer_name="en_stem")
    builder.add_text_field("abstract", stored=True, tokenizer_name="en_stem")
    builder.add_text_field("venue", stored=True, tokenizer_name="raw")
    builder.add_integer_field("year", stored=True)
    schema = builder.build()
    folder = make_temporary_folder() / "raw-tantivy"
    folder.mkdir()
    index = tantivy.Index(schema, path=str(folder))
    writer = index.writer(256_000_000, 2)
    for paper in corpus():
        document = tantivy.Document(title=paper["title"], abstract=paper["abstract"], venue=paper["venue"] or "")
        document.add_integer("year", paper["year"] or 0)
        writer.add_document(document)
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()

    def search(text: str) -> list[Any]:
        query, _ = index.parse_query_lenient(text, ["title", "abstract"])
        snippets = tantivy.SnippetGenerator.create(searcher, query, schema, "abstract")
        found: list[Any] = []
        for score, address in searcher.search(query, LIMIT).hits:
            document = searcher.doc(address)
            found.append((score, document.to_dict(), snippets.snippet_from_doc(document).to_html()))
        return found

    return search


def _make_fts5_search() -> Search:
    database = sqlite3.connect(make_temporary_folder() / "fts.db")
    database.execute("CREATE TABLE paper (no INTEGER PRIMARY KEY, title, abstract, venue, year)")
    database.execute(
        "CREATE VIRTUAL TABLE fts USING fts5(title, abstract, content=paper, content_rowid=no, tokenize='porter')"
    )
    rows = ((p["title"], p["abstract"], p["venue"], p["year"]) for p in corpus())
    database.executemany("INSERT INTO paper (title, abstract, venue, year) VALUES (?, ?, ?, ?)", rows)
    database.execute("INSERT INTO fts(fts) VALUES ('rebuild')")
    database.commit()

    def search(text: str) -> list[Any]:
        query = " OR ".join(f'"{word}"' for word in split_words(text))
        asked = (
            "SELECT paper.*, snippet(fts, -1, '**', '**', '…', 30), bm25(fts, 5, 1) AS score FROM fts "
            "JOIN paper ON paper.no = fts.rowid WHERE fts MATCH ? ORDER BY score LIMIT ?"
        )
        found = database.execute(asked, (query, LIMIT)).fetchall()
        database.execute("SELECT count(*) FROM fts WHERE fts MATCH ?", (query,)).fetchone()
        return found

    return search


if __name__ == "__main__":
    main()
