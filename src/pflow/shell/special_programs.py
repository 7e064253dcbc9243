"""Programs whose arguments have a form of their own: `find`, `git`, `make`, `xargs`, `parallel` and those that copy."""

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from pflow.shell.builtin_commands import BUILTINS
from pflow.shell.interpreters import Program, program_of
from pflow.shell.tree import VALUE, Mark, Part, Text, Word, prefix_of, splits, text_of, without

if TYPE_CHECKING:
    from pflow.shell.arguments import Arguments

    Special = Callable[[Arguments, str, Sequence[Word], bool], None]

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


def _tee(arguments: "Arguments", _name: str, words: Sequence[Word], is_fed: bool) -> None:
    if is_fed:
        arguments.walk.write(words[1:])


def _copy(arguments: "Arguments", name: str, words: Sequence[Word], is_fed: bool) -> None:
    """Note the file that `cp`, `dd` or `curl` writes: any that a value does not name."""
    walk = arguments.walk
    if is_fed or any(walk.holds(word) or walk.is_written(word) for word in words[1:]):
        named = (word for word in words[1:] if not walk.holds(word))
        walk.write(without(word, 3) if prefix_of(word).startswith("of=") else word for word in named)
    if program := program_of(name):
        arguments.run(name, program, words, is_fed)


def _find(arguments: "Arguments", name: str, words: Sequence[Word], _: bool) -> None:
    at, has_values = 1, any(map(arguments.walk.holds, words))
    while at < len(words):
        text = text_of(words[at])
        if text in _FIND_RUNS:
            end = next((i for i in range(at, len(words)) if text_of(words[i]) in (";", "+")), len(words))
            for word in words[at + 1 : end]:
                arguments.guard(word, name, ";+")
            _run_found(arguments, words[at + 1 : end], has_values)
            at = end
        elif text is not None and text.startswith("-") and text not in _FIND_FLAGS.split():
            at += 1  # the argument of a test such as -name
            if at < len(words) and splits(words[at]):
                arguments.guard(words[at], name, "-")
        else:
            arguments.guard(words[at], name, "-!(),")
        at += 1


def _fd(arguments: "Arguments", name: str, words: Sequence[Word], _: bool) -> None:
    at = next((at for at, word in enumerate(words) if text_of(word) in _FD_RUNS), len(words))
    for word in words[1:at]:
        arguments.guard(word, name, "-")
    if at + 1 < len(words):
        _run_found(arguments, words[at + 1 :], any(map(arguments.walk.holds, words[:at])))


def _run_found(arguments: "Arguments", command: Sequence[Word], has_values: bool) -> None:
    """Inspect a command in which `{}` stands for a path that was found, with values in it or not."""
    path = (Text("./"), Mark(VALUE))  # it is not an option: it begins with a folder of the command, which is guarded
    arguments.invoke([_replace(word, "{}", path) for word in command] if has_values else command, False)


def _git(arguments: "Arguments", name: str, words: Sequence[Word], is_fed: bool) -> None:
    walk = arguments.walk
    at = 1
    while at < len(words) and prefix_of(words[at]).startswith("-"):
        text = prefix_of(words[at])
        if text.startswith(("-c", "--exec-path", "--config-env")):
            word = words[at] if len(text) > 2 or text_of(words[at]) is None else (*words, ())[at + 1]
            if walk.holds(word):
                walk.report("git -c", _GIT_COMMANDS, word)
        at += 2 if text in ("-c", "-C", "--git-dir", "--work-tree", "--namespace", "--config-env") else 1
    if at >= len(words):
        return
    command, rest = text_of(words[at]), words[at + 1 :]
    if command is None:
        if any(map(walk.holds, words[at:])):
            walk.report(name, _GIT_COMMANDS, words[at])
        return
    first = next((text for word in rest if (text := text_of(word)) and not text.startswith("-")), "")
    held = next(filter(walk.holds, rest), None)
    if held is not None and command == "config" and not _GIT_KEYS.fullmatch(first):
        walk.report("git config", _GIT_CONFIG, held)
    elif held is not None and (command == "filter-branch" or (command == "submodule" and first == "foreach")):
        walk.report(f"git {command}", _GIT_COMMANDS, held)
    elif command == "bisect" and first == "run":
        arguments.invoke(rest[1:], is_fed)
    elif command != "config":
        arguments.run("git", _GIT_CLONE if command == "clone" else _GIT, words[at:], is_fed)


def _make(arguments: "Arguments", name: str, words: Sequence[Word], is_fed: bool) -> None:
    if arguments.walk.exported:
        arguments.walk.report(name, _MAKE_VARIABLE)
    if arguments.walk.written & _MAKEFILES:
        arguments.walk.report(name, _MAKE.hint)
    arguments.run(name, _MAKE, words, is_fed)


def _xargs(arguments: "Arguments", _: str, words: Sequence[Word], is_fed: bool) -> None:
    at, replaced = 1, ""
    while at < len(words):
        text = prefix_of(words[at])
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
            is_fed = is_fed or (text.startswith("--arg-file") and arguments.walk.holds(argument))
            at += takes_next
        elif option and option[1] in _XARGS_TAKES:
            argument = without(words[at], option[0] + 1) or (*words, ())[at + 1]
            at += not without(words[at], option[0] + 1)
            replaced = text_of(argument) or "" if option[1] == "I" else replaced
            if splits(argument):
                arguments.guard(argument, "xargs", "-")
            is_fed = is_fed or (option[1] == "a" and arguments.walk.holds(argument))
        elif option and option[1] == "i":
            replaced = text[option[0] + 1 :] or "{}"
        at += 1
    command = list(words[at:])
    if command and is_fed:
        value: Word = (Mark(VALUE),)
        command = [_replace(word, replaced, value) for word in command] if replaced else [*command, value]
    if command:
        arguments.invoke(command, False)


def _replace(word: Word, replaced: str, value: Word) -> Word:
    parts: list[Part] = []
    for part in word:
        pieces = part.text.split(replaced) if isinstance(part, Text) else []
        parts.append(Text(pieces[0]) if pieces else part)
        for piece in pieces[1:]:
            parts += [*value, Text(piece)]
    return tuple(parts)


def _parallel(arguments: "Arguments", name: str, words: Sequence[Word], is_fed: bool) -> None:
    command = words[1 : next((at for at, word in enumerate(words) if (text_of(word) or "").startswith(":::")), None)]
    held = next(filter(arguments.walk.holds, command), None)
    if held is not None or is_fed:
        arguments.walk.report(name, _PARALLEL, held or ())


SPECIAL: Final[dict[str, Any]] = {
    **BUILTINS,
    **dict.fromkeys(("make", "gmake", "bmake"), _make),
    "tee": _tee,
    **dict.fromkeys(("cp", "mv", "ln", "install", "dd", "curl", "wget", "sort", "rsync", "scp"), _copy),
    "find": _find,
    **dict.fromkeys(("fd", "fdfind"), _fd),
    "git": _git,
    "xargs": _xargs,
    "parallel": _parallel,
}
