"""Offer the search as a node of workflows, under the entry point `pflow.nodes`."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import NotRequired, Protocol, TypedDict

from paper_search.config import AppConfig, load_config
from paper_search.domain.source_descriptions import describe_shortfall, get_source_label
from paper_search.editorial_notices import RetractionReply, serialize_retraction
from paper_search.models import NO_SOURCE_ANSWERED, Paper, PaperCollection, SourceReport, any_source_answered
from paper_search.service.search_arguments import apply_given_arguments
from paper_search.workflow import SearchWorkflow
from paper_search.workflow.input_checks import check_max_results, check_query
from paper_search.workflow.skill_interfaces import ProgressFacts
from uraniborg.kernel.errors import Unavailable
from uraniborg.kernel.language.messages import plural


class SearchNodeContext(Protocol):
    """The part of a node's context that the search uses."""

    @property
    def folder(self) -> Path: ...

    @property
    def say(self) -> Callable[[str], None]: ...


class SearchNodeParams(TypedDict):
    """The parameters of the node."""

    query: str
    max_results: NotRequired[int | None]
    sources: NotRequired[list[str] | str | None]
    domain: NotRequired[str | None]
    replay: NotRequired[str | None]


class FoundSource(TypedDict):
    name: str
    status: str
    returned: int
    reason: str | None


class SearchNodePaper(TypedDict):
    id: str
    title: str
    authors: list[str]
    year: int | None
    venue: str | None
    doi: str | None
    relevance_score: float
    relevance_reason: str
    abstract: str | None
    identifiers: dict[str, str]
    sources: list[str]
    retraction: RetractionReply | None


class SearchNodeOutputs(TypedDict):
    """The outputs of the node."""

    papers: list[SearchNodePaper]
    count: int
    sources: list[FoundSource]
    partial: bool
    notes: list[str]


async def search(params: SearchNodeParams, context: SearchNodeContext) -> SearchNodeOutputs:
    """Search once, approving everything, and return plain values.

    Raise the errors of `paper_search.search`, and Unavailable if no source answered.
    """
    query = check_query(params["query"])
    limit = params.get("max_results")
    config = await asyncio.to_thread(_build_config, params, context.folder)
    workflow = await asyncio.to_thread(
        SearchWorkflow.from_config,
        config,
        progress_reporter=lambda phase, facts: _report_progress(phase, facts, context.say),
        only=_get_sources_or_none(params.get("sources")),
        query=query,
    )
    result = await workflow.run(query)
    _check_any_source_answered(result, is_replay=bool(params.get("replay")))
    # A replay returns as many papers as were recorded.
    papers = [_build_paper_fields(paper) for paper in result.papers[:limit]]
    return {
        "papers": papers,
        "count": len(papers),
        "sources": [_build_report_fields(report) for report in result.metadata.sources],
        "partial": result.metadata.partial,
        "notes": result.metadata.notes,
    }


def _build_config(params: SearchNodeParams, folder: Path) -> AppConfig:
    limit, replay = params.get("max_results"), params.get("replay")
    return apply_given_arguments(
        load_config(),
        None if limit is None else check_max_results(limit)[0],
        params.get("domain") or None,
        replay=folder / Path(replay).expanduser() if replay else None,
    )


def _get_sources_or_none(names: list[str] | str | None) -> list[str] | None:
    return ([names] if isinstance(names, str) else names) or None


def _report_progress(phase: str, facts: ProgressFacts, say: Callable[[str], None]) -> None:
    if phase == "searching" and "sources" in facts:
        say(f"searching {', '.join(map(get_source_label, facts['sources']))}")
    elif phase == "source_finished" and "report" in facts:
        report = SourceReport.model_validate(facts["report"])
        status, papers = report.status.value.replace("_", " "), plural(report.returned, "paper")
        missing = describe_shortfall(report) if report.partial else None
        say(f"{get_source_label(report.name)}: {', '.join(filter(None, (status, papers, missing)))}")


def _check_any_source_answered(result: PaperCollection, *, is_replay: bool) -> None:
    """Raise Unavailable if no source answered; an empty answer is an answer."""
    reports = result.metadata.sources
    if any_source_answered(reports):
        return
    raise Unavailable(
        NO_SOURCE_ANSWERED,
        hint="Replay with the query and the sources that were recorded." if is_replay else "Check the network.",
        sources=[_build_report_fields(report) for report in reports],
    )


def _build_report_fields(report: SourceReport) -> FoundSource:
    return {
        "name": report.name,
        "status": report.status.value,
        "returned": report.returned,
        "reason": report.reason,
    }


def _build_paper_fields(paper: Paper) -> SearchNodePaper:
    return {
        "id": paper.id,
        "title": paper.title,
        "authors": [author.name for author in paper.authors],
        "year": paper.year,
        "venue": paper.venue,
        "doi": paper.doi,
        "relevance_score": paper.relevance_score,
        "relevance_reason": paper.relevance_reason,
        "abstract": paper.abstract,
        "identifiers": paper.identifiers,
        "sources": paper.sources,
        "retraction": serialize_retraction(paper.retraction),
    }
