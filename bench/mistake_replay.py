"""Replays of mistakes that agents make, against the real servers, with a verdict for each.

A case is one JSON object of `agent_mistakes/SERVER.json`:

    mistake      what the agent did
    call         the mistaken call: a tool, `resources/read` or `resources/list`, and its arguments
    does         texts that the reply has if the server does what was meant; the reply must not be an error
    without      texts that such a reply does not have
    in           the part of the reply to look at, such as checkpoint.payload
    names        texts of the fix that the reply has otherwise; then `fix` must succeed
    fix          the corrected call; the same call if only the draft is corrected
    at           the situation: a checkpoint of a search, the system of a universe, or a universe with a job
    draft        the file of a workflow, an object or its text; `fixed_draft` is the corrected one
    held_out     true if the case was written before anyone saw the reply

All texts must be there; `a|b` means one of them. Quotes and backslashes are ignored. `{session}`, `{checkpoint}`,
`{earlier}`, `{paper}`, `{draft}`, `{folder}`, `{universe}` and `{job}` are replaced by the values of the situation;
`{session_typo}`, `{session_cut}`, `{session_upper}` and `{session8}` by broken forms of an id, `{paper_title}` and
`{paper_doi}` by what names a paper.
"""

import json
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

from mistake_servers import OPENERS, Situation

from uraniborg.kernel.mcp.testing import ClientSession, McpError

CASES: Final = Path(__file__).parent / "agent_mistakes"
SERVERS: Final = tuple(OPENERS)
_REQUEST_ID: Final = re.compile(r"request_id:[0-9a-f]{32}")


class Reply(NamedTuple):
    text: str
    is_error: bool


@dataclass(frozen=True)
class Case:
    """A mistake and the judgement of its correction; the fields are those of the JSON."""

    server: str
    mistake: str
    call: tuple[str, dict[str, Any]]
    does: Sequence[str] = ()
    without: Sequence[str] = ()
    part: str = ""
    names: Sequence[str] = ()
    fix: tuple[str, dict[str, Any]] | None = None
    at: str = ""
    draft: Any = None
    fixed_draft: Any = None
    held_out: bool = False

    def does_what_was_meant(self, reply: Reply) -> bool:
        """Return True if the mistaken call itself succeeded in the intended way."""
        if not self.does or reply.is_error:
            return False
        text = get_part(reply.text, self.part)
        return has_all(text, self.does) and not any(normalize(unwanted) in normalize(text) for unwanted in self.without)

    def names_the_fix(self, reply: Reply) -> bool:
        """Return True if the reply contains every text of the fix, and not only because it repeats the mistake."""
        text = normalize(reply.text)
        wanted = [normalize(alternative) for one in self.names for alternative in one.split("|")]
        for given in map(normalize, _list_texts(self.call[1])):
            if any(one in given and one != given for one in wanted):
                text = text.replace(given, "…")
        return bool(self.names) and has_all(text, self.names)


@dataclass
class Verdict:
    """The outcome of a case: the reply to the mistake, and to the fix if it was tried."""

    case: Case
    reply: Reply
    fixed: Reply | None = None
    corrected: bool = field(default=False)

    @property
    def problem(self) -> str:
        """The reason why the mistake was not corrected in one step."""
        if self.fixed is not None and self.fixed.is_error:
            return f"the fix fails: {self.fixed.text}"
        return f"the reply does not name the fix: {self.reply.text}"


def load_cases(server: str) -> list[Case]:
    """Return the cases of a server, in the order of the file."""
    entries: list[dict[str, Any]] = json.loads((CASES / f"{server}.json").read_text(encoding="utf-8"))
    return [
        Case(server=server, part=entry.pop("in", ""), **{name: _make_tuple(value) for name, value in entry.items()})
        for entry in entries
    ]


async def replay_cases(server: str) -> list[Verdict]:
    """Start the server, replay its cases one after the other, and return the verdicts."""
    async with OPENERS[server]() as (client, prepare):
        return [
            await _replay_case(client, prepare, case, number) for number, case in enumerate(load_cases(server), start=1)
        ]


async def _replay_case(
    client: ClientSession, prepare: Callable[[str, int], Awaitable[Situation]], case: Case, number: int
) -> Verdict:
    situation = await prepare(case.at, number)
    case = _fill_in(case, situation)
    if case.draft is not None:
        situation.write_draft(case.draft)
    verdict = Verdict(case, await _call(client, *case.call))
    if case.does_what_was_meant(verdict.reply):
        verdict.corrected = True
    elif case.names_the_fix(verdict.reply):
        if case.fixed_draft is not None:
            situation.write_draft(case.fixed_draft)
        verdict.fixed = await _call(client, *(case.fix or case.call))
        verdict.corrected = not verdict.fixed.is_error
    return verdict


async def _call(client: ClientSession, tool: str, arguments: dict[str, Any]) -> Reply:
    try:
        if tool == "resources/list":
            return Reply((await client.list_resources()).model_dump_json(), is_error=False)
        if tool == "resources/read":
            return Reply((await client.read_resource(arguments["uri"])).model_dump_json(), is_error=False)
    except McpError as exc:
        return Reply(exc.error.message, is_error=True)  # clients show the message and not the data
    result = await client.call_tool(tool, arguments)
    return Reply("".join(getattr(block, "text", "") for block in result.content), is_error=bool(result.isError))


def _fill_in(case: Case, situation: Situation) -> Case:
    """Return the case with the values of the situation."""
    from dataclasses import asdict

    text = json.dumps(asdict(case))
    for name, value in situation.values.items():
        text = text.replace(f"{{{name}}}", value)
    return Case(**{name: _make_tuple(value) for name, value in json.loads(text).items()})


def _make_tuple(value: Any) -> Any:
    return tuple(cast("list[Any]", value)) if isinstance(value, list) else value


def _list_texts(value: Any) -> list[str]:
    """Return the texts inside a JSON value."""
    if isinstance(value, dict):
        value = list(cast("dict[str, Any]", value).values())
    if isinstance(value, list):
        return [text for item in cast("list[Any]", value) for text in _list_texts(item)]
    return [value] if isinstance(value, str) else []


def get_part(text: str, path: str) -> str:
    """Return the JSON at this dotted path of a reply, or the whole reply if the path is empty."""
    if not path:
        return text
    value = json.loads(text)
    for name in path.split("."):
        value = value[name] if isinstance(value, dict) and name in value else {}
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def has_all(text: str, wanted: Sequence[str]) -> bool:
    """Return True if the text has one alternative of each of the wanted texts."""
    text = normalize(text)
    return all(any(normalize(alternative) in text for alternative in one.split("|")) for one in wanted)


def normalize(text: str) -> str:
    """Return the text without quotes and backslashes, which JSON adds, and without the random id of the request."""
    return _REQUEST_ID.sub("", text.replace('"', "").replace("\\", "").replace("`", ""))
