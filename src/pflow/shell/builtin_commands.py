"""Commands of the shell itself that set variables, compute, or run other commands."""

from collections.abc import Sequence
from typing import Final

from pflow.shell.arguments import Arguments, InspectSpecial
from pflow.shell.interpreters import Program
from pflow.shell.tree import (
    Mark,
    Word,
    drop_prefix,
    get_constant_prefix,
    get_constant_text,
    may_split,
    parse_named_assignment,
)

_NUMERIC: Final = ("-eq", "-ne", "-lt", "-le", "-gt", "-ge")
_OPERATOR: Final = "Put a constant operator between the values, as in [ ${a} = ${b} ]."
_ALIAS: Final = "Write the command itself instead of an alias."


def _inspect_declare(arguments: Arguments, name: str, words: Sequence[Word], _: bool) -> None:
    computes = False
    for word in words[1:]:
        text = get_constant_text(word)
        if text is not None and text[:1] in ("-", "+"):
            computes = computes or (name in ("declare", "typeset", "local") and any(one in text for one in "in"))
        elif assigned := parse_named_assignment(word):
            arguments.walk.note_assignment(assigned, is_exported=name != "local")
            if computes:
                arguments.walk.check_computed(assigned.value, f"{name} -i")
        else:
            arguments.walk.check_name(word, name)


def _inspect_read(arguments: Arguments, name: str, words: Sequence[Word], is_fed: bool) -> None:
    at, names = 1, ["REPLY", "MAPFILE"]
    while at < len(words):
        prefix = get_constant_prefix(words[at])
        if prefix[:1] == "-" and len(prefix) == 2 and prefix[1] in "pdtnNuiOscC":
            if prefix == "-C":
                arguments.walk.check_name(words[min(at + 1, len(words) - 1)], name)
            at += 1
        elif prefix[:1] != "-":
            arguments.walk.check_name(words[at], name)
            names.append(get_constant_text(words[at]) or "")
        at += 1
    if is_fed:
        arguments.walk.names.update(names)


def _inspect_names(arguments: Arguments, name: str, words: Sequence[Word], _: bool) -> None:
    for word in words[2:3] if name == "getopts" else words[1:]:
        arguments.walk.check_name(word, name)


def _inspect_job_options(arguments: Arguments, name: str, words: Sequence[Word], _: bool) -> None:
    """Report values behind `jobs -x`, `wait -p` and `fc -e`, which run a command or set a variable."""
    if any(
        get_constant_prefix(word).startswith("-") and set(get_constant_prefix(word)) & set("xpes") for word in words[1:]
    ):
        for word in words[1:]:
            arguments.walk.check_name(word, name)


def _inspect_let(arguments: Arguments, name: str, words: Sequence[Word], _: bool) -> None:
    for word in words[1:]:
        arguments.walk.check_computed(word, name)


def _inspect_printf(arguments: Arguments, name: str, words: Sequence[Word], _: bool) -> None:
    first = words[1] if len(words) > 1 else ()
    if get_constant_prefix(first).startswith("-v"):
        variable = drop_prefix(first, 2) if get_constant_text(first) != "-v" else (*words, ())[2]
        arguments.walk.check_name(variable, "printf -v")
        if any(map(arguments.walk.may_hold_value, words[2:])):
            arguments.walk.names.add(get_constant_text(variable) or "")
    else:
        for word in words[1:3] if may_split(first) else [first]:
            arguments.guard_start(word, name, "-")


def _inspect_set(arguments: Arguments, _name: str, words: Sequence[Word], _: bool) -> None:
    if any(map(arguments.walk.may_hold_value, words[1:])):
        arguments.walk.names.add("@")


def _inspect_cd(arguments: Arguments, _name: str, words: Sequence[Word], _: bool) -> None:
    if any(map(arguments.walk.may_hold_value, words[1:])):
        arguments.walk.names.update(("PWD", "OLDPWD", "DIRSTACK"))


def _inspect_test(arguments: Arguments, name: str, words: Sequence[Word], _: bool) -> None:
    walk = arguments.walk
    before: Word = ()
    for at, word in enumerate(words[1:], 1):
        text, after = get_constant_text(word), words[at + 1] if at + 1 < len(words) else ()
        if text in _NUMERIC:
            for operand in (before, after):
                _inspect_comparison(arguments, name, operand)
        elif text in ("-v", "-R"):
            walk.check_name(after, f"{name} {text}")
        elif name != "[[" and walk.may_hold_value(word) and walk.may_hold_value(after):
            walk.report_finding(name, _OPERATOR, word)
        before = word


def _inspect_comparison(arguments: Arguments, name: str, operand: Word) -> None:
    """Inspect an operand of a numeric comparison, which `[[` and in some shells `[` evaluate as arithmetic."""
    if name == "[[":
        arguments.walk.check_computed(operand, "[[ ]]")
    else:
        for part in operand:
            if isinstance(part, Mark):
                arguments.walk.require_number(part.index)


def _inspect_alias(arguments: Arguments, name: str, words: Sequence[Word], _: bool) -> None:
    if len(words) > 1:
        arguments.walk.report_finding(name, _ALIAS, words[1])


def _inspect_command(arguments: Arguments, name: str, words: Sequence[Word], is_fed: bool) -> None:
    first = get_constant_text(words[1]) if len(words) > 1 else None
    if first not in ("-v", "-V"):
        arguments.inspect_program(name, Program("command"), words, is_fed)


BUILTINS: Final[dict[str, InspectSpecial]] = {
    **dict.fromkeys(("export", "readonly", "declare", "typeset", "local"), _inspect_declare),
    **dict.fromkeys(("read", "mapfile", "readarray"), _inspect_read),
    **dict.fromkeys(("unset", "getopts"), _inspect_names),
    **dict.fromkeys(("test", "[", "[["), _inspect_test),
    **dict.fromkeys(("jobs", "wait", "fc"), _inspect_job_options),
    **dict.fromkeys(("cd", "pushd", "popd"), _inspect_cd),
    "let": _inspect_let,
    "printf": _inspect_printf,
    "set": _inspect_set,
    "alias": _inspect_alias,
    "command": _inspect_command,
}
