"""A workflow as the engine sees it: declared inputs and outputs, nodes, and the edges between them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from uraniborg.kernel.json_values import Json

DEFAULT_ACTION: Final = "default"
ERROR_ACTION: Final = "error"
IR_VERSION: Final = "0.1.0"

Backoff = Literal["fixed", "exponential"]
ErrorHandling = Literal["fail_fast", "continue"]


@dataclass(frozen=True, slots=True)
class Input:
    """An input of the workflow. An input with a default is never missing."""

    name: str
    type: str = "any"
    required: bool = True
    default: "Json" = None
    has_default: bool = False
    description: str = ""
    stdin: bool = False
    secret: bool = False


@dataclass(frozen=True, slots=True)
class Output:
    """An output of the workflow: the value of the template `source` at the end of the run."""

    name: str
    source: str
    type: str = "any"
    description: str = ""


@dataclass(frozen=True, slots=True)
class Retry:
    """How often a node is tried in all, and how long to wait in between, in seconds."""

    attempts: int = 1
    wait: float = 0.0
    backoff: Backoff = "fixed"

    def get_wait_before(self, attempt: int) -> float:
        """Return the seconds to wait before attempt number `attempt`, counted from 1."""
        if attempt <= 1:
            return 0.0
        return min(60.0, self.wait * 2 ** (attempt - 2)) if self.backoff == "exponential" else self.wait


@dataclass(frozen=True, slots=True)
class Batch:
    """A node that runs once for each item of a list."""

    items: "Json"
    alias: str = "item"
    error_handling: ErrorHandling = "fail_fast"
    parallel: bool = False
    max_concurrent: int = 10
    retry: Retry = field(default_factory=Retry)


@dataclass(frozen=True, slots=True)
class Node:
    id: str
    type: str
    params: "Mapping[str, Json]"
    purpose: str = ""
    batch: Batch | None = None
    retry: Retry | None = None
    timeout: float | None = None
    reuse: bool = True
    """Whether a result of an earlier run may be reused; false for `"resume": "never"`."""
    effect: str | None = None
    """The effect of this node, if it differs from that of its type."""


@dataclass(frozen=True, slots=True)
class Edge:
    source: str
    target: str
    action: str = DEFAULT_ACTION


@dataclass(frozen=True, slots=True)
class Workflow:
    """A checked workflow. Nodes are in the order of the file; `start` is the id of the first to run."""

    nodes: Mapping[str, Node]
    edges: tuple[Edge, ...]
    start: str
    inputs: Mapping[str, Input]
    outputs: Mapping[str, Output]
    timeout: float | None = None
