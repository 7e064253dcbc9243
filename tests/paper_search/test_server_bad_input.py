"""Invalid input gets a clear error, and all sessions stay unchanged."""

import json
import random
import threading
from collections.abc import Generator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from paper_search.workflow.input_checks import MAX_QUERY_CHARS
from tests.paper_search.service.sessions.processes import (
    COMMAND,
    REPLY_BYTES,
    Answer,
    GatedSource,
    Server,
    get_journal_path,
    get_sessions_folder,
    read_decisions,
    serving,
)
from tests.requirements import requirement

STRATEGY = "strategy_confirmation"
REVIEW = "result_review"
OVERRIDE = "\u202e"
FIVE_MB = 5_000_000


class ServerSession:
    """A server with one session that waits at its first checkpoint during all tests of this module."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.session = server.search()
        self.session_id: str = self.session["session_id"]
        self.checkpoint_id: str = self.session["checkpoint_id"]
        self._opened = 0
        self.reset_counts()

    def reset_counts(self) -> None:
        """Count the sessions that are opened from now on."""
        self._opened = len(self._sessions())

    def call(self, tool: str, /, **arguments: Any) -> Answer:
        """Call a tool; "SESSION" and "CHECKPOINT" in arguments are replaced by the ids of the session."""
        known = {"SESSION": self.session_id, "CHECKPOINT": self.checkpoint_id}
        sent = {name: known.get(value, value) if isinstance(value, str) else value for name, value in arguments.items()}
        return self.server.call(tool, **sent).check_no_leaks(self.server.home)

    def call_with(self, arguments: str) -> Answer:
        """Call `decide` with arguments written as JSON text."""
        return self.server.ask_raw(
            lambda number: (
                f'{{"jsonrpc": "2.0", "id": {number}, "method": "tools/call", '
                f'"params": {{"name": "decide", "arguments": {arguments}}}}}'
            ).encode()
        )().check_no_leaks(self.server.home)

    def edit_with(self, data: str) -> Answer:
        """Send an edit with data written as JSON text."""
        return self.call_with(f'{{"session_id": "{self.session_id}", "action": "edit", "data": {data}}}')

    def check_session(self) -> None:
        """Check that the session is unchanged and that no call has opened another session."""
        now = self.server.state(self.session_id)
        assert {**now, "elapsed_s": 0} == {**self.session, "elapsed_s": 0}
        assert read_decisions(get_journal_path(self.server.home, self.session_id)) == []
        assert len(self._sessions()) == self._opened

    def search(self) -> dict[str, Any]:
        """Open a session for a test that decides."""
        self._opened += 1
        return self.server.search()

    def check_new_session(self) -> None:
        """Record that a call has opened a session as expected."""
        self._opened += 1

    def finish(self, session_id: str) -> None:
        """Approve all checkpoints and export the papers."""
        state = self.server.state(session_id)
        while not state["is_complete"]:
            state = self.server.call("decide", session_id=session_id, action="approve").state
        assert state["paper_count"] >= 0
        exported = self.server.call("export_results", session_id=session_id, format="json").state
        assert len(exported["papers"]) == state["paper_count"]

    def _sessions(self) -> list[Path]:
        return list(get_sessions_folder(self.server.home).glob("*.db"))


@pytest.fixture(scope="module")
def shared_server(tmp_path_factory: pytest.TempPathFactory) -> Generator[ServerSession]:
    with serving(tmp_path_factory.mktemp("bench")) as server:
        yield ServerSession(server)


@pytest.fixture
def server_session(shared_server: ServerSession) -> ServerSession:
    shared_server.reset_counts()
    return shared_server


Case = tuple[str, dict[str, Any], str, list[str]]

UNKNOWN: dict[str, Case] = {
    "session": ("get_session", {"session_id": "f" * 32}, "session_not_found", ["Session not found", "f" * 32]),
    "session, no id": ("get_session", {"session_id": "yesterday"}, "session_not_found", ["yesterday"]),
    "session, a path": ("get_session", {"session_id": "../../inbox"}, "session_not_found", ["inbox"]),
    "session, empty": ("get_session", {"session_id": ""}, "session_not_found", ["search_papers"]),
    "session of decide": ("decide", {"session_id": "f" * 32, "action": "approve"}, "session_not_found", ["f" * 32]),
    "session of export": ("export_results", {"session_id": "f" * 32}, "session_not_found", ["f" * 32]),
    "action": ("decide", {"session_id": "SESSION", "action": "dance"}, "invalid_action", ["Invalid action", "dance"]),
    "action, in capitals": ("decide", {"session_id": "SESSION", "action": "APPROVE"}, "invalid_action", ["approve"]),
    "action, empty": ("decide", {"session_id": "SESSION", "action": ""}, "invalid_action", ["approve", "reject"]),
    "format": ("export_results", {"session_id": "SESSION", "format": "docx"}, "invalid_argument", ["docx", "bibtex"]),
    "domain": ("search_papers", {"query": "moons", "domain": "alchemy"}, "unknown_domain", ["alchemy", "general"]),
    "tool": ("dance", {}, "unknown_tool", ["dance", "search_papers"]),
    "argument": ("decide", {"session_id": "SESSION", "action": "approve", "why": 1}, "invalid_argument", ["why"]),
    "argument of search": ("search_papers", {"query": "moons", "limit": 5}, "invalid_argument", ["limit"]),
    "argument of export": ("export_results", {"session_id": "SESSION", "fmt": 5}, "invalid_argument", ["fmt"]),
    "argument of get": ("get_session", {"session_id": "SESSION", "verbose": True}, "invalid_argument", ["verbose"]),
    "checkpoint": (
        "decide",
        {"session_id": "SESSION", "action": "approve", "checkpoint_id": "garbage"},
        "checkpoint_not_found",
        ["garbage"],
    ),
    "checkpoint, empty": (
        "decide",
        {"session_id": "SESSION", "action": "approve", "checkpoint_id": ""},
        "checkpoint_not_found",
        ["checkpoint_id"],
    ),
}


@requirement("PS-REQ-14", "PS-E2")
@pytest.mark.parametrize(("tool", "arguments", "code", "named"), UNKNOWN.values(), ids=UNKNOWN.keys())
def test_unknown_names_are_reported_and_change_nothing(
    server_session: ServerSession, tool: str, arguments: dict[str, Any], code: str, named: list[str]
) -> None:
    server_session.call(tool, **arguments).check_error(code, *named)
    server_session.check_session()


MISSING: dict[str, tuple[str, dict[str, Any], list[str]]] = {
    "query": ("search_papers", {}, ["query"]),
    "session of decide": ("decide", {"action": "approve"}, ["session_id"]),
    "action": ("decide", {"session_id": "SESSION"}, ["action"]),
    "everything of decide": ("decide", {}, ["session_id", "action"]),
    "session of get": ("get_session", {}, ["session_id"]),
    "session of export": ("export_results", {"format": "json"}, ["session_id"]),
}


@pytest.mark.parametrize(("tool", "arguments", "named"), MISSING.values(), ids=MISSING.keys())
def test_missing_arguments_are_named(
    server_session: ServerSession, tool: str, arguments: dict[str, Any], named: list[str]
) -> None:
    server_session.call(tool, **arguments).check_error("invalid_argument", *named)
    server_session.check_session()


WRONG_KIND: dict[str, tuple[str, dict[str, Any], str]] = {
    "query, a number": ("search_papers", {"query": 5}, "query"),
    "query, a list": ("search_papers", {"query": ["moons"]}, "query"),
    "query, null": ("search_papers", {"query": None}, "query"),
    "session, a number": ("get_session", {"session_id": 7}, "session_id"),
    "session, an object": ("get_session", {"session_id": {}}, "session_id"),
    "action, a list": ("decide", {"session_id": "SESSION", "action": ["approve"]}, "action"),
    "note, an object": ("decide", {"session_id": "SESSION", "action": "approve", "note": {}}, "note"),
    "checkpoint, a number": (
        "decide",
        {"session_id": "SESSION", "action": "approve", "checkpoint_id": 0},
        "checkpoint",
    ),
    "format, a list": ("export_results", {"session_id": "SESSION", "format": ["json"]}, "format"),
    "data, a list": ("decide", {"session_id": "SESSION", "action": "edit", "data": []}, "data"),
    "data, a number": ("decide", {"session_id": "SESSION", "action": "edit", "data": 1}, "data"),
    "data, a flag": ("decide", {"session_id": "SESSION", "action": "edit", "data": True}, "data"),
    "data, prose": ("decide", {"session_id": "SESSION", "action": "edit", "data": "more of it"}, "data"),
    "data, a list as text": ("decide", {"session_id": "SESSION", "action": "edit", "data": "[]"}, "data"),
    "data, half an object as text": ("decide", {"session_id": "SESSION", "action": "edit", "data": '{"a": '}, "data"),
}


@pytest.mark.parametrize(("tool", "arguments", "named"), WRONG_KIND.values(), ids=WRONG_KIND.keys())
def test_an_argument_of_the_wrong_type_is_named(
    server_session: ServerSession, tool: str, arguments: dict[str, Any], named: str
) -> None:
    server_session.call(tool, **arguments).check_error("invalid_argument", named)
    server_session.check_session()


@pytest.mark.parametrize("arguments", ["[]", '"approve"', "7", "true"])
def test_arguments_that_are_not_an_object_are_refused(server_session: ServerSession, arguments: str) -> None:
    server_session.call_with(arguments).check_error("invalid_argument", "arguments")
    server_session.check_session()


@pytest.mark.parametrize("wanted", [0, -5, -(10**30), "many", "0", True, False, 1.5, [], {}, ""])
def test_an_impossible_number_of_papers_is_refused(server_session: ServerSession, wanted: object) -> None:
    server_session.call("search_papers", query="moons", max_results=wanted).check_error(
        "invalid_argument", "max_results"
    )
    server_session.check_session()


def test_null_for_an_optional_argument_equals_omitting_it(server_session: ServerSession) -> None:
    reply = server_session.call("search_papers", query="moons", domain=None, max_results=None)
    assert not reply.is_error, reply.text
    assert json.loads(reply.text)["checkpoint"]["payload"]["strategy"]["filters"]["max_results"] == 100


@pytest.mark.parametrize("wanted", [10**9, 10**30, "1000000000"])
def test_a_huge_number_of_papers_is_capped(server_session: ServerSession, wanted: object) -> None:
    state = server_session.call("search_papers", query="moons", max_results=wanted).state
    server_session.check_new_session()
    assert 1 <= state["checkpoint"]["payload"]["strategy"]["filters"]["max_results"] <= 20_000
    server_session.check_session()


@pytest.mark.parametrize("query", ["", "   ", "\t\n", "?!", "\x00", OVERRIDE])
def test_a_query_without_a_word_is_refused(server_session: ServerSession, query: str) -> None:
    server_session.call("search_papers", query=query).check_error("invalid_query", "empty")
    server_session.check_session()


@pytest.mark.parametrize(
    "query", ["papers citing 10.1038/nature14539", "references of arXiv:1706.03762", "works similar to PMID 31452104"]
)
def test_a_query_for_the_citations_or_relatives_of_a_work_is_refused_with_a_hint(
    server_session: ServerSession, query: str
) -> None:
    server_session.call("search_papers", query=query).check_error("unsupported_query", "not supported")
    server_session.check_session()


@pytest.mark.parametrize("length", [MAX_QUERY_CHARS + 1, FIVE_MB])
def test_a_query_that_is_too_long_is_refused_with_its_length(server_session: ServerSession, length: int) -> None:
    server_session.call("search_papers", query="x" * length).check_error(
        "invalid_query", f"{length:,}", f"{MAX_QUERY_CHARS:,}"
    )
    server_session.check_session()


ODD_QUERIES = {
    "astral letters": "a" + "\U0001f0a1" * (MAX_QUERY_CHARS - 1),
    "astral words": ("a" + "\U0001f0a1" * 9 + " ") * (MAX_QUERY_CHARS // 12),
    "one Chinese word": "量子" * (MAX_QUERY_CHARS // 2),
    "Chinese words": "量子 " * (MAX_QUERY_CHARS // 3),
    "control characters": "a" + "\x01" * (MAX_QUERY_CHARS - 1),
    "quotes": '"' + 'a" "' * (MAX_QUERY_CHARS // 4 - 1) + 'b"',
    "backslashes": "a" + "\\" * (MAX_QUERY_CHARS - 1),
    "operators": "(a OR b) AND NOT " * (MAX_QUERY_CHARS // 20) + "c",
    "brackets": "(" * (MAX_QUERY_CHARS - 1) + "a",
    "single letters": "a " * (MAX_QUERY_CHARS // 2),
    "strategy": " OR ".join(f'"word {n} of a strategy"[tiab]' for n in range(550)),
    "headings": "(" + " OR ".join(f'"Heading {n}, Inverted"[Mesh]' for n in range(600)) + ") not (a[mh] not b[mh])",
    "numbered lines": "\n".join([f"#{n} “word {n}”[ti]" for n in range(1, 200)] + ["#200 or/1-199"]),
    "different words": " ".join(f"w{n:03x}\U0001f0a1" for n in range(MAX_QUERY_CHARS // 6)),
}


@pytest.mark.parametrize("query", ODD_QUERIES.values(), ids=ODD_QUERIES.keys())
def test_the_longest_and_oddest_queries_are_answered_within_the_budget(
    server_session: ServerSession, query: str
) -> None:
    answer = server_session.call("search_papers", query=query)
    server_session.check_new_session()
    assert len(answer.text.encode()) <= REPLY_BYTES
    state = answer.state
    assert state["checkpoint_kind"] == STRATEGY
    decided = server_session.call("decide", session_id=state["session_id"], action="approve")
    assert len(decided.text.encode()) <= REPLY_BYTES
    server_session.finish(state["session_id"])


STRINGS: dict[str, tuple[str, dict[str, Any], str]] = {
    "query": ("search_papers", {}, "query"),
    "domain": ("search_papers", {"query": "moons"}, "domain"),
    "session of decide": ("decide", {"action": "approve"}, "session_id"),
    "action": ("decide", {"session_id": "SESSION"}, "action"),
    "note": ("decide", {"session_id": "SESSION", "action": "edit"}, "note"),
    "checkpoint": ("decide", {"session_id": "SESSION", "action": "approve"}, "checkpoint_id"),
    "session of export": ("export_results", {}, "session_id"),
    "format": ("export_results", {"session_id": "SESSION"}, "format"),
    "session of get": ("get_session", {}, "session_id"),
    "name of an argument": ("decide", {"session_id": "SESSION", "action": "edit"}, "w{}"),
    "name of a tool": ("t{}", {}, ""),
}


def insert_odd_value(tool: str, arguments: dict[str, Any], place: str, odd: str) -> tuple[str, dict[str, Any]]:
    text = f"moons {odd} dust"
    if not place:
        return tool.format(odd), arguments
    return (tool, {**arguments, place.format(odd): 1}) if "{}" in place else (tool, {**arguments, place: text})


@pytest.mark.parametrize("odd", [0xD800, 0xDFFF], ids=hex)
@pytest.mark.parametrize(("tool", "arguments", "place"), STRINGS.values(), ids=STRINGS.keys())
def test_lone_surrogates_are_refused_in_every_argument(
    server_session: ServerSession, tool: str, arguments: dict[str, Any], place: str, odd: int
) -> None:
    called, sent = insert_odd_value(tool, arguments, place, chr(odd))
    server_session.call(called, **sent).check_error("invalid_argument", "lone surrogates")
    server_session.check_session()


@pytest.mark.parametrize("odd", ["\x00", OVERRIDE, "\u2066", "\x1b[31m", "\x9b"], ids=ascii)
@pytest.mark.parametrize(
    ("tool", "arguments", "place"),
    [case for name, case in STRINGS.items() if name != "query"],
    ids=[name for name in STRINGS if name != "query"],
)
def test_control_characters_are_escaped_in_every_argument(
    server_session: ServerSession, tool: str, arguments: dict[str, Any], place: str, odd: str
) -> None:
    called, sent = insert_odd_value(tool, arguments, place, odd)
    answer = server_session.call(called, **sent)
    assert answer.check_error(answer.error["code"]).error["code"] != "internal_error"
    server_session.check_session()


@pytest.mark.parametrize("odd", ["\x00", OVERRIDE, "\u2066", "\x1b[31m"], ids=ascii)
def test_control_characters_in_accepted_texts_do_no_harm(server_session: ServerSession, odd: str) -> None:
    state = server_session.call("search_papers", query=f"moons {odd} dust").state
    server_session.check_new_session()
    session_id = state["session_id"]
    assert odd not in state["summary"]
    query = {"keywords": [f"moons{odd}"], "boolean_query": f"moons{odd} AND dust"}
    edited = server_session.call(
        "decide", session_id=session_id, action="edit", data={"queries": [query]}, note=f"a{odd}b"
    )
    assert edited.state["iteration"] == 1
    feedback = {"free_text_feedback": f"more {odd} of it"}
    rejected = server_session.call("decide", session_id=session_id, action="reject", data=feedback, note=f"no{odd}")
    assert rejected.state["iteration"] == 2
    server_session.finish(session_id)
    server_session.check_session()


WRONG_DATA: dict[str, tuple[str, Any, list[str]]] = {
    "nothing to edit": ("edit", None, ["strategy"]),
    "an empty edit": ("edit", {}, ["strategy"]),
    "an unknown field": ("edit", {"query": "moons"}, ["query", "queries"]),
    "a query that is text": ("edit", {"queries": "moons"}, ["queries"]),
    "a query without its text": ("edit", {"queries": [{"keywords": ["moons"]}]}, ["boolean_query"]),
    "no query at all": ("edit", {"queries": []}, ["query"]),
    "a blank query": ("edit", {"queries": [{"keywords": [], "boolean_query": "  "}]}, ["query"]),
    "an unknown source": ("edit", {"sources": ["the library"]}, ["the library", "crossref"]),
    "sources that are an object": ("edit", {"sources": {"crossref": True}}, ["sources"]),
    "an unknown filter": ("edit", {"filters": {"from": 2018}}, ["from", "year_from"]),
    "years the wrong way round": ("edit", {"filters": {"year_from": 2020, "year_to": 2010}}, ["2020", "2010"]),
    "no results wanted": ("edit", {"filters": {"max_results": 0}}, ["max_results"]),
    "filters that are a list": ("edit", {"filters": [2020]}, ["filters"]),
    "an approve with data": ("approve", {"sources": []}, ["approve"]),
    "feedback of another kind": ("reject", {"marked_relevant": {"a": 1}}, ["marked_relevant"]),
    "a paper that is not listed": ("reject", {"marked_relevant": ["10.1000/nothing"]}, ["10.1000/nothing"]),
    "a paper marked both ways": ("reject", {"marked_relevant": ["p"], "marked_irrelevant": ["p"]}, ["p", "irrelevant"]),
    "feedback that is a number": ("reject", {"free_text_feedback": 5}, ["free_text_feedback"]),
    "a strategy as feedback": ("reject", {"queries": []}, ["queries", "free_text_feedback"]),
}


@pytest.mark.parametrize("as_text", [False, True], ids=["object", "text"])
@pytest.mark.parametrize(("action", "data", "named"), WRONG_DATA.values(), ids=WRONG_DATA.keys())
def test_data_that_does_not_fit_is_explained_and_the_checkpoint_stays(
    server_session: ServerSession, action: str, data: Any, named: list[str], as_text: bool
) -> None:
    sent = json.dumps(data) if as_text and data is not None else data
    server_session.call("decide", session_id="SESSION", action=action, data=sent).check_error(
        "invalid_decision", *named
    )
    server_session.check_session()


def test_data_may_come_as_a_string_of_json(server_session: ServerSession) -> None:
    session_id = server_session.search()["session_id"]
    data = json.dumps({"sources": ["crossref", "arxiv"]})
    state = server_session.call("decide", session_id=session_id, action="edit", data=data).state
    assert [source["name"] for source in state["sources"]] == ["crossref", "arxiv"]
    server_session.finish(session_id)


HALF: dict[str, dict[str, Any]] = {
    "feedback": {"action": "reject", "data": r'{"free_text_feedback": "more \ud800 of it"}'},
    "a query": {"action": "edit", "data": r'{"queries": [{"keywords": ["a"], "boolean_query": "a \udfff b"}]}'},
    "a keyword": {"action": "edit", "data": r'{"queries": [{"keywords": ["\ud800"], "boolean_query": "a"}]}'},
    "a note of the strategy": {"action": "edit", "data": r'{"notes": ["\ud800"]}'},
    "a name": {"action": "edit", "data": r'{"\ud800": 1}'},
    "a source": {"action": "edit", "data": r'{"sources": ["\ud800"]}'},
    "a paper": {"action": "reject", "data": r'{"marked_relevant": ["\ud800"]}'},
}


@pytest.mark.parametrize("decision", HALF.values(), ids=HALF.keys())
def test_lone_surrogates_in_a_json_string_do_not_end_the_session(
    server_session: ServerSession, decision: dict[str, Any]
) -> None:
    session_id = server_session.search()["session_id"]
    server_session.call("decide", session_id=session_id, **decision).check_error(
        ("invalid_decision", "invalid_argument")
    )
    assert server_session.server.state(session_id)["checkpoint_kind"] == STRATEGY
    server_session.finish(session_id)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
@pytest.mark.parametrize("as_text", [False, True], ids=["object", "text"])
@pytest.mark.parametrize(
    "data", ['{"filters": {"year_from": %s}}', '{"filters": {"max_results": %s}}', '{"notes": [%s]}', '{"%%s": %s}']
)
def test_nan_and_infinity_are_refused(server_session: ServerSession, data: str, number: str, as_text: bool) -> None:
    sent = data % number
    answer = server_session.edit_with(json.dumps(sent) if as_text else sent)
    answer.check_error(("invalid_decision", "invalid_argument"))
    server_session.check_session()


@pytest.mark.parametrize("as_text", [False, True], ids=["object", "text"])
@pytest.mark.parametrize("levels", [17, 100, 300, 950, 1_500, 100_000])
@pytest.mark.parametrize(("opening", "closing"), [('{"a":', "}"), ("[", "]")], ids=["objects", "lists"])
def test_data_that_is_too_deep_is_refused(
    server_session: ServerSession, opening: str, closing: str, levels: int, as_text: bool
) -> None:
    deep = f'{{"notes": {opening * levels}1{closing * levels}}}'
    answer = server_session.edit_with(json.dumps(deep) if as_text else deep)
    answer.check_error(("invalid_decision", "invalid_argument", "invalid_request"))
    server_session.check_session()


LARGE: dict[str, tuple[str, dict[str, Any]]] = {
    "a value": ("decide", {"action": "edit", "data": {"notes": ["x" * FIVE_MB]}}),
    "a name": ("decide", {"action": "edit", "data": {"x" * FIVE_MB: 1}}),
    "many values": ("decide", {"action": "edit", "data": {"notes": ["x"] * (FIVE_MB // 4)}}),
    "many names": ("decide", {"action": "edit", "data": {f"field{n}": n for n in range(FIVE_MB // 20)}}),
    "text": ("decide", {"action": "edit", "data": json.dumps({"notes": ["x" * FIVE_MB]})}),
    "text that is not JSON": ("decide", {"action": "edit", "data": "x" * FIVE_MB}),
    "a note": ("decide", {"action": "edit", "note": "x" * FIVE_MB}),
    "an action": ("decide", {"action": "x" * FIVE_MB}),
    "a checkpoint": ("decide", {"action": "approve", "checkpoint_id": "x" * FIVE_MB}),
    "an argument": ("decide", {"action": "approve", "x" * FIVE_MB: 1}),
    "a format": ("export_results", {"format": "x" * FIVE_MB}),
    "a domain": ("search_papers", {"query": "moons", "domain": "x" * FIVE_MB}),
}


@pytest.mark.parametrize(("tool", "arguments"), LARGE.values(), ids=LARGE.keys())
def test_five_megabytes_are_refused_in_a_few_words(
    server_session: ServerSession, tool: str, arguments: dict[str, Any]
) -> None:
    whose = {} if tool == "search_papers" else {"session_id": "SESSION"}
    answer = server_session.call(tool, **whose, **arguments)
    answer.check_error(answer.error["code"])
    assert len(answer.text) < 2_000
    server_session.check_session()


JUST_TOO_LITTLE = 60_000
REPEATED: dict[str, dict[str, Any]] = {
    "a field": {"action": "edit", "data": {"x" * JUST_TOO_LITTLE: 1}},
    "many fields": {"action": "edit", "data": {f"{n:020}": 1 for n in range(2_000)}},
    "a source": {"action": "edit", "data": {"sources": ["x" * JUST_TOO_LITTLE]}},
    "many sources": {"action": "edit", "data": {"sources": [f"{n:020}" for n in range(2_500)]}},
    "a paper": {"action": "reject", "data": {"marked_relevant": ["x" * JUST_TOO_LITTLE]}},
    "many papers": {"action": "reject", "data": {"marked_irrelevant": [f"{n:020}" for n in range(2_500)]}},
    "a paper marked both ways": {
        "action": "reject",
        "data": {"marked_relevant": ["x" * 30_000], "marked_irrelevant": ["x" * 30_000]},
    },
    "feedback": {"action": "reject", "data": {"free_text_feedback": {"x" * JUST_TOO_LITTLE: 1}}},
    "many queries": {"action": "edit", "data": {"queries": [{}] * 2_000}},
}


@pytest.mark.parametrize("decision", REPEATED.values(), ids=REPEATED.keys())
def test_a_refusal_does_not_repeat_long_input(server_session: ServerSession, decision: dict[str, Any]) -> None:
    server_session.call("decide", session_id="SESSION", **decision).check_error("invalid_decision")
    server_session.check_session()


def test_the_largest_accepted_strategy_fits_into_every_reply(server_session: ServerSession) -> None:
    session_id = server_session.search()["session_id"]
    queries = [{"keywords": ["\U0001f0a1" * 20], "boolean_query": f"moons AND w{n}\U0001f0a1"} for n in range(600)]
    edited = server_session.call(
        "decide", session_id=session_id, action="edit", data={"queries": queries, "notes": ["\x01"]}
    )
    assert edited.state["iteration"] == 1
    assert len(edited.text.encode()) <= REPLY_BYTES
    rejected = server_session.call(
        "decide", session_id=session_id, action="reject", data={"free_text_feedback": "\U0001f0a1 a " * 10_000}
    )
    assert rejected.state["iteration"] == 2
    assert len(rejected.text.encode()) <= REPLY_BYTES
    server_session.finish(session_id)


@requirement("PS-REQ-14", "PS-E4", "PS-E5")
def test_a_complete_session_is_not_decided_again_and_an_incomplete_one_not_exported(
    server_session: ServerSession,
) -> None:
    server_session.call("export_results", session_id="SESSION").check_error(
        "session_not_complete", "Session not complete"
    )
    session_id = server_session.search()["session_id"]
    server_session.finish(session_id)
    for action in ("approve", "edit", "reject"):
        answer = server_session.call("decide", session_id=session_id, action=action)
        answer.check_error("session_complete", "Session already complete", "export_results")
    server_session.finish(session_id)
    server_session.check_session()


def test_a_decide_for_an_old_checkpoint_reports_the_earlier_decision_and_changes_nothing(
    server_session: ServerSession,
) -> None:
    first = server_session.search()
    session_id = first["session_id"]
    second = server_session.call(
        "decide", session_id=session_id, action="approve", checkpoint_id=first["checkpoint_id"]
    ).state
    for action in ("reject", "approve"):
        repeated = server_session.call(
            "decide", session_id=session_id, action=action, checkpoint_id=first["checkpoint_id"], note="again"
        ).state
        assert repeated["already_decided"]["action"] == "approve"
        assert repeated["already_decided"]["note"] is None
        assert repeated["checkpoint_id"] == second["checkpoint_id"]
        assert repeated["iteration"] == 1
    assert read_decisions(get_journal_path(server_session.server.home, session_id)) == ["approve"]
    server_session.finish(session_id)


def test_a_decide_for_the_checkpoint_of_another_session_is_refused_and_harms_neither(
    server_session: ServerSession,
) -> None:
    other = server_session.search()
    answer = server_session.call("decide", session_id="SESSION", action="approve", checkpoint_id=other["checkpoint_id"])
    answer.check_error("checkpoint_not_found", "checkpoint_id")
    assert server_session.server.state(other["session_id"])["checkpoint_id"] == other["checkpoint_id"]
    server_session.check_session()
    decided = server_session.call("decide", session_id=other["session_id"], action="approve").state
    answer = server_session.call("decide", session_id="SESSION", action="approve", checkpoint_id=other["checkpoint_id"])
    answer.check_error("checkpoint_not_found", "checkpoint_id")
    assert server_session.server.state(other["session_id"])["checkpoint_id"] == decided["checkpoint_id"]
    server_session.check_session()


def test_a_decide_for_a_future_checkpoint_is_refused(server_session: ServerSession) -> None:
    to_come = f"{server_session.session_id}:1:{REVIEW}"
    answer = server_session.call("decide", session_id="SESSION", action="approve", checkpoint_id=to_come)
    answer.check_error("checkpoint_not_found", "checkpoint_id")
    server_session.check_session()


RESOURCES = {
    "another session": (f"paper-search://sessions/{'f' * 32}/papers", "session_not_found"),
    "no session": ("paper-search://sessions/yesterday/papers", "session_not_found"),
    "a path": ("paper-search://sessions/..%2F..%2Finbox/papers", "session_not_found"),
    "an offset that is text": ("paper-search://sessions/SESSION/papers/all", "invalid_argument"),
    "half an offset": ("paper-search://sessions/SESSION/papers/1.5", "invalid_argument"),
    "a NUL": ("paper-search://sessions/SESSION/papers/%00", "invalid_argument"),
    "another kind": ("paper-search://sessions/SESSION/secrets", "resource_not_found"),
    "a file": ("file:///inbox.db", "resource_not_found"),
    "papers before there are any": ("paper-search://sessions/SESSION/papers", "no_papers_yet"),
}


@pytest.mark.parametrize(("uri", "code"), RESOURCES.values(), ids=RESOURCES.keys())
def test_an_unknown_resource_is_refused_with_the_same_error_shape(
    server_session: ServerSession, uri: str, code: str
) -> None:
    answer = server_session.server.ask("resources/read", {"uri": uri.replace("SESSION", server_session.session_id)})()
    answer.check_error(code).check_no_leaks(server_session.server.home)
    server_session.check_session()


@pytest.mark.parametrize("offset", ["-1", "0", "5", "1000000", "1" * 40])
def test_every_offset_gives_a_page_of_papers(server_session: ServerSession, offset: str) -> None:
    session_id = server_session.search()["session_id"]
    server_session.call("decide", session_id=session_id, action="approve")
    answer = server_session.server.ask(
        "resources/read", {"uri": f"paper-search://sessions/{session_id}/papers/{offset}"}
    )()
    page = answer.state
    assert page["total_papers"] >= len(page["papers"])
    assert len(answer.text.encode()) <= REPLY_BYTES


WORDS = [
    "moons",
    "tidal heating",
    "icy",
    "2020",
    "a",
    "量子",
    "\U0001f0a1",
    '"',
    "AND",
    "(",
    "x" * 300,
    "\\",
    "${HOME}",
    "%s",
]
ODD = [
    "",
    " ",
    "\x00",
    OVERRIDE,
    "\x1b[31m",
    "'; DROP TABLE steps; --",
    "../x",
    "null",
    "[]",
    "NaN",
    '{"queries": 1}',
    "-1",
]
NUMBERS = [0, 1, -1, 2**63, 10**40, 0.5, -1e300, float("nan"), float("inf")]
ARGUMENTS: dict[str, tuple[list[str], list[str]]] = {
    "search_papers": (["query"], ["domain", "max_results"]),
    "decide": (["session_id", "action"], ["data", "note", "checkpoint_id"]),
    "export_results": (["session_id"], ["format"]),
    "get_session": (["session_id"], []),
}
NAMES = ["query", "domain", "max_results", "session_id", "action", "data", "note", "format", "checkpoint_id"]
FIELDS = ["queries", "sources", "filters", "notes", "marked_relevant", "marked_irrelevant", "free_text_feedback"]
FILTERS = ["year_from", "year_to", "max_results", "language"]


class CallGenerator:
    """Generates random calls: most are nearly valid, with all kinds of values, for existing sessions."""

    def __init__(self, seed: int, sessions: list[dict[str, Any]]) -> None:
        self._random = random.Random(seed)
        self._checkpoints = {state["session_id"]: state["checkpoint_id"] for state in sessions}

    @property
    def sessions(self) -> list[str]:
        return list(self._checkpoints)

    def add_session(self, state: dict[str, Any]) -> None:
        """Use this session in later calls, and drop old ones, so that a checkpoint is always pending."""
        self._checkpoints.pop(state["session_id"], None)
        self._checkpoints[state["session_id"]] = state.get("checkpoint_id", "")
        for old in self.sessions[:-12]:
            del self._checkpoints[old]

    def call(self) -> tuple[str, dict[str, Any]]:
        tools = ["decide"] * 9 + ["get_session"] * 3 + ["export_results"] * 3 + ["search_papers"]
        tool = self._choose(tools) if self._chance(0.98) else self._make_text()
        needed, optional = ARGUMENTS.get(tool, (NAMES, []))
        names = [name for name in needed if self._chance(0.97)] + [name for name in optional if self._chance(0.5)]
        if self._chance(0.02):
            names.append(self._choose([*NAMES, *ODD, *WORDS]))
        session_id = self._choose(self.sessions)
        return tool, {name: self._make_value(name, session_id) for name in names}

    def _make_value(self, name: str, session_id: str) -> Any:
        if self._chance(0.05):
            return self._make_any_value(3)
        values: dict[str, Any] = {
            "session_id": lambda: session_id if self._chance(0.95) else self._make_text(),
            "checkpoint_id": lambda: self._make_checkpoint_id(session_id),
            "action": lambda: self._choose(["approve", "edit", "reject"]) if self._chance(0.95) else self._make_text(),
            "data": self._make_data,
            "max_results": lambda: self._choose([1, 5, 100, 1_000, 0, -1, 10**9, True, "7", "many", 2.5, None]),
            "format": lambda: self._choose(["markdown", "json", "bibtex", "ris", "csl-json", self._make_text()]),
            "domain": lambda: self._choose(["general", "materials_science", self._make_text()]),
        }
        return values.get(name, self._make_text)()

    def _make_checkpoint_id(self, session_id: str) -> str:
        if self._chance(0.6):
            return self._checkpoints[session_id]
        kind = self._choose([STRATEGY, REVIEW, self._make_text()])
        return f"{self._choose(self.sessions)}:{self._random.randrange(4)}:{kind}"

    def _make_data(self) -> Any:
        given: Any = self._choose([self._make_feedback, self._make_strategy, self._make_wild_value, lambda: None])()
        if given is None or self._chance(0.7):
            return given
        text = json.dumps(given)
        return text.replace("moons", r"\ud800") if self._chance(0.5) else text

    def _make_feedback(self) -> Any:
        return {
            "free_text_feedback": self._make_text(),
            **({"marked_relevant": [self._make_text()]} if self._chance(0.2) else {}),
        }

    def _make_strategy(self) -> Any:
        query = {"keywords": [self._make_text()], "boolean_query": f"moons {self._make_text()}"}
        filters = {name: self._choose([*NUMBERS[:4], 2020, None]) for name in FILTERS if self._chance(0.2)}
        sources = self._choose([[], ["crossref"], ["arxiv", "crossref"], [self._make_text()]])
        return {
            "queries": [query],
            "notes": [self._make_text()],
            "sources": sources,
            **({"filters": filters} if filters else {}),
        }

    def _make_wild_value(self) -> Any:
        return {self._choose([*FIELDS, *ODD]): self._make_any_value(4) for _ in range(self._random.randrange(4))}

    def _make_any_value(self, depth: int) -> Any:
        kind = self._random.randrange(8 if depth else 5)
        if kind < 3:
            return chr(0xD800) if self._chance(0.05) else self._make_text()
        if kind < 5:
            return self._choose([None, True, False, *NUMBERS])
        if kind == 5:
            return [self._make_any_value(depth - 1) for _ in range(self._random.randrange(4))]
        names = [*NAMES, *FIELDS, *FILTERS, *ODD]
        return {self._choose(names): self._make_any_value(depth - 1) for _ in range(self._random.randrange(4))}

    def _make_text(self) -> str:
        pieces = [self._choose(ODD if self._chance(0.25) else WORDS) for _ in range(self._random.randrange(1, 5))]
        return " ".join(pieces)

    def _choose(self, choices: list[Any]) -> Any:
        return self._random.choice(choices)

    def _chance(self, share: float) -> bool:
        return self._random.random() < share


CALLS = 2_500
AT_ONCE = 25


@pytest.mark.timeout(300)
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.soak) for seed in (1, 2, 3))])
def test_random_calls_each_get_a_well_formed_answer(tmp_path: Path, seed: int) -> None:
    secret = "sk-secret-0123456789"
    with serving(tmp_path / "home", env={"SERPAPI_API_KEY": secret, "OPENALEX_API_KEY": secret}) as server:
        good = server.search()
        fuzz = CallGenerator(seed, [server.search() for _ in range(8)])
        codes: dict[str, int] = {}
        for _ in range(CALLS // AT_ONCE):
            calls = [fuzz.call() for _ in range(AT_ONCE)]
            for (tool, arguments), pending in [(call, server.begin(call[0], **call[1])) for call in calls]:
                answer = pending()
                call = (tool, arguments, answer.text[:500])
                assert secret not in answer.text, call
                answer.check_no_leaks(server.home)
                code = "ok"
                if answer.is_error:
                    code = answer.error["code"]
                    assert code not in ("internal_error", "session_failed"), call
                    assert answer.error["message"].strip(), call
                    assert answer.error["hint"].strip(), call
                elif tool in ("search_papers", "decide"):
                    fuzz.add_session(answer.state)
                if answer.is_error or tool != "export_results":
                    assert len(answer.text.encode()) <= REPLY_BYTES, call
                codes[code] = codes.get(code, 0) + 1
        assert sum(codes.values()) == CALLS
        assert codes["ok"] > CALLS // 20
        assert len(codes) >= 8
        for session_id in fuzz.sessions:
            assert "error" not in server.state(session_id)
        assert {**server.state(good["session_id"]), "elapsed_s": 0} == {**good, "elapsed_s": 0}
        while not (good := server.call("decide", session_id=good["session_id"], action="approve").state)["is_complete"]:
            assert good["user_action_required"]
        assert server.call("export_results", session_id=good["session_id"]).text.startswith("| #")
        server.check_log()
        assert secret not in server.log
        assert server.close() == 0


SETTING = "URANIBORG_PAPER_SEARCH__"
SETTINGS: dict[str, tuple[dict[str, str], dict[str, bytes], str, str]] = {
    "a number that is none": ({f"{SETTING}MAX_ROUNDS": "many"}, {}, "invalid_config", "MAX_ROUNDS"),
    "an unknown variable": ({f"{SETTING}TYPO": "1"}, {}, "invalid_config", "typo"),
    "an unknown domain": ({f"{SETTING}DOMAIN": "alchemy"}, {}, "unknown_domain", "alchemy"),
    "an unknown source": ({f"{SETTING}SOURCES": '{"nowhere": {}}'}, {}, "unknown_source", "nowhere"),
    "a recording that is not there": ({f"{SETTING}REPLAY_DIR": "/tmp/nowhere"}, {}, "invalid_recording", "nowhere"),
    "a settings file that is not there": ({"URANIBORG_CONFIG": "/tmp/nowhere.toml"}, {}, "invalid_config", "nowhere"),
    "a settings file that is not TOML": ({}, {"config/uraniborg.toml": b"[paper_search"}, "invalid_config", "toml"),
    "an unknown setting": (
        {},
        {"config/uraniborg.toml": b"[paper_search]\ncolour = 1"},
        "invalid_config",
        "colour",
    ),
    "a dotenv file that is not text": ({}, {".env": b"\xff\xfe"}, "invalid_config", ".env"),
}


@requirement("PS-E1")
@pytest.mark.parametrize(("env", "files", "code", "named"), SETTINGS.values(), ids=SETTINGS.keys())
def test_invalid_settings_are_named_and_no_session_is_opened(
    tmp_path: Path, env: dict[str, str], files: dict[str, bytes], code: str, named: str
) -> None:
    home = tmp_path / "home"
    for name, content in files.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_bytes(content)
    with serving(home, env=env) as server:
        server.call("search_papers", query="moons").check_error(code, named).check_no_leaks(home)
        assert not list(home.rglob("*.db"))
        assert server.close() == 0
        server.check_log()


def test_output_that_a_source_prints_does_not_reach_the_protocol(tmp_path: Path, gated_source: GatedSource) -> None:
    gated_source.open()
    with serving(tmp_path / "home", env=gated_source.env) as server:
        session_id = server.search("tidal heating")["session_id"]
        state = server.call("decide", session_id=session_id, action="approve").state
        assert state["checkpoint"]["payload"]["total_papers"] == 3
        assert server.close() == 0
        assert all(json.loads(line)["jsonrpc"] == "2.0" for line in server.output_lines)
        for noise in ("printed by a source", "written by a source", "printed by a child of a source"):
            assert noise in server.log
            assert not any(noise.encode() in line for line in server.output_lines)


KEYS = {
    "SERPAPI_API_KEY": "sk-secret-serpapi-123456",
    "OPENALEX_API_KEY": "sk-secret/openalex+123456",
    "SEMANTIC_SCHOLAR_API_KEY": "sk-secret-scholar-123456",
    "NCBI_API_KEY": "sk-secret-ncbi-123456",
    "LLM_API_KEY": "sk-secret-model-123456",
}
INDISCREET_NETWORK = '''
import httpx
import stamina

stamina.set_testing(True, attempts=3)  # the usual number of attempts, without pauses


async def answer(self, request):
    """Repeat every received key in an exception, a refusal or a paper."""
    sent = f"{request.url} {request.headers} {request.url.params}"
    host = request.url.host
    if "serpapi" in host:
        raise httpx.ConnectError(f"no route to {sent}", request=request)
    if "openalex" in host:
        return httpx.Response(401, text=sent, request=request)
    if "semanticscholar" in host:
        key = request.headers.get("x-api-key")
        paper = {"paperId": "1", "title": f"Moons {key}", "abstract": sent, "year": 2020, "url": f"https://x/?k={key}"}
        return httpx.Response(200, json={"total": 1, "data": [paper]}, request=request)
    return httpx.Response(400, text=sent, headers={"x-sent": sent}, request=request)


httpx.AsyncHTTPTransport.handle_async_request = answer
'''


class IndiscreetModel(BaseHTTPRequestHandler):
    """A model endpoint that refuses every request and repeats the key."""

    def do_POST(self) -> None:
        received = str(self.headers)
        body = json.dumps({"error": {"message": received}}).encode()
        self.send_response(403)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        assert isinstance(self.server, ModelEndpoint)
        self.server.requests.append(received)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - its name in the base class
        pass


class ModelEndpoint(ThreadingHTTPServer):
    """The address of the model endpoint and the requests it received."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), IndiscreetModel)
        self.requests: list[str] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


@pytest.fixture
def model_endpoint() -> Generator[ModelEndpoint]:
    with ModelEndpoint() as endpoint:
        serving_it = threading.Thread(target=endpoint.serve_forever, kwargs={"poll_interval": 0.02})
        serving_it.start()
        yield endpoint
        endpoint.shutdown()
        serving_it.join()


def test_keys_reach_no_reply_no_log_and_no_file(tmp_path: Path, model_endpoint: ModelEndpoint) -> None:
    folder, home = tmp_path / "patched", tmp_path / "home"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(INDISCREET_NETWORK)
    asked = ("serpapi_scholar", "openalex", "semantic_scholar", "pubmed")
    silent = ("crossref", "arxiv", "europepmc", "dblp")
    sources = {**{name: {"rate_limit": 1_000} for name in asked}, **{name: {"enabled": False} for name in silent}}
    env = {
        **KEYS,
        "PYTHONPATH": str(folder),
        "LLM_PROVIDER": "openai",
        "LLM_MODEL": "a-model",
        "LLM_BASE_URL": model_endpoint.address,
        "URANIBORG_PAPER_SEARCH__REPLAY_DIR": "",
        "URANIBORG_PAPER_SEARCH__SOURCES": json.dumps(sources),
    }
    with serving(home, command=(COMMAND,), env=env) as server:
        session_id = server.search("moons")["session_id"]
        state = server.call("decide", session_id=session_id, action="approve").state
        assert {source["name"] for source in state["sources"]} == set(asked)
        assert {source["status"] for source in state["sources"] if source["name"] != "semantic_scholar"} == {"failed"}
        server.call("decide", session_id=session_id, action="reject", note="more")
        while not (state := server.state(session_id))["is_complete"]:
            server.call("decide", session_id=session_id, action="approve")
        for form in ("json", "markdown", "bibtex", "ris", "csl-json"):
            server.call("export_results", session_id=session_id, format=form)
        server.call("get_session", session_id="f" * 32)
        assert server.close() == 0
        assert any(KEYS["LLM_API_KEY"] in received for received in model_endpoint.requests)
        files = [path for path in home.rglob("*") if path.is_file()]
        assert len(files) > 3
        for key in KEYS.values():
            core = key.replace("/", "").replace("+", "").removeprefix("sk-secret").strip("-").encode()
            assert not [line for line in server.output_lines if core in line.replace(b"/", b"").replace(b"+", b"")], key
            assert not [path.name for path in files if core in path.read_bytes()], key
            assert core.decode() not in server.log
