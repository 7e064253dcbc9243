"""The arguments of one command: options and operands, and which of them the program runs."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Final, Protocol

from pflow.shell.interpreters import MODULES, PLAIN, Program, find_program
from pflow.shell.reader import Reader
from pflow.shell.tree import (
    Assignment,
    Mark,
    Script,
    Text,
    Undecided,
    Word,
    drop_prefix,
    get_base_name,
    get_constant_prefix,
    get_constant_text,
    get_file_name,
    may_split,
    parse_named_assignment,
)

_STDIN: Final = re.compile(r"-|/dev/stdin|/dev/fd/\d+|/proc/self/fd/\d+")
_QUOTE: Final = "Put double quotes around the variables of the command, or the shell may split them into words."
_SAME_SHELL: Final = ("eval", "trap")
_PROGRAM: Final = "Write the program into the command itself, and pass only its arguments as templates."
_OPTION: Final = "Write the template itself as a separate word, behind `--` if it is not the argument of an option."
_MAGIC: Final = "Let perl read the file from its input: perl -ne '…' < ${file}. It runs operands such as 'date |'."
_IN_WORD: Final = ("attached", "bundled")
_LOOKED_AT: Final = 20
_MOST_NESTED: Final = 30
_KINDS: Final = ("code", "runs", "takes", "takes_two", "attached", "bundled", "scripts")


class Walk(Protocol):
    """The inspection of the whole command, as one command in it sees it."""

    names: set[str]
    exported: set[str]
    written: set[str]

    def note_written_files(self, files: Iterable[Word]) -> None: ...
    def is_written(self, word: Word) -> bool: ...
    def report_finding(self, program: str, hint: str, word: Word = ()) -> None: ...
    def add_guard(self, mark: int, program: str, characters: str) -> None: ...
    def require_number(self, mark: int) -> None: ...
    def may_hold_value(self, word: Word) -> bool: ...
    def check_name(self, word: Word, program: str) -> None: ...
    def check_computed(self, word: Word, program: str) -> None: ...
    def note_assignment(self, assignment: Assignment, *, is_exported: bool = False) -> bool: ...
    def inspect_script(self, script: Script, is_fed: bool) -> bool: ...
    def inspect_nested_program(self, text: str, *, has_values: bool, is_fed: bool) -> None: ...


class Arguments:
    """Inspects the words of commands. `special` are the inspections of programs with special arguments."""

    def __init__(self, walk: Walk, special: "Mapping[str, InspectSpecial]") -> None:
        self.walk = walk
        self._special = special
        self._depth = 0

    def inspect_invocation(self, words: Sequence[Word], is_fed: bool) -> None:
        """Report the values that a command runs. `is_fed` if there may be values in its input."""
        name = self._get_program_name(words[0]) if words else None
        text = get_constant_text(words[0]) if words else None
        self._depth += 1
        if self._depth > _MOST_NESTED:
            self.walk.report_finding("sh", "Start the program directly, with fewer wrappers.")
        elif name is None:
            held = next(filter(self.walk.may_hold_value, words), None)
            if held or (words and self.walk.is_written(words[0])):
                self.walk.report_finding("sh", _PROGRAM, held or ())
        elif name in self.walk.written and (text is None or "/" in text):
            self.walk.report_finding("sh", _PROGRAM)
        elif special := self._special.get(name):
            special(self, name, words, is_fed)
        elif program := find_program(name):
            self.inspect_program(name, program, words, is_fed)
        elif name not in PLAIN:
            self._inspect_embedded_interpreters(words, is_fed)
        self._depth -= 1

    def inspect_program(self, name: str, program: Program, words: Sequence[Word], is_fed: bool) -> None:
        _Call(self, name, program, words, is_fed).inspect()

    def guard_start(self, word: Word, program: str, characters: str) -> None:
        """Note that a value at the beginning of a word must not begin with one of these characters.

        Report a value right behind a constant `-` or `+`: the program would read an option of the value's choice.
        """
        sign = get_constant_prefix(word)
        if sign in ("-", "+") and "-" in characters and sign in characters and self.walk.may_hold_value(word):
            self.walk.report_finding(program, _OPTION, word)
            return
        for part in word:
            if isinstance(part, Mark) and part.index >= 0:
                self.walk.add_guard(part.index, program, characters)
            elif not isinstance(part, Text) and self.walk.may_hold_value((part,)):
                self.walk.report_finding(program, _OPTION)
            elif not isinstance(part, Text) or part.text:
                return

    def _get_program_name(self, word: Word) -> str | None:
        """Return the name of a program without its folder, or None if it is not constant."""
        return None if self.walk.may_hold_value(word) else get_file_name(word)

    def _inspect_embedded_interpreters(self, words: Sequence[Word], is_fed: bool) -> None:
        """Inspect `… sh -c …` behind a program of which nothing is known, such as `docker exec`."""
        found = 0
        for at, word in enumerate(words[1:], 1):
            name = get_base_name(get_constant_text(word))
            if (program := find_program(name)) and (program.flag or program.code) and found < _LOOKED_AT:
                found += 1
                _Call(self, name, program, words[at:], is_fed, only_inline=True).inspect()


InspectSpecial = Callable[[Arguments, str, Sequence[Word], bool], None]
"""Report the values that a program runs, given its name, its words and whether values may be in its input."""


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
        self._opens_arguments = False
        self._is_constant = True
        self._joined: list[str] = []

    def inspect(self) -> None:
        while self._at < len(self._words):
            word = self._words[self._at]
            self._at += 1
            prefix = get_constant_prefix(word)
            self._check_split(word)
            if not self._reads_options or len(prefix) < 2 or prefix[0] not in "-+":
                self._inspect_operand(word)
            elif get_constant_text(word) == "--":
                self._reads_options = False
            else:
                self._inspect_option(word, prefix)
        if self._joined and self._is_constant:
            self._inspect_inline(" ".join(self._joined))
        if (
            self._program.reads
            and not self._has_program
            and self._is_fed
            and not (self._only_inline and self._operands)
        ):
            self._walk.report_finding(self._name, self._program.hint)

    def _check_split(self, word: Word) -> None:
        """Report values behind or in a word of which the shell makes any number of words."""
        if not self._reads_options and set(self._roles[min(self._operands, len(self._roles) - 1) :]) == {"data"}:
            return
        rest = self._words[self._at - 1 :] if may_split(word) and not self._only_inline else ()
        if held := next(filter(self._walk.may_hold_value, rest), None):
            self._walk.report_finding(self._name, _QUOTE, held)

    def _inspect_inline(self, text: str) -> None:
        try:
            self._walk.inspect_script(Reader(text).read(), self._is_fed)
        except Undecided as exc:
            self._walk.report_finding(self._name, f"Write the program in a simpler form: {exc}.")

    def _inspect_option(self, word: Word, prefix: str) -> None:
        kinds = _map_option_kinds(self._program)
        option, equals, _ = prefix.partition("=")
        if prefix.startswith("--") or option in kinds:
            if not equals and get_constant_text(word) is None:
                self._report_undecided_option(word)
            else:
                self._apply_option(
                    option, _find_option_kind(kinds, option), drop_prefix(word, len(option) + 1) if equals else None
                )
            return
        for at, letter in enumerate(prefix[1:], 2):
            self._note_flag(letter)
            kind = kinds.get(letter)
            if kind == "scripts":
                kind = "runs" if self._takes_script(word, at) else None
            if kind:
                rest = drop_prefix(word, at)
                for later in prefix[at:] if kind == "bundled" else "":
                    self._note_flag(later)
                is_alone = get_constant_text(rest) == "" and kind not in _IN_WORD and not self._program.flag
                self._apply_option(letter, kind, None if is_alone or self._program.flag else rest)
                if not self._program.flag:
                    return
        if get_constant_text(word) is None:
            self._report_undecided_option(word)

    def _takes_script(self, word: Word, at: int) -> bool:
        """Return whether a script follows the option that ends at this position of a word, as in `vim -s FILE`."""
        following = self._words[self._at] if self._at < len(self._words) else ()
        return get_constant_text(drop_prefix(word, at)) == "" and get_constant_prefix(following)[:1] not in ("-", "+")

    def _note_flag(self, letter: str) -> None:
        self._opens_arguments = self._opens_arguments or (self._name.startswith("perl") and letter in "np")
        if letter in self._program.flag:
            self._roles = ["code", "data"]
        elif letter == "s" and self._program.flag:
            self._roles = ["data"]

    def _apply_option(self, option: str, kind: str | None, argument: Word | None) -> None:
        if kind and argument is None:
            argument = self._words[self._at] if self._at < len(self._words) else ()
            self._check_split(argument)
            self._at += 2 if kind == "takes_two" else 1
        if kind == "code":
            self._roles = ["data"]
            self._inspect_code(argument or ())
        elif kind == "runs" and self._name == "env":
            self._report_env_split(argument or ())
        elif kind == "runs" or (kind == "bundled" and argument):
            self._inspect_run_argument(argument or ())
        if option in self._program.ends.split():
            is_runner = get_constant_text(argument or ()) in MODULES and kind == "runs"
            self._roles = ["file" if is_runner else "data"]
            self._reads_options = False
            self._has_program = True

    def _inspect_operand(self, word: Word) -> None:
        role = self._roles[min(self._operands, len(self._roles) - 1)]
        if role == "command":
            assigned = parse_named_assignment(word) if self._program.assigns else None
            if assigned:
                self._walk.note_assignment(assigned, is_exported=True)
                return
            if not self._only_inline:
                self._arguments.inspect_invocation(self._words[self._at - 1 :], self._is_fed)
            self._at = len(self._words)
            self._has_program = True
            return
        if role == "code" and get_constant_text(word) in (
            "",
            *self._program.subcommands.split(),
        ):  # `sed -i '' PROGRAM`
            return
        self._operands += 1
        if role == "code":
            self._inspect_code(word)
        elif role == "file":
            self._inspect_file(word)
        else:
            self._inspect_data(word)
        self._reads_options = self._reads_options and self._program.permutes

    def _inspect_code(self, word: Word) -> None:
        self._has_program = True
        text = get_constant_text(word)
        if self._walk.may_hold_value(word):
            self._walk.report_finding(self._name, self._program.hint, word)
        if text is None or self._walk.may_hold_value(word):
            self._is_constant = False
            return
        if self._is_standard_input(word) or self._walk.is_written(word):
            self._walk.report_finding(self._name, self._program.hint)
        elif self._name in _SAME_SHELL:
            self._joined += [text] if self._is_constant else []
        elif self._program.is_shell:
            has_values = any(map(self._walk.may_hold_value, self._words[self._at :]))
            self._walk.inspect_nested_program(text, has_values=has_values, is_fed=self._is_fed)
        self._note_implicit_input(text)

    def _note_implicit_input(self, text: str) -> None:
        self._opens_arguments = self._opens_arguments or (
            self._name.startswith("perl") and ("<>" in text or "ARGV>" in text)
        )

    def _is_standard_input(self, word: Word) -> bool:
        """Return whether a word names the standard input, and values are in it."""
        return self._is_fed and not self._only_inline and _STDIN.fullmatch(get_constant_text(word) or "") is not None

    def _inspect_run_argument(self, word: Word) -> None:
        if self._walk.may_hold_value(word) or self._is_standard_input(word) or self._walk.is_written(word):
            self._walk.report_finding(self._name, self._program.hint or _PROGRAM, word)

    def _inspect_file(self, word: Word) -> None:
        if self._only_inline:
            return
        self._has_program = True
        self._note_implicit_input(get_constant_text(word) or "")  # the program itself behind `perl -le`
        if self._is_standard_input(word) or self._walk.may_hold_value(word) or self._walk.is_written(word):
            self._walk.report_finding(self._name, self._program.hint, word)

    def _inspect_data(self, word: Word) -> None:
        if self._only_inline or not self._walk.may_hold_value(word):
            return
        if self._opens_arguments:
            self._walk.report_finding(self._name, _MAGIC, word)
        elif self._reads_options and self._program.guarded:
            self._arguments.guard_start(word, self._name, self._program.guarded)

    def _report_undecided_option(self, word: Word) -> None:
        if self._walk.may_hold_value(word) and (self._program.guarded or self._program.code or self._program.flag):
            self._walk.report_finding(self._name, _OPTION, word)

    def _report_env_split(self, word: Word) -> None:
        """Report any value behind `env -S`, which takes a command in one word and expands variables in it."""
        held = next(filter(self._walk.may_hold_value, [word, *self._words[self._at :]]), None)
        if held or self._is_fed:
            self._walk.report_finding("env -S", _PROGRAM, held or ())


@lru_cache(maxsize=256)
def _map_option_kinds(program: Program) -> dict[str, str]:
    return {option: kind for kind in _KINDS for option in str(getattr(program, kind)).split()}


def _find_option_kind(kinds: dict[str, str], option: str) -> str | None:
    """Return the kind of a long option, which may be written short."""
    return kinds.get(option) or next(
        (kind for known, kind in kinds.items() if option.startswith("--") and known.startswith(option)), None
    )
