"""A command with templates: the text for the shell, and the position of each template in it."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from pflow.shell.inspection import Inspection, inspect
from pflow.shell.reader import Reader
from pflow.shell.tree import Context, Script
from pflow.shell.words import Span
from pflow.templates.parsing import Template, pieces_of

_LONGEST_CACHED: Final = 10_000


@dataclass(frozen=True)
class ShellCommand:
    """`text` is the command with `$${` written as `${`; `spans` are the positions of its templates."""

    text: str
    templates: tuple[Template, ...]
    spans: tuple[tuple[int, int], ...]
    contexts: tuple[Context, ...]
    tree: Script


def read_command(command: str) -> ShellCommand:
    """Return the command with its tree. Raises Undecided if shells disagree about it."""
    return _read(command) if len(command) < _LONGEST_CACHED else _read.__wrapped__(command)


@lru_cache(maxsize=256)
def _read(command: str) -> ShellCommand:
    parts: list[str] = []
    templates: list[Template] = []
    spans: list[tuple[int, int]] = []
    at = shift = 0
    for piece in pieces_of(command):
        if isinstance(piece, int):  # `$${`, of which one `$` goes
            parts.append(command[at:piece])
            at = piece + 1
            shift += 1
        else:
            templates.append(piece)
            spans.append((piece.start - shift, piece.end - shift))
    text = "".join([*parts, command[at:]])
    reader = Reader(text, {start: Span(number, end) for number, (start, end) in enumerate(spans)})
    tree = reader.read()
    contexts: list[Context] = [reader.contexts.get(number, "bare") for number in range(len(spans))]
    return ShellCommand(text, tuple(templates), tuple(spans), tuple(contexts), tree)


@lru_cache(maxsize=256)
def inspect_command(command: str, names: frozenset[str] = frozenset(), is_fed: bool = False) -> Inspection:
    """Inspect a command whose variables `names` hold values, and to which values are fed or not. Raises Undecided."""
    return inspect(read_command(command).tree, names=names, is_fed=is_fed)
