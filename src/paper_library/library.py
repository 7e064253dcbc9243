"""The library as a program uses it: everything a shelf can be asked, as plain values.

    library = Library.open("shelf")
    page = library.search("perovskite stability year:2019..")
    library.metadata(page["results"][0]["paper_id"])

All of it blocks for as long as it takes, some milliseconds as a rule. MCP and REST are two doors to it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self, TypeVar

import orjson

from paper_library.errors import (
    AssetFetchFailed,
    OutOfBounds,
    PaperNotFound,
    SourceNotAvailable,
    TemplateNotAvailable,
    TranslationNotAvailable,
)
from paper_library.export import export_papers
from paper_library.limits import DEFAULT_FACETS, DEFAULT_PAGE_SIZE, VALUE_CHARS
from paper_library.search import engine
from paper_library.search.compiler import Compiled
from paper_library.search.engine import Page
from paper_library.search.hits import make_hits
from paper_library.search.query import SORTS, Sort
from paper_library.search.suggestions import suggest_keywords
from paper_library.store.assets import Assets
from paper_library.store.layout import FACET_KINDS, SOURCE, SUMMARY, TRANSLATION
from paper_library.store.live_shelf import LiveShelf
from paper_library.store.shelf import Shelf
from paper_library.text.citations import FORMATS, make_bibtex_entry, write_citations
from paper_library.text.default_summary import DEFAULT_TEMPLATE, make_default_summary
from paper_library.text.excerpts import read_section
from uraniborg.kernel.text import replace_surrogates
from uraniborg.kernel.words import fold_text

T = TypeVar("T")

DEFAULT_TIMEOUT_S = 5.0


class Library:
    """Opened by `Library.open`. Threads may share it. Every method raises members of the error family only."""

    def __init__(self, live: LiveShelf, assets: Assets, *, timeout_s: float = DEFAULT_TIMEOUT_S) -> None:
        self.live = live
        self._assets = assets
        self._timeout = timeout_s

    @classmethod
    def open(cls, shelf: Path | str, *, static_base_url: str | None = None) -> Self:
        """The library of one shelf. Raises ShelfNotFound, ShelfTooNew, ShelfDamaged."""
        return cls(LiveShelf(Path(shelf)), Assets(static_base_url))

    def close(self) -> None:
        self._assets.close()
        self.live.current().close()

    @property
    def build_id(self) -> str:
        """Changes when the shelf is replaced."""
        return self.live.current().build_id

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
    ) -> dict[str, Any]:
        """Papers for a query, best first; see `paper_library.search.query` for the language."""
        order = _checked_sort(sort)
        for kind in (*facets, *(filters or {})):
            _check_kind(kind)
        for kind, value in (filters or {}).items():
            _check_value(kind, value)

        def found(shelf: Shelf) -> dict[str, Any]:
            page = engine.search(
                shelf,
                query,
                limit=limit,
                offset=offset,
                sort=order,
                filters=filters,
                facets=facets,
                facet_limit=facet_limit,
            )
            return page.as_dict()

        return self._on_shelf(found)

    def search_by_keyword(self, keyword: str, *, limit: int = DEFAULT_PAGE_SIZE, offset: int = 0) -> dict[str, Any]:
        """Papers that have `keyword` among their keywords or tags, whole and whatever its case; newest first."""
        engine.check_page(limit, offset)
        _check_value("keyword", keyword)
        value = fold_text(replace_surrogates(" ".join(keyword.split())))

        def found(shelf: Shelf) -> dict[str, Any]:
            ids = [one for kind in ("keyword", "tag") if (one := shelf.facet_id(kind, value)) is not None]
            numbers, total = shelf.with_facet(ids, limit, offset) if ids else ([], 0)
            hits = make_hits(shelf, shelf.rows(numbers), [0.0] * len(numbers), Compiled.for_snippets(keyword))
            interpreted: dict[str, Any] = {"terms": [], "filters": {"keyword": [keyword]}, "ignored": []}
            page = Page(hits, total, limit, offset, interpreted)
            if not total:
                page.suggest(keyword, suggest_keywords(shelf, value))
            return page.as_dict()

        return self._on_shelf(found)

    def similar(self, paper: str, *, limit: int = DEFAULT_PAGE_SIZE, offset: int = 0) -> dict[str, Any]:
        """Papers about the same things as this one, the most alike first."""
        return self._on_shelf(
            lambda shelf: engine.similar(shelf, shelf.resolve(paper), limit=limit, offset=offset).as_dict()
        )

    def with_title(self, title: str) -> list[str]:
        """The ids of the papers with exactly this title, whatever its case and accents."""
        _check_value("title", title)
        return self._on_shelf(lambda shelf: [row.paper_id for row in shelf.rows(shelf.with_title(title))])

    def complete(self, prefix: str) -> str:
        """Return the id of the paper that `prefix` names, or of the only one whose id or BibTeX key begins with it."""

        def completed(shelf: Shelf) -> str:
            return shelf.described(shelf.complete(prefix))["paper_id"]

        return self._on_shelf(completed)

    def metadata_json(self, paper: str) -> bytes:
        """All that is known of a paper, by its id, DOI, arXiv id or BibTeX key, as JSON."""
        shelf = self.live.current()
        return shelf.metadata(shelf.resolve(paper))

    def metadata(self, paper: str) -> dict[str, Any]:
        """All that is known of a paper, by its id, DOI, arXiv id or BibTeX key."""
        return orjson.loads(self.metadata_json(paper))

    def summary(self, paper: str, template: str | None = None) -> str:
        """A summary of a paper as a JSON text: of this template, or of the preferred one."""
        return self._on_shelf(lambda shelf: self._summary(shelf, paper, template))

    def source(self, paper: str, lang: str | None = None) -> str:
        """Return the text of a paper as markdown, in its own language or translated into `lang`."""
        if lang and not self._is_written_in(paper, lang):
            return self.translation(paper, lang)

        def read(shelf: Shelf) -> str:
            no = shelf.resolve(paper)
            paper_id = shelf.described(no)["paper_id"]
            ref = shelf.asset(no, SOURCE, "")
            if ref is None:
                raise SourceNotAvailable(paper_id)
            return self._assets.read(shelf.folder, ref, paper_id)

        return self._on_shelf(read)

    def section(self, paper: str, heading: str, *, lang: str | None = None) -> str:
        """Return the section of a paper's text under `heading`, with its subsections, as markdown."""
        return read_section(self.source(paper, lang), heading)

    def translation(self, paper: str, lang: str) -> str:
        """The paper in another language, as markdown."""

        def read(shelf: Shelf) -> str:
            no = shelf.resolve(paper)
            said = shelf.described(no)
            ref = shelf.asset(no, TRANSLATION, lang.lower())
            if ref is None:
                raise TranslationNotAvailable(said["paper_id"], lang, said["translations"])
            return self._assets.read(shelf.folder, ref, said["paper_id"])

        return self._on_shelf(read)

    def bibtex(self, paper: str) -> str:
        """Return the BibTeX entry of a paper as its owner wrote it, or one made of the metadata."""
        shelf = self.live.current()
        no = shelf.resolve(paper)
        return make_bibtex_entry(shelf.described(no), shelf.bibtex(no))

    def citations(self, papers: Sequence[str], format_name: str = "bibtex") -> str:
        """Return the citations of `papers`, each once, as bibtex, ris or csl-json."""
        if format_name not in FORMATS:
            raise OutOfBounds("format", f"one of: {', '.join(FORMATS)}")

        def written(shelf: Shelf) -> str:
            numbers = dict.fromkeys(map(shelf.resolve, papers))
            return write_citations(((shelf.described(no), shelf.bibtex(no)) for no in numbers), format_name)

        return self._on_shelf(written)

    def export(self, query: str = "", format_name: str = "bibtex") -> Iterator[str]:
        """Return the papers that `query` finds, or all, as bibtex, ris, csl-json or json: pieces of one text.

        The papers come in the order of the shelf, all from the shelf of now.
        """
        return export_papers(self.live.current(), query, format_name)

    def top_facets(self, category: str, *, limit: int = DEFAULT_FACETS, offset: int = 0) -> dict[str, Any]:
        """The most frequent values of a category, with how many papers have each."""
        _check_kind(category, "category")
        engine.check_facets(limit)
        engine.check_page(1, offset)

        def counted(shelf: Shelf) -> dict[str, Any]:
            values = shelf.top_facets(category, limit, offset)
            total = shelf.facet_total(category)
            more = engine.describe_more(offset + len(values), total, "value")
            return {
                "category": category,
                "result": [{"value": value, "paper_count": count} for value, count in values],
                "total": total,
                **({"more": more} if more and values else {}),
            }

        return self._on_shelf(counted)

    def stats(self) -> dict[str, Any]:
        """What the shelf holds, in numbers."""
        return self._on_shelf(lambda shelf: shelf.stats())

    def _is_written_in(self, paper: str, lang: str) -> bool:
        known = self.metadata(paper)
        return lang.lower() == known["language"].lower() and lang.lower() not in known["translations"]

    def _summary(self, shelf: Shelf, paper: str, template: str | None) -> str:
        try:
            no = shelf.resolve(paper)
        except PaperNotFound:
            raise PaperNotFound(paper, template) from None
        said = shelf.described(no)
        name = template or said["preferred_summary_template"]
        if name not in said["available_summary_templates"]:
            raise TemplateNotAvailable(said["paper_id"], name, said["available_summary_templates"])
        ref = shelf.asset(no, SUMMARY, name)
        if ref is not None:
            return self._assets.read(shelf.folder, ref, said["paper_id"])
        assert name == DEFAULT_TEMPLATE, "only this one is not always stored"
        return orjson.dumps(make_default_summary(said)).decode()

    def _on_shelf(self, ask: Callable[[Shelf], T]) -> T:
        """The answer of the shelf of now; of the new one if the old was cleared away in the midst of it."""
        shelf = self.live.current()
        try:
            with shelf.in_time(self._timeout):
                return ask(shelf)
        except AssetFetchFailed:
            fresh = self.live.refresh()
            if fresh is shelf:
                raise
            with fresh.in_time(self._timeout):
                return ask(fresh)


def _checked_sort(sort: str) -> Sort:
    for known in SORTS:
        if sort == known:
            return known
    raise OutOfBounds("sort", f"one of: {', '.join(SORTS)}")


def _check_kind(kind: str, argument: str = "facet") -> None:
    if kind not in FACET_KINDS:
        raise OutOfBounds(argument, f"one of: {', '.join(FACET_KINDS)}")


def _check_value(argument: str, value: str) -> None:
    if not value.strip() or len(value) > VALUE_CHARS:
        raise OutOfBounds(argument, f"from 1 to {VALUE_CHARS} characters")
