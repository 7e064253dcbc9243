"""Parameters in addresses that several modules of routes share."""

from typing import Annotated

from fastapi import Path, Request

from uraniborg.console.sign_in import get_actor
from uraniborg.kernel.actors import describe_actor

RunId = Annotated[str, Path(max_length=100, description="The id of a run, or its beginning.")]
SessionId = Annotated[str, Path(max_length=64, description="The id of a session.")]
WorkflowName = Annotated[str, Path(max_length=100, description="The name of a workflow.")]


def get_reviewer(request: Request) -> str:
    """Return the name under which the sender reviews papers: a program is not the person whose token it sends."""
    return describe_actor(get_actor(request))
