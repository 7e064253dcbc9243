"""Find alternatives that only exclude, such as the second of `a OR NOT b`: the parser drops them."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from uraniborg.kernel.boolean_query import OPERATORS


@dataclass(slots=True)
class _Reader:
    tokens: Sequence[str]
    position: int = 0
    found: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])

    def read_alternatives(self) -> bool:
        """Read a group to its closing bracket, and return True if the group only excludes."""
        spans: list[tuple[int, int, bool]] = []
        while True:
            start = self.position
            only_excludes = self._read_conjunction()
            spans.append((start, self.position - 1, only_excludes))
            if self.position == len(self.tokens) or self.tokens[self.position] != "OR":
                break
            self.position += 1
        self.position += 1
        lone = [(start, end) for start, end, only_excludes in spans if only_excludes]
        if len(spans) > 1:
            self.found += lone
        return len(lone) == len(spans)

    def _read_conjunction(self) -> bool:
        negative, wants = False, False
        while self.position < len(self.tokens) and (piece := self.tokens[self.position]) not in {"OR", ")"}:
            self.position += 1
            if piece in OPERATORS:
                negative = not negative if piece == "NOT" else negative
                continue
            if piece == "-" or not (piece == "(" or any(map(str.isalnum, piece))):
                negative = piece == "-"
                continue
            minus = piece.startswith("-") and piece[1:2].isalnum()
            only_excludes = self.read_alternatives() if piece == "(" else False
            wants |= (negative or minus) == only_excludes
            negative = False
        return not wants


def find_lone_exclusions(tokens: Sequence[str]) -> list[tuple[int, int]]:
    """Return the first and the last index of the tokens of each alternative that only excludes.

    The tokens are words, phrases, operators and brackets of a query without syntax errors.
    """
    reader = _Reader(tokens)
    reader.read_alternatives()
    return sorted(reader.found)
