"""Format a strategy, a paper and a list of papers to lines of the terminal's width."""

from collections import Counter
from collections.abc import Mapping, Sequence

from paper_search.domain.review_models import Exclusion, PaperDecision, ReviewStatus
from paper_search.domain.source_descriptions import format_source_labels
from paper_search.editorial_notices import describe_notices, mark_title
from paper_search.models import Paper, ParsedIntent, SearchStrategy
from paper_search.service.reply_parts import clip_text
from paper_search.sources.query_translation import describe_plan, format_origin_value
from uraniborg.kernel.terminal.styled_text import wrap_text

STRATEGY_KEYS = "[a]pprove  [e]dit  [r]eject  [q]uit  [?] help"
PAPER_KEYS = """\
[i]nclude  [m]aybe  [e]xclude  [u]ndecided    [n]ext  [b]ack  [l]ist  e[x]cluded
[a]pprove and finish  [r]e-search  [q]uit  [?] help"""
STRATEGY_HELP = """\
a  approve: search with this strategy
e  edit the strategy as JSON in your editor ($EDITOR)
r  reject: say what is missing; another strategy is proposed
q  quit: the session waits; `paper-search sessions resume` continues it"""
PAPER_HELP = """\
i  include          I  include, with a reason
m  maybe            M  maybe, with a reason
e  exclude; you may give a reason
u  undecided: remove the mark
n  next paper (also space)      b  back      l  list all papers
x  list the excluded papers and include one again
a  approve: finish with all papers that are not excluded
r  re-search: send the marks and say what is missing; another round follows
q  quit: marks are stored; `paper-search sessions resume` continues here"""
_ABSTRACT_CHARACTERS = 1_500
_SIGNS: Mapping[ReviewStatus, str] = {
    ReviewStatus.INCLUDE: "+",
    ReviewStatus.EXCLUDE: "-",
    ReviewStatus.MAYBE: "?",
    ReviewStatus.UNDECIDED: " ",
}


def format_strategy(intent: ParsedIntent, strategy: SearchStrategy, width: int) -> str:
    """Return the strategy: concepts, suggested terms, queries, sources, limits, and the origins of the other parts."""
    limits = strategy.filters.model_dump(mode="json", exclude_none=True)
    lines = [_format_field("question", intent.topic, width)]
    lines += [_format_field(name, text, width) for name, text in describe_plan(strategy)]
    lines.append(_format_field("limits", ", ".join(f"{name} {value}" for name, value in limits.items()), width))
    # The queries of a ladder follow from its concepts, which have their reasons.
    origins = [one for one in strategy.origins if not strategy.blocks or not one.part.startswith(("queries", "blocks"))]
    if origins:
        inherited = [origin for origin in origins if origin.inherited]
        lines.append(_format_field("inherited", "; ".join(map(format_origin_value, inherited)) or "nothing", width))
        new = [f"{format_origin_value(origin)} ({origin.reason})" for origin in origins if not origin.inherited]
        lines.append(_format_field("new", "; ".join(new) or "nothing", width))
    notes = dict.fromkeys([*intent.notes, *strategy.notes])
    lines += [_format_field("note", note, width) for note in notes]
    return "\n".join(lines)


def format_paper(paper: Paper, decision: PaperDecision | None, position: str, width: int) -> str:
    """Return one paper with its abstract, relevance and mark."""
    names = [author.name for author in paper.authors]
    authors = ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
    about = ", ".join(filter(None, [authors, str(paper.year or ""), paper.venue]))
    found = f"found in round {paper.found_in_round + 1} by {format_source_labels(paper.sources[:6] or [paper.source])}"
    facts = ", ".join(filter(None, [f"relevance {paper.relevance_score:.2f}", found, paper.doi and f"doi {paper.doi}"]))
    abstract = clip_text(" ".join((paper.abstract or "No abstract.").split()), _ABSTRACT_CHARACTERS)
    blocks = [
        f"{position}  {describe_mark(paper, decision)} ".ljust(width, "─"),
        _fill(_mark_title(paper), width),
        _fill(note, width) if (note := describe_notices(paper.notices)) else "",
        _fill(about, width) if about else "",
        _fill(facts, width),
        _fill(paper.relevance_reason, width) if paper.relevance_reason else "",
        _fill(abstract, width, indent="  ", hanging="  "),
    ]
    return "\n".join(block for block in blocks if block)


def format_paper_list(papers: Sequence[Paper], decisions: Mapping[str, PaperDecision], width: int) -> str:
    """Return one line for each paper: number, mark, year and title."""
    lines = [
        clip_text(
            f"{number:>4} {_SIGNS[get_status(paper, decisions)]} {paper.year or '----'} {_mark_title(paper)}", width
        )
        for number, paper in enumerate(papers, 1)
    ]
    return "\n".join([*lines, _fill(format_mark_counts(papers, decisions), width)])


def _mark_title(paper: Paper) -> str:
    return mark_title(paper.title, paper.retraction and paper.retraction.status)


def format_exclusions(exclusions: Sequence[Exclusion], decisions: Mapping[str, PaperDecision], width: int) -> str:
    """Return one line for each paper that is not in the result: number, mark, reason and title."""
    if not exclusions:
        return "No paper is excluded."
    lines = [
        f"{number:>4} {_SIGNS[decisions[exclusion.paper_id].status] if exclusion.paper_id in decisions else ' '} "
        f"{exclusion.reason.value.replace('_', ' ')}: {exclusion.title}"
        for number, exclusion in enumerate(exclusions, 1)
    ]
    return "\n".join(clip_text(line, width) for line in lines)


def format_mark_counts(papers: Sequence[Paper], decisions: Mapping[str, PaperDecision]) -> str:
    counts = Counter(get_status(paper, decisions) for paper in papers)
    return ", ".join(f"{counts[status]} {status.value}" for status in ReviewStatus)


def get_status(paper: Paper, decisions: Mapping[str, PaperDecision]) -> ReviewStatus:
    """Return the status of the unsent mark, or else the status in the session."""
    return decisions[paper.id].status if paper.id in decisions else paper.status


def describe_mark(paper: Paper, decision: PaperDecision | None) -> str:
    """Return the unsent mark, or else the earlier decisions with their reviewers."""
    if decision is not None:
        return decision.status.value + (f": {decision.reason}" if decision.reason else "")
    given = [f"{d.status.value} ({d.reviewer}{f': {d.reason}' if d.reason else ''})" for d in paper.decisions]
    return ", ".join(given) or ReviewStatus.UNDECIDED.value


def _format_field(name: str, value: str, width: int) -> str:
    return _fill(value, width, indent=f"{name:<10} ", hanging=" " * 11)


def _fill(text: str, width: int, *, indent: str = "", hanging: str = "") -> str:
    return "\n".join(wrap_text(text, width, indent=indent, hanging=hanging, cuts_words=True))
