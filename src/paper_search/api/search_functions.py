"""Search from Python with one function, in an async and a blocking version."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

from paper_search.config import AppConfig, load_config
from paper_search.models import NO_SOURCE_ANSWERED, PaperCollection, any_source_answered
from paper_search.service.search_arguments import DEFAULT_DOMAIN, DEFAULT_MAX_RESULTS, apply_given_arguments
from paper_search.workflow import SearchWorkflow
from paper_search.workflow.input_checks import check_query
from uraniborg.kernel.logging import get_logger


async def search(
    query: str,
    config: AppConfig | None = None,
    max_results: int = DEFAULT_MAX_RESULTS,
    domain: str = DEFAULT_DOMAIN,
) -> PaperCollection:
    """Search once, approving everything, and return ranked papers without duplicates.

    `max_results` and `domain` take precedence over the config if they are given; without a config the environment and
    the settings file are read. Sources that fail are named in `metadata.sources`; if none answered, a warning is logged
    (to stderr unless logging is configured otherwise). Raise InvalidQuery, InvalidInput, UnknownDomain, UnknownSource
    or InvalidConfig if the search cannot be run.
    """
    query = check_query(query)
    settings = apply_given_arguments(config or await asyncio.to_thread(load_config), max_results, domain)
    workflow = await asyncio.to_thread(SearchWorkflow.from_config, settings, query=query)
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
    """Run `search` and block until it is done, for scripts and notebooks; an event loop may be running."""
    with ThreadPoolExecutor(max_workers=1) as thread:
        return thread.submit(asyncio.run, search(query, config, max_results, domain)).result()
