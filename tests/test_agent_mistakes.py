"""The mistakes of agents in bench/agent_mistakes are corrected in one step by the real servers."""

import json
from functools import cache
from itertools import chain

import anyio
import pytest

from bench.mistake_replay import SERVERS, Case, Reply, Verdict, load_cases, replay_cases
from tests.test_tool_arguments import making_servers

LEAST = 0.95
MOST_TOKENS = {"paper_search": 1_645, "paper_library": 2_800, "pflow": 1_200, "universe": 2_900}
"""The largest tools/list with instructions that a model reads, in tokens of four characters."""
MOST_OUTPUT_TOKENS = {"paper_search": 1_500, "paper_library": 2_000, "pflow": 3_450, "universe": 400}
"""The largest output schemas, which clients check replies with."""
takes_long = pytest.mark.timeout(600)
"""On a busy machine; the replay itself takes some seconds."""
VAGUE = Reply('{"error": {"code": "invalid_argument", "message": "The call failed.", "hint": "Try again."}}', True)


@cache
def replay(server: str) -> list[Verdict]:
    return anyio.run(replay_cases, server)


def list_all_cases() -> list[Case]:
    return list(chain.from_iterable(map(load_cases, SERVERS)))


@takes_long
@pytest.mark.parametrize("server", SERVERS)
def test_mistakes_of_agents_are_corrected_in_one_step(server: str) -> None:
    verdicts = replay(server)
    missed = [f"{verdict.case.mistake}: {verdict.problem}" for verdict in verdicts if not verdict.corrected]
    assert len(missed) <= (1 - LEAST) * len(verdicts), "\n".join(missed)


@takes_long
@pytest.mark.parametrize("server", SERVERS)
def test_a_judge_rejects_most_replies_to_other_mistakes(server: str) -> None:
    verdicts = replay(server)
    replies = [verdict.reply for verdict in verdicts if verdict.reply.is_error]
    loose = [
        verdict.case.mistake
        for verdict in verdicts
        if sum(verdict.case.names_the_fix(reply) for reply in replies) > len(replies) / 2
    ]
    assert not loose


def test_no_judge_accepts_a_vague_error() -> None:
    assert not [
        case.mistake for case in list_all_cases() if case.does_what_was_meant(VAGUE) or case.names_the_fix(VAGUE)
    ]


def test_every_fix_differs_from_the_mistake() -> None:
    for case in list_all_cases():
        assert case.does or case.names, case.mistake
        if case.names:
            assert (case.fix and case.fix != case.call) or case.fixed_draft not in (None, case.draft), case.mistake


def test_the_cases_are_many_and_distinct_and_a_third_was_written_before_any_reply() -> None:
    cases = list_all_cases()
    assert len(cases) >= 300
    assert len({(case.server, case.mistake) for case in cases}) == len(cases)
    assert sum(case.held_out for case in cases) >= len(cases) / 4


async def test_the_tools_of_a_server_fit_the_budget_of_tokens() -> None:
    with making_servers() as servers:
        for name, server in servers.items():
            tools = [tool.model_dump(exclude_none=True, by_alias=True) for tool in await server.list_tools()]
            schemas = [tool.pop("outputSchema") for tool in tools if "outputSchema" in tool]
            assert (len(json.dumps(tools)) + len(server.instructions or "")) / 4 <= MOST_TOKENS[name], name
            assert len(json.dumps(schemas)) / 4 <= MOST_OUTPUT_TOKENS[name], name
