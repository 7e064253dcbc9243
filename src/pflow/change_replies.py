"""The changes of runs and workflows in the change feed."""

from typing import Annotated, Literal, NotRequired

from pydantic import Field

from pflow.run_replies import NodeStatus, RunStatus
from uraniborg.kernel.change_fields import ChangeFields


class RunChange(ChangeFields):
    """A run began or ended. `subject` is the id of the run."""

    kind: Literal["run"]
    workflow: NotRequired[str]
    status: NotRequired[RunStatus]


class NodeChange(ChangeFields):
    """A node of a run began or ended. `subject` is the id of the run."""

    kind: Literal["node"]
    node: NotRequired[str]
    status: NotRequired[NodeStatus]
    duration_ms: NotRequired[float]
    items: NotRequired[Annotated[int, Field(description="The number of items of a batch.")]]
    items_done: NotRequired[int]
    messages: NotRequired[Annotated[int, Field(description="The number of messages so far.")]]


class WorkflowChange(ChangeFields):
    """The file of a workflow was written or deleted. `subject` is the name of the workflow."""

    kind: Literal["workflow"]
    source: NotRequired[Literal["library", "draft"]]
    deleted: NotRequired[bool]
