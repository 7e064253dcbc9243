"""Inspect a command: find each position in which a value would be program text and not data."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from pflow.shell.arguments import Arguments
from pflow.shell.interpreters import is_program_variable
from pflow.shell.reader import Reader
from pflow.shell.special_programs import SPECIAL
from pflow.shell.tree import (
    Arithmetic,
    Assignment,
    Command,
    Mark,
    Part,
    Script,
    Substitution,
    Text,
    Undecided,
    Variable,
    Word,
    get_constant_prefix,
    get_constant_text,
    get_file_name,
    iter_marks,
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
    """`program` would run the value of template number `mark`, or a value that reaches it otherwise if it is None."""

    program: str
    hint: str
    mark: int | None = None


@dataclass
class Inspection:
    """`guards` are templates whose value must not begin with certain characters, by the program that reads them."""

    findings: list[Finding] = field(default_factory=list[Finding])
    guards: dict[int, tuple[str, str]] = field(default_factory=dict[int, tuple[str, str]])
    numbers: set[int] = field(default_factory=set[int])
    """Templates whose value must be a whole number, because some shells compute it."""


def inspect_tree(tree: Script, *, names: Iterable[str] = (), is_fed: bool = False) -> Inspection:
    """Inspect a command. `names` are variables that hold values; `is_fed` if values come by standard input."""
    inspector = _Inspector({*names}, Inspection())
    inspector.inspect_in_passes(tree, is_fed)
    return inspector.inspection


class _Inspector:
    """Walks over a command until it is known which variables, functions and files hold values, then once more."""

    def __init__(self, names: set[str], inspection: Inspection) -> None:
        self.names = names
        """Variables that hold values; `@` are the arguments, `f()` those of a function, `f<` its input."""
        self.exported = {*names}
        self.written: set[str] = set()
        self.functions: dict[str, Command] = {}
        self.inspection = inspection
        self.is_last = False
        self._everything = False
        self._seen: dict[int, bool] = {}
        self._arguments = Arguments(self, SPECIAL)

    def inspect_in_passes(self, tree: Script, is_fed: bool) -> None:
        for _ in range(_MOST_PASSES):
            before = self._count_facts()
            self._inspect_once(tree, is_fed)
            if self._count_facts() == before:
                break
        else:
            self._everything = True
        self.is_last = True
        self._inspect_once(tree, is_fed)

    def _count_facts(self) -> int:
        return len(self.names) + len(self.exported) + len(self.written) + len(self.functions)

    def _inspect_once(self, tree: Script, is_fed: bool) -> None:
        self._seen.clear()
        self.inspect_script(tree, is_fed)

    def report_finding(self, program: str, hint: str, word: Word = ()) -> None:
        if self.is_last:
            mark = next((one for one in iter_marks(word) if one >= 0), None)
            finding = Finding(program, hint, mark)
            self.inspection.findings += [] if finding in self.inspection.findings else [finding]

    def add_guard(self, mark: int, program: str, characters: str) -> None:
        if self.is_last:
            before = self.inspection.guards.get(mark, ("", ""))[1]
            self.inspection.guards[mark] = (program, before + characters)

    def require_number(self, mark: int) -> None:
        self.inspection.numbers.add(mark)

    def inspect_nested_program(self, text: str, *, has_values: bool, is_fed: bool) -> None:
        """Inspect a constant program for another shell."""
        if not self.is_last:
            return
        inspector = _Inspector((self.names - {"@"}) | ({"@"} if has_values else set()), Inspection())
        inspector.written = self.written
        try:
            inspector.inspect_in_passes(Reader(text).read(), is_fed)
        except Undecided as exc:
            if has_values or is_fed or self.names:
                self.report_finding("sh", f"Write the program in a simpler form: {exc}.")
        for finding in inspector.inspection.findings:
            self.report_finding(finding.program, finding.hint)

    def inspect_script(self, script: Script, is_fed: bool) -> bool:
        """Return whether the output of the script may contain values. `is_fed` if its input may contain them."""
        carries = False
        for pipeline in script.pipelines:
            flows = is_fed
            for command in pipeline:
                flows = self._inspect_command(command, flows)
            carries = carries or flows
        return carries

    def _inspect_command(self, command: Command, is_fed: bool) -> bool:
        is_fed = is_fed or "exec<" in self.names
        for redirect in command.redirects:
            holds = self.may_hold_value(redirect.target, is_fed)
            if redirect.operator in _INPUTS:
                holds = holds or self.is_written(redirect.target)
                is_new = redirect.descriptor in ("", "0") and redirect.operator != "<&"
                is_fed = holds or (is_fed and not is_new)
        carries = self._inspect_compound(command, is_fed) if command.kind else self._inspect_simple(command, is_fed)
        if carries or is_fed:
            self.note_written_files(one.target for one in command.redirects if one.operator in _OUTPUTS)
        return carries or is_fed

    def note_written_files(self, files: Iterable[Word]) -> None:
        """Note files that values are written to."""
        self.written.update(
            get_file_name(one) or _UNKNOWN_FILE for one in files if not get_constant_prefix(one).startswith("/dev/")
        )

    def is_written(self, word: Word) -> bool:
        """Return whether values may be in the file that a word names."""
        name = get_file_name(word)
        return bool(self.written) if name is None else name in self.written

    def _inspect_compound(self, command: Command, is_fed: bool) -> bool:
        self._check_arithmetic(command.computed, "(( ))", is_fed, is_command=True)
        if command.kind == "function":
            name = get_constant_text(command.words[0]) or ""
            self.functions[name] = command
            return self._inspect_function(command, name)
        held = [self.may_hold_value(word, is_fed) for word in command.words]
        if command.kind == "for" and (any(held[1:]) or (len(held) == 1 and "@" in self.names)):
            self.names.add(get_constant_text(command.words[0]) or "")
        carried = [self.inspect_script(script, is_fed) for script in command.scripts]
        return any(held) or any(carried)

    def _inspect_function(self, command: Command, name: str) -> bool:
        outer = "@" in self.names
        (self.names.add if f"{name}()" in self.names else self.names.discard)("@")
        self.inspect_script(command.scripts[0], f"{name}<" in self.names)
        (self.names.add if outer else self.names.discard)("@")
        return False

    def _inspect_simple(self, command: Command, is_fed: bool) -> bool:
        carries = False
        for assignment in command.assignments:
            carries = self.note_assignment(assignment, is_fed, is_exported=bool(command.words)) or carries
        for word in command.words:
            carries = self.may_hold_value(word, is_fed) or self.is_written(word) or carries
        if command.words:
            if self.may_hold_value(command.words[-1], is_fed):
                self.names.add("_")
            if get_constant_text(command.words[0]) == "exec" and len(command.words) == 1 and is_fed:
                self.names.add("exec<")
            self._arguments.inspect_invocation(command.words, is_fed)
            if get_constant_text(command.words[0]) in _FOLDER_PRINTERS:
                carries = carries or "PWD" in self.names
        return self._note_function_call(command, is_fed) or carries

    def _note_function_call(self, command: Command, is_fed: bool) -> bool:
        """Note that a function of the command is called with values."""
        name = get_constant_text(command.words[0]) if command.words else None
        if name is None or name not in self.functions:
            return False
        has_values = any(self.may_hold_value(word, is_fed) for word in command.words[1:])
        self.names |= ({f"{name}()"} if has_values else set()) | ({f"{name}<"} if is_fed else set())
        return True

    def note_assignment(self, assignment: Assignment, is_fed: bool = False, *, is_exported: bool = False) -> bool:
        """Note a variable that is given a value. Return whether it is."""
        if self.may_hold_value(assignment.subscript, is_fed):
            self.report_finding(f"{assignment.name}[…]", ARITHMETIC, assignment.subscript)
        if not self.may_hold_value(assignment.value, is_fed):
            return False
        self.names.add(assignment.name)
        if is_exported:
            self.exported.add(assignment.name)
        if is_program_variable(assignment.name):
            self.report_finding(f"{assignment.name}=", _FOREIGN, assignment.value)
        return True

    def check_name(self, word: Word, program: str) -> None:
        """Report a value that is used as the name of a variable."""
        if self.may_hold_value(word):
            self.report_finding(program, _CONSTANT, word)

    def may_hold_value(self, word: Word, is_fed: bool = False) -> bool:
        """Return whether a word may contain a value, and inspect the commands in it."""
        held = [self._may_part_hold_value(part, is_fed) for part in word]
        return any(held)

    def _may_part_hold_value(self, part: Part, is_fed: bool) -> bool:
        if isinstance(part, Mark):
            return True
        if isinstance(part, Text):
            return False
        if id(part) not in self._seen:
            self._seen[id(part)] = self._inspect_part(part, is_fed)
        return self._seen[id(part)]

    def _inspect_part(self, part: Variable | Substitution | Arithmetic, is_fed: bool) -> bool:
        if isinstance(part, Substitution):
            return self.inspect_script(part.script, is_fed or part.fed)
        if isinstance(part, Arithmetic):
            self._check_arithmetic(part.parts, "$(( ))", is_fed)
            return False
        self._check_arithmetic(part.computed, f"${{{part.name}[…]}}", is_fed)
        is_held = self.may_hold_value(part.inner, is_fed)
        if is_held and re.match(r":?=", part.operation):
            self.names.add(part.name)
        is_named = self.is_value_variable(part.name)
        if is_named and (part.operation.startswith("!") or part.operation.endswith("@P")):
            self.report_finding(f"${{{part.operation[:1]}{part.name}}}", _CONSTANT)
        return (is_named and not part.operation.startswith("#")) or is_held

    def is_value_variable(self, name: str) -> bool:
        if self._everything or name in self.names or name in _FROM_VALUES or _OURS.fullmatch(name):
            return True
        return (name.isdecimal() or name in "@*") and "@" in self.names

    def check_computed(self, word: Word, program: str) -> None:
        """Report values in a word that bash computes."""
        if self.may_hold_value(word) or any(
            self.is_value_variable(name[0])
            for part in word
            if isinstance(part, Text)
            for name in _IDENTIFIER.finditer(part.text)
        ):
            self.report_finding(program, ARITHMETIC, word)

    def _check_arithmetic(self, parts: Word, program: str, is_fed: bool, *, is_command: bool = False) -> None:
        """Report values in arithmetic, except for templates that stand in it themselves: they must be numbers."""
        inner = [one for part in parts for one in (part.parts if isinstance(part, Arithmetic) else (part,))]
        if is_command:
            self.check_computed(tuple(inner), program)
            return
        for part in inner:
            if not isinstance(part, Mark):
                self.may_hold_value((part,), is_fed)
                self.check_computed((part,), program)
