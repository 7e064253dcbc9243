"""What a node is: a function of its parameters and a context that returns an outcome."""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from pflow.domain.ir.model import DEFAULT_ACTION
from uraniborg.kernel.actors import Actor

if TYPE_CHECKING:
    from uraniborg.kernel.json_values import JsonObject


class Closable(Protocol):
    """An object that can be closed."""

    async def close(self) -> None: ...


class SharedObjects(Protocol):
    """Holds objects that the nodes of one run share, such as connections, and closes them when the run ends."""

    async def get_or_create(self, key: str, create: Callable[[], Awaitable[Closable]]) -> Any:
        """Return the object of this key, which `create` creates once in a run."""
        ...


@dataclass(frozen=True, slots=True)
class NodeContext:
    """The context of a node. Relative paths in its parameters are relative to `folder`."""

    run_id: str
    workflow: str
    node_id: str
    home: Path
    """The pflow home: `~/.pflow` by default."""
    folder: Path
    spool: Path
    """The folder for output that is too large for a value. The first file creates it."""
    lineage: str = ""
    """The id of the first run of those that this run resumes. A person is asked once in all of them."""
    timeout: float | None = None
    """Seconds after which the engine cancels a coroutine or abandons a thread."""
    shared_objects: SharedObjects | None = None
    """Only for coroutines in the process of the engine, not for those on a cluster."""
    pass_env: tuple[str, ...] = ()
    """Names of environment variables that every child process inherits."""
    mask: Callable[[Any], Any] = field(default=lambda value: value)
    """Returns a value with the secrets of the run masked."""
    say: Callable[[str], None] = field(default=lambda _: None)
    """Shows a message while the node runs."""
    actor: Actor | None = None
    """Who started the run, for what the node changes."""

    def path(self, given: str) -> Path:
        """Return the path of the file that a parameter names."""
        path = Path(given)
        with suppress(RuntimeError):  # a user who does not exist: neither does the file
            path = path.expanduser()
        return self.folder / path


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outputs of a node, and the action that chooses the next edge. A node may return its outputs alone."""

    outputs: Mapping[str, object]
    """Of all types that `pflow.domain.value_conversion.encode_outputs` accepts."""
    action: str = DEFAULT_ACTION
    warnings: tuple[str, ...] = ()
    """Sentences for the reply of the run, without the id of the node."""


Returned = Mapping[str, object] | Outcome | None
"""What a node returns; None stands for no outputs. It is checked, as users write nodes."""
Function = Callable[["JsonObject", NodeContext], Returned | Awaitable[Returned]]
"""Plain functions run in a thread, coroutines on the engine's event loop."""
