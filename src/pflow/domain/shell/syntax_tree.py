"""Represent a shell script as a tree: words with their parts, commands, pipelines and scripts."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, Literal

Context = Literal["bare", "double", "single", "arithmetic", "literal", "escaped"]
"""The quotes around a template. `literal` is a here-document whose word is quoted, `escaped` is behind a backslash."""

VALUE: Final = -1
"""The index of a mark for a value that is not a template of the command, such as a word that `xargs` adds."""
_BRACES: Final = re.compile(r"\{[^}]*(?:,|\.\.)|[,}]")
_ASSIGNED: Final = re.compile(r"([A-Za-z_]\w*)(\[|\+?=)")
_GLOB: Final = re.compile(r"[*?]|\[[^\[]")
_SUBSCRIBED: Final = re.compile(r"\]\+?=")


class Undecided(Exception):
    """Shells disagree about this command, or it is nested too deeply to be read."""


@dataclass(frozen=True, slots=True)
class LiteralText:
    text: str
    quoted: bool = True


@dataclass(frozen=True, slots=True)
class TemplateMark:
    """The position of a template in a word."""

    index: int


@dataclass(frozen=True, slots=True)
class Variable:
    """`$name` or `${name…}`: `operation` is the text behind the name, `inner` the words in it."""

    name: str
    operation: str = ""
    inner: "Word" = ()
    computed: "Word" = ()
    """Parts that bash computes: a subscript, an offset, a length."""
    splits: bool = False
    """Whether it stands outside quotes, so that the shell makes any number of words of it."""


@dataclass(frozen=True, slots=True, eq=False)
class Substitution:
    """`$(…)`, backticks, `<(…)`, or `>(…)`, which receives input."""

    script: "Script"
    receives_input: bool = False
    splits: bool = False


@dataclass(frozen=True, slots=True)
class Arithmetic:
    parts: "Word"


Part = LiteralText | TemplateMark | Variable | Substitution | Arithmetic
Word = tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class VariableAssignment:
    name: str
    value: Word
    subscript: Word = ()


@dataclass(slots=True)
class Redirect:
    """`target` is the file, the text of `<<<`, or the text of a here-document."""

    descriptor: str
    operator: str
    target: Word = ()


@dataclass(slots=True, eq=False)
class Command:
    """A simple command (`kind` is empty), or a compound one with the scripts in it."""

    kind: str = ""
    words: list[Word] = field(default_factory=list[Word])
    assignments: list[VariableAssignment] = field(default_factory=list[VariableAssignment])
    redirects: list[Redirect] = field(default_factory=list[Redirect])
    scripts: "list[Script]" = field(default_factory=lambda: list[Script]())  # noqa: PLW0108 - it is defined below
    computed: Word = ()


@dataclass(slots=True, eq=False)
class Script:
    pipelines: list[list[Command]] = field(default_factory=list[list[Command]])


def get_constant_text(word: Word) -> str | None:
    """Return the text of a constant word, or None if the shell would make something else of it."""
    parts: list[str] = []
    for part in word:
        if not isinstance(part, LiteralText) or (not part.quoted and _BRACES.match(part.text) and "," in part.text):
            return None
        parts.append(part.text)
    return "".join(parts)


def may_word_split(word: Word) -> bool:
    """Return whether the shell may make no word or several words of this one."""
    return any(
        isinstance(part, Variable | Substitution) and (part.splits or (isinstance(part, Variable) and part.name == "@"))
        for part in word
    )


def get_base_name(path: str | None) -> str:
    """Return the last part of a path."""
    return (path or "").rpartition("/")[2]


def is_glob(word: Word) -> bool:
    """Return whether the shell replaces a word by the names of files."""
    return any(isinstance(part, LiteralText) and not part.quoted and _GLOB.search(part.text) for part in word)


def get_file_name(word: Word) -> str | None:
    """Return the name, without its folder, of the file that a word stands for; None if it is not constant."""
    last = word[-1] if word else None
    if is_glob(word) or not isinstance(last, LiteralText) or ("/" not in last.text and get_constant_text(word) is None):
        return None
    return get_base_name(get_constant_text(word) or last.text)


def get_constant_prefix(word: Word) -> str:
    """Return the constant text with which a word begins."""
    parts: list[str] = []
    for part in word:
        if not isinstance(part, LiteralText):
            break
        parts.append(part.text)
    return "".join(parts)


def drop_first_characters(word: Word, count: int) -> Word:
    """Return a word without its first characters, all of which are constant."""
    rest = list(word)
    while count and rest and isinstance(first := rest[0], LiteralText):
        rest[0:1] = [LiteralText(first.text[count:], first.quoted)] if len(first.text) > count else []
        count -= min(count, len(first.text))
    return tuple(rest)


def parse_assignment(word: Word) -> VariableAssignment | None:
    """Return the assignment that a word such as `name=value` or `name[0]=value` is."""
    if not word or not isinstance(first := word[0], LiteralText) or first.quoted:
        return None
    found = _ASSIGNED.match(first.text)
    if found is None:
        return None
    if found[2] != "[":
        return VariableAssignment(found[1], drop_first_characters(word, found.end()))
    return _parse_subscripted_assignment(found[1], drop_first_characters(word, found.end()))


def parse_argument_assignment(word: Word) -> VariableAssignment | None:
    """Return the assignment that an argument of `export` or `env` is, in quotes or not."""
    found = _ASSIGNED.match(get_constant_prefix(word))
    if found is None or found[2] == "[":
        return parse_assignment(word)
    return VariableAssignment(found[1], drop_first_characters(word, found.end()))


def _parse_subscripted_assignment(name: str, rest: Word) -> VariableAssignment | None:
    subscript: list[Part] = []
    for at, part in enumerate(rest):
        if isinstance(part, LiteralText) and not part.quoted and (end := _SUBSCRIBED.search(part.text)):
            subscript.append(LiteralText(part.text[: end.start()]))
            return VariableAssignment(name, (LiteralText(part.text[end.end() :]), *rest[at + 1 :]), tuple(subscript))
        subscript.append(part)
    return None


def iter_template_indexes(word: Word) -> Iterator[int]:
    """Yield the templates of a word, those in variables and arithmetic too."""
    for part in word:
        if isinstance(part, TemplateMark):
            yield part.index
        elif isinstance(part, Variable):
            yield from iter_template_indexes(part.inner + part.computed)
        elif isinstance(part, Arithmetic):
            yield from iter_template_indexes(part.parts)
