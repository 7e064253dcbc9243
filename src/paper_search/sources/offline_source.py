"""Search the papers of the shipped recordings, filtered by the queries and limits of a strategy.

An offline source makes no request. It is for trials: people and agents try the whole review without a network. A replay
of a recording (see `recording`) is something else: it answers the recorded requests and no others.
"""

from collections import defaultdict
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from paper_search.domain.query.filters import has_wanted_words
from paper_search.domain.query.identifier_queries import find_matching_identifiers, read_identifiers
from paper_search.domain.strategies.plain_words import parse_search_query
from paper_search.models import RawPaper, SearchQuery, SearchStrategy, SourceKind
from paper_search.recordings import CLASSICS, RECORDING
from paper_search.sources.interfaces import SearchSource, SourcePage, SourceResult, SourceUse
from paper_search.sources.ladder_run import FetchedPage, LadderRun, PreparedQuery, RunCost, build_run_report
from paper_search.sources.registry import (
    check_source_names,
    is_enabled,
    list_source_names,
    load_known_or_installed_definition,
)
from paper_search.sources.transport.answer_cache import AnswerStore, StoredAnswer
from paper_search.sources.transport.recording import Recording
from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.language.boolean_query import iterate_wanted_terms
from uraniborg.kernel.language.messages import plural

if TYPE_CHECKING:
    from paper_search.config import AppConfig


@dataclass(frozen=True, slots=True)
class RecordedPaper:
    """A paper of one source, and the text that queries are compared with: that of all its records."""

    record: RawPaper
    text: str


class OfflineSource(SearchSource):
    """A source that filters its recorded papers, query by query as the source itself receives them."""

    capabilities = frozenset[str]()

    def __init__(self, name: str, papers: Sequence[RecordedPaper]) -> None:
        self.name = name
        self.kind: SourceKind | None = load_known_or_installed_definition(name).kind
        self._papers = papers

    @property
    def source_name(self) -> str:
        return self.name

    async def search_advanced(self, strategy: SearchStrategy) -> list[RawPaper]:
        return (await self.search_with_report(strategy)).papers

    async def search_with_report(self, strategy: SearchStrategy, known: frozenset[str] = frozenset()) -> SourceResult:
        """Return the recorded papers that match the queries of the strategy, and a report that says so."""
        run = LadderRun(self, strategy, max(0, strategy.filters.max_results), known)
        await run.climb()
        report = build_run_report(self.name, run, RunCost(sent=1))
        reason = f"Filtered from its {plural(len(self._papers), 'paper')} in the shipped recording, not searched."
        return SourceResult(run.papers, report.model_copy(update={"reason": reason}))

    def prepare_query(self, query: SearchQuery) -> PreparedQuery:
        """Return the query, whose text is compared as it is."""
        is_lookup = bool(read_identifiers(query.boolean_query))
        return PreparedQuery(query, query.boolean_query, query.boolean_query, is_lookup=is_lookup)

    async def fetch_pages(self, prepared: PreparedQuery) -> AsyncGenerator[FetchedPage, None]:
        """Yield the recorded papers that match a query as one page."""
        find = _rank_papers if self.kind == "ranked" and prepared.query.words.strip() else _filter_papers
        matching = [paper.model_copy(deep=True) for paper in find(self._papers, prepared.query)]
        yield FetchedPage(SourcePage(matching, found=len(matching)), has_next=False)


def build_offline_sources(config: "AppConfig", only: Sequence[str] | None = None) -> list[SearchSource]:
    """Return the sources named by `only`, or all that are enabled, if the shipped recordings have papers of them.

    Raise UnknownSource for an unknown name, and InvalidInput for a source without recorded papers.
    """
    check_source_names({*config.sources, *(only or ())}, list_source_names())
    recorded = read_recorded_papers()
    enabled = [name for name in list_source_names() if is_enabled(name, config)]
    names = list(dict.fromkeys(only)) if only else [name for name in recorded if name in enabled]
    if missing := [name for name in names or enabled if name not in recorded]:
        raise InvalidInput(
            f"The shipped recording has no papers of {', '.join(missing)}.",
            hint=f"Offline, use one of: {', '.join(recorded)}.",
            allowed=list(recorded),
        )
    return [OfflineSource(name, recorded[name]) for name in names]


@lru_cache(maxsize=1)
def read_recorded_papers() -> Mapping[str, Sequence[RecordedPaper]]:
    """Return the papers of the shipped recordings by source, each once. Reads the disk once."""
    records: dict[str, dict[str, RawPaper]] = {name: {} for name in Recording.open(RECORDING).options.sources}
    for folder in (RECORDING, CLASSICS):
        for entry in AnswerStore(folder).read_entries():
            name, definition = entry.request.source, load_known_or_installed_definition(entry.request.source)
            for outcome in entry.outcomes:
                if isinstance(outcome, StoredAnswer):
                    page = definition.read_response(entry.request, outcome.replay())
                    records[name].update((record.id, record) for record in page.papers)
    texts: defaultdict[str, str] = defaultdict(str)
    for record in (record for found in records.values() for record in found.values()):
        people = " ".join(author.name for author in record.authors)
        texts[record.title.casefold()] += "\n".join(
            (record.title, record.abstract or "", people, record.venue or "", "")
        )
    return {
        name: tuple(RecordedPaper(record, texts[record.title.casefold()]) for record in found.values())
        for name, found in records.items()
        if found
    }


def _filter_papers(papers: Sequence[RecordedPaper], query: SearchQuery) -> list[RawPaper]:
    return [paper.record for paper in papers if _is_match(paper, query)]


def _rank_papers(papers: Sequence[RecordedPaper], query: SearchQuery) -> list[RawPaper]:
    """Return the papers with more than half of the words, those with the most words first."""
    node = parse_search_query(query)
    terms = list(iterate_wanted_terms(node)) if node else []
    counts = [sum(has_wanted_words(term, paper.text) for term in terms) for paper in papers]
    best_first = sorted(range(len(papers)), key=lambda position: -counts[position])
    return [papers[position].record for position in best_first if 2 * counts[position] > len(terms)]


def _is_match(paper: RecordedPaper, query: SearchQuery) -> bool:
    if identifiers := read_identifiers(query.boolean_query):
        return bool(find_matching_identifiers(paper.record, identifiers))
    node = parse_search_query(query)
    return node is not None and has_wanted_words(node, paper.text)


def describe_offline_sources(config: "AppConfig") -> list[SourceUse]:
    """Return one entry per source: its name, whether an offline search uses it, and the number of its papers."""
    recorded = read_recorded_papers()
    entries: list[SourceUse] = []
    for name in list_source_names():
        held = len(recorded.get(name, ()))
        remark = f"{plural(held, 'paper')} in the shipped recording" if held else "not in the shipped recording"
        is_used = bool(held) and is_enabled(name, config)
        entries.append({"name": name, "used": is_used, "remark": remark})
    return entries
