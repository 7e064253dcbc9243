"""The search log for systematic reviews: PRISMA 2020 as Markdown and as JSON."""

from collections.abc import Iterable, Mapping

from paper_search.domain.review_models import DuplicateCorrection, Exclusion, ExclusionReason
from paper_search.domain.source_descriptions import describe_shortfall, describe_stop, get_source_label, has_failed
from paper_search.export.formats import format_markdown_cell
from paper_search.export.prisma_flow import (
    LABELS,
    REMOVED_BY_AUTOMATION,
    FlowCounts,
    PrismaFlow,
    RoundFlow,
    build_prisma_flow,
    count_exclusions_by_description,
    count_included_by_description,
    count_screened_by_judge,
    name_included_papers,
)
from paper_search.models import PaperCollection, SourceReport
from paper_search.recordings import find_offline_notice
from uraniborg.kernel.actors import Actor, describe_actor
from uraniborg.kernel.language.messages import plural

_STEPS = ("Step", "Number", "Of which")
_QUERY_COLUMNS = ("Source", "Rung", "Query", "Matches", "Fetched", "New", "Why it stopped")
_TITLE_CHARACTERS = 120


def export_prisma(collection: PaperCollection) -> str:
    """Return the search log as Markdown: the total flow, each round with its queries, and every exclusion."""
    flow = build_prisma_flow(collection)
    sections = [
        "# Search log\n\n" + _format_bullets(_list_search_facts(flow)),
        "## Flow\n\n" + _format_flow_table(flow),
        *(_describe_round(part, name_included_papers(flow)) for part in flow.rounds),
        *_format_excluded_papers(flow.exclusions),
        *_format_corrections(flow.corrections),
    ]
    if not flow.rounds:
        reports = collection.metadata.sources
        sections.append("## Sources\n\n" + (_format_source_table(reports) if reports else "No source was searched."))
    if flow.notes:
        sections.append("## Notes\n\n" + _format_bullets(map(format_markdown_cell, flow.notes)))
    return "\n\n".join(sections) + "\n"


def export_prisma_json(collection: PaperCollection) -> str:
    """Return the search log as JSON: every box of the flow, in total and by round, and every exclusion."""
    return build_prisma_flow(collection).model_dump_json(indent=2)


def _list_search_facts(flow: PrismaFlow) -> list[str]:
    notice = find_offline_notice(flow.notes)
    lines = [
        *([f"**{notice}**"] if notice else []),
        f"Question: {format_markdown_cell(flow.question)}",
        f"Date: {format_markdown_cell(flow.date)}",
        *([f"Software: {format_markdown_cell(flow.software)}"] if flow.software else []),
        *([f"Started by: {format_markdown_cell(describe_actor(flow.actor))}"] if flow.actor else []),
        f"Domain: {format_markdown_cell(flow.domain)}",
        f"Rounds that searched: {len(flow.rounds) or 'not logged by this version of the software'}",
    ]
    if flow.partial:
        lines.append(f"Incomplete: {flow.incomplete_because}.")
    if flow.unknown_years_kept:
        lines.append(_describe_unknown_years(flow.unknown_years_kept))
    if flow.ended_by:
        lines.append(f"Ended by: {format_markdown_cell(flow.ended_by)}")
    return lines


def _describe_unknown_years(count: int) -> str:
    return f"Year unknown: {plural(count, 'paper')} of unknown year {'was' if count == 1 else 'were'} kept"


def _format_flow_table(flow: PrismaFlow) -> str:
    judges, reasons = count_screened_by_judge(flow), count_exclusions_by_description(flow)
    screening = _make_screening_rows(flow, _format_numbers(reasons), _format_numbers(judges)) if flow.rounds else []
    statuses = _format_numbers(count_included_by_description(flow))
    included = _make_included_row(flow, name_included_papers(flow), statuses)
    automatic = [(REMOVED_BY_AUTOMATION, str(flow.removed_by_automation), "of the records excluded")]
    removed = automatic if flow.removed_by_automation else []
    return _format_table(_STEPS, [_make_identified_row(flow), *screening, *removed, included])


def _make_identified_row(counts: FlowCounts) -> tuple[str, ...]:
    parts = [_format_identified(name, count, counts.matches.get(name)) for name, count in counts.identified.items()]
    return "Records identified", str(sum(counts.identified.values())), "; ".join(parts)


def _format_identified(name: str, count: int, matches: int | None) -> str:
    of_matches = "" if matches is None else f", of {plural(matches, 'match', 'matches')}"
    return f"{format_markdown_cell(get_source_label(name))} (n = {count:,}){of_matches}"


def _make_screening_rows(counts: FlowCounts, reasons: str, judges: str = "") -> list[tuple[str, ...]]:
    return [
        ("Records removed before screening", str(sum(counts.removed.values())), _format_counts(counts.removed)),
        ("Records screened", str(counts.screened), judges),
        ("Records excluded", str(sum(counts.excluded.values())), reasons),
    ]


def _make_included_row(counts: FlowCounts, title: str, statuses: str = "") -> tuple[str, ...]:
    return title, str(counts.included), statuses


def _describe_round(part: RoundFlow, included_title: str) -> str:
    queries = [f"Query {number}: {format_markdown_cell(query)}" for number, query in enumerate(part.queries, 1)]
    limits = ", ".join(f"{name} {value}" for name, value in part.limits.items())
    counts = [
        _make_identified_row(part),
        *_make_screening_rows(part, _format_counts(part.excluded)),
        _make_included_row(part, included_title),
    ]
    lines = [
        *queries,
        f"Limits: {format_markdown_cell(limits)}",
        *([_describe_unknown_years(part.unknown_years_kept)] if part.unknown_years_kept else []),
        *(format_markdown_cell(origin) for origin in part.origins),
    ]
    blocks = [
        f"## Round {part.round}",
        _format_bullets(lines),
        _format_table(_STEPS, counts),
        _format_source_table(part.sources) if part.sources else "No source was searched.",
        *_format_query_table(part.sources),
        *_format_requests(part.sources),
    ]
    return "\n\n".join(blocks)


def _format_source_table(reports: list[SourceReport]) -> str:
    rows = [
        (
            format_markdown_cell(get_source_label(report.name)),
            report.status.value + (" (partial)" if report.partial else ""),
            "-" if report.found is None else str(report.found),
            str(report.received),
            str(report.calls),
            _describe_report(report),
        )
        for report in reports
    ]
    totals = ("Total", "", "", str(sum(r.received for r in reports)), str(sum(r.calls for r in reports)), "")
    return _format_table(("Source", "Status", "Matches", "Records", "Requests", "Remark"), [*rows, totals])


def _format_query_table(reports: list[SourceReport]) -> list[str]:
    """Return what each source received, how many papers match, and why it stopped."""
    rows = [
        (
            format_markdown_cell(get_source_label(report.name)),
            str(query.rung + 1),
            format_markdown_cell(query.text),
            "-" if query.found is None else str(query.found),
            str(query.fetched),
            str(query.added),
            format_markdown_cell(" ".join([describe_stop(query), *(f"Changed: {one}" for one in query.changes)])),
        )
        for report in reports
        for query in report.queries
    ]
    return ["Queries as the sources received them:\n\n" + _format_table(_QUERY_COLUMNS, rows)] if rows else []


def _format_requests(reports: list[SourceReport]) -> list[str]:
    """Return the requests to each source, so that the search can be repeated by hand."""
    lines = [
        f"{format_markdown_cell(get_source_label(report.name))}: {format_markdown_cell(request)}"
        for report in reports
        for request in report.requests
    ]
    return ["Requests:\n\n" + _format_bullets(lines)] if lines else []


def _describe_report(report: SourceReport) -> str:
    missing = None if has_failed(report) else describe_shortfall(report)
    remarks = [missing or "", (report.reason or "").rstrip(".")]
    if report.retry_at is not None:
        remarks.append(f"answers again at {report.retry_at.isoformat()}")
    return format_markdown_cell("; ".join(filter(None, remarks)))


def _format_excluded_papers(exclusions: list[Exclusion]) -> list[str]:
    if not exclusions:
        return []
    rows = [
        (
            format_markdown_cell(_clip_title(e.title)),
            format_markdown_cell(e.doi),
            str(e.round + 1),
            LABELS[e.reason],
            _describe_detail(e),
        )
        for e in exclusions
    ]
    return ["## Excluded papers\n\n" + _format_table(("Title", "DOI", "Round", "Reason", "Detail"), rows)]


def _format_corrections(corrections: list[DuplicateCorrection]) -> list[str]:
    """Return who merged or split which papers, and when."""
    rows = [
        (
            "Merged" if one.kind == "merge" else "Split",
            format_markdown_cell(_clip_title(one.title)),
            format_markdown_cell(", ".join(one.papers)),
            format_markdown_cell(", ".join(f"{record.source} {record.record_id}" for record in one.records) or "all"),
            format_markdown_cell(_describe_reviewer(one)),
            one.at.isoformat() if one.at else "-",
        )
        for one in corrections
    ]
    columns = ("Change", "Title", "Papers", "Records", "By", "At")
    return ["## Merged and split by reviewers\n\n" + _format_table(columns, rows)] if rows else []


def _describe_reviewer(made: DuplicateCorrection) -> str:
    """Return the name of the reviewer, which another actor may have claimed, with the kind of that actor."""
    if made.actor is not None and made.reviewer == describe_actor(made.actor):
        return made.reviewer
    kind = made.actor.kind if made.actor else "agent" if made.by_agent else "person"
    return describe_actor(Actor(kind=kind, name=made.reviewer, authenticated="none"))


def _clip_title(title: str) -> str:
    return title if len(title) <= _TITLE_CHARACTERS else title[: _TITLE_CHARACTERS - 1] + "…"


def _describe_detail(exclusion: Exclusion) -> str:
    if exclusion.reason is ExclusionReason.BELOW_THRESHOLD and exclusion.score is not None:
        below = f" below {exclusion.threshold:g}" if exclusion.threshold is not None else ""
        return f"score {exclusion.score:.2f}{below}"
    by = f"by {exclusion.reviewer}" if exclusion.reviewer else ""
    return format_markdown_cell("; ".join(filter(None, (exclusion.detail, by))))


def _format_counts(counts: Mapping[str, int]) -> str:
    return _format_numbers((LABELS.get(name, name), count) for name, count in counts.items())


def _format_numbers(numbers: Iterable[tuple[str, int]]) -> str:
    return "; ".join(f"{format_markdown_cell(name)} (n = {count:,})" for name, count in numbers)


def _format_bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _format_table(header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [header, ("---",) * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
