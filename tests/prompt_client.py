"""Prompts as a client sees them: their texts, and the calls of tools that the texts ask for."""

import re

from mcp.types import PromptReference, TextContent

from uraniborg.kernel.mcp.testing import ClientSession


async def read_prompt(client: ClientSession, prompt: str, /, **arguments: str) -> str:
    """Return the text of a prompt. Check that it names existing tools only, and leaves decisions to the person."""
    (message,) = (await client.get_prompt(prompt, arguments)).messages
    assert message.role == "user"
    assert isinstance(message.content, TextContent)
    text = message.content.text
    called = set(re.findall(r"\b[Cc]all (\w+_\w+|execute|decide)\b", text))
    assert called
    assert called <= {tool.name for tool in (await client.list_tools()).tools}
    assert "Wait for my answer" in text or "ask me" in text
    return text


async def complete_argument(client: ClientSession, prompt: str, argument: str, typed: str) -> list[str]:
    """Return the values that the server offers for an argument."""
    reference = PromptReference(type="ref/prompt", name=prompt)
    return (await client.complete(reference, {"name": argument, "value": typed})).completion.values
