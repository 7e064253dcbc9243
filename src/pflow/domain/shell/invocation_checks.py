"""Check one invocation of a program: which of its options and operands it would run as code."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Final, Protocol

from pflow.domain.shell.code_running_programs import MODULES, PLAIN, Program, look_up_program
from pflow.domain.shell.script_parser import ScriptParser
from pflow.domain.shell.syntax_tree import (
    LiteralText,
    Script,
    TemplateMark,
    Undecided,
    VariableAssignment,
    Word,
    drop_first_characters,
    get_base_name,
    get_constant_prefix,
    get_constant_text,
    get_file_name,
    may_word_split,
    parse_argument_assignment,
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


class ValueTracer(Protocol):
    """Traces where values of templates may be in a command, and collects findings."""

    value_variables: set[str]
    exported_value_variables: set[str]
    files_with_values: set[str]

    def record_files_with_values(self, files: Iterable[Word]) -> None: ...
    def may_file_hold_value(self, word: Word) -> bool: ...
    def add_finding(self, program: str, hint: str, word: Word = ()) -> None: ...
    def forbid_first_characters(self, template_index: int, program: str, characters: str) -> None: ...
    def require_whole_number(self, template_index: int) -> None: ...
    def trace_values_in_word(self, word: Word) -> bool: ...
    def forbid_value_as_variable_name(self, word: Word, program: str) -> None: ...
    def forbid_value_in_arithmetic(self, word: Word, program: str) -> None: ...
    def record_if_value_assigned(self, assignment: VariableAssignment, *, is_exported: bool = False) -> bool: ...
    def trace_values_to_output(self, script: Script, *, input_has_values: bool) -> bool: ...
    def inspect_inner_shell_program(
        self, text: str, *, arguments_have_values: bool, input_has_values: bool
    ) -> None: ...


class InvocationInspector:
    """Inspects invocations of programs. `special` are the inspections of programs with special arguments."""

    def __init__(self, tracer: ValueTracer, special: "Mapping[str, InspectArguments]") -> None:
        self.tracer = tracer
        self._special = special
        self._depth = 0

    def inspect_invocation(self, words: Sequence[Word], input_has_values: bool) -> None:
        """Add a finding for each value that a command would run. `input_has_values` if its input may contain values."""
        name = self._get_constant_program_name(words[0]) if words else None
        text = get_constant_text(words[0]) if words else None
        self._depth += 1
        if self._depth > _MOST_NESTED:
            self.tracer.add_finding("sh", "Start the program directly, with fewer wrappers.")
        elif name is None:
            held = next(filter(self.tracer.trace_values_in_word, words), None)
            if held or (words and self.tracer.may_file_hold_value(words[0])):
                self.tracer.add_finding("sh", _PROGRAM, held or ())
        elif name in self.tracer.files_with_values and (text is None or "/" in text):
            self.tracer.add_finding("sh", _PROGRAM)
        elif special := self._special.get(name):
            special(self, name, words, input_has_values)
        elif program := look_up_program(name):
            self.inspect_known_program(name, program, words, input_has_values)
        elif name not in PLAIN:
            self._inspect_embedded_interpreters(words, input_has_values)
        self._depth -= 1

    def inspect_known_program(self, name: str, program: Program, words: Sequence[Word], input_has_values: bool) -> None:
        _ProgramInvocation(self, name, program, words, input_has_values).inspect_arguments()

    def forbid_value_start(self, word: Word, program: str, characters: str) -> None:
        """Note that a value at the beginning of a word must not begin with one of these characters.

        Report a value right behind a constant `-` or `+`: the program would read an option of the value's choice.
        """
        sign = get_constant_prefix(word)
        if sign in ("-", "+") and "-" in characters and sign in characters and self.tracer.trace_values_in_word(word):
            self.tracer.add_finding(program, _OPTION, word)
            return
        for part in word:
            if isinstance(part, TemplateMark) and part.index >= 0:
                self.tracer.forbid_first_characters(part.index, program, characters)
            elif not isinstance(part, LiteralText) and self.tracer.trace_values_in_word((part,)):
                self.tracer.add_finding(program, _OPTION)
            elif not isinstance(part, LiteralText) or part.text:
                return

    def _get_constant_program_name(self, word: Word) -> str | None:
        """Return the name of a program without its folder, or None if it is not constant."""
        return None if self.tracer.trace_values_in_word(word) else get_file_name(word)

    def _inspect_embedded_interpreters(self, words: Sequence[Word], input_has_values: bool) -> None:
        """Inspect `… sh -c …` behind a program of which nothing is known, such as `docker exec`."""
        found = 0
        for at, word in enumerate(words[1:], 1):
            name = get_base_name(get_constant_text(word))
            if (program := look_up_program(name)) and (program.flag or program.code) and found < _LOOKED_AT:
                found += 1
                _ProgramInvocation(
                    self, name, program, words[at:], input_has_values, only_inline=True
                ).inspect_arguments()


InspectArguments = Callable[[InvocationInspector, str, Sequence[Word], bool], None]
"""Report the values that a program runs, given its name, its words and whether values may be in its input."""


class _ProgramInvocation:
    """One command whose program is in the table."""

    def __init__(
        self,
        invocations: InvocationInspector,
        name: str,
        program: Program,
        words: Sequence[Word],
        input_has_values: bool,
        *,
        only_inline: bool = False,
    ) -> None:
        self._invocations = invocations
        self._tracer = invocations.tracer
        self._name = name
        self._program = program
        self._words = words
        self._input_has_values = input_has_values
        self._only_inline = only_inline
        self._at = 1
        self._roles = program.operands.split()
        self._operands = 0
        self._reads_options = True
        self._has_program = False
        self._opens_operands = False
        self._is_constant = True
        self._joined: list[str] = []

    def inspect_arguments(self) -> None:
        while self._at < len(self._words):
            word = self._words[self._at]
            self._at += 1
            prefix = get_constant_prefix(word)
            self._report_values_after_split_word(word)
            if not self._reads_options or len(prefix) < 2 or prefix[0] not in "-+":
                self._inspect_operand(word)
            elif get_constant_text(word) == "--":
                self._reads_options = False
            else:
                self._inspect_option(word, prefix)
        if self._joined and self._is_constant:
            self._inspect_shell_code(" ".join(self._joined))
        if (
            self._program.reads
            and not self._has_program
            and self._input_has_values
            and not (self._only_inline and self._operands)
        ):
            self._tracer.add_finding(self._name, self._program.hint)

    def _report_values_after_split_word(self, word: Word) -> None:
        if not self._reads_options and set(self._roles[min(self._operands, len(self._roles) - 1) :]) == {"data"}:
            return
        rest = self._words[self._at - 1 :] if may_word_split(word) and not self._only_inline else ()
        if held := next(filter(self._tracer.trace_values_in_word, rest), None):
            self._tracer.add_finding(self._name, _QUOTE, held)

    def _inspect_shell_code(self, code: str) -> None:
        try:
            self._tracer.trace_values_to_output(
                ScriptParser(code).parse_script(), input_has_values=self._input_has_values
            )
        except Undecided as exc:
            self._tracer.add_finding(self._name, f"Write the program in a simpler form: {exc}.")

    def _inspect_option(self, word: Word, constant_prefix: str) -> None:
        prefix, kinds = constant_prefix, _map_option_kinds(self._program)
        option, equals, _ = prefix.partition("=")
        if prefix.startswith("--") or option in kinds:
            if not equals and get_constant_text(word) is None:
                self._report_value_in_option(word)
            else:
                self._inspect_option_argument(
                    option,
                    _find_option_kind(kinds, option),
                    drop_first_characters(word, len(option) + 1) if equals else None,
                )
            return
        for at, letter in enumerate(prefix[1:], 2):
            self._apply_flag_letter(letter)
            kind = kinds.get(letter)
            if kind == "scripts":
                kind = "runs" if self._is_followed_by_script(word, at) else None
            if kind:
                rest = drop_first_characters(word, at)
                for later in prefix[at:] if kind == "bundled" else "":
                    self._apply_flag_letter(later)
                is_alone = get_constant_text(rest) == "" and kind not in _IN_WORD and not self._program.flag
                self._inspect_option_argument(letter, kind, None if is_alone or self._program.flag else rest)
                if not self._program.flag:
                    return
        if get_constant_text(word) is None:
            self._report_value_in_option(word)

    def _is_followed_by_script(self, word: Word, option_end: int) -> bool:
        """Return whether a script follows the option that ends at this position of a word, as in `vim -s FILE`."""
        following = self._words[self._at] if self._at < len(self._words) else ()
        return get_constant_text(drop_first_characters(word, option_end)) == "" and get_constant_prefix(following)[
            :1
        ] not in ("-", "+")

    def _apply_flag_letter(self, letter: str) -> None:
        self._opens_operands = self._opens_operands or (self._name.startswith("perl") and letter in "np")
        if letter in self._program.flag:
            self._roles = ["code", "data"]
        elif letter == "s" and self._program.flag:
            self._roles = ["data"]

    def _inspect_option_argument(self, option: str, kind: str | None, argument: Word | None) -> None:
        if kind and argument is None:
            argument = self._words[self._at] if self._at < len(self._words) else ()
            self._report_values_after_split_word(argument)
            self._at += 2 if kind == "takes_two" else 1
        if kind == "code":
            self._roles = ["data"]
            self._inspect_code_argument(argument or ())
        elif kind == "runs" and self._name == "env":
            self._report_values_of_env_split(argument or ())
        elif kind == "runs" or (kind == "bundled" and argument):
            self._inspect_executed_argument(argument or ())
        if option in self._program.ends.split():
            is_runner = get_constant_text(argument or ()) in MODULES and kind == "runs"
            self._roles = ["file" if is_runner else "data"]
            self._reads_options = False
            self._has_program = True

    def _inspect_operand(self, word: Word) -> None:
        role = self._roles[min(self._operands, len(self._roles) - 1)]
        if role == "command":
            assigned = parse_argument_assignment(word) if self._program.assigns else None
            if assigned:
                self._tracer.record_if_value_assigned(assigned, is_exported=True)
                return
            if not self._only_inline:
                self._invocations.inspect_invocation(self._words[self._at - 1 :], self._input_has_values)
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
            self._inspect_code_argument(word)
        elif role == "file":
            self._inspect_program_file(word)
        else:
            self._inspect_data_operand(word)
        self._reads_options = self._reads_options and self._program.permutes

    def _inspect_code_argument(self, word: Word) -> None:
        self._has_program = True
        text = get_constant_text(word)
        if self._tracer.trace_values_in_word(word):
            self._tracer.add_finding(self._name, self._program.hint, word)
        if text is None or self._tracer.trace_values_in_word(word):
            self._is_constant = False
            return
        if self._is_input_with_values(word) or self._tracer.may_file_hold_value(word):
            self._tracer.add_finding(self._name, self._program.hint)
        elif self._name in _SAME_SHELL:
            self._joined += [text] if self._is_constant else []
        elif self._program.is_shell:
            has_values = any(map(self._tracer.trace_values_in_word, self._words[self._at :]))
            self._tracer.inspect_inner_shell_program(
                text, arguments_have_values=has_values, input_has_values=self._input_has_values
            )
        self._record_if_perl_opens_operands(text)

    def _record_if_perl_opens_operands(self, code: str) -> None:
        self._opens_operands = self._opens_operands or (
            self._name.startswith("perl") and ("<>" in code or "ARGV>" in code)
        )

    def _is_input_with_values(self, word: Word) -> bool:
        """Return whether a word names the standard input, and values are in it."""
        return (
            self._input_has_values
            and not self._only_inline
            and _STDIN.fullmatch(get_constant_text(word) or "") is not None
        )

    def _inspect_executed_argument(self, word: Word) -> None:
        if (
            self._tracer.trace_values_in_word(word)
            or self._is_input_with_values(word)
            or self._tracer.may_file_hold_value(word)
        ):
            self._tracer.add_finding(self._name, self._program.hint or _PROGRAM, word)

    def _inspect_program_file(self, word: Word) -> None:
        if self._only_inline:
            return
        self._has_program = True
        self._record_if_perl_opens_operands(get_constant_text(word) or "")  # the program itself behind `perl -le`
        if (
            self._is_input_with_values(word)
            or self._tracer.trace_values_in_word(word)
            or self._tracer.may_file_hold_value(word)
        ):
            self._tracer.add_finding(self._name, self._program.hint, word)

    def _inspect_data_operand(self, word: Word) -> None:
        if self._only_inline or not self._tracer.trace_values_in_word(word):
            return
        if self._opens_operands:
            self._tracer.add_finding(self._name, _MAGIC, word)
        elif self._reads_options and self._program.guarded:
            self._invocations.forbid_value_start(word, self._name, self._program.guarded)

    def _report_value_in_option(self, word: Word) -> None:
        if self._tracer.trace_values_in_word(word) and (
            self._program.guarded or self._program.code or self._program.flag
        ):
            self._tracer.add_finding(self._name, _OPTION, word)

    def _report_values_of_env_split(self, word: Word) -> None:
        """Report any value behind `env -S`, which takes a command in one word and expands variables in it."""
        held = next(filter(self._tracer.trace_values_in_word, [word, *self._words[self._at :]]), None)
        if held or self._input_has_values:
            self._tracer.add_finding("env -S", _PROGRAM, held or ())


@lru_cache(maxsize=256)
def _map_option_kinds(program: Program) -> dict[str, str]:
    return {option: kind for kind in _KINDS for option in str(getattr(program, kind)).split()}


def _find_option_kind(kinds: dict[str, str], option: str) -> str | None:
    """Return the kind of a long option, which may be written short."""
    return kinds.get(option) or next(
        (kind for known, kind in kinds.items() if option.startswith("--") and known.startswith(option)), None
    )
