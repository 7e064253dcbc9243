"""What a node is given, and what it may answer. A node is a function of its parameters and this context."""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from pflow.ir.model import DEFAULT_ACTION


class Closable(Protocol):
    async def close(self) -> None: ...


class Keeper(Protocol):
    """Keeps what nodes of one run share, such as a connection to a server, and closes it when the run ends."""

    async def keep(self, key: str, make: Callable[[], Awaitable[Closable]]) -> Any:
        """What `make` made for this key: once in a run, however many ask."""
        ...


@dataclass(frozen=True, slots=True)
class Context:
    """Where a node runs. Relative paths of its parameters are meant from `folder`."""

    run_id: str
    workflow: str
    node_id: str
    home: Path
    """The pflow home: `~/.pflow` unless told otherwise."""
    folder: Path
    spool: Path
    """Where output goes that is too large for a value. It is made when it is needed."""
    lineage: str = ""
    """The run that this one goes on from, or the one which that went on from, and so on: what is done once in all of
    them, such as asking a person, goes by it."""
    timeout: float | None = None
    """Seconds after which the engine gives up on the node. It cancels a coroutine, and abandons a thread."""
    keeper: Keeper | None = None
    """Only for coroutines that run beside the engine, not for those on a cluster."""
    pass_env: tuple[str, ...] = ()
    """Names of variables that the settings have every child process inherit."""
    mask: Callable[[Any], Any] = field(default=lambda value: value)
    """The value without the secrets of the run: for what others will read."""
    say: Callable[[str], None] = field(default=lambda _: None)
    """Tells whoever waits how it goes."""

    def path(self, given: str) -> Path:
        """The file that a parameter names."""
        path = Path(given)
        with suppress(RuntimeError):  # a user who does not exist: then nor does the file
            path = path.expanduser()
        return self.folder / path


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a node gave, and the action that chooses the edge to follow. A node may return its outputs alone."""

    outputs: Mapping[str, Any]
    action: str = DEFAULT_ACTION
    warnings: tuple[str, ...] = ()
    """Sentences for the reply of the run, without the name of the node."""


Function = Callable[[dict[str, Any], Context], Any]
"""Plain functions run in a thread, coroutine functions on the engine's loop. They return a mapping or an Outcome."""
