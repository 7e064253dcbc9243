"""The steps of the search: the agent asks, and the person strikes a query and approves the rest."""

import asyncio
import re
from collections.abc import Sequence
from typing import Final, cast

from paper_search.models import Paper
from paper_search.recordings import OFFLINE_NOTICE
from paper_search.service.checkpoint_replies import ProposedPlan, QueryFields
from paper_search.service.session_replies import SourceSummary
from uraniborg.inbox_questions import check_and_decide
from uraniborg.kernel.errors import Conflict, InvalidInput
from uraniborg.kernel.language.messages import plural
from uraniborg.kernel.store.inbox import Inbox, InboxDecision, InboxEntry, describe_decision
from uraniborg.part_services import open_sessions
from uraniborg.story.agents import AGENT_NAME, propose_mark, start_agent, suggest_marks
from uraniborg.story.errors import START_OVER
from uraniborg.story.results import ApproveResult, AskResult, FoundPaper, Results, SearchedSource, StepInputs
from uraniborg.story.steps import AskedValue, DeclaredStep, Description, StepContext

QUERY: Final = "TRAPPIST-1 planet masses transit timing resonance chain stability"
"""The words that the agent searches for."""


class QuestionRejected(Conflict):
    """The person rejected the question in the inbox, so that the agent plans another round, which is not the story."""

    code = "question_rejected"


async def run_ask(_context: StepContext, _inputs: StepInputs) -> AskResult:
    """Let the agent search; the strategy waits for a person."""
    async with start_agent() as agent:
        reply = await agent.call_tool("search_papers", query=QUERY)
        server = agent.server_pid
    assert "checkpoint" in reply and "checkpoint_id" in reply  # noqa: PT018 - a new search asks for its strategy first
    entry = await asyncio.to_thread(Inbox().get, reply["checkpoint_id"])
    strategy = cast("ProposedPlan", reply["checkpoint"]["payload"])["strategy"]
    return {
        "agent": AGENT_NAME,
        "session_id": reply["session_id"],
        "checkpoint_id": entry.id,
        "query": reply["query"],
        "queries": [read_query_text(one) for one in strategy["queries"]],
        "strategy_queries": strategy["queries"],
        "sources": strategy["sources"],
        "state": entry.state,
        "searched": [one["name"] for one in reply["sources"]],
        "server_pid": server,
    }


def preview_ask(_results: Results) -> str:
    return f"The agent {AGENT_NAME} is about to search for “{QUERY}”. {OFFLINE_NOTICE}"


def describe_ask(results: Results) -> Description:
    found = results["ask"]
    count, sources, searched = len(found["queries"]), len(found["sources"]), len(found["searched"])
    return Description(
        f"The agent {found['agent']} wants to send {plural(count, 'query', 'queries')} to {plural(sources, 'source')}; "
        f"its question is {found['state']} in the inbox, and "
        f"{plural(searched, 'source has', 'sources have') if searched else 'no source has'} been searched.",
        [
            *((f"query {number}", text) for number, text in enumerate(found["queries"], 1)),
            ("sources", ", ".join(found["sources"])),
            ("note", OFFLINE_NOTICE),
        ],
        links=[("the question", f"/inbox/{found['checkpoint_id']}")],
    )


def read_query_text(query: QueryFields) -> str:
    """Return what a query of a strategy sends: a boolean expression, or words for a search by relevance."""
    return str(query.get("boolean_query") or query.get("words") or "")


def read_terms(query: QueryFields) -> list[list[set[str]]]:
    """Return the terms that a query requires, each as its alternatives and their words; none for other queries."""
    text = str(query.get("boolean_query") or "")
    if re.search(r"\bNOT\b", text):
        return []
    return [
        [set(re.findall(r"\w+", one.lower())) for one in re.split(r"\bOR\b", term)]
        for term in re.split(r"\bAND\b", text)
        if term.strip()
    ]


def _asks_for_more(query: QueryFields, other: QueryFields) -> bool:
    return _asks_for_all(query, other) and not _asks_for_all(other, query)


def _asks_for_all(query: QueryFields, other: QueryFields) -> bool:
    """Whether each term of the other query is in a term of this one, in every alternative."""
    terms, others = read_terms(query), read_terms(other)
    return bool(others) and all(
        any(all(any(words <= mine for words in wanted) for mine in term) for term in terms) for wanted in others
    )


def find_redundant_query(queries: Sequence[QueryFields]) -> int:
    """Return the number, from 1, of the first query that asks for all words of another one and more; else the last."""
    for number, query in enumerate(queries, 1):
        if any(_asks_for_more(query, other) for other in queries):
            return number
    return len(queries)


def explain_strike(queries: Sequence[QueryFields], struck: int) -> str:
    """Return the reason for striking a query that the words of the queries give, or an empty text."""
    for number, other in enumerate(queries, 1):
        if _asks_for_more(queries[struck - 1], other):
            return (
                f"Query {struck} asks for every word of query {number} and more, so query {number} matches every "
                f"record that query {struck} matches."
            )
    return ""


async def run_approve(context: StepContext, inputs: StepInputs) -> ApproveResult:
    """Strike a query, approve the rest, and let the agent's search run to the review."""
    asked = context.results["ask"]
    struck = inputs["strike"]
    if not 1 <= struck <= len(asked["queries"]) or len(asked["queries"]) < 2:
        raise InvalidInput(
            f"strike must be from 1 to {len(asked['queries'])}, got {struck}.",
            hint="Give the number of a query of the strategy; at least one query must stay.",
            argument="strike",
        )
    reason = explain_strike(asked["strategy_queries"], struck)
    queries = [one for number, one in enumerate(asked["strategy_queries"], 1) if number != struck]
    decision = InboxDecision(
        action="edit", data={"queries": queries}, note=reason and f"Suggested by the demo: {reason}"
    )
    entry = await decide_or_get(asked["checkpoint_id"], decision, context)
    approved = list_approved_queries(asked["queries"], entry.decision)
    async with start_agent() as agent:
        state = await agent.wait_until(
            asked["session_id"],
            lambda reply: reply["is_complete"] or reply.get("checkpoint_id") not in (None, asked["checkpoint_id"]),
        )
        server = agent.server_pid
    assert "checkpoint_id" in state  # of the review
    async with open_sessions() as manager:
        collection = await manager.get_collection(asked["session_id"])
        papers = [_summarise_paper(paper) for paper in collection.papers]
        await suggest_marks(manager, asked["session_id"], papers)
    return {
        "struck": [number for number, text in enumerate(asked["queries"], 1) if text not in approved],
        "approved": approved,
        "reason": (entry.decision.note if entry.decision else None) or "",
        "decision": describe_decision(entry),
        "checkpoint_id": state["checkpoint_id"],
        "sources": [_summarise_source(one) for one in state["sources"]],
        "papers": papers,
        "server_pid": server,
    }


def list_approved_queries(asked: Sequence[str], decision: InboxDecision | None) -> list[str]:
    """Return the queries that a decision lets through; it may have been made on the page of the question."""
    if decision is None or decision.action != "edit" or "queries" not in (decision.data or {}):
        return list(asked)
    queries: list[QueryFields] = decision.data["queries"]
    return [read_query_text(one) for one in queries]


async def decide_or_get(checkpoint_id: str, decision: InboxDecision, context: StepContext) -> InboxEntry:
    """Decide a question, or return the decision if there is one: of a step that was interrupted, or made in the inbox.

    Raise QuestionRejected.
    """

    def decide() -> InboxEntry:
        inbox = Inbox()
        try:
            entry = inbox.get(checkpoint_id)
            if entry.state == "decided":
                return entry
            return check_and_decide(inbox, checkpoint_id, decision, context.door, context.actor)
        finally:
            inbox.close()

    entry = await asyncio.to_thread(decide)
    if entry.decision is not None and entry.decision.action == "reject":
        raise QuestionRejected(
            "This question was rejected in the inbox, so that the agent plans another round.",
            hint=START_OVER,
        )
    return entry


def _summarise_source(source: SourceSummary) -> SearchedSource:
    return {
        "name": source["name"],
        "status": source["status"],
        "returned": source["returned"],
        "reason": source["reason"],
    }


def _summarise_paper(paper: Paper) -> FoundPaper:
    return {
        "id": paper.id,
        "title": paper.title,
        "authors": [author.name for author in paper.authors][:3],
        "more_authors": max(0, len(paper.authors) - 3),
        "year": paper.year,
        "doi": paper.doi,
        "abstract": paper.abstract,
        "score": paper.relevance_score,
        "proposed": propose_mark(paper.title, paper.abstract or ""),
    }


def preview_approve(results: Results) -> str:
    asked = results["ask"]
    struck = find_redundant_query(asked["strategy_queries"])
    return (
        f"{plural(len(asked['queries']), 'query waits', 'queries wait')} for your decision. "
        f"{explain_strike(asked['strategy_queries'], struck)}"
    ).strip()


def describe_approve(results: Results) -> Description:
    done = results["approve"]
    total = sum(one["returned"] for one in done["sources"])
    return Description(
        f"{_describe_strike(done)}; {plural(len(done['sources']), 'source')} returned "
        f"{plural(total, 'record')}, which are {plural(len(done['papers']), 'paper')} after merging.",
        [
            *(("struck", results["ask"]["queries"][number - 1]) for number in done["struck"]),
            *((("why", done["reason"]),) if done["reason"] else ()),
            ("decision", done["decision"]),
            *((one["name"], f"{one['status']}, {plural(one['returned'], 'record')}") for one in done["sources"]),
            (
                "server",
                f"process {results['ask']['server_pid']} asked and was killed; "
                f"process {done['server_pid']} has the papers",
            ),
        ],
        links=[
            ("your decision", f"/inbox/{results['ask']['checkpoint_id']}"),
            ("the papers", f"/searches/{results['ask']['session_id']}/review"),
        ],
    )


def _describe_strike(done: ApproveResult) -> str:
    struck = done["struck"]
    if not struck:
        return f"You approved {plural(len(done['approved']), 'query', 'queries')}"
    numbers = " and ".join(str(number) for number in struck)
    return f"You struck {'query' if len(struck) == 1 else 'queries'} {numbers} and approved the rest"


STEPS: Final = (
    DeclaredStep("ask", "An agent asks", "agent", "Let the agent ask", run_ask, preview_ask, describe_ask),
    DeclaredStep(
        "approve", "You decide on the queries", "you", "Strike and approve",
        run_approve, preview_approve, describe_approve,
        (AskedValue("strike", "integer", "The number of the query to strike, counted from 1.",
               lambda results: find_redundant_query(results["ask"]["strategy_queries"]), 1, 1_000),),
    ),
)  # fmt: skip
