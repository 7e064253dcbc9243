"""Commands of the shell itself that set variables, compute, or run other commands."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from pflow.shell.interpreters import Program
from pflow.shell.tree import Mark, Word, named_assignment_of, prefix_of, splits, text_of, without

if TYPE_CHECKING:
    from pflow.shell.arguments import Arguments

_NUMERIC: Final = ("-eq", "-ne", "-lt", "-le", "-gt", "-ge")
_OPERATOR: Final = "Put a constant operator between the values, as in [ ${a} = ${b} ]."
_ALIAS: Final = "Write the command itself instead of an alias."


def _declare(arguments: "Arguments", name: str, words: Sequence[Word], _: bool) -> None:
    computes = False
    for word in words[1:]:
        text = text_of(word)
        if text is not None and text[:1] in ("-", "+"):
            computes = computes or (name in ("declare", "typeset", "local") and any(one in text for one in "in"))
        elif assigned := named_assignment_of(word):
            arguments.walk.assign(assigned, is_exported=name != "local")
            if computes:
                arguments.walk.check_computed(assigned.value, f"{name} -i")
        else:
            arguments.walk.check_name(word, name)


def _read(arguments: "Arguments", name: str, words: Sequence[Word], is_fed: bool) -> None:
    at, names = 1, ["REPLY", "MAPFILE"]
    while at < len(words):
        prefix = prefix_of(words[at])
        if prefix[:1] == "-" and len(prefix) == 2 and prefix[1] in "pdtnNuiOscC":
            if prefix == "-C":
                arguments.walk.check_name(words[min(at + 1, len(words) - 1)], name)
            at += 1
        elif prefix[:1] != "-":
            arguments.walk.check_name(words[at], name)
            names.append(text_of(words[at]) or "")
        at += 1
    if is_fed:
        arguments.walk.names.update(names)


def _name(arguments: "Arguments", name: str, words: Sequence[Word], _: bool) -> None:
    for word in words[2:3] if name == "getopts" else words[1:]:
        arguments.walk.check_name(word, name)


def _option(arguments: "Arguments", name: str, words: Sequence[Word], _: bool) -> None:
    """Report values behind `jobs -x`, `wait -p` and `fc -e`, which run a command or set a variable."""
    if any(prefix_of(word).startswith("-") and set(prefix_of(word)) & set("xpes") for word in words[1:]):
        for word in words[1:]:
            arguments.walk.check_name(word, name)


def _let(arguments: "Arguments", name: str, words: Sequence[Word], _: bool) -> None:
    for word in words[1:]:
        arguments.walk.check_computed(word, name)


def _printf(arguments: "Arguments", name: str, words: Sequence[Word], _: bool) -> None:
    first = words[1] if len(words) > 1 else ()
    if prefix_of(first).startswith("-v"):
        arguments.walk.check_name(without(first, 2) if text_of(first) != "-v" else (*words, ())[2], "printf -v")
    else:
        for word in words[1:3] if splits(first) else [first]:
            arguments.guard(word, name, "-")


def _set(arguments: "Arguments", _name: str, words: Sequence[Word], _: bool) -> None:
    if any(map(arguments.walk.holds, words[1:])):
        arguments.walk.names.add("@")


def _change_folder(arguments: "Arguments", _name: str, words: Sequence[Word], _: bool) -> None:
    if any(map(arguments.walk.holds, words[1:])):
        arguments.walk.names.update(("PWD", "OLDPWD", "DIRSTACK"))


def _test(arguments: "Arguments", name: str, words: Sequence[Word], _: bool) -> None:
    walk = arguments.walk
    before: Word = ()
    for at, word in enumerate(words[1:], 1):
        text, after = text_of(word), words[at + 1] if at + 1 < len(words) else ()
        if text in _NUMERIC:
            for operand in (before, after):
                _compare(arguments, name, operand)
        elif text in ("-v", "-R"):
            walk.check_name(after, f"{name} {text}")
        elif name != "[[" and walk.holds(word) and walk.holds(after):
            walk.report(name, _OPERATOR, word)
        before = word


def _compare(arguments: "Arguments", name: str, operand: Word) -> None:
    """`[[` computes what it compares as numbers, and so does `[` in some shells."""
    if name == "[[":
        arguments.walk.check_computed(operand, "[[ ]]")
    else:
        for part in operand:
            if isinstance(part, Mark):
                arguments.walk.require_number(part.index)


def _alias(arguments: "Arguments", name: str, words: Sequence[Word], _: bool) -> None:
    if len(words) > 1:
        arguments.walk.report(name, _ALIAS, words[1])


def _command(arguments: "Arguments", name: str, words: Sequence[Word], is_fed: bool) -> None:
    first = text_of(words[1]) if len(words) > 1 else None
    if first not in ("-v", "-V"):
        arguments.run(name, Program("command"), words, is_fed)


BUILTINS: Final[dict[str, Any]] = {
    **dict.fromkeys(("export", "readonly", "declare", "typeset", "local"), _declare),
    **dict.fromkeys(("read", "mapfile", "readarray"), _read),
    **dict.fromkeys(("unset", "getopts"), _name),
    **dict.fromkeys(("test", "[", "[["), _test),
    **dict.fromkeys(("jobs", "wait", "fc"), _option),
    **dict.fromkeys(("cd", "pushd", "popd"), _change_folder),
    "let": _let,
    "printf": _printf,
    "set": _set,
    "alias": _alias,
    "command": _command,
}
