"""The parameters in addresses that several modules of routes share."""

from typing import Annotated

from fastapi import Path

RunId = Annotated[str, Path(max_length=100, description="The id of a run, or its beginning.")]
SessionId = Annotated[str, Path(max_length=64, description="The id of a session.")]
WorkflowName = Annotated[str, Path(max_length=100, description="The name of a workflow.")]
