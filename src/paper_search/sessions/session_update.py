"""Continue a complete session: a new one repeats its steps and asks about the next strategy."""

import asyncio
from typing import Final, cast

from paper_search.errors import SessionNotComplete
from paper_search.session_replies import SessionReply
from paper_search.sessions.inbox_decisions import check_inbox_decision
from paper_search.sessions.manager import SessionManager
from paper_search.sessions.state import PendingCheckpoint, SessionRequest
from paper_search.sessions.store import SessionStore, read_step
from paper_search.workflow.checkpoints import DecisionAction
from paper_search.workflow.decisions import StoredDecision
from uraniborg.kernel.actors import Actor, get_process_actor
from uraniborg.kernel.clock import Clock, SystemClock
from uraniborg.kernel.ids import new_id
from uraniborg.kernel.inbox import Decision as InboxDecision
from uraniborg.kernel.json_values import JsonObject

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
