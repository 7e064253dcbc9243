"""Inspections of programs with special arguments: `find`, `git`, `make`, `xargs`, `parallel` and those that copy."""

import re
from collections.abc import Sequence
from typing import Final

from pflow.shell.arguments import Arguments, InspectSpecial
from pflow.shell.builtin_commands import BUILTINS
from pflow.shell.interpreters import Program, find_program
from pflow.shell.tree import (
    VALUE,
    Mark,
    Part,
    Text,
    Word,
    drop_prefix,
    get_constant_prefix,
    get_constant_text,
    may_split,
)

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


def _inspect_tee(arguments: Arguments, _name: str, words: Sequence[Word], is_fed: bool) -> None:
    if is_fed:
        arguments.walk.note_written_files(words[1:])


def _inspect_copy(arguments: Arguments, name: str, words: Sequence[Word], is_fed: bool) -> None:
    """Note the file that `cp`, `dd` or `curl` writes: any that a value does not name."""
    walk = arguments.walk
    if is_fed or any(walk.may_hold_value(word) or walk.is_written(word) for word in words[1:]):
        named = (word for word in words[1:] if not walk.may_hold_value(word))
        walk.note_written_files(
            drop_prefix(word, 3) if get_constant_prefix(word).startswith("of=") else word for word in named
        )
    if program := find_program(name):
        arguments.inspect_program(name, program, words, is_fed)


def _inspect_find(arguments: Arguments, name: str, words: Sequence[Word], _: bool) -> None:
    at, has_values = 1, any(map(arguments.walk.may_hold_value, words))
    while at < len(words):
        text = get_constant_text(words[at])
        if text in _FIND_RUNS:
            end = next((i for i in range(at, len(words)) if get_constant_text(words[i]) in (";", "+")), len(words))
            for word in words[at + 1 : end]:
                arguments.guard_start(word, name, ";+")
            _inspect_found_command(arguments, words[at + 1 : end], has_values)
            at = end
        elif text is not None and text.startswith("-") and text not in _FIND_FLAGS.split():
            at += 1  # the argument of a test such as -name
            if at < len(words) and may_split(words[at]):
                arguments.guard_start(words[at], name, "-")
        else:
            arguments.guard_start(words[at], name, "-!(),")
        at += 1


def _inspect_fd(arguments: Arguments, name: str, words: Sequence[Word], _: bool) -> None:
    at = next((at for at, word in enumerate(words) if get_constant_text(word) in _FD_RUNS), len(words))
    for word in words[1:at]:
        arguments.guard_start(word, name, "-")
    if at + 1 < len(words):
        _inspect_found_command(arguments, words[at + 1 :], any(map(arguments.walk.may_hold_value, words[:at])))


def _inspect_found_command(arguments: Arguments, command: Sequence[Word], has_values: bool) -> None:
    """Inspect a command in which `{}` stands for a path that was found, with values in it or not."""
    path = (Text("./"), Mark(VALUE))  # it is not an option: it begins with a folder of the command, which is guarded
    arguments.inspect_invocation(
        [_replace_in_word(word, "{}", path) for word in command] if has_values else command, False
    )


def _inspect_git(arguments: Arguments, name: str, words: Sequence[Word], is_fed: bool) -> None:
    walk = arguments.walk
    at = 1
    while at < len(words) and get_constant_prefix(words[at]).startswith("-"):
        text = get_constant_prefix(words[at])
        if text.startswith(("-c", "--exec-path", "--config-env")):
            word = words[at] if len(text) > 2 or get_constant_text(words[at]) is None else (*words, ())[at + 1]
            if walk.may_hold_value(word):
                walk.report_finding("git -c", _GIT_COMMANDS, word)
        at += 2 if text in ("-c", "-C", "--git-dir", "--work-tree", "--namespace", "--config-env") else 1
    if at >= len(words):
        return
    command, rest = get_constant_text(words[at]), words[at + 1 :]
    if command is None:
        if any(map(walk.may_hold_value, words[at:])):
            walk.report_finding(name, _GIT_COMMANDS, words[at])
        return
    first = next((text for word in rest if (text := get_constant_text(word)) and not text.startswith("-")), "")
    held = next(filter(walk.may_hold_value, rest), None)
    if held is not None and command == "config" and not _GIT_KEYS.fullmatch(first):
        walk.report_finding("git config", _GIT_CONFIG, held)
    elif held is not None and (command == "filter-branch" or (command == "submodule" and first == "foreach")):
        walk.report_finding(f"git {command}", _GIT_COMMANDS, held)
    elif command == "bisect" and first == "run":
        arguments.inspect_invocation(rest[1:], is_fed)
    elif command != "config":
        arguments.inspect_program("git", _GIT_CLONE if command == "clone" else _GIT, words[at:], is_fed)


def _inspect_make(arguments: Arguments, name: str, words: Sequence[Word], is_fed: bool) -> None:
    if arguments.walk.exported:
        arguments.walk.report_finding(name, _MAKE_VARIABLE)
    if arguments.walk.written & _MAKEFILES:
        arguments.walk.report_finding(name, _MAKE.hint)
    arguments.inspect_program(name, _MAKE, words, is_fed)


def _inspect_xargs(arguments: Arguments, _: str, words: Sequence[Word], is_fed: bool) -> None:
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
            is_fed = is_fed or (text.startswith("--arg-file") and arguments.walk.may_hold_value(argument))
            at += takes_next
        elif option and option[1] in _XARGS_TAKES:
            argument = drop_prefix(words[at], option[0] + 1) or (*words, ())[at + 1]
            at += not drop_prefix(words[at], option[0] + 1)
            replaced = get_constant_text(argument) or "" if option[1] == "I" else replaced
            if may_split(argument):
                arguments.guard_start(argument, "xargs", "-")
            is_fed = is_fed or (option[1] == "a" and arguments.walk.may_hold_value(argument))
        elif option and option[1] == "i":
            replaced = text[option[0] + 1 :] or "{}"
        at += 1
    command = list(words[at:])
    if command and is_fed:
        value: Word = (Mark(VALUE),)
        command = [_replace_in_word(word, replaced, value) for word in command] if replaced else [*command, value]
    if command:
        arguments.inspect_invocation(command, False)


def _replace_in_word(word: Word, replaced: str, value: Word) -> Word:
    parts: list[Part] = []
    for part in word:
        pieces = part.text.split(replaced) if isinstance(part, Text) else []
        parts.append(Text(pieces[0]) if pieces else part)
        for piece in pieces[1:]:
            parts += [*value, Text(piece)]
    return tuple(parts)


def _inspect_parallel(arguments: Arguments, name: str, words: Sequence[Word], is_fed: bool) -> None:
    command = words[
        1 : next((at for at, word in enumerate(words) if (get_constant_text(word) or "").startswith(":::")), None)
    ]
    held = next(filter(arguments.walk.may_hold_value, command), None)
    if held is not None or is_fed:
        arguments.walk.report_finding(name, _PARALLEL, held or ())


SPECIAL: Final[dict[str, InspectSpecial]] = {
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
