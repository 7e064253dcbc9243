"""Find each position of a command in which a value would be program text and not data."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from pflow.domain.shell.code_running_programs import can_variable_select_program
from pflow.domain.shell.invocation_checks import InvocationInspector
from pflow.domain.shell.script_parser import ScriptParser
from pflow.domain.shell.special_command_checks import SPECIAL
from pflow.domain.shell.syntax_tree import (
    Arithmetic,
    Command,
    LiteralText,
    Part,
    Script,
    Substitution,
    TemplateMark,
    Undecided,
    Variable,
    VariableAssignment,
    Word,
    get_constant_prefix,
    get_constant_text,
    get_file_name,
    iter_template_indexes,
)

_MOST_PASSES: Final = 8
_FROM_VALUES: Final = ("BASH_ARGV", "BASH_COMMAND", "BASH_REMATCH", "OPTARG")
"""Variables that bash sets from arguments, matches and options."""
_FOLDER_PRINTERS: Final = ("pwd", "dirs", "realpath", "readlink")
"""Commands that print the working folder."""
_UNKNOWN_FILE: Final = "*"
"""Stands for files whose names are not constant."""
_OURS: Final = re.compile(r"PFLOW_\d+")
_IDENTIFIER: Final = re.compile(r"[A-Za-z_]\w*")
_INPUTS: Final = ("<", "<<", "<<-", "<<<", "<>", "<&")
_OUTPUTS: Final = (">", ">>", ">|", "&>", "&>>", "<>", ">&")
ARITHMETIC: Final = (
    "Write the template itself in $((…)), which accepts only whole numbers, or compare with [ ${v} -gt 1 ]."
)
_FOREIGN: Final = "Give the variable a constant value, or pass the value in a variable with another name."
_CONSTANT: Final = "Write the name itself into the command: a value can name other variables, and code in a subscript."


@dataclass(frozen=True)
class Finding:
    """`program` would run the value of this template, or a value that reaches it otherwise if the index is None."""

    program: str
    hint: str
    template_index: int | None = None


@dataclass
class InjectionReport:
    """`guards` are templates whose value must not begin with certain characters, by the program that reads them."""

    findings: list[Finding] = field(default_factory=list[Finding])
    guards: dict[int, tuple[str, str]] = field(default_factory=dict[int, tuple[str, str]])
    numbers: set[int] = field(default_factory=set[int])
    """Templates whose value must be a whole number, because some shells compute it."""


def check_injections(
    tree: Script, *, value_variables: Iterable[str] = (), input_has_values: bool = False
) -> InjectionReport:
    """Return the values that a command would run. `value_variables` are the variables that hold values."""
    tracer = _ScriptValueTracer({*value_variables}, InjectionReport())
    tracer.inspect_until_stable(tree, input_has_values)
    return tracer.report


class _ScriptValueTracer:
    """Walks over a command until it is known which variables, functions and files hold values, then once more."""

    def __init__(self, value_variables: set[str], report: InjectionReport) -> None:
        self.value_variables = value_variables
        """Variables that hold values; `@` are the arguments, `f()` those of a function, `f<` its input."""
        self.exported_value_variables = {*value_variables}
        self.files_with_values: set[str] = set()
        self.functions: dict[str, Command] = {}
        self.report = report
        self.is_last = False
        self._everything = False
        self._seen: dict[int, bool] = {}
        self._invocations = InvocationInspector(self, SPECIAL)

    def inspect_until_stable(self, tree: Script, input_has_values: bool) -> None:
        for _ in range(_MOST_PASSES):
            before = self._count_traced_names()
            self._inspect_script_once(tree, input_has_values)
            if self._count_traced_names() == before:
                break
        else:
            self._everything = True
        self.is_last = True
        self._inspect_script_once(tree, input_has_values)

    def _count_traced_names(self) -> int:
        return (
            len(self.value_variables)
            + len(self.exported_value_variables)
            + len(self.files_with_values)
            + len(self.functions)
        )

    def _inspect_script_once(self, tree: Script, input_has_values: bool) -> None:
        self._seen.clear()
        self.trace_values_to_output(tree, input_has_values=input_has_values)

    def add_finding(self, program: str, hint: str, word: Word = ()) -> None:
        if self.is_last:
            mark = next((one for one in iter_template_indexes(word) if one >= 0), None)
            finding = Finding(program, hint, mark)
            self.report.findings += [] if finding in self.report.findings else [finding]

    def forbid_first_characters(self, template_index: int, program: str, characters: str) -> None:
        if self.is_last:
            before = self.report.guards.get(template_index, ("", ""))[1]
            self.report.guards[template_index] = (program, before + characters)

    def require_whole_number(self, template_index: int) -> None:
        self.report.numbers.add(template_index)

    def inspect_inner_shell_program(self, text: str, *, arguments_have_values: bool, input_has_values: bool) -> None:
        if not self.is_last:
            return
        tracer = _ScriptValueTracer(
            (self.value_variables - {"@"}) | ({"@"} if arguments_have_values else set()), InjectionReport()
        )
        tracer.files_with_values = self.files_with_values
        try:
            tracer.inspect_until_stable(ScriptParser(text).parse_script(), input_has_values)
        except Undecided as exc:
            if arguments_have_values or input_has_values or self.value_variables:
                self.add_finding("sh", f"Write the program in a simpler form: {exc}.")
        for finding in tracer.report.findings:
            self.add_finding(finding.program, finding.hint)

    def trace_values_to_output(self, script: Script, *, input_has_values: bool) -> bool:
        """Inspect a script, and return whether its output may contain values."""
        carries = False
        for pipeline in script.pipelines:
            flows = input_has_values
            for command in pipeline:
                flows = self._trace_values_through_command(command, flows)
            carries = carries or flows
        return carries

    def _trace_values_through_command(self, command: Command, input_has_values: bool) -> bool:
        input_has_values = input_has_values or "exec<" in self.value_variables
        for redirect in command.redirects:
            holds = self.trace_values_in_word(redirect.target, input_has_values)
            if redirect.operator in _INPUTS:
                holds = holds or self.may_file_hold_value(redirect.target)
                is_new = redirect.descriptor in ("", "0") and redirect.operator != "<&"
                input_has_values = holds or (input_has_values and not is_new)
        carries = (
            self._trace_values_through_compound(command, input_has_values)
            if command.kind
            else self._trace_values_through_simple(command, input_has_values)
        )
        if carries or input_has_values:
            self.record_files_with_values(one.target for one in command.redirects if one.operator in _OUTPUTS)
        return carries or input_has_values

    def record_files_with_values(self, files: Iterable[Word]) -> None:
        self.files_with_values.update(
            get_file_name(one) or _UNKNOWN_FILE for one in files if not get_constant_prefix(one).startswith("/dev/")
        )

    def may_file_hold_value(self, word: Word) -> bool:
        """Return whether values may be in the file that a word names."""
        name = get_file_name(word)
        return bool(self.files_with_values) if name is None else name in self.files_with_values

    def _trace_values_through_compound(self, command: Command, input_has_values: bool) -> bool:
        self._inspect_arithmetic(command.computed, "(( ))", input_has_values, is_command=True)
        if command.kind == "function":
            name = get_constant_text(command.words[0]) or ""
            self.functions[name] = command
            return self._inspect_function_definition(command, name)
        held = [self.trace_values_in_word(word, input_has_values) for word in command.words]
        if command.kind == "for" and (any(held[1:]) or (len(held) == 1 and "@" in self.value_variables)):
            self.value_variables.add(get_constant_text(command.words[0]) or "")
        carried = [self.trace_values_to_output(script, input_has_values=input_has_values) for script in command.scripts]
        return any(held) or any(carried)

    def _inspect_function_definition(self, command: Command, name: str) -> bool:
        outer = "@" in self.value_variables
        (self.value_variables.add if f"{name}()" in self.value_variables else self.value_variables.discard)("@")
        self.trace_values_to_output(command.scripts[0], input_has_values=f"{name}<" in self.value_variables)
        (self.value_variables.add if outer else self.value_variables.discard)("@")
        return False

    def _trace_values_through_simple(self, command: Command, input_has_values: bool) -> bool:
        carries = False
        for assignment in command.assignments:
            carries = (
                self.record_if_value_assigned(assignment, input_has_values, is_exported=bool(command.words)) or carries
            )
        for word in command.words:
            carries = self.trace_values_in_word(word, input_has_values) or self.may_file_hold_value(word) or carries
        if command.words:
            if self.trace_values_in_word(command.words[-1], input_has_values):
                self.value_variables.add("_")
            if get_constant_text(command.words[0]) == "exec" and len(command.words) == 1 and input_has_values:
                self.value_variables.add("exec<")
            self._invocations.inspect_invocation(command.words, input_has_values)
            if get_constant_text(command.words[0]) in _FOLDER_PRINTERS:
                carries = carries or "PWD" in self.value_variables
        return self._record_if_function_call(command, input_has_values) or carries

    def _record_if_function_call(self, command: Command, input_has_values: bool) -> bool:
        """Record that a function of the command is called with values. Return whether a function is called."""
        name = get_constant_text(command.words[0]) if command.words else None
        if name is None or name not in self.functions:
            return False
        has_values = any(self.trace_values_in_word(word, input_has_values) for word in command.words[1:])
        self.value_variables |= ({f"{name}()"} if has_values else set()) | ({f"{name}<"} if input_has_values else set())
        return True

    def record_if_value_assigned(
        self, assignment: VariableAssignment, input_has_values: bool = False, *, is_exported: bool = False
    ) -> bool:
        """Record a variable that is given a value of a template. Return whether it is."""
        if self.trace_values_in_word(assignment.subscript, input_has_values):
            self.add_finding(f"{assignment.name}[…]", ARITHMETIC, assignment.subscript)
        if not self.trace_values_in_word(assignment.value, input_has_values):
            return False
        self.value_variables.add(assignment.name)
        if is_exported:
            self.exported_value_variables.add(assignment.name)
        if can_variable_select_program(assignment.name):
            self.add_finding(f"{assignment.name}=", _FOREIGN, assignment.value)
        return True

    def forbid_value_as_variable_name(self, word: Word, program: str) -> None:
        if self.trace_values_in_word(word):
            self.add_finding(program, _CONSTANT, word)

    def trace_values_in_word(self, word: Word, input_has_values: bool = False) -> bool:
        """Inspect the commands in a word, and return whether the word may contain a value."""
        held = [self._trace_values_in_part(part, input_has_values) for part in word]
        return any(held)

    def _trace_values_in_part(self, part: Part, input_has_values: bool) -> bool:
        if isinstance(part, TemplateMark):
            return True
        if isinstance(part, LiteralText):
            return False
        if id(part) not in self._seen:
            self._seen[id(part)] = self._trace_values_in_expansion(part, input_has_values)
        return self._seen[id(part)]

    def _trace_values_in_expansion(self, part: Variable | Substitution | Arithmetic, input_has_values: bool) -> bool:
        if isinstance(part, Substitution):
            return self.trace_values_to_output(part.script, input_has_values=input_has_values or part.receives_input)
        if isinstance(part, Arithmetic):
            self._inspect_arithmetic(part.parts, "$(( ))", input_has_values)
            return False
        self._inspect_arithmetic(part.computed, f"${{{part.name}[…]}}", input_has_values)
        is_held = self.trace_values_in_word(part.inner, input_has_values)
        if is_held and re.match(r":?=", part.operation):
            self.value_variables.add(part.name)
        is_named = self.may_variable_hold_value(part.name)
        if is_named and (part.operation.startswith("!") or part.operation.endswith("@P")):
            self.add_finding(f"${{{part.operation[:1]}{part.name}}}", _CONSTANT)
        return (is_named and not part.operation.startswith("#")) or is_held

    def may_variable_hold_value(self, name: str) -> bool:
        if self._everything or name in self.value_variables or name in _FROM_VALUES or _OURS.fullmatch(name):
            return True
        return (name.isdecimal() or name in "@*") and "@" in self.value_variables

    def forbid_value_in_arithmetic(self, word: Word, program: str) -> None:
        if self.trace_values_in_word(word) or any(
            self.may_variable_hold_value(name[0])
            for part in word
            if isinstance(part, LiteralText)
            for name in _IDENTIFIER.finditer(part.text)
        ):
            self.add_finding(program, ARITHMETIC, word)

    def _inspect_arithmetic(
        self, parts: Word, program: str, input_has_values: bool, *, is_command: bool = False
    ) -> None:
        """Report values in arithmetic, except for templates that stand in it themselves: they must be numbers."""
        inner = [one for part in parts for one in (part.parts if isinstance(part, Arithmetic) else (part,))]
        if is_command:
            self.forbid_value_in_arithmetic(tuple(inner), program)
            return
        for part in inner:
            if not isinstance(part, TemplateMark):
                self.trace_values_in_word((part,), input_has_values)
                self.forbid_value_in_arithmetic((part,), program)
