"""The person decides at checkpoints in their client: the official client and the real server, a process of its own."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from paper_search.api.mcp_dialogs import build_form, read_answer
from paper_search.errors import InvalidDecision
from paper_search.models import IntentType, ParsedIntent, SearchConstraints, SearchQuery, SearchStrategy
from paper_search.workflow.checkpoints import Checkpoint, CheckpointKind, DecisionAction, StrategyPayload
from tests.dialogs import APPROVE, CANCEL, DECLINE, NEVER, Person, fill_in
from tests.forked_processes import template
from tests.paper_search.service.sessions.processes import LOADED, MAIN, Server, environment, eventually, get_inbox_path
from tests.uraniborg.kernel.mcp.raw_messages import INITIALIZE, INITIALIZED
from uraniborg.kernel.mcp.testing import ClientSession, connect_stdio_client, get_json
from uraniborg.kernel.store.inbox import Inbox, InboxDecision, InboxEntry
from uraniborg.recordings import QUERY

REPLY_WITHIN = "URANIBORG_PAPER_SEARCH__SESSIONS__REPLY_WITHIN_S"
SOON = {REPLY_WITHIN: "2"}
DIALOGS = ("paper_search.api.mcp_dialogs", "uraniborg.kernel.mcp.dialogs")


@asynccontextmanager
async def open_client(home: Path, person: Person | None, **env: str) -> AsyncGenerator[ClientSession]:
    home.mkdir(parents=True, exist_ok=True)
    command, *arguments = template(MAIN, *LOADED, *DIALOGS).command()
    with (home / "stderr").open("a") as stderr:
        async with connect_stdio_client(
            command, arguments, environment(home, env), cwd=str(home), stderr=stderr, on_dialog=person
        ) as client:
            yield client


async def call(client: ClientSession, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    assert not result.isError, result
    return get_json(result)


async def search(client: ClientSession) -> dict[str, Any]:
    return await call(client, "search_papers", query=QUERY)


async def state_once(
    client: ClientSession, session_id: str, wanted: Callable[[dict[str, Any]], bool]
) -> dict[str, Any]:
    """Return the state of the session once `wanted` accepts it."""
    async with asyncio.timeout(30):
        while True:
            state = await call(client, "get_session", session_id=session_id)
            if wanted(state):
                return state
            await asyncio.sleep(0.02)


def read_entries(home: Path, session_id: str) -> list[InboxEntry]:
    inbox = Inbox(get_inbox_path(home))
    try:
        return inbox.beginning_with(session_id)
    finally:
        inbox.close()


def decide_elsewhere(home: Path, checkpoint_id: str, action: str = "approve") -> None:
    inbox = Inbox(get_inbox_path(home))
    try:
        inbox.decide(checkpoint_id, InboxDecision(action=action), "terminal")
    finally:
        inbox.close()


def read_log(home: Path) -> str:
    return (home / "stderr").read_text()


async def test_a_person_who_approves_twice_gets_the_papers_in_one_call(tmp_path: Path) -> None:
    person = Person(APPROVE, APPROVE)
    async with open_client(tmp_path, person) as client:
        reply = await search(client)
        assert (reply["is_complete"], reply["paper_count"]) == (True, 26)
        assert "dialog" not in reply
        strategy, review = person.questions
        assert strategy.message.startswith(f"Paper search: {QUERY}\nSearch for ")
        assert "Keep these 26 papers?" in review.message
        assert "The nature of the TRAPPIST-1 exoplanets (2018)" in review.message
        assert "and 6 more" in review.message
        entries = read_entries(tmp_path, reply["session_id"])
        assert [entry.door for entry in entries] == ["client", "client"]
        assert {entry.decided_by for entry in entries} == {"mcp 0.1.0"}, "the name that the client gave"
        assert [entry.decision and entry.decision.action for entry in entries] == ["approve", "approve"]


async def test_forms_have_only_fields_that_every_client_supports(tmp_path: Path) -> None:
    person = Person(APPROVE, APPROVE)
    async with open_client(tmp_path, person) as client:
        await search(client)
    for question in person.questions:
        schema = question.requestedSchema
        assert schema.keys() == {"type", "properties", "required"}
        assert schema["required"] == ["decision"]
        for field in schema["properties"].values():
            assert field["type"] in ("string", "boolean")
            assert field.keys() <= {"type", "title", "description", "enum", "default"}


async def test_a_person_edits_the_strategy_in_the_form(tmp_path: Path) -> None:
    person = Person(fill_in(decision="edit", year_from="2018", sources="arxiv, crossref"), APPROVE)
    async with open_client(tmp_path, person) as client:
        reply = await search(client)
        entry = read_entries(tmp_path, reply["session_id"])[0]
    assert entry.decision == InboxDecision(
        action="edit", data={"sources": ["arxiv", "crossref"], "filters": {"year_from": 2018}}
    )


async def test_a_person_rejects_with_a_note_and_is_asked_about_the_next_strategy(tmp_path: Path) -> None:
    person = Person(fill_in(decision="reject", note="more on JWST"))
    async with open_client(tmp_path, person) as client:
        searching = asyncio.create_task(search(client))
        question = await person.wait_for_question(2)
        assert "JWST" in question.message
        person.answer_late(DECLINE)
        reply = await searching
    assert read_entries(tmp_path, reply["session_id"])[0].decision == InboxDecision(
        action="reject", note="more on JWST"
    )
    assert reply["iteration"] == 1


@pytest.mark.parametrize(("answer", "state"), [(DECLINE, "declined"), (CANCEL, "cancelled")])
async def test_a_person_who_declines_leaves_the_checkpoint_pending(
    tmp_path: Path, answer: dict[str, Any], state: str
) -> None:
    person = Person(answer, APPROVE)
    async with open_client(tmp_path, person) as client:
        reply = await search(client)
        assert reply["has_pending_checkpoint"]
        assert reply["dialog"]["state"] == state
        assert "declined to answer now" in reply["dialog"]["message"]
        # The person is not asked again about the same checkpoint, and the agent can pass the answer on.
        assert (await call(client, "get_session", session_id=reply["session_id"]))["dialog"]["state"] == state
        assert len(person.questions) == 1
        done = await call(client, "decide", session_id=reply["session_id"], action="approve")
        assert done["is_complete"]
    doors = [entry.door for entry in read_entries(tmp_path, reply["session_id"])]
    assert doors == ["agent", "client"]


async def test_a_client_that_never_answers_blocks_nothing_and_a_late_answer_counts(tmp_path: Path) -> None:
    person = Person(NEVER)
    async with open_client(tmp_path, person, **SOON) as client:
        session_id = (await search(client))["session_id"]
        waiting = await state_once(client, session_id, lambda state: "dialog" in state)
        assert waiting["dialog"]["state"] == "open"
        assert waiting["has_pending_checkpoint"]
        assert len(person.questions) == 1
        assert "sessions" in (await client.read_resource("paper-search://sessions")).contents[0].text  # pyright: ignore
        person.answer_late(APPROVE)
        done = await state_once(client, session_id, lambda state: state["is_complete"])
        assert done["paper_count"] == 26
    assert [entry.door for entry in read_entries(tmp_path, session_id)] == ["client", "client"]


async def test_a_client_that_never_answers_does_not_keep_the_server_alive(tmp_path: Path) -> None:
    person = Person(NEVER)
    async with asyncio.timeout(60):
        async with open_client(tmp_path, person, **SOON) as client:
            session_id = (await search(client))["session_id"]
            await state_once(client, session_id, lambda state: "dialog" in state)
    assert len(person.questions) == 1


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (fill_in(decision="perhaps"), "The field decision is not valid."),
        (fill_in(note="no decision"), "The field decision is missing."),
        (fill_in(decision="edit", year_from="soon"), "year_from is not a year."),
        (fill_in(decision="edit", sources="nowhere"), "nowhere"),
        (fill_in(decision="edit"), "The strategy was not changed."),
        (fill_in(decision=True), "The field decision is not valid."),
        ({"action": "accept"}, "The field decision is missing."),
    ],
)
async def test_an_answer_that_cannot_be_used_leaves_the_checkpoint_pending(
    tmp_path: Path, answer: dict[str, Any], reason: str
) -> None:
    person = Person(answer, DECLINE)
    async with open_client(tmp_path, person) as client:
        reply = await search(client)
        assert reply["has_pending_checkpoint"]
        assert reply["dialog"]["state"] == "invalid"
        assert reason in reply["dialog"]["message"]
        again = await call(client, "get_session", session_id=reply["session_id"])
        assert again["dialog"]["state"] == "declined", "the person was asked again"
    assert "an answer in a dialog cannot be used" in read_log(tmp_path)
    assert read_entries(tmp_path, reply["session_id"])[0].state == "pending"


async def test_a_decision_elsewhere_closes_the_dialog_and_the_call_continues(tmp_path: Path) -> None:
    person = Person(NEVER, APPROVE)
    async with open_client(tmp_path, person) as client:
        searching = asyncio.create_task(search(client))
        await person.wait_for_question()
        (entry,) = Inbox(get_inbox_path(tmp_path)).pending()
        decide_elsewhere(tmp_path, entry.id)
        reply = await searching
        assert reply["is_complete"]
    assert person.cancelled == 1
    assert [entry.door for entry in read_entries(tmp_path, reply["session_id"])] == ["terminal", "client"]


async def test_the_agent_and_the_person_decide_at_once_and_the_first_wins(tmp_path: Path) -> None:
    person = Person(NEVER)
    async with open_client(tmp_path, person, **SOON) as client:
        session_id = (await search(client))["session_id"]
        waiting = await state_once(client, session_id, lambda state: "dialog" in state)
        deciding = asyncio.create_task(
            call(client, "decide", session_id=session_id, action="reject", checkpoint_id=waiting["checkpoint_id"])
        )
        person.answer_late(fill_in(decision="approve"))
        await deciding
        done = await state_once(client, session_id, lambda state: state["iteration"] > 0)
    first = read_entries(tmp_path, session_id)[0]
    assert (first.door, first.decision and first.decision.action) in [("agent", "reject"), ("client", "approve")]
    assert done["iteration"] >= 1
    assert "Traceback" not in read_log(tmp_path)


async def test_a_client_without_dialogs_sees_what_it_saw_before(tmp_path: Path) -> None:
    async with open_client(tmp_path, None) as client:
        reply = await search(client)
        assert reply["has_pending_checkpoint"]
        assert "dialog" not in reply
        review = await call(client, "decide", session_id=reply["session_id"], action="approve")
        assert review["current_checkpoint_kind"] == "result_review"
        assert "dialog" not in review
        assert "dialog" not in await call(client, "get_session", session_id=reply["session_id"])


async def test_only_a_person_decides_if_the_setting_demands_it(tmp_path: Path) -> None:
    async with open_client(tmp_path, None, URANIBORG_REQUIRE_PERSON="1") as client:
        reply = await search(client)
        result = await client.call_tool("decide", {"session_id": reply["session_id"], "action": "approve"})
        assert result.isError
        error = get_json(result)["error"]
        assert error["code"] == "person_required"
        assert f"uraniborg decide {reply['checkpoint_id']} ACTION" in error["hint"]
        assert (await call(client, "get_session", session_id=reply["session_id"]))["has_pending_checkpoint"]
        decide_elsewhere(tmp_path, reply["checkpoint_id"])
        repeated = {"session_id": reply["session_id"], "action": "approve", "checkpoint_id": reply["checkpoint_id"]}
        assert (await call(client, "decide", **repeated))["already_decided"]["door"] == "terminal"


async def test_a_person_decides_in_the_client_if_the_setting_demands_a_person(tmp_path: Path) -> None:
    async with open_client(tmp_path, Person(APPROVE, APPROVE), URANIBORG_REQUIRE_PERSON="1") as client:
        assert (await search(client))["is_complete"]


def initialize_with_dialogs(server: Server) -> None:
    params: dict[str, Any] = {**INITIALIZE["params"], "capabilities": {"elicitation": {}}}
    server._begin({**INITIALIZE, "params": params}).result(30)  # pyright: ignore[reportPrivateUsage]
    server.send(INITIALIZED)


@pytest.mark.parametrize("is_killed", [False, True])
def test_a_client_that_dies_leaves_the_checkpoint_pending(tmp_path: Path, is_killed: bool) -> None:
    server = Server(tmp_path, (), {})
    try:
        initialize_with_dialogs(server)
        searching = server.begin("search_papers", query=QUERY)
        eventually(lambda: any(b"elicitation/create" in line for line in server.output_lines))
        if is_killed:
            server.stop_listening()
        assert server.close() == 0
        if not is_killed:
            state = searching().state
            assert (state["has_pending_checkpoint"], state["dialog"]["state"]) == (True, "failed")
    finally:
        server.release()
    inbox = Inbox(get_inbox_path(tmp_path))
    assert [entry.state for entry in inbox.beginning_with("")] == ["pending"]
    inbox.close()


def make_checkpoint(sources: list[str] | None = None) -> Checkpoint:
    query = SearchQuery(keywords=["a"], boolean_query="a AND b")
    strategy = SearchStrategy(queries=[query], sources=sources or [], filters=SearchConstraints(year_from=2016))
    intent = ParsedIntent(topic="a", concepts=["a"], intent_type=IntentType.SURVEY)
    return Checkpoint(
        run_id="r",
        kind=CheckpointKind.STRATEGY_CONFIRMATION,
        payload=StrategyPayload(intent=intent, strategy=strategy),
        iteration=0,
        round=0,
    )


@pytest.mark.parametrize(
    ("fields", "data"),
    [
        ({"decision": "approve"}, None),
        ({"decision": "approve", "queries": "a AND b", "year_from": "2016", "year_to": "none", "sources": "all"}, None),
        ({"decision": "approve", "queries": "c"}, {"queries": ["c"]}),
        ({"decision": "edit", "queries": "c; d AND e"}, {"queries": ["c", "d AND e"]}),
        ({"decision": "edit", "year_from": "none"}, {"filters": {"year_from": None}}),
        ({"decision": "edit", "year_to": "2020"}, {"filters": {"year_to": 2020}}),
        ({"decision": "edit", "sources": "arxiv"}, {"sources": ["arxiv"]}),
    ],
)
def test_only_changed_fields_are_edited(fields: dict[str, str], data: dict[str, Any] | None) -> None:
    decision = read_answer(fields, make_checkpoint())
    assert decision.revised_data == data
    assert decision.action is (DecisionAction.EDIT if data else DecisionAction.APPROVE)


def test_a_form_with_its_proposed_values_approves_a_plan_that_ends_with_words_for_ranking_sources() -> None:
    checkpoint = make_checkpoint()
    assert isinstance(checkpoint.payload, StrategyPayload)
    words = SearchQuery(keywords=["a"], boolean_query="", words="a b")
    checkpoint.payload.strategy.queries += [words]
    params: Any = build_form("a", checkpoint).build_params("2025-11-25")
    fields = params["requestedSchema"]["properties"]
    answer = {name: field["default"] for name, field in fields.items() if "default" in field}
    assert answer["queries"] == "a AND b"
    assert read_answer({**answer, "decision": "approve"}, checkpoint).action is DecisionAction.APPROVE


def test_an_edit_that_returns_to_all_sources_has_an_empty_list() -> None:
    decision = read_answer({"decision": "edit", "sources": "all"}, make_checkpoint(sources=["arxiv"]))
    assert decision.revised_data == {"sources": []}


@pytest.mark.parametrize("year", ["1e3", "20180", "-1", "²⁰¹⁸"])
def test_a_year_in_another_form_is_refused(year: str) -> None:
    with pytest.raises(InvalidDecision):
        read_answer({"decision": "edit", "year_from": year}, make_checkpoint())


def test_the_fields_of_the_form_have_the_proposed_values() -> None:
    params: Any = build_form("a", make_checkpoint()).build_params("2025-11-25")
    fields = params["requestedSchema"]["properties"]
    assert {name: field["default"] for name, field in fields.items() if "default" in field} == {
        "queries": "a AND b",
        "year_from": "2016",
        "year_to": "none",
        "sources": "all",
    }
    older = build_form("a", make_checkpoint()).build_params("2025-06-18")
    assert "default" not in json.dumps(older)
