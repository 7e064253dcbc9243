"""The arguments of one command: options and operands, and which of them the program runs."""

import shlex
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, Protocol

from pflow.shell.interpreters import MODULES, PLAIN, Program, program_of
from pflow.shell.reader import Reader
from pflow.shell.special import SPECIAL
from pflow.shell.tree import Assignment, Mark, Script, Text, Undecided, Word, named_assignment_of, prefix_of, text_of, without

_STDIN: Final = ("-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0")
_SAME_SHELL: Final = ("eval", "trap")
_PROGRAM: Final = "Write the program into the command itself, and pass only its arguments as templates."
_OPTION: Final = "Write the template itself as a word of its own, behind `--` if it is not the argument of an option."
_MAGIC: Final = "Let perl read the file from its input: perl -ne '…' < ${file}. It runs operands such as 'date |'."
_LOOKED_AT: Final = 20
_KINDS: Final = ("code", "runs", "takes", "takes_two", "attached")


class Walk(Protocol):
    """The inspection of the whole command, as one command in it sees it."""

    names: set[str]
    exported: set[str]
    written: set[str]

    def report(self, program: str, hint: str, word: Word = ()) -> None: ...
    def guard(self, mark: int, program: str, characters: str) -> None: ...
    def require_number(self, mark: int) -> None: ...
    def holds(self, word: Word) -> bool: ...
    def name(self, word: Word, program: str) -> None: ...
    def compute(self, word: Word, program: str) -> None: ...
    def assign(self, assignment: Assignment, *, is_exported: bool = False) -> bool: ...
    def script(self, script: Script, is_fed: bool) -> bool: ...
    def nested(self, text: str, *, has_values: bool, is_fed: bool) -> None: ...


class Arguments:
    """Inspects the words of commands."""

    def __init__(self, walk: Walk) -> None:
        self.walk = walk

    def invoke(self, words: Sequence[Word], is_fed: bool) -> None:
        """Report the values that a command runs. `is_fed` if there may be values in its input."""
        name = self._name_of(words[0]) if words else None
        if name is None:
            if any(map(self.walk.holds, words)):
                self.walk.report("sh", _PROGRAM, next(filter(self.walk.holds, words)))
        elif special := SPECIAL.get(name):
            special(self, name, words, is_fed)
        elif program := program_of(name):
            self.run(name, program, words, is_fed)
        elif name not in PLAIN:
            self._look_for_interpreters(words)

    def run(self, name: str, program: Program, words: Sequence[Word], is_fed: bool) -> None:
        _Call(self, name, program, words, is_fed).run()

    def guard(self, word: Word, program: str, characters: str) -> None:
        """Note that a value at the beginning of a word must not begin with one of these characters."""
        for part in word:
            if isinstance(part, Mark) and part.index >= 0:
                self.walk.guard(part.index, program, characters)
            elif not isinstance(part, Text) and self.walk.holds((part,)):
                self.walk.report(program, _OPTION)
            elif not isinstance(part, Text) or part.text:
                return

    def _name_of(self, word: Word) -> str | None:
        """Return the name of a program without its folder, or None if it is not constant."""
        text = text_of(word)
        if text is None:
            last = word[-1] if word else None
            if not isinstance(last, Text) or "/" not in last.text or self.walk.holds(word):
                return None
            text = last.text
        return text.rpartition("/")[2]

    def _look_for_interpreters(self, words: Sequence[Word]) -> None:
        """Inspect `… sh -c …` behind a program of which nothing is known, such as `docker exec`."""
        found = 0
        for at, word in enumerate(words[1:], 1):
            name = (text_of(word) or "").rpartition("/")[2]
            if (program := program_of(name)) and (program.flag or program.code) and found < _LOOKED_AT:
                found += 1
                _Call(self, name, program, words[at:], False, only_inline=True).run()


class _Call:
    """One command whose program is in the table."""

    def __init__(
        self,
        arguments: Arguments,
        name: str,
        program: Program,
        words: Sequence[Word],
        is_fed: bool,
        *,
        only_inline: bool = False,
    ) -> None:
        self._arguments = arguments
        self._walk = arguments.walk
        self._name = name
        self._program = program
        self._words = words
        self._is_fed = is_fed
        self._only_inline = only_inline
        self._at = 1
        self._roles = program.operands.split()
        self._operands = 0
        self._reads_options = True
        self._has_program = False
        self._is_magic = False
        self._is_constant = True
        self._joined: list[str] = []

    def run(self) -> None:
        while self._at < len(self._words):
            word = self._words[self._at]
            self._at += 1
            prefix = prefix_of(word)
            if not self._reads_options or len(prefix) < 2 or prefix[0] not in "-+":
                self._operand(word)
            elif text_of(word) == "--":
                self._reads_options = False
            else:
                self._option(word, prefix)
        if self._joined and self._is_constant:
            self._run_here(" ".join(self._joined))
        if self._program.reads and not self._has_program and self._is_fed and not self._only_inline:
            self._walk.report(self._name, self._program.hint)

    def _run_here(self, text: str) -> None:
        try:
            self._walk.script(Reader(text).read(), self._is_fed)
        except Undecided as exc:
            self._walk.report(self._name, f"Write the program in a simpler form: {exc}.")

    def _option(self, word: Word, prefix: str) -> None:
        kinds = _kinds_of(self._program)
        option, equals, _ = prefix.partition("=")
        if prefix.startswith("--") or option in kinds:
            if not equals and text_of(word) is None:
                self._undecided(word)
            else:
                self._apply(option, _kind_of(kinds, option), without(word, len(option) + 1) if equals else None)
            return
        for at, letter in enumerate(prefix[1:], 2):
            self._note_flag(letter)
            if kind := kinds.get(letter):
                rest = without(word, at)
                is_alone = text_of(rest) == "" and kind != "attached" and not self._program.flag
                self._apply(letter, kind, None if is_alone or self._program.flag else rest)
                if not self._program.flag:
                    return
        if text_of(word) is None:
            self._undecided(word)

    def _note_flag(self, letter: str) -> None:
        self._is_magic = self._is_magic or (self._name.startswith("perl") and letter in "np")
        if letter in self._program.flag:
            self._roles = ["code", "data"]
        elif letter == "s" and self._program.flag:
            self._roles = ["data"]

    def _apply(self, option: str, kind: str | None, argument: Word | None) -> None:
        if kind and argument is None:
            argument = self._words[self._at] if self._at < len(self._words) else ()
            self._at += 2 if kind == "takes_two" else 1
        if kind == "code":
            self._roles = ["data"]
            self._code(argument or ())
        elif kind == "runs" and self._name == "env":
            self._split(argument or ())
        elif kind == "runs":
            self._runs(argument or ())
        if option in self._program.ends.split():
            is_runner = text_of(argument or ()) in MODULES and kind == "runs"
            self._roles = ["file" if is_runner else "data"]
            self._reads_options = False
            self._has_program = True

    def _operand(self, word: Word) -> None:
        role = self._roles[min(self._operands, len(self._roles) - 1)]
        if role == "command":
            assigned = named_assignment_of(word) if self._program.assigns else None
            if assigned:
                self._walk.assign(assigned, is_exported=True)
                return
            if not self._only_inline:
                self._arguments.invoke(self._words[self._at - 1 :], self._is_fed)
            self._at = len(self._words)
            self._has_program = True
            return
        if role == "code" and text_of(word) == "":  # `sed -i '' PROGRAM`
            return
        self._operands += 1
        if role == "code":
            self._code(word)
        elif role == "file":
            self._file(word)
        else:
            self._data(word)
        self._reads_options = self._reads_options and self._program.permutes

    def _code(self, word: Word) -> None:
        self._has_program = True
        text = text_of(word)
        if self._walk.holds(word):
            self._walk.report(self._name, self._program.hint, word)
        if text is None or self._walk.holds(word):
            self._is_constant = False
            return
        if text in _STDIN and self._is_fed and not self._only_inline:
            self._walk.report(self._name, self._program.hint)
        elif text in self._walk.written:
            self._walk.report(self._name, self._program.hint)
        elif self._name in _SAME_SHELL:
            self._joined += [text] if self._is_constant else []
        elif self._program.is_shell:
            has_values = any(map(self._walk.holds, self._words[self._at :]))
            self._walk.nested(text, has_values=has_values, is_fed=self._is_fed)
        self._is_magic = self._is_magic or (self._name.startswith("perl") and ("<>" in text or "ARGV>" in text))

    def _runs(self, word: Word) -> None:
        if self._walk.holds(word):
            self._walk.report(self._name, self._program.hint or _PROGRAM, word)

    def _file(self, word: Word) -> None:
        text = text_of(word)
        if self._only_inline or (text in _STDIN and not self._is_fed):
            return
        self._has_program = self._has_program or text not in _STDIN
        if self._walk.holds(word) or text in self._walk.written:
            self._walk.report(self._name, self._program.hint, word)
        if text not in _STDIN:
            self._roles = ["data"] if self._roles[-1] == "data" else self._roles

    def _data(self, word: Word) -> None:
        if self._only_inline or not self._walk.holds(word):
            return
        if self._is_magic:
            self._walk.report(self._name, _MAGIC, word)
        elif self._reads_options and self._program.guarded:
            self._arguments.guard(word, self._name, self._program.guarded)

    def _undecided(self, word: Word) -> None:
        if self._walk.holds(word) and (self._program.guarded or self._program.code or self._program.flag):
            self._walk.report(self._name, _OPTION, word)

    def _split(self, word: Word) -> None:
        """`env -S` takes a command in one word."""
        self._runs(word)
        try:
            words: list[Word] = [(Text(one),) for one in shlex.split(text_of(word) or "")]
        except ValueError:
            words = []
        rest = self._words[self._at :]
        self._at = len(self._words)
        if words or rest:
            self._arguments.run("env", self._program, [(Text("env"),), *words, *rest], self._is_fed)


@lru_cache(maxsize=256)
def _kinds_of(program: Program) -> dict[str, str]:
    return {option: kind for kind in _KINDS for option in str(getattr(program, kind)).split()}


def _kind_of(kinds: dict[str, str], option: str) -> str | None:
    """Return the kind of a long option, which may be written short."""
    return kinds.get(option) or next(
        (kind for known, kind in kinds.items() if option.startswith("--") and known.startswith(option)), None
    )
