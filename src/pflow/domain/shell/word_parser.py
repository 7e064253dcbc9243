"""Parse the words of a shell command: quotes, expansions and substitutions, read from left to right."""

import re
from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import replace
from typing import Final, NamedTuple

from pflow.domain.shell.syntax_tree import (
    Arithmetic,
    Context,
    LiteralText,
    Part,
    Script,
    Substitution,
    TemplateMark,
    Undecided,
    Variable,
    Word,
)

_MOST_NESTED: Final = 40
_MOST_RETRIES: Final = 100
_PLAIN: Final = {
    "bare": re.compile(r"[^\\'\"`$ \t\n;&|<>()]+"),
    "double": re.compile(r"[^\\\"`$]+"),
    "document": re.compile(r"[^\\`$]+"),
    "arithmetic": re.compile(r"[^\\`$()]+"),
    "pattern": re.compile(r"[^\\'\"`$}]+"),
    "subscript": re.compile(r"[^\\`$\]}]+"),
}
_NAME: Final = re.compile(r"[A-Za-z_]\w*|\d|[@*#?$!-]", re.ASCII)
_LONG_NAME: Final = re.compile(r"([#!]?)([A-Za-z_]\w*|\d+|[@*#?$!-])(?=[^\w]|$)|()()", re.ASCII)
_ESCAPABLE: Final = {"double": '$`"\\\n', "document": "$`\\\n"}
_CONTEXTS: Final[dict[str, Context]] = {"bare": "bare", "double": "double", "document": "double"}
_OFFSET: Final = re.compile(r":(?![-=?+])")


class TextSpan(NamedTuple):
    """The number of a template, and its end in the text."""

    number: int
    end: int


class _NotArithmetic(Exception):
    """`$((a) | b)` is a subshell in a substitution."""


class WordParser(ABC):
    """Parses words. `contexts` holds the quotes around each template."""

    def __init__(self, text: str, template_spans: Mapping[int, TextSpan]) -> None:
        self.text = text
        self.at: int = 0
        self.end: int = len(text)
        self.contexts: dict[int, Context] = {}
        self._template_spans = template_spans
        self._starts = sorted(template_spans)
        self._depth = 0
        self._retries = 0

    @abstractmethod
    def read_script(self, *closers: str) -> Script:
        """Read commands up to one of the closers, which is left to the caller."""

    def enter_nesting_level(self) -> None:
        """Count one more level of nesting. Raise Undecided if there are too many."""
        self._depth += 1
        if self._depth > _MOST_NESTED:
            raise Undecided("it is nested too deeply")

    def leave_nesting_level(self) -> None:
        self._depth -= 1

    def read_word(self) -> Word:
        """Read the word at the present position; return an empty word if there is none."""
        parts: list[Part] = []
        while self.at < self.end:
            char = self.text[self.at]
            if plain := _PLAIN["bare"].match(self.text, self.at, self.end):
                parts.append(LiteralText(plain[0], quoted=False))
                self.at = plain.end()
            elif char in "<>" and self.text.startswith("(", self.at + 1):
                self.at += 2
                parts.append(self._read_substitution(receives_input=char == ">"))
            elif char in " \t\n;&|<>()":
                break
            else:
                self._append_special_part(parts, "bare")
        return tuple(parts)

    def read_here_document(self, end: int) -> Word:
        """Read the text of a here-document up to `end`."""
        before, self.end = self.end, end
        parts: list[Part] = []
        self._append_parts_until("", parts, "document")
        self.at, self.end = end, before
        return tuple(parts)

    def read_unexpanded_text(self, end: int, context: Context) -> Word:
        """Read text in which a shell replaces nothing up to `end`."""
        parts: list[Part] = []
        for start in self._starts[bisect_left(self._starts, self.at) : bisect_left(self._starts, end)]:
            span = self._template_spans[start]
            parts += [LiteralText(self.text[self.at : start]), TemplateMark(span.number)]
            self.contexts[span.number] = context
            self.at = span.end
        parts.append(LiteralText(self.text[self.at : end]))
        self.at = end
        return tuple(parts)

    def read_arithmetic(self) -> Arithmetic | None:
        """Read up to the `))` that closes arithmetic; None, and nothing read, if it is a subshell in another."""
        start = self.at
        parts: list[Part] = []
        self.enter_nesting_level()
        try:
            self._append_arithmetic_parts(parts)
        except _NotArithmetic:
            self.at = start
            self._retries += 1
            if self._retries > _MOST_RETRIES:
                raise Undecided("it has too many parentheses") from None
            return None
        finally:
            self.leave_nesting_level()
        return Arithmetic(tuple(parts))

    def _append_arithmetic_parts(self, parts: list[Part]) -> None:
        depth = 0
        while self.at < self.end:
            char = self.text[self.at]
            if char not in "()":
                self._append_next_part(parts, "arithmetic")
                continue
            if char == ")" and not depth:
                if not self.text.startswith("))", self.at):
                    raise _NotArithmetic
                self.at += 2
                return
            depth += 1 if char == "(" else -1
            parts.append(LiteralText(char))
            self.at += 1

    def _append_parts_until(self, closer: str, parts: list[Part], mode: str) -> None:
        """Read parts up to the closer, and the closer."""
        while self.at < self.end:
            if closer and self.text[self.at] == closer:
                self.at += 1
                return
            self._append_next_part(parts, mode)

    def _append_next_part(self, parts: list[Part], mode: str) -> None:
        if plain := _PLAIN[mode].match(self.text, self.at, self.end):
            parts.append(LiteralText(plain[0]))
            self.at = plain.end()
        else:
            self._append_special_part(parts, mode)

    def _append_special_part(self, parts: list[Part], mode: str) -> None:
        """Read an escape, a quote or an expansion."""
        char = self.text[self.at]
        if span := self._template_spans.get(self.at):
            self.contexts[span.number] = _CONTEXTS.get(mode, "arithmetic")
            parts.append(TemplateMark(span.number))
            self.at = span.end
        elif char == "\\":
            parts.append(self._read_escape(mode))
        elif char == "$":
            self._append_dollar_expansion(parts, mode)
        elif char == "`":
            parts.append(replace(self._read_backticks(), splits=mode == "bare"))
        elif char == "'" and mode == "bare":
            self._append_single_quoted_parts(parts)
        elif char == '"' and mode == "bare":
            self.at += 1
            parts.append(LiteralText(""))
            self._append_parts_until('"', parts, "double")
        else:
            parts.append(LiteralText(char))
            self.at += 1

    def _read_escape(self, mode: str) -> LiteralText:
        escaped = self.text[self.at + 1 : min(self.at + 2, self.end)]
        if mode in _ESCAPABLE and escaped not in _ESCAPABLE[mode]:
            self.at += 1
            return LiteralText("\\")
        if span := self._template_spans.get(self.at + 1):
            self.contexts[span.number] = "escaped"
        self.at = min(self.at + 2, self.end)
        return LiteralText("" if escaped == "\n" else escaped)

    def _append_single_quoted_parts(self, parts: list[Part]) -> None:
        self.at += 1
        end = self.at
        while (end := self.text.find("'", end, self.end)) >= 0 and (span := self._find_template_span_at(end)):
            end = span.end
        parts += self.read_unexpanded_text(self.end if end < 0 else end, "single")
        self.at = min(self.at + 1, self.end)

    def _find_template_span_at(self, position: int) -> TextSpan | None:
        """Return the template around a position, or None."""
        before = bisect_left(self._starts, position) - 1
        span = self._template_spans[self._starts[before]] if before >= 0 else None
        return span if span and position < span.end else None

    def _append_dollar_expansion(self, parts: list[Part], mode: str) -> None:
        text, at = self.text, self.at
        if text.startswith("$((", at):
            self.at += 3
            computed = self.read_arithmetic()
            if computed is not None:
                parts.append(computed)
                return
            self.at = at
        if text.startswith("$[", at):
            raise Undecided("shells disagree about $[…]: write $((…)) for a number, \\$[ for a text")
        if text.startswith("$(", at):
            self.at += 2
            parts.append(replace(self._read_substitution(), splits=mode == "bare"))
        elif text.startswith("${", at):
            self.at += 2
            parts.append(replace(self._read_variable_in_braces(mode), splits=mode == "bare"))
        elif name := _NAME.match(text, at + 1, self.end):
            parts.append(Variable(name[0], splits=mode == "bare"))
            self.at = name.end()
        else:
            self.at += 1
            if mode == "bare" and text.startswith("'", self.at):
                self._refuse_ambiguous_ansi_string()
            parts.append(LiteralText("$"))

    def _refuse_ambiguous_ansi_string(self) -> None:
        """Raise Undecided for an ANSI-C string with an escaped quote, whose end shells disagree about."""
        end = self.text.find("'", self.at + 1, self.end)
        if end > 0 and self.text[end - 1] == "\\":
            raise Undecided("shells disagree where $'…' with \\' in it ends")

    def _read_substitution(self, *, receives_input: bool = False) -> Substitution:
        script = self.read_script(")")
        self.at = min(self.at + 1, self.end)
        return Substitution(script, receives_input)

    def _read_backticks(self) -> Substitution:
        start = self.at = self.at + 1
        while self.at < self.end and self.text[self.at] != "`":
            span = self._template_spans.get(self.at)
            self.at = span.end if span else self.at + (2 if self.text[self.at] == "\\" else 1)
        before, self.end, self.at = self.end, min(self.at, self.end), start
        if "\\" in self.text[start : self.end] and any(start <= one < self.end for one in self._starts):
            raise Undecided("backticks with a backslash and a template in them: write $(…)")
        script = Script()
        while self.at < self.end:
            script.pipelines += self.read_script().pipelines
        self.at, self.end = min(self.end + 1, before), before
        return Substitution(script)

    def _read_variable_in_braces(self, mode: str) -> Variable:
        self.enter_nesting_level()
        found = _LONG_NAME.match(self.text, self.at, self.end)
        assert found is not None
        self.at = found.end()
        start = self.at
        computed: list[Part] = []
        inner: list[Part] = []
        if self.text.startswith("[", self.at):
            self.at += 1
            self._append_parts_until("]", computed, "subscript")
        if _OFFSET.match(self.text, self.at):
            self._append_parts_until("}", computed, "subscript")
        else:
            self._append_operand_in_braces(inner, mode)
        self.leave_nesting_level()
        operation = (found[1] or "") + self.text[start : max(start, self.at - 1)]
        return Variable(found[2] or "", operation, tuple(inner), tuple(computed))

    def _append_operand_in_braces(self, parts: list[Part], mode: str) -> None:
        """Read the word in `${name:-word}` or the pattern in `${name#pattern}`."""
        is_pattern = not re.compile(r":?[-=?+]").match(self.text, self.at)
        outer = mode if mode in _CONTEXTS else "bare"
        while self.at < self.end:
            char = self.text[self.at]
            if char == "}":
                self.at += 1
                return
            if plain := _PLAIN["pattern"].match(self.text, self.at, self.end):
                parts.append(LiteralText(plain[0]))
                self.at = plain.end()
            elif char == "'" and outer != "bare" and is_pattern:
                raise Undecided("shells disagree about quotes in a pattern in double quotes")
            elif char == '"' and outer == "double":
                self.at += 1
                self._append_parts_until('"', parts, "double")
            else:
                self._append_special_part(parts, outer)
