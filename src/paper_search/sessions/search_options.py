"""List what can be chosen for a new search, and configure a search by a choice."""

from collections.abc import Sequence

from paper_search.config import AppConfig, load_config
from paper_search.domains import list_domains
from paper_search.input_checks import check_max_results
from paper_search.models import MAX_RESULTS_CAP
from paper_search.recordings import QUERY
from paper_search.search_arguments import apply_given_arguments
from paper_search.search_replies import SearchOptions, SourceUse
from paper_search.source_labels import get_source_label
from paper_search.sources.registry import describe_sources


def describe_search_options(offline: bool | None = None) -> SearchOptions:
    """Return the domains, the sources of searches or of offline trials, and the defaults of the settings.

    Blocks while it reads the settings.
    """
    config = load_config()
    if offline is not None:
        config = config.model_copy(update={"offline": offline})
    return {
        "domains": list_domains(),
        "sources": [{**one, "label": get_source_label(one["name"])} for one in describe_available_sources(config)],
        "default_domain": config.domain,
        "default_max_results": config.default_max_results,
        "max_results": MAX_RESULTS_CAP,
        "offline": config.offline,
        "example": QUERY,
    }


def describe_available_sources(config: AppConfig) -> list[SourceUse]:
    """Return one entry per source: its name, whether a search uses it by default, and why not or its rate."""
    if config.offline:
        from paper_search.sources.offline_source import describe_offline_sources  # reads the recordings

        return describe_offline_sources(config)
    return describe_sources(config)


def build_search_config(
    max_results: int | None, domain: str | None, sources: Sequence[str] | None = None, offline: bool | None = None
) -> AppConfig:
    """Return the config of a search, from the settings and the arguments that were given.

    Raise InvalidInput or UnknownSource. Blocks while it reads the settings.
    """
    if max_results is not None:
        check_max_results(max_results)
    return apply_given_arguments(load_config(), max_results, domain, sources=sources, offline=offline)
