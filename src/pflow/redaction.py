"""Secrets of a run: which they are, and how they are kept out of everything that is written or answered."""

import codecs
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, cast

from pflow.templates.resolution import texts_within
from uraniborg.kernel.child_environment import register_environment_secrets
from uraniborg.kernel.files import open_private
from uraniborg.kernel.redaction import SHORTEST_SECRET, Redactor, is_sensitive, redact

__all__ = ["SHORTEST", "Secrets", "is_sensitive", "secret_params"]

_CHUNK: Final = 1 << 20
SHORTEST: Final = SHORTEST_SECRET


class Secrets:
    """The secret values of one run. The log knows them while `masking(secrets.redactor)` is in force.

    Secrets of the process are secrets of every run: those of sensitive variables of its environment, and keys that
    nodes and servers were given.
    """

    def __init__(self, values: Iterable[Any] = ()) -> None:
        register_environment_secrets()
        self.redactor = Redactor(base=redact)
        self._short: set[str] = set()
        self.add(values)

    @property
    def values(self) -> frozenset[str]:
        """All that are long enough to be told from other text."""
        return self.redactor.secrets | redact.secrets

    @property
    def own(self) -> frozenset[str]:
        """Those that the workflow was given, without those of this process: for the processes that run its nodes."""
        return self.redactor.secrets

    def add(self, values: Iterable[Any]) -> None:
        """From now on these are secrets, too. What is too short to be told from other text is masked nowhere."""
        for text in {text.strip() for value in values for text in texts_within(value, keys=False)}:
            if len(text) >= SHORTEST:
                self.redactor.register(text)
            elif text:
                self._short.add(text)

    def masked(self, value: Any, *, guess: bool = True) -> Any:
        """The value with every secret masked, by its name and by its value; with `guess`, by the look of text, too."""
        return self.redactor(value, guess=guess)

    def are_in(self, value: Any) -> bool:
        """Whether a text or number within the value holds one, however it is spelt, or is one that is short."""
        if self.redactor.holds(value):
            return True
        return bool(self._short) and any(text.strip() in self._short for text in texts_within(value))

    def scrub(self, path: Path) -> None:
        """Mask them in a file, which may be too large to be read at once. Raises OSError."""
        # Masking one can join its neighbours into another.
        while any(piece != masked for piece, masked in self.redactor.pieces(_text_of(path))):
            target = path.with_name(f"{path.name}.masked")
            try:
                with open(open_private(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "wb") as file:
                    file.writelines(
                        masked.encode("utf-8", "surrogateescape") for _, masked in self.redactor.pieces(_text_of(path))
                    )
                target.replace(path)
            except OSError:
                target.unlink(missing_ok=True)
                raise


def _text_of(path: Path) -> Iterator[str]:
    with path.open("rb") as file:
        yield from codecs.iterdecode(iter(lambda: file.read(_CHUNK), b""), "utf-8", "surrogateescape")


def secret_params(params: Mapping[str, Any]) -> list[Any]:
    """The values of a node's parameters that are secrets by their names, however deep they are in there."""
    found: list[Any] = []
    waiting: list[Any] = [params]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            for name, value in cast("dict[str, Any]", one).items():
                if is_sensitive(name):
                    found.append(value)
                elif isinstance(value, (dict, list)):
                    waiting.append(value)
        elif isinstance(one, list):
            waiting += cast("list[Any]", one)
    return found
