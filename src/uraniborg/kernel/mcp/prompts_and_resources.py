"""Prompts with completed arguments, templates of URIs, and lists of resources that are not registered one by one."""

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final
from urllib.parse import parse_qsl, unquote

from mcp.types import Completion, GetPromptResult, PromptArgument, PromptMessage, Resource, TextContent
from mcp.types import Prompt as ListedPrompt
from pydantic import AnyUrl

from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.logging import get_logger, make_printable
from uraniborg.kernel.mcp.replies import Origin, is_end_of_call, log_unexpected, make_foreign_meta, make_protocol_error
from uraniborg.kernel.mcp.tool_calls import Arguments, AsyncFunction

MOST_VALUES: Final = 100
"""The most values of a completion, which the protocol limits."""

Values = Callable[[], Awaitable[Iterable[str]]]
"""A function that returns the known values of an argument."""


class UnknownPrompt(InvalidInput):
    code = "unknown_prompt"

    def __init__(self, name: str, offered: list[str]) -> None:
        super().__init__(
            f"There is no prompt '{make_printable(name[:80])}'.",
            hint=f"Use one of: {', '.join(offered)}.",
            allowed=offered,
        )


@dataclass(frozen=True)
class Prompt:
    """A function that writes the text of a prompt, and functions that return known values of its arguments."""

    function: AsyncFunction
    name: str
    title: str
    description: str
    values: Mapping[str, Values]

    @cached_property
    def _arguments(self) -> Arguments:
        # Created when it is first used: a server starts without it.
        return Arguments(self.function, self.name)

    def describe(self) -> ListedPrompt:
        """Return the prompt as an entry of a list."""
        schema = self._arguments.schema
        arguments = [
            PromptArgument(name=name, description=field.get("description"), required=name in schema.get("required", []))
            for name, field in schema.get("properties", {}).items()
        ]
        return ListedPrompt(name=self.name, title=self.title, description=self.description, arguments=arguments)

    async def write(self, given: Mapping[str, str]) -> GetPromptResult:
        """Return the text for these arguments, as a message of the user. Raise InvalidInput."""
        text = str(await self.function(**self._arguments.validate(given)))
        message = PromptMessage(role="user", content=TextContent(type="text", text=text))
        return GetPromptResult(description=self.description, messages=[message])

    async def complete(self, argument: str, typed: str) -> Completion:
        """Return the known values of an argument with this text in them, those that begin with it first."""
        known = self.values.get(argument)
        found = [value for value in (await known() if known else ()) if typed.casefold() in value.casefold()]
        found.sort(key=lambda value: not value.casefold().startswith(typed.casefold()))
        return Completion(values=found[:MOST_VALUES], total=len(found), hasMore=len(found) > MOST_VALUES)


_QUERY: Final = re.compile(r"\{\?(\w+(?:,\w+)*)\}$")
_SEGMENT: Final = re.compile(r"\{(\w+)\}")
_MOST_PARAMETERS: Final = 20


class UriTemplate:
    """A template such as `paper://{paper_id}/source{?offset}`, which matches `paper://a1/source?offset=9`.

    Each `{name}` is one path segment; `{?one,two}` at the end names optional query parameters.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        query = _QUERY.search(text)
        path = text[: query.start()] if query else text
        parts = _SEGMENT.split(path)
        self._parameters = query[1].split(",") if query else []
        self.names = {*parts[1::2], *self._parameters}
        if len(parts) == 1:
            path = path if query else str(AnyUrl(path))
            self._path = re.compile(re.escape(path))
        else:
            patterns = (f"(?P<{part}>[^/]+)" if odd % 2 else re.escape(part) for odd, part in enumerate(parts))
            self._path = re.compile("".join(patterns))

    def match(self, uri: str) -> dict[str, str] | None:
        """Return the decoded values in `uri`, or None if its path does not match.

        Raise InvalidInput for query parameters that the template does not have.
        """
        path, _, query = uri.partition("?") if self._parameters else (uri, "", "")
        found = self._path.fullmatch(path)
        if found is None:
            return None
        return {name: unquote(value) for name, value in found.groupdict().items()} | self._parse_query(query)

    def _parse_query(self, query: str) -> dict[str, str]:
        try:
            pairs = parse_qsl(query, keep_blank_values=True, max_num_fields=_MOST_PARAMETERS)
        except ValueError:
            raise self._make_error("too many query parameters") from None
        values = dict(pairs)
        if unknown := sorted(values.keys() - set(self._parameters)):
            raise self._make_error(f"the unknown query parameter {unknown[0][:80]!r}", argument=unknown[0][:80])
        if len(values) < len(pairs):
            raise self._make_error("a query parameter twice")
        return values

    def _make_error(self, problem: str, **ids: str) -> InvalidInput:
        return InvalidInput(
            f"The address has {problem}.", hint=f"Use {self.text}.", allowed=list(self._parameters), **ids
        )


_log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Listed:
    """A resource in a list. A registered resource whose template matches `uri` reads it."""

    uri: str
    name: str
    title: str | None = None
    description: str | None = None
    mime_type: str = "text/plain"
    foreign: tuple[Origin, ...] = ()
    """The origins of the names and of the description, unless the person or this program wrote them."""


Listing = Callable[[], Awaitable[Iterable[Listed]]]

PagedListing = Callable[[str | None], Awaitable[tuple[Iterable[Listed], str | None]]]
"""A function from the cursor of a page (None: the first) to the page and the cursor of the next page, if any."""


async def list_page(
    resources: list[Resource], function: PagedListing, cursor: str | None
) -> tuple[list[Resource], str | None]:
    """Return `resources`, then the page at `cursor`, and the cursor of the next page. Raise McpError."""
    following: str | None = None

    async def read_page() -> Iterable[Listed]:
        nonlocal following
        listed, following = await function(cursor)
        return listed

    if cursor is None:
        return await add_listed(resources, [read_page]), following
    try:
        listed = await read_page()
    except BaseException as exc:
        if is_end_of_call(exc):
            raise
        raise make_protocol_error(log_unexpected(exc, during="listing resources")) from exc
    return [resource for one in listed if (resource := _make_resource(one)) is not None], following


async def add_listed(resources: list[Resource], functions: Iterable[Listing]) -> list[Resource]:
    """Return `resources` and the resources that the functions list. Log the error of a function that fails."""
    known = {str(resource.uri): resource for resource in resources}
    for function in functions:
        try:
            more = [_make_resource(listed) for listed in await function()]
        except BaseException as exc:
            if is_end_of_call(exc):
                raise
            _log.exception("resources could not be listed", exc=exc)
        else:
            for resource in more:
                if resource is not None:
                    known.setdefault(str(resource.uri), resource)
    return list(known.values())


def _make_resource(listed: Listed) -> Resource | None:
    try:
        uri = AnyUrl(listed.uri)
    except ValueError:
        _log.warning("a resource was not listed: its uri is not valid", uri=listed.uri[:200])
        return None
    return Resource(
        uri=uri,
        name=listed.name,
        title=listed.title,
        description=listed.description,
        mimeType=listed.mime_type,
        _meta=make_foreign_meta(listed.foreign),
    )
