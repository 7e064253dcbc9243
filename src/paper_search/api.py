"""Searching from Python in one line."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

from paper_search.config import AppConfig, load_config
from paper_search.limits import checked_query
from paper_search.models import PaperCollection
from paper_search.workflow import SearchWorkflow

DEFAULT_MAX_RESULTS = 100
DEFAULT_DOMAIN = "general"


async def search(
    query: str,
    config: AppConfig | None = None,
    max_results: int = DEFAULT_MAX_RESULTS,
    domain: str = DEFAULT_DOMAIN,
) -> PaperCollection:
    """Searches once, approving everything, and returns ranked papers without duplicates.

    `max_results` and `domain` left at their defaults yield to the config; without a config the environment and the
    settings file are read. Sources that fail are named in `metadata.sources`. Raises InvalidQuery, InvalidInput,
    UnknownDomain, UnknownSource or InvalidConfig for what cannot be searched.
    """
    query = checked_query(query)
    given = with_arguments(config or await asyncio.to_thread(load_config), max_results, domain)
    workflow = await asyncio.to_thread(SearchWorkflow.from_config, given, query=query)
    return await workflow.run(query)


def search_sync(
    query: str,
    config: AppConfig | None = None,
    max_results: int = DEFAULT_MAX_RESULTS,
    domain: str = DEFAULT_DOMAIN,
) -> PaperCollection:
    """`search` for scripts and notebooks; works whether or not an event loop is already running."""
    with ThreadPoolExecutor(max_workers=1) as thread:
        return thread.submit(asyncio.run, search(query, config, max_results, domain)).result()


def with_arguments(config: AppConfig, max_results: int, domain: str) -> AppConfig:
    """The config with the arguments that were given put over it."""
    given = {
        "default_max_results": max_results if max_results != DEFAULT_MAX_RESULTS else config.default_max_results,
        "domain": domain if domain != DEFAULT_DOMAIN else config.domain,
    }
    return config.model_copy(update=given)
