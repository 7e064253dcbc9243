"""Read a shelf: all operations, as plain values, for MCP, REST, pages and commands.

    library = Library.open("shelf")
    page = library.search("perovskite stability year:2019..")
    library.metadata(page["results"][0]["paper_id"])

All methods block, usually for some milliseconds. MCP tools, REST, pages and the command line call this service.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Self, TypeVar

import orjson

from paper_library.domain.citations import FORMATS, format_citations, make_bibtex_entry
from paper_library.domain.document_tree import make_text_tree, make_value_trees
from paper_library.domain.excerpts import (
    DEFAULT_TEMPLATE,
    cut_excerpt,
    extract_section,
    find_page_end,
    find_section,
    list_page_starts,
    make_default_summary,
)
from paper_library.domain.limits import (
    DEFAULT_FACETS,
    DEFAULT_PAGE_SIZE,
    VALUE_CHARS,
    check_facet_limit,
    check_page_bounds,
    describe_unreachable_results,
)
from paper_library.domain.markdown_parser import NameCitation, format_citation_in_text
from paper_library.domain.paper_ids import list_identifiers
from paper_library.domain.query import SORTS, Sort
from paper_library.errors import (
    AssetFetchFailed,
    OriginalNotAvailable,
    OutOfBounds,
    PaperNotFound,
    SourceNotAvailable,
    TemplateNotAvailable,
    TranslationNotAvailable,
)
from paper_library.service.export import CitedPaper, export_papers, list_cited_papers
from paper_library.service.hits import ResultPage, make_hits
from paper_library.service.live_shelf import LiveShelf
from paper_library.service.page_ranking import find_boolean_matches, find_similar
from paper_library.service.query_compiler import CompiledQuery
from paper_library.service.search import search_shelf
from paper_library.service.suggestions import find_keywords_with_part, suggest_keywords
from paper_library.store.assets import AssetReader
from paper_library.store.layout import FACET_KINDS, ORIGINAL, SOURCE, SUMMARY, TRANSLATION
from paper_library.store.shelf import Shelf
from uraniborg.kernel.boundary import make_encodable
from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.language.boolean_query import parse_query
from uraniborg.kernel.language.words import fold_text

if TYPE_CHECKING:
    from paper_library.domain.replies import (
        FacetPage,
        InterpretedQuery,
        PaperSummary,
        SearchPage,
        ShelfCounts,
        StoredMetadata,
    )
    from paper_library.domain.text_blocks import TextPage

T = TypeVar("T")

DEFAULT_TIMEOUT_S = 5.0


class BooleanMatches(NamedTuple):
    """The papers of the shelf that match a Boolean query."""

    papers: "list[StoredMetadata]"
    """The metadata of the best papers."""
    total: int
    """The number of all papers that match."""


class Library:
    """The read operations of one shelf; see `Library.open`. Threads may share it. All errors are UraniborgErrors."""

    def __init__(self, live: LiveShelf, assets: AssetReader, *, timeout_s: float = DEFAULT_TIMEOUT_S) -> None:
        self.live = live
        self._assets = assets
        self._timeout = timeout_s

    @classmethod
    def open(cls, shelf: Path | str, *, static_base_url: str | None = None) -> Self:
        """Open the shelf in this folder. Raise ShelfNotFound, ShelfTooNew or ShelfDamaged."""
        return cls(LiveShelf(Path(shelf)), AssetReader(static_base_url))

    def close(self) -> None:
        """Close the shelf."""
        self._assets.close()
        self.live.get_current().close()

    @property
    def name(self) -> str:
        """The name of the shelf, which is that of its folder."""
        return make_encodable(self.live.get_current().folder.name)

    @property
    def build_id(self) -> str:
        """The id of the build, which changes when the shelf is replaced."""
        return self.live.get_current().build_id

    def search(
        self,
        query: str,
        *,
        limit: int = DEFAULT_PAGE_SIZE,
        offset: int = 0,
        sort: str = "relevance",
        filters: Mapping[str, str] | None = None,
        facets: Sequence[str] = (),
        facet_limit: int = 10,
        count_years: bool = False,
    ) -> "SearchPage":
        """Return papers that match a query, best first; `paper_library.domain.query` describes the language."""
        order = _check_sort(sort)
        for kind in (*facets, *(filters or {})):
            _check_facet_kind(kind)
        for kind, value in (filters or {}).items():
            _check_value_length(kind, value)

        def find_papers(shelf: Shelf) -> "SearchPage":
            page = search_shelf(
                shelf,
                make_encodable(query),
                limit=limit,
                offset=offset,
                sort=order,
                filters=filters,
                facets=facets,
                facet_limit=facet_limit,
                count_years=count_years,
            )
            return page.as_dict()

        return self._query_shelf(find_papers)

    def search_boolean(
        self, query: str, *, limit: int, years: tuple[int | None, int | None] = (None, None)
    ) -> BooleanMatches:
        """Return the papers that match a query with AND, OR, NOT, brackets, phrases and `word*`, best first.

        `uraniborg.kernel.language.boolean_query` describes the syntax and `boolean_compiler` which papers match. A
        query of identifiers joined by OR returns the papers that have them. Raise OutOfBounds.
        """

        def find_papers(shelf: Shelf) -> BooleanMatches:
            if identifiers := list_identifiers(query):
                numbers = _find_identified_papers(shelf, identifiers)
                total = len(numbers)
            elif node := parse_query(query):
                numbers, total = find_boolean_matches(shelf, node, limit, years)
            else:
                numbers, total = [], 0
            return BooleanMatches([shelf.read_metadata(no) for no in numbers[:limit]], total)

        return self._query_shelf(find_papers)

    def search_by_keyword(self, keyword: str, *, limit: int = DEFAULT_PAGE_SIZE, offset: int = 0) -> "SearchPage":
        """Return papers with this keyword or tag, ignoring case; newest first.

        If no paper has it, return the papers with keywords that contain it, and say so in the interpreted query.
        """
        check_page_bounds(limit, offset)
        _check_value_length("keyword", keyword)
        value = fold_text(" ".join(keyword.split()))

        def find_papers(shelf: Shelf) -> "SearchPage":
            ids = [one for kind in ("keyword", "tag") if (one := shelf.find_facet_id(kind, value)) is not None]
            containing = [] if ids else find_keywords_with_part(shelf, value)
            ids = ids or [one for one, _ in containing]
            numbers, total = shelf.find_numbers_by_facets(ids, limit, offset) if ids else ([], 0)
            hits = make_hits(
                shelf, shelf.read_rows(numbers), [0.0] * len(numbers), CompiledQuery.make_for_snippets(keyword)
            )
            interpreted: InterpretedQuery = {"terms": [], "filters": {"keyword": [keyword]}, "ignored": []}
            page = ResultPage(hits, total, limit, offset, interpreted)
            if containing or not total:
                kinds = (kind for kind in FACET_KINDS if shelf.find_facet_id(kind, value) is not None)
                names = [name for _, name in containing]
                page.add_suggestions(keyword, suggest_keywords(shelf, value), names, next(kinds, None))
            return page.as_dict()

        return self._query_shelf(find_papers)

    def find_similar(self, paper: str, *, limit: int = DEFAULT_PAGE_SIZE, offset: int = 0) -> "SearchPage":
        """Return papers on the same topics, the most similar first."""
        return self._query_shelf(
            lambda shelf: find_similar(shelf, shelf.find_paper_number(paper), limit=limit, offset=offset).as_dict()
        )

    def find_ids_by_title(self, title: str) -> list[str]:
        """Return the ids of the papers with this title, ignoring case and accents."""
        _check_value_length("title", title)
        return self._query_shelf(
            lambda shelf: [row.paper_id for row in shelf.read_rows(shelf.find_numbers_by_title(title))]
        )

    def find_paper_id_by_prefix(self, prefix: str) -> str:
        """Return the id of the paper that `prefix` names, or of the only one whose id or BibTeX key starts with it."""

        def find_paper_id(shelf: Shelf) -> str:
            return shelf.read_metadata(shelf.find_paper_number_by_prefix(prefix))["paper_id"]

        return self._query_shelf(find_paper_id)

    def find_paper_id(self, paper: str) -> str:
        """Return the id of a paper by its id, an id of a paper that was merged into it, DOI, arXiv id or BibTeX key."""
        return self._query_shelf(lambda shelf: shelf.read_paper_id(shelf.find_paper_number(paper)))

    def list_merged_ids(self, paper: str) -> list[str]:
        """Return the ids of the papers that were merged into this one."""
        return self._query_shelf(lambda shelf: shelf.list_merged_ids(shelf.find_paper_number(paper)))

    def metadata_json(self, paper: str) -> bytes:
        """Return all metadata of a paper by its id, DOI, arXiv id or BibTeX key, as JSON."""
        return self._query_shelf(lambda shelf: shelf.read_metadata_json(shelf.find_paper_number(paper)))

    def metadata(self, paper: str) -> "StoredMetadata":
        """Return all metadata of a paper by its id, DOI, arXiv id or BibTeX key."""
        return orjson.loads(self.metadata_json(paper))

    def summary(self, paper: str, template: str | None = None) -> str:
        """Return the summary of this template, or the preferred summary, as a JSON text."""
        return self._query_shelf(lambda shelf: self._read_summary(shelf, paper, template))

    def summary_page(self, paper: str, template: str | None = None) -> "PaperSummary":
        """Return a summary, and each of its texts as a tree."""
        metadata = self.metadata(paper)
        content = orjson.loads(self.summary(paper, template))
        return {
            "paper_id": metadata["paper_id"],
            "template": template or metadata["preferred_summary_template"],
            "summary": content,
            "sections": make_value_trees(content),
        }

    def source(self, paper: str, lang: str | None = None) -> str:
        """Return the text of a paper as markdown, in its own language or translated into `lang`."""
        if lang and not self._is_language_of_paper(paper, lang):
            return self.translation(paper, lang)

        def read_text(shelf: Shelf) -> str:
            no = shelf.find_paper_number(paper)
            paper_id = shelf.read_metadata(no)["paper_id"]
            ref = shelf.find_asset(no, SOURCE, "")
            if ref is None:
                raise SourceNotAvailable(paper_id)
            return self._assets.read_asset(shelf.folder, ref, paper_id)

        return self._query_shelf(read_text)

    def section(self, paper: str, heading: str, *, lang: str | None = None) -> str:
        """Return the section of a paper's text under `heading`, with its subsections, as markdown."""
        return extract_section(self.source(paper, lang), heading)

    def text_page(
        self, paper: str, *, lang: str | None = None, offset: int = 0, section: str | None = None
    ) -> "TextPage":
        """Return the page of a paper's text that contains `offset`, or the section under a heading, as a tree.

        Raise OutOfBounds.
        """
        text = self.source(paper, lang)
        cut_excerpt(text, offset, 1)
        starts = list_page_starts(text)
        if section is not None:
            start, end = find_section(text, section)
            end = min(end, find_page_end(text, start))
        else:
            start = starts[bisect_right(starts, offset) - 1]
            end = find_page_end(text, start)
        return {
            "offset": start,
            "end": end,
            "previous_offset": max((one for one in starts if one < start), default=None),
            "next_offset": end if end < len(text) else None,
            "total_chars": len(text),
            "nodes": make_text_tree(text[start:end], start, self.make_citation_namer(paper)),
        }

    def make_citation_namer(self, paper: str) -> NameCitation:
        """Return a function that names the papers that a text cites: `Smith 2020`, or the key if it is not known."""

        @lru_cache(maxsize=1_000)
        def name_citation(key: str) -> str:
            def find_name(shelf: Shelf) -> str:
                no = shelf.find_cited_number(shelf.find_paper_number(paper), key)
                if no is None:
                    return key
                cited = shelf.read_metadata(no)
                return format_citation_in_text(cited["authors"], cited["year"]) or key

            return self._query_shelf(find_name)

        return name_citation

    def translation(self, paper: str, lang: str) -> str:
        """Return the translation of a paper into `lang`, as markdown."""

        def read_text(shelf: Shelf) -> str:
            no = shelf.find_paper_number(paper)
            metadata = shelf.read_metadata(no)
            ref = shelf.find_asset(no, TRANSLATION, lang.lower())
            if ref is None:
                raise TranslationNotAvailable(metadata["paper_id"], lang, metadata["translations"])
            return self._assets.read_asset(shelf.folder, ref, metadata["paper_id"])

        return self._query_shelf(read_text)

    def has_original(self, paper: str) -> bool:
        """Return True if the shelf has the PDF that the text of a paper was read from."""
        return self._query_shelf(
            lambda shelf: shelf.find_asset(shelf.find_paper_number(paper), ORIGINAL, "") is not None
        )

    def original(self, paper: str) -> bytes:
        """Return the PDF that the text of a paper was read from. Raise OriginalNotAvailable."""

        def read_pdf(shelf: Shelf) -> bytes:
            no = shelf.find_paper_number(paper)
            paper_id = shelf.read_metadata(no)["paper_id"]
            ref = shelf.find_asset(no, ORIGINAL, "")
            if ref is None:
                raise OriginalNotAvailable(paper_id)
            return self._assets.read_bytes(shelf.folder, ref, paper_id)

        return self._query_shelf(read_pdf)

    def bibtex(self, paper: str) -> str:
        """Return the BibTeX entry of a paper as its owner wrote it, or one generated from the metadata."""

        def make_entry(shelf: Shelf) -> str:
            no = shelf.find_paper_number(paper)
            return make_bibtex_entry(shelf.read_metadata(no), shelf.read_bibtex(no))

        return self._query_shelf(make_entry)

    def citations(self, papers: Sequence[str], format_name: str = "bibtex") -> str:
        """Return the citations of `papers`, each once, as bibtex, ris or csl-json."""
        if format_name not in FORMATS:
            raise OutOfBounds("format", f"one of: {', '.join(FORMATS)}")

        def write_papers(shelf: Shelf) -> str:
            numbers = dict.fromkeys(map(shelf.find_paper_number, papers))
            return format_citations(((shelf.read_metadata(no), shelf.read_bibtex(no)) for no in numbers), format_name)

        return self._query_shelf(write_papers)

    def export(self, query: str = "", format_name: str = "bibtex") -> Iterator[str]:
        """Return the papers that match `query`, or all papers, as bibtex, ris, csl-json or json, in pieces of one text.

        The papers are in shelf order, and all come from the current shelf.
        """
        return export_papers(self.live.get_current(), query, format_name)

    def list_cited_papers(self) -> list[CitedPaper]:
        """Return what the citations of all papers are made of, in the order of the shelf."""
        return list_cited_papers(self.live.get_current())

    def top_facets(self, category: str, *, limit: int = DEFAULT_FACETS, offset: int = 0) -> "FacetPage":
        """Return the most frequent values of a category, with their numbers of papers."""
        _check_facet_kind(category, "category")
        check_facet_limit(limit)
        check_page_bounds(1, offset)

        def count_values(shelf: Shelf) -> "FacetPage":
            values = shelf.list_top_facets(category, limit, offset)
            total = shelf.count_facet_values(category)
            more = describe_unreachable_results(offset + len(values), total, "value")
            page: FacetPage = {
                "category": category,
                "result": [{"value": value, "paper_count": count} for value, count in values],
                "total": total,
            }
            if more and values:
                page["more"] = more
            return page

        return self._query_shelf(count_values)

    def stats(self) -> "ShelfCounts":
        """Return counts of papers, assets, values and missing fields."""
        return self._query_shelf(lambda shelf: shelf.count_contents())

    def _is_language_of_paper(self, paper: str, lang: str) -> bool:
        known = self.metadata(paper)
        return lang.lower() == known["language"].lower() and lang.lower() not in known["translations"]

    def _read_summary(self, shelf: Shelf, paper: str, template: str | None) -> str:
        try:
            no = shelf.find_paper_number(paper)
        except PaperNotFound as missing:
            raise PaperNotFound(paper, template, missing.nearest, knows_searches=missing.knows_searches) from None
        metadata = shelf.read_metadata(no)
        name = template or metadata["preferred_summary_template"]
        if name not in metadata["available_summary_templates"]:
            raise TemplateNotAvailable(metadata["paper_id"], name, metadata["available_summary_templates"])
        ref = shelf.find_asset(no, SUMMARY, name)
        if ref is not None:
            return self._assets.read_asset(shelf.folder, ref, metadata["paper_id"])
        assert name == DEFAULT_TEMPLATE, "only the default summary is not always stored"
        return orjson.dumps(make_default_summary(metadata)).decode()

    def _query_shelf(self, query: Callable[[Shelf], T]) -> T:
        """Return the result of `query` on the current shelf; retry on the new shelf if the old one was just removed."""
        shelf = self.live.get_current()
        try:
            with shelf.limit_time(self._timeout):
                return query(shelf)
        except AssetFetchFailed:
            fresh = self.live.reopen_if_replaced()
            if fresh is shelf:
                raise
            with fresh.limit_time(self._timeout):
                return query(fresh)
        except UnicodeEncodeError:
            raise InvalidInput("The text has half a character.", hint="Give text that UTF-8 can encode.") from None


@lru_cache(maxsize=4)
def open_shared_library(shelf: Path) -> Library:
    """Return the library of a shelf, opened once per process; it reopens a replaced shelf by itself."""
    return Library.open(shelf)


def _find_identified_papers(shelf: Shelf, identifiers: Sequence[str]) -> list[int]:
    numbers: dict[int, None] = {}
    for identifier in identifiers:
        with suppress(PaperNotFound):
            numbers[shelf.find_paper_number(identifier)] = None
    return list(numbers)


def _check_sort(sort: str) -> Sort:
    for known in SORTS:
        if sort == known:
            return known
    raise OutOfBounds("sort", f"one of: {', '.join(SORTS)}")


def _check_facet_kind(kind: str, argument: str = "facet") -> None:
    if kind not in FACET_KINDS:
        raise OutOfBounds(argument, f"one of: {', '.join(FACET_KINDS)}")


def _check_value_length(argument: str, value: str) -> None:
    if not value.strip() or len(value) > VALUE_CHARS:
        raise OutOfBounds(argument, f"from 1 to {VALUE_CHARS} characters")
