"""Check one source by one short query, and report on the answer."""

from typing import Final

from paper_search.config import AppConfig
from paper_search.models import SearchConstraints, SearchQuery, SearchStrategy, SourceReport
from paper_search.sources.http_source import HttpSource
from paper_search.sources.offline_source import OfflineSource, build_offline_sources
from paper_search.sources.registry import build_sources

_WORDS: Final = ("exoplanet", "atmospheres")
_DEADLINE_S: Final = 20.0


async def check_source(name: str, config: AppConfig) -> SourceReport:
    """Send one short query to a source and return the report, which contains every failure. Store nothing.

    An offline trial asks the shipped recording instead. Raise UnknownSource, or InvalidInput if the recording has no
    papers of the source.
    """
    strategy = SearchStrategy(
        queries=[SearchQuery(keywords=list(_WORDS), boolean_query=" AND ".join(_WORDS))],
        sources=[name],
        filters=SearchConstraints(max_results=1),
    )
    settings = config.model_copy(update={"cache_ttl_s": 0.0, "source_deadline_s": _DEADLINE_S})
    [source] = build_offline_sources(settings, [name]) if config.offline else build_sources(settings, only=[name])
    assert isinstance(source, HttpSource | OfflineSource)
    try:
        return (await source.search_with_report(strategy)).report
    finally:
        if isinstance(source, HttpSource):
            await source.aclose()
