"""Show a strategy to a person: queries in the syntax of each source, origins, and differences."""

import re
from collections.abc import Iterable
from typing import Any, Final, Literal

import orjson

from paper_search.config import AppConfig
from paper_search.domain.query.filters import parse_language
from paper_search.domain.query.ladder import align_blocks_and_queries
from paper_search.domain.query.query_texts import normalise_query
from paper_search.domain.source_descriptions import format_source_labels, get_source_label
from paper_search.domain.strategies.findings import QueryProblem
from paper_search.domain.strategies.lint import check_query_text
from paper_search.models import ConceptBlock, ParsedIntent, SearchConstraints, SearchQuery, SearchStrategy
from paper_search.service.new_searches import build_report, describe_available_sources
from paper_search.service.search_replies import (
    QueryView,
    StrategyChange,
    StrategyCheck,
    StrategyFacts,
    StrategyReply,
    StrategySource,
)
from paper_search.service.sessions.inbox_decisions import find_strategy_problems
from paper_search.sources.query_translation import translate_queries
from paper_search.sources.registry import KNOWN, list_source_names
from paper_search.store.session_files import SessionStore
from paper_search.store.session_state import PendingCheckpoint, SessionState
from paper_search.workflow.checkpoints import StrategyPayload
from paper_search.workflow.feedback_checks import list_limits
from uraniborg.kernel.json_values import JsonObject

ChangedPart = Literal["blocks", "queries"]
_CHECKPOINT: Final = "checkpoint-"
_SEARCHED: Final = re.compile(r"round-(\d+)/organize")
"""The step that stores the papers of a round, with the strategy that the round searched."""


def build_strategy_view(store: SessionStore, state: SessionState, config: AppConfig) -> StrategyReply:
    """Return the strategy that waits for a decision, or the one used last. Blocks while it reads the store."""
    proposed = read_strategy(store, state)
    if proposed is None:
        return {
            **_describe_state(state),
            "strategy": None,
            "intent": None,
            "queries": [],
            "sources": [],
            "inherited": [],
            "changes": [],
            "has_last_round": False,
            "feedback": None,
        }
    strategy, intent, last = proposed
    suggestions = state.pending.checkpoint.suggestions if state.pending else []
    names = list_offered_sources(state, strategy, config)
    return {
        **_describe_state(state),
        "strategy": strategy,
        "intent": intent,
        "queries": build_query_views(strategy.queries, names, strategy.filters),
        "sources": describe_strategy_sources(names, strategy.sources, state, config),
        "inherited": [origin for origin in strategy.origins if origin.inherited],
        "changes": list_changes(last, strategy) if last else [],
        "has_last_round": last is not None,
        "feedback": {"limits": [*list_limits(strategy.filters)], "suggestions": suggestions},
    }


def check_edited_strategy(
    store: SessionStore,
    state: SessionState,
    config: AppConfig,
    edit: JsonObject,
    changed_part: ChangedPart | None = None,
) -> StrategyCheck:
    """Return the problems and translations of an edited strategy, with its blocks and queries in step.

    `changed_part` names the part that the person changed last: the other one follows. Without it the part follows that
    is as proposed. Nothing is stored.
    """
    found = read_strategy(store, state)
    proposed = found[0] if found else SearchStrategy(queries=[], sources=[])
    strategy, problems = find_strategy_problems(edit, proposed, state.pending)
    strategy = _align_changed_part(proposed, strategy, changed_part)
    last = found[2] if found else None
    names = list_offered_sources(state, strategy, config)
    chosen = [name for name in names if not strategy.sources or name in strategy.sources]
    views = build_query_views(strategy.queries, chosen, strategy.filters)
    has_errors = any(problem.severity == "error" for view in views for problem in view["problems"])
    return {
        "is_valid": not problems and not has_errors,
        "problems": problems,
        "strategy": strategy,
        "queries": views,
        "language_read_as": parse_language(strategy.filters.language),
        "changes": list_changes(last, strategy) if last else [],
        "edits": list_changes(proposed, strategy) if found else [],
    }


def _align_changed_part(
    proposed: SearchStrategy, edited: SearchStrategy, changed_part: ChangedPart | None
) -> SearchStrategy:
    if changed_part != "blocks" and any(_has_query_error(query) for query in edited.queries):
        return edited  # half-typed: its concepts are read once it can be read
    if changed_part is None:
        return align_blocks_and_queries(proposed, edited)
    if changed_part == "blocks":  # composed of the proposal: a change that is undone gives its queries again
        return align_blocks_and_queries(proposed, edited.model_copy(update={"queries": proposed.queries}))
    return align_blocks_and_queries(proposed.model_copy(update={"blocks": edited.blocks}), edited)


def build_query_views(queries: Iterable[SearchQuery], names: list[str], filters: SearchConstraints) -> list[QueryView]:
    """Return each query with its problems, as it is read, and its translations."""
    listed = list(queries)
    views: list[QueryView] = []
    for query, translations in zip(listed, translate_queries(names, listed, filters), strict=True):
        normalised, problems = _check_query(query)
        views.append(
            {
                "boolean_query": query.boolean_query,
                "words": query.words,
                "rung": query.rung,
                "keywords": query.keywords,
                "read_as": normalised,
                "problems": problems,
                "translations": translations,
            }
        )
    return views


def _check_query(query: SearchQuery) -> tuple[str, list[QueryProblem]]:
    """Return the query as it is read, and its problems; a query of words alone has none."""
    if query.words.strip() and not query.boolean_query.strip():
        return "", []
    return normalise_query(query.boolean_query), list(check_query_text(query.boolean_query))


def _has_query_error(query: SearchQuery) -> bool:
    return any(problem.severity == "error" for problem in _check_query(query)[1])


def read_strategy(
    store: SessionStore, state: SessionState
) -> tuple[SearchStrategy, ParsedIntent | None, SearchStrategy | None] | None:
    """Return the present strategy, the intent if the strategy waits, and the strategy that the round before used.

    Return None while there is no strategy yet.
    """
    steps = store.list_steps(state.session_id)
    searched = _read_searched_strategies(store, state.session_id, steps)
    last = searched[max(searched)] if searched else None
    if state.pending and isinstance(payload := state.pending.checkpoint.payload, StrategyPayload):
        before = state.pending.checkpoint.round - 1
        # A rejected proposal is a round of its own: the person compares the next one with it.
        rejected = None if before in searched else _read_proposal(store, state.session_id, before)
        return payload.strategy, payload.intent, rejected or last
    if state.ended is None or last is None:
        proposed = _read_last_proposal(store, state.session_id, steps)
        if proposed is not None and proposed[0] not in searched:
            return proposed[1], None, last
    if last is None:
        return None
    return last, None, searched[min(searched)] if len(searched) > 1 else None


def _read_searched_strategies(store: SessionStore, session_id: str, steps: Iterable[str]) -> dict[int, SearchStrategy]:
    """Return the strategies of the last two rounds that searched, with the edits of people, by round."""
    rounds = sorted(int(found[1]) for step in steps if (found := _SEARCHED.fullmatch(step)))
    found = {number: _read_step_or_none(store, session_id, f"round-{number}/organize") for number in rounds[-2:]}
    return {number: strategy for number, (_, strategy) in found.items() if strategy is not None}


def _read_proposal(store: SessionStore, session_id: str, number: int) -> SearchStrategy | None:
    """Return the strategy as it was proposed in a round, or None."""
    text = store.read(session_id, f"round-{number}/strategy") if number >= 0 else None
    try:
        return SearchStrategy.model_validate_json(text) if text else None
    except ValueError:
        return None


def _read_last_proposal(
    store: SessionStore, session_id: str, steps: Iterable[str]
) -> tuple[int, SearchStrategy] | None:
    """Return the round and the strategy of the last checkpoint, or None."""
    numbers = [int(step.removeprefix(_CHECKPOINT)) for step in steps if step.startswith(_CHECKPOINT)]
    round_number, strategy = _read_step_or_none(store, session_id, f"{_CHECKPOINT}{max(numbers, default=0)}")
    return None if strategy is None else (round_number, strategy)


def _read_step_or_none(store: SessionStore, session_id: str, step: str) -> tuple[int, SearchStrategy | None]:
    """Return the round of a checkpoint, and the strategy of a checkpoint or of a round's papers without the papers."""
    try:
        fields: Any = orjson.loads(store.read(session_id, step) or "")
        checkpoint: Any = fields.get("checkpoint") or {}
        payload: Any = checkpoint.get("payload") or {"collection": fields}
        strategy = payload.get("strategy") or payload["collection"]["metadata"]["search_strategy"]
        return int(checkpoint.get("round") or 0), SearchStrategy.model_validate(strategy)
    except (ValueError, KeyError, TypeError, AttributeError):
        return 0, None


def list_offered_sources(state: SessionState, strategy: SearchStrategy, config: AppConfig) -> list[str]:
    """Return the sources of the strategy and all others that exist, in the usual order."""
    offered = state.pending.sources if state.pending else []
    known = [*list_source_names(), *offered, *strategy.sources]
    return list(dict.fromkeys(known))


def describe_strategy_sources(
    names: list[str], chosen: list[str], state: SessionState, config: AppConfig
) -> list[StrategySource]:
    """Return for each source whether it is chosen, can be chosen, has a key, and how it answered last."""
    remarks = {entry["name"]: entry for entry in describe_available_sources(config)}
    offered = set(state.pending.sources) if state.pending else {name for name, e in remarks.items() if e["used"]}
    reports = {report.name: report for report in state.sources}
    return [
        {
            "name": name,
            "label": get_source_label(name),
            "is_chosen": name in chosen or (not chosen and name in offered),
            "is_available": name in offered or name in chosen,
            "remark": remarks[name]["remark"] if name in remarks else "not installed here",
            "needs_key": name in KNOWN and KNOWN[name].needs_key,
            "accepts_key": name in KNOWN and KNOWN[name].key is not None,
            "has_key": bool(name in config.sources and config.sources[name].api_key),
            "key_variable": KNOWN[name].key_variable if name in KNOWN else "",
            "last": build_report(reports[name]) if name in reports else None,
        }
        for name in names
    ]


def list_changes(last: SearchStrategy, strategy: SearchStrategy) -> list[StrategyChange]:
    """Return the parts that differ between two strategies: concepts, queries, words, sources and filters."""
    changes = _list_block_changes(last, strategy) if last.blocks and strategy.blocks else []
    changes += _list_text_changes(
        "query", *([query.boolean_query for query in one.queries] for one in (last, strategy))
    )
    changes += _list_text_changes("words", *([query.words for query in one.queries] for one in (last, strategy)))
    if set(last.sources) != set(strategy.sources):
        changes.append(_make_change("sources", _join_sources(last), _join_sources(strategy)))
    for name in SearchConstraints.model_fields:
        old, new = getattr(last.filters, name), getattr(strategy.filters, name)
        if old != new:
            changes.append(_make_change(name, None if old is None else str(old), None if new is None else str(new)))
    return changes


def _list_block_changes(last: SearchStrategy, strategy: SearchStrategy) -> list[StrategyChange]:
    before, now = ({block.name: block for block in one.blocks} for one in (last, strategy))
    changes = [_make_change("concept", _describe_block(before[name]), None) for name in before if name not in now]
    for name, block in now.items():
        if (old := before.get(name)) is None:
            changes.append(_make_change("concept", None, _describe_block(block)))
            continue
        if old.active != block.active:
            changes.append(
                _make_change("concept", *(f"{name}: {'on' if on else 'off'}" for on in (old.active, block.active)))
            )
        variants = ([f"{name}: {variant}" for variant in one.variants] for one in (old, block))
        changes += _list_text_changes("concept", *variants)
    return changes


def _describe_block(block: ConceptBlock) -> str:
    return " OR ".join(block.variants) or block.name


def _list_text_changes(part: str, before: list[str], now: list[str]) -> list[StrategyChange]:
    changes = [_make_change(part, text, None) for text in before if text and text not in now]
    return changes + [_make_change(part, None, text) for text in now if text and text not in before]


def _join_sources(strategy: SearchStrategy) -> str:
    return format_source_labels(strategy.sources)


def _make_change(part: str, before: str | None, after: str | None) -> StrategyChange:
    return {"part": part, "before": before, "after": after}


def _describe_state(state: SessionState) -> StrategyFacts:
    pending: PendingCheckpoint | None = state.pending
    is_pending = pending is not None and isinstance(pending.checkpoint.payload, StrategyPayload)
    return {
        "session_id": state.session_id,
        "question": state.query,
        "phase": state.phase,
        "round": state.round,
        "rounds_left": max(0, state.max_rounds - state.round),
        "is_pending": is_pending,
        "checkpoint_id": state.checkpoint_id if is_pending else None,
        "asked_at": pending.checkpoint.timestamp if is_pending and pending else None,
        "offline": state.is_offline,
    }
