"""Check builtins that set variables or run commands, and programs such as `find`, `git`, `make` and `xargs`."""

import re
from collections.abc import Sequence
from typing import Final

from pflow.domain.shell.code_running_programs import Program, look_up_program
from pflow.domain.shell.invocation_checks import InspectArguments, InvocationInspector
from pflow.domain.shell.syntax_tree import (
    VALUE,
    LiteralText,
    Part,
    TemplateMark,
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
            if isinstance(part, TemplateMark):
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


_FIND_RUNS: Final = ("-exec", "-execdir", "-ok", "-okdir")
_FD_RUNS: Final = ("-x", "-X", "--exec", "--exec-batch")
_FIND_FLAGS: Final = (
    "-print -print0 -ls -delete -prune -quit -depth -d -xdev -mount -follow -empty -readable -writable -executable "
    "-true -false -not -and -or -a -o -H -L -P -E -X -x -s -daystart -noleaf -nouser -nogroup ! ( ) ,"
)
_GIT: Final = Program(
    "data",
    runs="x O --exec --extcmd --upload-pack --receive-pack --config --open-files-in-pager --template "
    "--to-cmd --cc-cmd --header-cmd --sendmail-cmd --access-hook",
    takes="m F C b B S G n L t --message --author --date --grep --since --until --after --before --format --branch "
    "--depth --file --max-count --trailer --reuse-message",
    permutes=True,
    guarded="-",
    hint="Write the option with a constant argument.",
)
_GIT_CLONE: Final = Program(
    "data", runs=f"u c {_GIT.runs}", takes=_GIT.takes, permutes=True, guarded="-", hint=_GIT.hint
)
_GIT_KEYS: Final = re.compile(r"(?:user|author|committer|color|advice)\..*|init\.defaultbranch", re.IGNORECASE)
_GIT_CONFIG: Final = "Only user.name, user.email and settings that never run a program can be set to a value."
_GIT_COMMANDS: Final = "Keep the command that git runs constant."
_MAKE: Final = Program(
    "code",
    runs="f E I --file --makefile --eval --include-dir",
    takes="C j l o W --directory --jobs",
    permutes=True,
    hint="Make expands $(shell …) in variables and arguments: write the value into a file that the recipe reads.",
)
_MAKE_VARIABLE: Final = (
    "Make expands $(shell …) in exported variables: write the value into a file that the recipe reads."
)
_MAKEFILES: Final = {"Makefile", "makefile", "GNUmakefile"}
_XARGS_TAKES: Final = "nLPIsdaE"
_PARALLEL: Final = "Use xargs, which starts no shell, or a `batch` of the node."


def _inspect_tee(inspector: InvocationInspector, _name: str, words: Sequence[Word], input_has_values: bool) -> None:
    if input_has_values:
        inspector.tracer.record_files_with_values(words[1:])


def _inspect_copy(inspector: InvocationInspector, name: str, words: Sequence[Word], input_has_values: bool) -> None:
    """Record the file that `cp`, `dd` or `curl` writes: any that a value does not name."""
    tracer = inspector.tracer
    if input_has_values or any(
        tracer.trace_values_in_word(word) or tracer.may_file_hold_value(word) for word in words[1:]
    ):
        named = (word for word in words[1:] if not tracer.trace_values_in_word(word))
        tracer.record_files_with_values(
            drop_first_characters(word, 3) if get_constant_prefix(word).startswith("of=") else word for word in named
        )
    if program := look_up_program(name):
        inspector.inspect_known_program(name, program, words, input_has_values)


def _inspect_find(inspector: InvocationInspector, name: str, words: Sequence[Word], _: bool) -> None:
    at, has_values = 1, any(map(inspector.tracer.trace_values_in_word, words))
    while at < len(words):
        text = get_constant_text(words[at])
        if text in _FIND_RUNS:
            end = next((i for i in range(at, len(words)) if get_constant_text(words[i]) in (";", "+")), len(words))
            for word in words[at + 1 : end]:
                inspector.forbid_value_start(word, name, ";+")
            _inspect_command_on_found_paths(inspector, words[at + 1 : end], has_values)
            at = end
        elif text is not None and text.startswith("-") and text not in _FIND_FLAGS.split():
            at += 1  # the argument of a test such as -name
            if at < len(words) and may_word_split(words[at]):
                inspector.forbid_value_start(words[at], name, "-")
        else:
            inspector.forbid_value_start(words[at], name, "-!(),")
        at += 1


def _inspect_fd(inspector: InvocationInspector, name: str, words: Sequence[Word], _: bool) -> None:
    at = next((at for at, word in enumerate(words) if get_constant_text(word) in _FD_RUNS), len(words))
    for word in words[1:at]:
        inspector.forbid_value_start(word, name, "-")
    if at + 1 < len(words):
        _inspect_command_on_found_paths(
            inspector, words[at + 1 :], any(map(inspector.tracer.trace_values_in_word, words[:at]))
        )


def _inspect_command_on_found_paths(inspector: InvocationInspector, command: Sequence[Word], has_values: bool) -> None:
    """Inspect a command in which `{}` stands for a path that was found, with values in it or not."""
    path = (
        LiteralText("./"),
        TemplateMark(VALUE),
    )  # it is not an option: it begins with a folder of the command, which is guarded
    inspector.inspect_invocation(
        [_replace_text_in_word(word, "{}", path) for word in command] if has_values else command, False
    )


def _inspect_git(inspector: InvocationInspector, name: str, words: Sequence[Word], input_has_values: bool) -> None:
    tracer = inspector.tracer
    at = 1
    while at < len(words) and get_constant_prefix(words[at]).startswith("-"):
        text = get_constant_prefix(words[at])
        if text.startswith(("-c", "--exec-path", "--config-env")):
            word = words[at] if len(text) > 2 or get_constant_text(words[at]) is None else (*words, ())[at + 1]
            if tracer.trace_values_in_word(word):
                tracer.add_finding("git -c", _GIT_COMMANDS, word)
        at += 2 if text in ("-c", "-C", "--git-dir", "--work-tree", "--namespace", "--config-env") else 1
    if at >= len(words):
        return
    command, rest = get_constant_text(words[at]), words[at + 1 :]
    if command is None:
        if any(map(tracer.trace_values_in_word, words[at:])):
            tracer.add_finding(name, _GIT_COMMANDS, words[at])
        return
    first = next((text for word in rest if (text := get_constant_text(word)) and not text.startswith("-")), "")
    held = next(filter(tracer.trace_values_in_word, rest), None)
    if held is not None and command == "config" and not _GIT_KEYS.fullmatch(first):
        tracer.add_finding("git config", _GIT_CONFIG, held)
    elif held is not None and (command == "filter-branch" or (command == "submodule" and first == "foreach")):
        tracer.add_finding(f"git {command}", _GIT_COMMANDS, held)
    elif command == "bisect" and first == "run":
        inspector.inspect_invocation(rest[1:], input_has_values)
    elif command != "config":
        inspector.inspect_known_program("git", _GIT_CLONE if command == "clone" else _GIT, words[at:], input_has_values)


def _inspect_make(inspector: InvocationInspector, name: str, words: Sequence[Word], input_has_values: bool) -> None:
    if inspector.tracer.exported_value_variables:
        inspector.tracer.add_finding(name, _MAKE_VARIABLE)
    if inspector.tracer.files_with_values & _MAKEFILES:
        inspector.tracer.add_finding(name, _MAKE.hint)
    inspector.inspect_known_program(name, _MAKE, words, input_has_values)


def _inspect_xargs(inspector: InvocationInspector, _: str, words: Sequence[Word], input_has_values: bool) -> None:
    at, replaced = 1, ""
    while at < len(words):
        text = get_constant_prefix(words[at])
        if not text.startswith("-") or len(text) < 2 or text == "--":
            at += text == "--"
            break
        option = next((one for one in enumerate(text[1:], 1) if one[1] in f"{_XARGS_TAKES}ile"), None)
        if text.startswith("--"):
            replaced = (text.partition("=")[2] or "{}") if text.startswith("--replace") else replaced
            takes_next = text in (
                "--max-args",
                "--max-procs",
                "--max-lines",
                "--delimiter",
                "--arg-file",
                "--max-chars",
            )
            argument = (*words, ())[at + 1] if takes_next else words[at]
            input_has_values = input_has_values or (
                text.startswith("--arg-file") and inspector.tracer.trace_values_in_word(argument)
            )
            at += takes_next
        elif option and option[1] in _XARGS_TAKES:
            argument = drop_first_characters(words[at], option[0] + 1) or (*words, ())[at + 1]
            at += not drop_first_characters(words[at], option[0] + 1)
            replaced = get_constant_text(argument) or "" if option[1] == "I" else replaced
            if may_word_split(argument):
                inspector.forbid_value_start(argument, "xargs", "-")
            input_has_values = input_has_values or (
                option[1] == "a" and inspector.tracer.trace_values_in_word(argument)
            )
        elif option and option[1] == "i":
            replaced = text[option[0] + 1 :] or "{}"
        at += 1
    command = list(words[at:])
    if command and input_has_values:
        value: Word = (TemplateMark(VALUE),)
        command = [_replace_text_in_word(word, replaced, value) for word in command] if replaced else [*command, value]
    if command:
        inspector.inspect_invocation(command, False)


def _replace_text_in_word(word: Word, old: str, new: Word) -> Word:
    parts: list[Part] = []
    for part in word:
        pieces = part.text.split(old) if isinstance(part, LiteralText) else []
        parts.append(LiteralText(pieces[0]) if pieces else part)
        for piece in pieces[1:]:
            parts += [*new, LiteralText(piece)]
    return tuple(parts)


def _inspect_parallel(inspector: InvocationInspector, name: str, words: Sequence[Word], input_has_values: bool) -> None:
    command = words[
        1 : next((at for at, word in enumerate(words) if (get_constant_text(word) or "").startswith(":::")), None)
    ]
    held = next(filter(inspector.tracer.trace_values_in_word, command), None)
    if held is not None or input_has_values:
        inspector.tracer.add_finding(name, _PARALLEL, held or ())


SPECIAL: Final[dict[str, InspectArguments]] = {
    **BUILTINS,
    **dict.fromkeys(("make", "gmake", "bmake"), _inspect_make),
    "tee": _inspect_tee,
    **dict.fromkeys(("cp", "mv", "ln", "install", "dd", "curl", "wget", "sort", "rsync", "scp"), _inspect_copy),
    "find": _inspect_find,
    **dict.fromkeys(("fd", "fdfind"), _inspect_fd),
    "git": _inspect_git,
    "xargs": _inspect_xargs,
    "parallel": _inspect_parallel,
}
