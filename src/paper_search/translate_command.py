"""The command `paper-search translate`: a strategy, a question or the plan of a session for another database."""

import asyncio
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from paper_search.errors import InvalidQuery
from paper_search.search_command import read_text
from paper_search.session_commands import open_manager
from uraniborg.kernel.command_line import JsonOption
from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.terminal.page import Page
from uraniborg.kernel.terminal.streams import print_json, write_text

if TYPE_CHECKING:
    from paper_search.models import SearchStrategy
    from paper_search.strategies.translation import Translation
    from paper_search.strategy_replies import TranslatedPlan

File = Annotated[
    str | None, typer.Argument(metavar="FILE", help="A file with the strategy or the question; - reads stdin.")
]
To = Annotated[str, typer.Option("--to", metavar="NAME", help="pubmed, ovid, wos, scopus, embase or cochrane.")]
FromSession = Annotated[str | None, typer.Option("--session", metavar="ID", help="Translate the plan of this session.")]


def translate(file: File = None, to: To = "pubmed", session: FromSession = None, json: JsonOption = False) -> None:
    """Write a search strategy in the syntax of another database.

    The strategy goes to stdout; what was changed or lost, and the problems of the text, go to stderr. A question in
    plain words becomes a plan first.

    Examples:
    - `paper-search translate strategy.txt --to ovid`
    - `cat strategy.txt | paper-search translate - --to embase --json`
    - `paper-search translate --session 4f1c2a --to cochrane`
    """
    from paper_search.strategies.translation import PLATFORMS

    if to not in PLATFORMS:
        allowed = ", ".join(PLATFORMS)
        raise InvalidInput(f"There is no platform “{to[:40]}”.", hint=f"Use one of: {allowed}.", allowed=[*PLATFORMS])
    if (file is None) == (session is None):
        raise InvalidInput("Name either a file or a session.", hint="paper-search translate FILE --to ovid")
    found = asyncio.run(_translate_plan(session, to)) if session else _translate_text(read_text(file or "-"), to)
    if json:
        print_json(found)
        return
    write_text(sys.stdout, f"{found['text']}\n")  # as it is: it is to be pasted
    remarks = Page(sys.stderr)
    for change in found["changes"]:
        remarks.write_message("Changed: ", change, hanging=4)
    for finding in found["findings"]:
        first, last = finding["start"] + 1, finding["end"]
        position = f"Characters {first} to {last}" if first < last else f"Character {first}"
        remarks.write_message(f"{position}: ", f"{finding['message']} {finding['hint']}", hanging=4)


def _translate_text(text: str, platform: str) -> "TranslatedPlan":
    from paper_search.input_checks import check_query
    from paper_search.sessions.plan_copies import copy_plan
    from paper_search.strategies.lint import check_query_text, correct_query_text

    query = check_query(text)
    strategy, is_typed = asyncio.run(_plan(query))
    translation = copy_plan(strategy, platform)
    if not translation.text:
        raise InvalidQuery(f"Nothing of the query can be written for {translation.label}.", hint="Add search terms.")
    findings = [problem.to_fields() for problem in check_query_text(query)] if is_typed else []
    corrected = correct_query_text(query) if findings else query
    return {**_dump(translation), "findings": findings, "corrected": corrected}


def _dump(translation: "Translation") -> "TranslatedPlan":
    return {
        "platform": translation.platform,
        "label": translation.label,
        "text": translation.text,
        "changes": translation.changes,
        "findings": [],
    }


async def _plan(query: str) -> "tuple[SearchStrategy, bool]":
    """Return the plan of a query as rules make it, and whether the query was typed as one."""
    from paper_search.models import QueryBuilderInput
    from paper_search.skills.intent_parser import IntentParser
    from paper_search.skills.query_builder import QueryBuilder

    intent = await IntentParser().parse(query)
    return await QueryBuilder().build(QueryBuilderInput(intent=intent)), bool(intent.typed_query)


async def _translate_plan(session: str, platform: str) -> "TranslatedPlan":
    from paper_search.sessions.plan_copies import copy_plan
    from paper_search.sessions.strategy_view import read_strategy

    async with open_manager() as manager:
        state = await manager.peek_state(await manager.resolve_id_prefix(session))
        found = await asyncio.to_thread(read_strategy, manager.store, state)
    if found is None:
        raise InvalidInput("The session has no plan yet.", hint="Wait until its first question is there.")
    return _dump(copy_plan(found[0], platform))
