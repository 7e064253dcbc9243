"""Prompts: texts that clients offer to a person as commands, with arguments that the server completes."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from mcp.types import Completion, GetPromptResult, PromptArgument, PromptMessage, TextContent
from mcp.types import Prompt as ListedPrompt

from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.logging import make_printable
from uraniborg.kernel.mcp.arguments import Arguments, AsyncFunction

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
