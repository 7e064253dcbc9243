"""Steps of the search: the agent asks, the person strikes a query and approves, and reviews the papers."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from paper_search.models import Paper
from paper_search.recordings import OFFLINE_NOTICE
from paper_search.review_models import PaperDecision, ReviewStatus
from uraniborg.kernel.actors import describe_actor
from uraniborg.kernel.errors import Conflict, InvalidInput
from uraniborg.kernel.inbox import Decision, Entry, Inbox, describe_decision
from uraniborg.kernel.text import plural
from uraniborg.part_questions import check_and_decide
from uraniborg.part_services import open_sessions
from uraniborg.story.agent import AGENT_NAME, start_agent
from uraniborg.story.errors import START_OVER
from uraniborg.story.folder import Plain
from uraniborg.story.steps import Description, Input, Results, Step, StepContext

QUERY: Final = "TRAPPIST-1 planet masses transit timing resonance chain stability"
"""The words that the agent searches for."""
TOPICS: Final = {
    "masses": re.compile(r"\bmass(?:es)?\b", re.IGNORECASE),
    "resonance": re.compile(r"\bresonan\w+", re.IGNORECASE),
    "stability": re.compile(r"\b(?:stable|stability|long-lived)\b", re.IGNORECASE),
}
"""The topics of the question, and the words that name them in a title or summary."""


class QuestionRejected(Conflict):
    """The person rejected the question in the inbox, so that the agent plans another round, which is not the story."""

    code = "question_rejected"


async def run_ask(_context: StepContext, _inputs: Plain) -> Plain:
    """Let the agent search; the strategy waits for a person."""
    async with start_agent() as agent:
        reply = await agent.call_tool("search_papers", query=QUERY)
        server = agent.server_pid
    entry = await asyncio.to_thread(Inbox().get, reply["checkpoint_id"])
    strategy = reply["checkpoint"]["payload"]["strategy"]
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


def read_query_text(query: Mapping[str, Any]) -> str:
    """Return what a query of a strategy sends: a boolean expression, or words for a search by relevance."""
    return str(query.get("boolean_query") or query.get("words") or "")


def read_terms(query: Mapping[str, Any]) -> list[list[set[str]]]:
    """Return the terms that a query requires, each as its alternatives and their words; none for other queries."""
    text = str(query.get("boolean_query") or "")
    if re.search(r"\bNOT\b", text):
        return []
    return [
        [set(re.findall(r"\w+", one.lower())) for one in re.split(r"\bOR\b", term)]
        for term in re.split(r"\bAND\b", text)
        if term.strip()
    ]


def _asks_for_more(query: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return _asks_for_all(query, other) and not _asks_for_all(other, query)


def _asks_for_all(query: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether each term of the other query is in a term of this one, in every alternative."""
    terms, others = read_terms(query), read_terms(other)
    return bool(others) and all(
        any(all(any(words <= mine for words in wanted) for mine in term) for term in terms) for wanted in others
    )


def find_redundant_query(queries: Sequence[Mapping[str, Any]]) -> int:
    """Return the number, from 1, of the first query that asks for all words of another one and more; else the last."""
    for number, query in enumerate(queries, 1):
        if any(_asks_for_more(query, other) for other in queries):
            return number
    return len(queries)


def explain_strike(queries: Sequence[Mapping[str, Any]], struck: int) -> str:
    """Return the reason for striking a query, if the words of the queries give one."""
    for number, other in enumerate(queries, 1):
        if _asks_for_more(queries[struck - 1], other):
            return (
                f"Query {struck} asks for every word of query {number} and more, so query {number} matches every "
                f"record that query {struck} matches."
            )
    return f"Query {struck} is not wanted."


async def run_approve(context: StepContext, inputs: Plain) -> Plain:
    """Strike a query, approve the rest, and let the agent's search run to the review."""
    asked = context.results["ask"]
    struck = inputs["strike"]
    if not 1 <= struck <= len(asked["queries"]) or len(asked["queries"]) < 2:
        raise InvalidInput(
            f"strike must be from 1 to {len(asked['queries'])}, got {struck}.",
            hint="Give the number of a query of the strategy; at least one query must stay.",
            argument="strike",
        )
    note = explain_strike(asked["strategy_queries"], struck)
    queries = [one for number, one in enumerate(asked["strategy_queries"], 1) if number != struck]
    decision = Decision(action="edit", data={"queries": queries}, note=note)
    entry = await _decide_or_get(asked["checkpoint_id"], decision, context)
    approved = list_approved_queries(asked["queries"], entry.decision)
    async with start_agent() as agent:
        state = await agent.wait_until(
            asked["session_id"],
            lambda reply: reply["is_complete"] or reply.get("checkpoint_id") not in (None, asked["checkpoint_id"]),
        )
        server = agent.server_pid
    async with open_sessions() as manager:
        collection = await manager.get_collection(asked["session_id"])
    return {
        "struck": [number for number, text in enumerate(asked["queries"], 1) if text not in approved],
        "approved": approved,
        "reason": (entry.decision.note if entry.decision else None) or "",
        "decision": describe_decision(entry),
        "checkpoint_id": state["checkpoint_id"],
        "sources": [{key: one[key] for key in ("name", "status", "returned", "reason")} for one in state["sources"]],
        "papers": [_summarise_paper(paper) for paper in collection.papers],
        "server_pid": server,
    }


def list_approved_queries(asked: Sequence[str], decision: Decision | None) -> list[str]:
    """Return the queries that a decision lets through; it may have been made on the page of the question."""
    if decision is None or decision.action != "edit" or "queries" not in (decision.data or {}):
        return list(asked)
    queries: list[Plain] = decision.data["queries"]
    return [read_query_text(one) for one in queries]


async def _decide_or_get(checkpoint_id: str, decision: Decision, context: StepContext) -> Entry:
    """Decide, or return the decision if there is one: of a step that was interrupted, or made in the inbox.

    Raise QuestionRejected.
    """

    def decide() -> Entry:
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


def _summarise_paper(paper: Paper) -> Plain:
    status, reason = propose_mark(paper.title, paper.abstract or "")
    return {
        "id": paper.id,
        "title": paper.title,
        "authors": [author.name for author in paper.authors][:3],
        "more_authors": max(0, len(paper.authors) - 3),
        "year": paper.year,
        "doi": paper.doi,
        "abstract": paper.abstract,
        "score": paper.relevance_score,
        "proposed": {"status": status, "reason": reason},
    }


def propose_mark(title: str, abstract: str) -> tuple[str, str]:
    """Return a status and its reason: include a paper whose title or summary names a topic of the question."""
    text = f"{title}\n{abstract}"
    named = [f"{topic} (“{found[0]}”)" for topic, words in TOPICS.items() if (found := words.search(text))]
    if named:
        return "include", f"Title or summary names {', '.join(named)}."
    return "exclude", f"Title and summary name none of {', '.join(TOPICS)}."


def preview_approve(results: Results) -> str:
    asked = results["ask"]
    struck = find_redundant_query(asked["strategy_queries"])
    return (
        f"{plural(len(asked['queries']), 'query waits', 'queries wait')} for your decision. "
        f"{explain_strike(asked['strategy_queries'], struck)}"
    )


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


def _describe_strike(done: Plain) -> str:
    struck: list[int] = done["struck"]
    if not struck:
        return f"You approved {plural(len(done['approved']), 'query', 'queries')}"
    numbers = " and ".join(str(number) for number in struck)
    return f"You struck {'query' if len(struck) == 1 else 'queries'} {numbers} and approved the rest"


def read_marks(given: Mapping[str, Any], papers: Sequence[Plain]) -> dict[str, Plain]:
    """Return a mark for each paper: the given ones, and the proposed ones for the rest. Raise InvalidInput."""
    known = {paper["id"] for paper in papers}
    if unknown := sorted(set(given) - known):
        raise InvalidInput(
            f"'{unknown[0][:80]}' is not a paper of this search.", hint="Use the ids of its papers.", argument="marks"
        )
    marks = {paper["id"]: paper["proposed"] for paper in papers} | dict(given)
    return {key: PaperDecision.model_validate(mark).model_dump(mode="json") for key, mark in marks.items()}


async def run_review(context: StepContext, inputs: Plain) -> Plain:
    """Mark every paper with a reason, and let the agent's search end."""
    asked, found = context.results["ask"], context.results["approve"]
    marks = read_marks(inputs["marks"], found["papers"])
    decision = Decision(action="approve", data={"decisions": marks, "reviewer": describe_actor(context.actor)})
    entry = await _decide_or_get(found["checkpoint_id"], decision, context)
    async with start_agent() as agent:
        await agent.wait_until(asked["session_id"], lambda reply: reply["is_complete"])
    async with open_sessions() as manager:
        result = await manager.get_result(asked["session_id"])
    rows = [
        {
            "id": paper.id,
            "title": paper.title,
            "year": paper.year,
            "doi": paper.doi,
            "status": paper.status.value,
            "reason": paper.decisions[-1].reason if paper.decisions else None,
        }
        for paper in result.papers
    ]
    excluded = [
        {"id": one.paper_id, "title": one.title, "status": "exclude", "reason": one.detail}
        for one in result.metadata.exclusions
        if one.paper_id in marks
    ]
    return {"decision": describe_decision(entry), "papers": [*rows, *excluded]}


def list_kept_ids(results: Results) -> list[str]:
    return [paper["id"] for paper in results["review"]["papers"] if paper["status"] == ReviewStatus.INCLUDE]


def preview_review(results: Results) -> str:
    papers = results["approve"]["papers"]
    kept = sum(paper["proposed"]["status"] == "include" for paper in papers)
    return (
        f"{plural(len(papers), 'paper waits', 'papers wait')} for your review; by the words of their titles and "
        f"summaries, {kept} {'names' if kept == 1 else 'name'} a topic of the question."
    )


def _describe_reasons(results: Results) -> str:
    """Return how many reasons are the person's own, and how many are those that the program proposed."""
    proposed = {paper["id"]: paper["proposed"]["reason"] for paper in results["approve"]["papers"]}
    given = [paper for paper in results["review"]["papers"] if paper["reason"]]
    own = sum(paper["reason"] != proposed.get(paper["id"]) for paper in given)
    if not own:
        return f"accepted the {plural(len(given), 'suggested reason')}"
    rest = (
        f", and accepted {plural(len(given) - own, 'that was suggested', 'that were suggested')}"
        if len(given) > own
        else ""
    )
    return f"gave {plural(own, 'reason')} of your own{rest}"


def describe_review(results: Results) -> Description:
    papers = results["review"]["papers"]
    kept = [paper for paper in papers if paper["status"] == "include"]
    rest = [paper for paper in papers if paper["status"] != "include"]
    return Description(
        f"You kept {len(kept)} of {plural(len(papers), 'paper')} and {_describe_reasons(results)}; the search log "
        "records them.",
        [
            *((f"keep {paper['year'] or ''}".strip(), f"{paper['title']}: {paper['reason']}") for paper in kept),
            ("left out", f"{plural(len(rest), 'paper')}, for example “{rest[0]['title']}”: {rest[0]['reason']}")
            if rest
            else ("left out", "none"),
            ("decision", results["review"]["decision"]),
        ],
        links=[("the review", f"/searches/{results['ask']['session_id']}/review")],
    )


STEPS: Final = (
    Step("ask", "An agent asks", "agent", "Let the agent ask", run_ask, preview_ask, describe_ask),
    Step(
        "approve", "You decide on the queries", "you", "Strike and approve",
        run_approve, preview_approve, describe_approve,
        (Input("strike", "integer", "The number of the query to strike, counted from 1.",
               lambda results: find_redundant_query(results["ask"]["strategy_queries"]), 1, 1_000),),
    ),
    Step(
        "review", "You review the papers", "you", "Keep these papers", run_review, preview_review, describe_review,
        (Input("marks", "object", "Marks by paper id, such as {\"p_1\": {\"status\": \"exclude\", \"reason\": \"…\"}}; "
               "papers without one get the proposed mark.", lambda _results: {}),),
    ),
)  # fmt: skip
