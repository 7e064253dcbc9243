"""Reply with the PRISMA flow of a review, including the reviewer's marks."""

from collections import Counter

from paper_search.checkpoint_replies import Status
from paper_search.export.prisma_flow import LABELS, PrismaFlow, count_exclusions_by_description
from paper_search.model_fields import dump_as
from paper_search.review_models import BY_REVIEWER, ExclusionReason
from paper_search.review_replies import FlowFields, FlowReply


def build_flow_reply(flow: PrismaFlow, counts: dict[Status, int], is_complete: bool) -> FlowReply:
    """Return the counts of the flow, and the reasons for which reviewers have excluded papers."""
    by_reviewer = [one for one in flow.exclusions if one.reason in BY_REVIEWER]
    reasons: Counter[str] = Counter()
    for name, count in count_exclusions_by_description(flow.model_copy(update={"exclusions": by_reviewer})):
        reasons[name.removeprefix(f"{LABELS[ExclusionReason.BY_PERSON]}: ")] += count
    return {
        **dump_as(FlowFields, flow),
        "round_count": len(flow.rounds),
        "labels": dict(LABELS),
        "reasons": dict(reasons),
        "counts": counts,
        "is_complete": is_complete,
    }
