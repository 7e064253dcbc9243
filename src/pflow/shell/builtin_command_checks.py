"""Check commands of the shell itself that set variables, compute, or run other commands."""

from collections.abc import Sequence
from typing import Final

from pflow.shell.code_running_programs import Program
from pflow.shell.invocation_checks import InspectArguments, InvocationInspector
from pflow.shell.syntax_tree import (
    Mark,
    Word,
    drop_first_characters,
    get_constant_prefix,
    get_constant_text,
    may_word_split,
    parse_argument_assignment,
)

_NUMERIC: Final = ("-eq", "-ne", "-lt", "-le", "-gt", "-ge")
_OPERATOR: Final = "Put a constant operator between the values, as in [ ${a} = ${b} ]."
_ALIAS: Final = "Write the command itself instead of an alias."


def _inspect_declare(inspector: InvocationInspector, name: str, words: Sequence[Word], _: bool) -> None:
    computes = False
    for word in words[1:]:
        text = get_constant_text(word)
        if text is not None and text[:1] in ("-", "+"):
            computes = computes or (name in ("declare", "typeset", "local") and any(one in text for one in "in"))
        elif assigned := parse_argument_assignment(word):
            inspector.tracer.record_if_value_assigned(assigned, is_exported=name != "local")
            if computes:
                inspector.tracer.forbid_value_in_arithmetic(assigned.value, f"{name} -i")
        else:
            inspector.tracer.forbid_value_as_variable_name(word, name)


def _inspect_read(inspector: InvocationInspector, name: str, words: Sequence[Word], input_has_values: bool) -> None:
    at, names = 1, ["REPLY", "MAPFILE"]
    while at < len(words):
        prefix = get_constant_prefix(words[at])
        if prefix[:1] == "-" and len(prefix) == 2 and prefix[1] in "pdtnNuiOscC":
            if prefix == "-C":
                inspector.tracer.forbid_value_as_variable_name(words[min(at + 1, len(words) - 1)], name)
            at += 1
        elif prefix[:1] != "-":
            inspector.tracer.forbid_value_as_variable_name(words[at], name)
            names.append(get_constant_text(words[at]) or "")
        at += 1
    if input_has_values:
        inspector.tracer.value_variables.update(names)


def _inspect_name_arguments(inspector: InvocationInspector, name: str, words: Sequence[Word], _: bool) -> None:
    for word in words[2:3] if name == "getopts" else words[1:]:
        inspector.tracer.forbid_value_as_variable_name(word, name)


def _inspect_job_options(inspector: InvocationInspector, name: str, words: Sequence[Word], _: bool) -> None:
    """Report values behind `jobs -x`, `wait -p` and `fc -e`, which run a command or set a variable."""
    if any(
        get_constant_prefix(word).startswith("-") and set(get_constant_prefix(word)) & set("xpes") for word in words[1:]
    ):
        for word in words[1:]:
            inspector.tracer.forbid_value_as_variable_name(word, name)


def _inspect_let(inspector: InvocationInspector, name: str, words: Sequence[Word], _: bool) -> None:
    for word in words[1:]:
        inspector.tracer.forbid_value_in_arithmetic(word, name)


def _inspect_printf(inspector: InvocationInspector, name: str, words: Sequence[Word], _: bool) -> None:
    first = words[1] if len(words) > 1 else ()
    if get_constant_prefix(first).startswith("-v"):
        variable = drop_first_characters(first, 2) if get_constant_text(first) != "-v" else (*words, ())[2]
        inspector.tracer.forbid_value_as_variable_name(variable, "printf -v")
        if any(map(inspector.tracer.trace_values_in_word, words[2:])):
            inspector.tracer.value_variables.add(get_constant_text(variable) or "")
    else:
        for word in words[1:3] if may_word_split(first) else [first]:
            inspector.forbid_value_start(word, name, "-")


def _inspect_set(inspector: InvocationInspector, _name: str, words: Sequence[Word], _: bool) -> None:
    if any(map(inspector.tracer.trace_values_in_word, words[1:])):
        inspector.tracer.value_variables.add("@")


def _inspect_cd(inspector: InvocationInspector, _name: str, words: Sequence[Word], _: bool) -> None:
    if any(map(inspector.tracer.trace_values_in_word, words[1:])):
        inspector.tracer.value_variables.update(("PWD", "OLDPWD", "DIRSTACK"))


def _inspect_test(inspector: InvocationInspector, name: str, words: Sequence[Word], _: bool) -> None:
    tracer = inspector.tracer
    before: Word = ()
    for at, word in enumerate(words[1:], 1):
        text, after = get_constant_text(word), words[at + 1] if at + 1 < len(words) else ()
        if text in _NUMERIC:
            for operand in (before, after):
                _inspect_numeric_operand(inspector, name, operand)
        elif text in ("-v", "-R"):
            tracer.forbid_value_as_variable_name(after, f"{name} {text}")
        elif name != "[[" and tracer.trace_values_in_word(word) and tracer.trace_values_in_word(after):
            tracer.add_finding(name, _OPERATOR, word)
        before = word


def _inspect_numeric_operand(inspector: InvocationInspector, name: str, operand: Word) -> None:
    """Inspect an operand of a numeric comparison, which `[[` and in some shells `[` evaluate as arithmetic."""
    if name == "[[":
        inspector.tracer.forbid_value_in_arithmetic(operand, "[[ ]]")
    else:
        for part in operand:
            if isinstance(part, Mark):
                inspector.tracer.require_whole_number(part.index)


def _inspect_alias(inspector: InvocationInspector, name: str, words: Sequence[Word], _: bool) -> None:
    if len(words) > 1:
        inspector.tracer.add_finding(name, _ALIAS, words[1])


def _inspect_command_builtin(
    inspector: InvocationInspector, name: str, words: Sequence[Word], input_has_values: bool
) -> None:
    first = get_constant_text(words[1]) if len(words) > 1 else None
    if first not in ("-v", "-V"):
        inspector.inspect_known_program(name, Program("command"), words, input_has_values)


BUILTINS: Final[dict[str, InspectArguments]] = {
    **dict.fromkeys(("export", "readonly", "declare", "typeset", "local"), _inspect_declare),
    **dict.fromkeys(("read", "mapfile", "readarray"), _inspect_read),
    **dict.fromkeys(("unset", "getopts"), _inspect_name_arguments),
    **dict.fromkeys(("test", "[", "[["), _inspect_test),
    **dict.fromkeys(("jobs", "wait", "fc"), _inspect_job_options),
    **dict.fromkeys(("cd", "pushd", "popd"), _inspect_cd),
    "let": _inspect_let,
    "printf": _inspect_printf,
    "set": _inspect_set,
    "alias": _inspect_alias,
    "command": _inspect_command_builtin,
}
