"""Searching from Python in one line."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

from paper_search.config import AppConfig, load_config
from paper_search.defaults import DEFAULT_DOMAIN, DEFAULT_MAX_RESULTS, is_default
from paper_search.limits import checked_query
from paper_search.models import NO_SOURCE_ANSWERED, PaperCollection, any_source_answered
from paper_search.workflow import SearchWorkflow
from uraniborg.kernel.logging import get_logger


async def search(
    query: str,
    config: AppConfig | None = None,
    max_results: int = DEFAULT_MAX_RESULTS,
    domain: str = DEFAULT_DOMAIN,
) -> PaperCollection:
    """Searches once, approving everything, and returns ranked papers without duplicates.

    `max_results` and `domain` win over the config where they are given; without a config the environment and the
    settings file are read. Sources that fail are named in `metadata.sources`; if none answered, a warning is logged
    (to stderr unless logging is configured otherwise). Raises InvalidQuery, InvalidInput, UnknownDomain, UnknownSource
    or InvalidConfig for what cannot be searched.
    """
    query = checked_query(query)
    given = with_arguments(config or await asyncio.to_thread(load_config), max_results, domain)
    workflow = await asyncio.to_thread(SearchWorkflow.from_config, given, query=query)
    result = await workflow.run(query)
    if not any_source_answered(result.metadata.sources):
        reasons = {report.name: report.reason for report in result.metadata.sources}
        get_logger(__name__).warning(NO_SOURCE_ANSWERED, sources=reasons)
    return result


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
    """Return the config with each argument that was given in place of its setting, also one equal to the default."""
    arguments = {"default_max_results": max_results, "domain": domain}
    return config.model_copy(update={name: value for name, value in arguments.items() if not is_default(value)})
