"""Offer a prompt that clients show as a command: run a workflow."""

import json
from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, Annotated, Final

from pydantic import Field

if TYPE_CHECKING:
    from uraniborg.kernel.mcp import Server

_TEXT: Final = """\
Run the workflow {name} for me.

1. Call describe_workflow with name {name}. Tell me in a few sentences what the workflow does, what it changes outside \
of pflow, and which inputs it has. If it has diagnostics, show them to me and stop.
2. Ask me for each required input, and whether to run the workflow. Wait for my answer.
3. Call execute with name {name} and my values as inputs.
4. Show me the outputs. If the run failed, show me the message and the hint of the error, and ask me before you change \
the workflow. Nodes that succeeded are not run again when you call execute a second time.

If the error is approval_required, the decision is mine: show me the question and the command in the hint, and call \
execute again after I have decided."""


def add_prompts(server: "Server", list_names: Callable[[], Awaitable[Iterable[str]]]) -> None:
    """Offer the prompt on `server`. `list_names` returns the names of workflows and drafts."""
    from uraniborg.kernel.mcp import prompt

    prompt(server, title="Run a workflow", values={"name": list_names})(run_workflow)


async def run_workflow(
    name: Annotated[str, Field(min_length=1, description="The name of a saved workflow or a draft.")],
) -> str:
    """Describe a workflow, ask for its inputs, and run it after you agree."""
    return _TEXT.format(name=json.dumps(name, ensure_ascii=False))
