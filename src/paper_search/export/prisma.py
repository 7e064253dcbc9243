"""The log of a search as a systematic review reports it: what each source gave, what each stage kept."""

from collections.abc import Iterable

from paper_search.export.markdown import cell
from paper_search.models import PaperCollection, SearchConstraints, SearchMetadata, SourceReport, StageCount


def export_prisma(collection: PaperCollection) -> str:
    """A PRISMA-shaped Markdown report: strategy, records identified per source, counts per stage, papers included.

    It holds only what the collection's metadata says; a source that failed is listed as failed, with the reason.
    Does not raise.
    """
    metadata = collection.metadata
    sections = [
        "# Search log\n\n" + _list(_strategy(metadata)),
        "## Identification\n\n" + _identification(metadata.sources),
        *_requests(metadata.sources),
        *_screening(metadata.stage_counts),
        f"## Included\n\nPapers included: {len(collection.papers)}",
    ]
    if metadata.notes:
        sections.append("## Notes\n\n" + _list(map(cell, metadata.notes)))
    return "\n\n".join(sections) + "\n"


def _strategy(metadata: SearchMetadata) -> list[str]:
    strategy = metadata.search_strategy
    lines = [
        f"Question: {cell(metadata.query)}",
        f"Date: {cell(metadata.timestamp)}",
        *([f"Software: {cell(metadata.software)}"] if metadata.software else []),
        f"Domain: {cell(metadata.domain)}",
        *(f"Query {n}: {cell(query.boolean_query)}" for n, query in enumerate(strategy.queries, 1)),
        f"Limits: {_limits(strategy.filters)}",
        f"Rounds: {metadata.rounds}",
    ]
    if metadata.partial:
        lines.append("Incomplete: at least one source could not give all that was asked of it.")
    if metadata.reason:
        lines.append(f"Ended by: {cell(metadata.reason)}")
    return lines


def _limits(filters: SearchConstraints) -> str:
    limits = [f"at most {filters.max_results} results"]
    if filters.year_from is not None:
        limits.append(f"from {filters.year_from}")
    if filters.year_to is not None:
        limits.append(f"to {filters.year_to}")
    if filters.language:
        limits.append(f"language {cell(filters.language)}")
    return ", ".join(limits)


def _identification(sources: list[SourceReport]) -> str:
    if not sources:
        return "No source was asked."
    rows = [
        (
            cell(source.name),
            source.status.value + (" (partial)" if source.partial else ""),
            "-" if source.found is None else str(source.found),
            str(source.returned),
            str(source.calls),
            _explanation(source),
        )
        for source in sources
    ]
    totals = ("Total", "", "", str(sum(s.returned for s in sources)), str(sum(s.calls for s in sources)), "")
    return _table(("Source", "Status", "Matches", "Records", "Requests", "Remark"), [*rows, totals])


def _requests(sources: list[SourceReport]) -> list[str]:
    """What each source was really asked, so that the search can be repeated by hand."""
    lines = [f"{cell(source.name)}: {cell(request)}" for source in sources for request in source.requests]
    return ["## Requests\n\n" + _list(lines)] if lines else []


def _explanation(source: SourceReport) -> str:
    remarks = [(source.reason or "").rstrip(".")]
    if source.retry_at is not None:
        remarks.append(f"answers again at {source.retry_at.isoformat()}")
    return cell("; ".join(filter(None, remarks)))


def _screening(stages: list[StageCount]) -> list[str]:
    by_round: dict[int, list[StageCount]] = {}
    for stage in stages:
        by_round.setdefault(stage.round, []).append(stage)
    return [
        f"## Screening, round {number}\n\n" + _table(("Stage", "In", "Out", "Removed", "Detail"), map(_stage_row, kept))
        for number, (_, kept) in enumerate(sorted(by_round.items()), 1)
    ]


def _stage_row(stage: StageCount) -> tuple[str, ...]:
    removed = stage.count_in - stage.count_out
    detail = ", ".join(f"{reason}: {count}" for reason, count in stage.detail.items())
    return (
        cell(stage.stage),
        str(stage.count_in),
        str(stage.count_out),
        str(removed) if removed >= 0 else "-",
        cell(detail),
    )


def _list(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _table(header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [header, ("---",) * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
