"""In what kind of quotes a place of a shell command is, so that a value can be put there as one word."""

import re
from dataclasses import dataclass
from typing import Final, Literal

Context = Literal["bare", "double", "single", "arithmetic", "literal", "escaped"]
"""`literal` is a here-document in which the shell replaces nothing; `escaped` is behind a backslash."""

_SPECIAL: Final = re.compile(r"[\\'\"`$()#<\n]")
_HERE: Final = re.compile(r"<<(-?)[ \t]*(?:'([^'\n]+)'|\"([^\"\n]+)\"|(\\?)([^\s;|&<>()'\"`\\]+))")
_INDEX: Final = re.compile(r"\$\{[#!]?\w+(?:\[[^\]}]*|(?:\[[^\]}]*\])?:(?![-=?+])[^}]*)$")
"""Some shells compute what is in `${list[…]}` and `${text:…}`."""
_SEEN_AS: Final[dict[str, Context]] = {
    "bare": "bare",
    "substitution": "bare",
    "group": "bare",
    "backtick": "bare",
    "double": "double",
    "document": "double",
    "single": "single",
    "literal": "literal",
    "arithmetic": "arithmetic",
    "parenthesis": "arithmetic",
}


@dataclass
class _Document:
    """A here-document: its text is from `start` to `end`, the line that ends it to `after`."""

    start: int
    end: int
    after: int
    kind: str
    depth: int | None = None
    """How much was open when it began."""


class Quoting:
    """Reads a command from left to right, and no further than it is asked."""

    def __init__(self, command: str) -> None:
        self._command = command
        self._place = 0
        self._open = ["bare"]
        self._announced: list[re.Match[str]] = []
        self._documents: list[_Document] = []
        self._escaped = self._closed = -1

    def at(self, place: int) -> Context:
        """What `place` is in. Places must be asked for in order."""
        self._turn_page()
        while self._place < place:
            special = _SPECIAL.search(self._command, self._place, place)
            if special is None:
                self._place = place
                break
            self._place = special.start()
            self._place += self._step()
            self._turn_page()
        if self._escaped == place:
            return "escaped"
        seen = _SEEN_AS[self._open[-1]]
        is_index = seen in ("bare", "double") and _INDEX.search(self._command, max(0, place - 200), place)
        return "arithmetic" if is_index else seen

    def _step(self) -> int:  # noqa: PLR0911 - one line for each thing a shell tells apart
        """Reads what stands at the present place; how long that is."""
        text, at, inner = self._command, self._place, self._open[-1]
        char = text[at]
        if inner == "single":
            if char == "'":
                self._open.pop()
            return 1
        if inner == "literal":
            return 1
        if char == "\\":
            self._escaped = at + 1
            return 2
        if char == "`":
            self._backtick()
            return 1
        if text.startswith("$((", at):
            self._open.append("arithmetic")
            return 3
        if text.startswith("$(", at):
            self._open.append("substitution")
            return 2
        if inner == "double":
            if char == '"':
                self._open.pop()
            return 1
        if inner == "document":
            return 1
        return self._computed(char) if inner in ("arithmetic", "parenthesis") else self._unquoted(char)

    def _backtick(self) -> None:
        if "backtick" in self._open:
            del self._open[self._open.index("backtick") :]
            self._closed = self._place + 1
        else:
            self._open.append("backtick")

    def _computed(self, char: str) -> int:
        if char == "(":
            self._open.append("parenthesis")
        elif char == ")" and self._open[-1] == "parenthesis":
            self._open.pop()
        elif char == ")":
            if self._command.startswith("))", self._place):
                self._open.pop()
                self._closed = self._place + 2
                return 2
            self._open[-1] = "group"  # so it was `$((a) | b)`, which is not arithmetic
        return 1

    def _unquoted(self, char: str) -> int:
        text, at, inner = self._command, self._place, self._open[-1]
        if char in "\"'":
            self._open.append("double" if char == '"' else "single")
        elif char == "(":
            if text.startswith("((", at) and self._begins_word():
                self._open.append("arithmetic")
                return 2
            if inner != "bare":
                self._open.append("group")
        elif char == ")" and inner in ("substitution", "group"):
            self._open.pop()
            if inner == "substitution":
                self._closed = at + 1
        elif char == "#" and self._begins_word():
            ends = (text.find("\n", at), text.find("`", at) if "backtick" in self._open else -1)
            return min((end for end in ends if end >= 0), default=len(text)) - at
        elif char == "<":
            return self._redirection()
        elif char == "\n":
            self._begin_documents()
        return 1

    def _begins_word(self) -> bool:
        """What follows `$(…)` at once is of the same word; what follows `(…)` is not."""
        at = self._place
        return at == 0 or (at not in (self._closed, self._escaped + 1) and self._command[at - 1] in " \t\n;|&()<>`")

    def _redirection(self) -> int:
        if self._command.startswith("<<<", self._place):
            return 3
        if here := _HERE.match(self._command, self._place):
            self._announced.append(here)
            return here.end() - self._place
        return 1

    def _begin_documents(self) -> None:
        """Finds the here-documents that were announced on the line that ends here."""
        start = self._place + 1
        begun: list[_Document] = []
        for here in self._announced:
            word = re.escape(here[2] or here[3] or here[5])
            tabs = r"\t*" if here[1] else ""
            last = re.compile(rf"^{tabs}{word}$", re.MULTILINE).search(self._command, start)
            end, after = last.span() if last else (len(self._command), len(self._command))
            begun.append(_Document(start, end, after, "literal" if here[5] is None or here[4] else "document"))
            start = after + 1
        self._documents[:0] = begun
        self._announced = []

    def _turn_page(self) -> None:
        """Enters and leaves here-documents."""
        while self._documents and self._place >= self._documents[0].start:
            document = self._documents[0]
            if document.depth is None:
                document.depth = len(self._open)
                self._open.append(document.kind)
            if self._place < document.end:
                return
            del self._open[document.depth :]
            self._place = max(self._place, document.after)
            self._documents.pop(0)
