"""Prepare searches: list what can be chosen, check sources and report on them, continue a complete session."""

import asyncio
from collections.abc import Sequence
from typing import Final, cast

from paper_search.config import AppConfig, load_config
from paper_search.domain.field_profiles import list_domains
from paper_search.domain.source_descriptions import get_source_label
from paper_search.errors import SessionNotComplete
from paper_search.models import MAX_RESULTS_CAP, SearchConstraints, SearchQuery, SearchStrategy, SourceReport
from paper_search.recordings import QUERY
from paper_search.service.search_arguments import apply_given_arguments
from paper_search.service.search_replies import SearchOptions, SourceReportReply
from paper_search.service.session_replies import SessionReply
from paper_search.service.sessions.inbox_decisions import check_inbox_decision
from paper_search.service.sessions.manager import SessionManager
from paper_search.sources.http_source import HttpSource
from paper_search.sources.interfaces import SourceUse
from paper_search.sources.offline_source import OfflineSource, build_offline_sources, describe_offline_sources
from paper_search.sources.registry import build_sources, describe_sources
from paper_search.store.session_files import SessionStore, read_step
from paper_search.store.session_state import PendingCheckpoint, SessionRequest
from paper_search.workflow.checkpoints import DecisionAction
from paper_search.workflow.decisions import StoredDecision
from paper_search.workflow.input_checks import check_max_results
from uraniborg.kernel.actors import Actor, get_process_actor
from uraniborg.kernel.clock import Clock, SystemClock
from uraniborg.kernel.ids import new_id
from uraniborg.kernel.json_values import JsonObject
from uraniborg.kernel.store.inbox import InboxDecision


def describe_search_options(offline: bool | None = None) -> SearchOptions:
    """Return the domains, the sources of searches or of offline trials, and the defaults of the settings.

    Blocks while it reads the settings.
    """
    config = load_config()
    if offline is not None:
        config = config.model_copy(update={"offline": offline})
    return {
        "domains": list_domains(),
        "sources": [{**one, "label": get_source_label(one["name"])} for one in describe_available_sources(config)],
        "default_domain": config.domain,
        "default_max_results": config.default_max_results,
        "max_results": MAX_RESULTS_CAP,
        "offline": config.offline,
        "example": QUERY,
    }


def describe_available_sources(config: AppConfig) -> list[SourceUse]:
    """Return one entry per source: its name, whether a search uses it by default, and why not or its rate."""
    if config.offline:
        return describe_offline_sources(config)
    return describe_sources(config)


def build_search_config(
    max_results: int | None, domain: str | None, sources: Sequence[str] | None = None, offline: bool | None = None
) -> AppConfig:
    """Return the config of a search, from the settings and the arguments that were given.

    Raise InvalidInput or UnknownSource. Blocks while it reads the settings.
    """
    if max_results is not None:
        check_max_results(max_results)
    return apply_given_arguments(load_config(), max_results, domain, sources=sources, offline=offline)


_WORDS: Final = ("exoplanet", "atmospheres")
_DEADLINE_S: Final = 20.0


async def check_source(name: str, config: AppConfig) -> SourceReport:
    """Send one short query to a source and return the report, which contains every failure. Store nothing.

    An offline trial asks the shipped recording instead. Raise UnknownSource, or InvalidInput if the recording has no
    papers of the source.
    """
    strategy = SearchStrategy(
        queries=[SearchQuery(keywords=list(_WORDS), boolean_query=" AND ".join(_WORDS))],
        sources=[name],
        filters=SearchConstraints(max_results=1),
    )
    settings = config.model_copy(update={"cache_ttl_s": 0.0, "source_deadline_s": _DEADLINE_S})
    [source] = build_offline_sources(settings, [name]) if config.offline else build_sources(settings, only=[name])
    assert isinstance(source, HttpSource | OfflineSource)
    try:
        return (await source.search_with_report(strategy)).report
    finally:
        if isinstance(source, HttpSource):
            await source.aclose()


def build_report(report: SourceReport) -> SourceReportReply:
    """Return the report on a source without its requests."""
    return {
        "name": report.name,
        "label": get_source_label(report.name),
        "status": report.status.value,
        "received": report.received,
        "returned": report.returned,
        "removed": report.removed,
        "found": report.found,
        "calls": report.calls,
        "seconds": report.seconds,
        "reason": report.reason,
        "retry_at": report.retry_at,
        "partial": report.partial,
        "queries": report.queries,
    }


_END_STEPS: Final = {"result", "ended"}
_DECISION: Final = "decision-"
_MORE_ROUNDS: Final = 5


async def start_another_round(
    manager: SessionManager,
    session_id: str,
    note: str | None = None,
    data: JsonObject | None = None,
    actor: Actor | None = None,
) -> SessionReply:
    """Open a session that continues a complete one with another round, and return its state.

    `data` is feedback, as in a decision. `actor` is who continues it, by default the program that runs this process.
    Raise SessionNotFound, SessionFailed, SessionNotComplete or InvalidDecision.
    """
    rounds = (await manager.get_result(session_id)).metadata.rounds
    session_id, own_id = (await manager.peek_state(session_id)).session_id, new_id()
    clock = SystemClock()
    await asyncio.to_thread(copy_for_another_round, manager.store, session_id, own_id, note, rounds, clock, data, actor)
    await manager.get_state(own_id)  # runs it
    return await manager.wait_until_passed(own_id, "", manager.reply_within_s)


def copy_for_another_round(
    store: SessionStore,
    session_id: str,
    own_id: str,
    note: str | None,
    rounds: int,
    clock: Clock,
    data: JsonObject | None = None,
    actor: Actor | None = None,
) -> None:
    """Store a new session that continues a complete one where it was approved. Blocks while it copies.

    The new session has all papers and decisions of the earlier one; the approval becomes a reject with `note` and
    `data`, so that the next round begins. The earlier session does not change. Raise SessionNotFound,
    SessionNotComplete or InvalidDecision.
    """
    steps = store.list_steps(session_id)
    if "result" not in steps:
        raise SessionNotComplete(session_id, "not complete")
    request = read_step(store, session_id, "session", SessionRequest)
    config: JsonObject = {**request.config, "max_rounds": rounds + max(_MORE_ROUNDS, request.max_rounds)}
    actor = actor or get_process_actor()
    renewed = request.model_copy(update={"config": config, "at": clock.now(), "actor": actor})
    last = max((int(step.removeprefix(_DECISION)) for step in steps if step.startswith(_DECISION)), default=None)
    if data and last is not None:
        pending = read_step(store, session_id, f"checkpoint-{last}", PendingCheckpoint)
        check_inbox_decision(InboxDecision(action=DecisionAction.REJECT.value, data=data, note=note), pending)
    store.write(own_id, "session", renewed.model_dump_json(), create_session=True)
    for step in steps:
        if step in _END_STEPS or step == "session" or step.startswith("checkpoint-"):
            continue
        text = store.read(session_id, step) or ""
        if step == f"{_DECISION}{last}":
            decision = read_step(store, session_id, step, StoredDecision)
            earlier = cast("JsonObject", decision.revised_data or {})
            changed: dict[str, object] = {"action": DecisionAction.REJECT, "note": note or decision.note}
            changed |= {"actor": actor, "by_agent": not actor.is_person}
            changed["revised_data"] = {**earlier, **(data or {})} or None
            text = decision.model_copy(update=changed).model_dump_json()
        store.write(own_id, step, text)
