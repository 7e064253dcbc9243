"""Parse shell scripts: commands, pipelines, redirections and here-documents."""

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from pflow.domain.shell.syntax_tree import (
    Command,
    LiteralText,
    Redirect,
    Script,
    Undecided,
    Word,
    get_constant_text,
    parse_assignment,
)
from pflow.domain.shell.word_parser import TextSpan, WordParser

_ENDS: Final = r"(?=[ \t\n;&|()<>]|$)"
_BLANKS: Final = re.compile(r"(?:[ \t]|\\\n)*")
_LINE_END: Final = re.compile(r"#[^\n]*")
_PREFIX: Final = re.compile(rf"(?:then|else|elif|do|!|time(?:[ \t]+-p)?(?![ \t]+-)|coproc){_ENDS}")
_COMPOUND: Final = re.compile(rf"(?:if|while|until|for|select|case|function|\{{|\[\[){_ENDS}")
_IN: Final = re.compile(rf"in{_ENDS}")
_REDIRECT: Final = re.compile(r"(\d*|\{\w+\})(<<<|<<-?|<&|<>|<(?!\()|>>|>&|>\||>(?!\()|&>>|&>)")
_DELIMITER: Final = re.compile(r"""[ \t]*((?:'[^'\n]*'|"[^"\n]*"|\\.|[^\s;|&<>()'"`\\])+)""")
_QUOTES: Final = re.compile(r"""['"\\]""")
_CASE_END: Final = re.compile(r";;&?|;&")
_CLOSERS: Final = {"if": "fi", "while": "done", "until": "done", "{": "}"}
_HERE: Final = ("<<", "<<-")


class _Pending(NamedTuple):
    """A here-document that was announced and has not begun."""

    redirect: Redirect
    delimiter: str
    is_literal: bool


class ScriptParser(WordParser):
    """Parses a whole shell script into its syntax tree. Methods read at the present position and advance it."""

    def __init__(self, text: str, template_spans: Mapping[int, TextSpan] | None = None) -> None:
        super().__init__(text, template_spans or {})
        self._pending: list[_Pending] = []

    def parse_script(self) -> Script:
        """Return the tree. Raise Undecided."""
        whole = Script()
        while self.at < self.end:  # a closer that closes nothing does not end the reading
            whole.pipelines += self.read_script().pipelines
        return whole

    def read_script(self, *closers: str) -> Script:
        self.enter_nesting_level()
        script = Script()
        while True:
            self._skip_separators(closers)
            if self.at >= self.end or self._is_at_closer(closers):
                break
            start = self.at
            script.pipelines.append(self._read_pipeline())
            if self.at == start:
                self.at += 1
        self.leave_nesting_level()
        return script

    def _is_at_closer(self, closers: tuple[str, ...]) -> bool:
        for closer in closers:
            if closer == ";;" and _CASE_END.match(self.text, self.at, self.end):
                return True
            is_word = closer not in (")", ";;")
            if self.text.startswith(closer, self.at) and (not is_word or self._has_word_end_after(closer)):
                return True
        return False

    def _has_word_end_after(self, keyword: str) -> bool:
        after = self.text[self.at + len(keyword) : min(self.at + len(keyword) + 1, self.end)]
        return after == "" or after in " \t\n;&|()<>"

    def _skip_blanks(self) -> None:
        found = _BLANKS.match(self.text, self.at, self.end)
        assert found is not None
        self.at = found.end()

    def _skip_separators(self, closers: tuple[str, ...] = ()) -> None:
        while self.at < self.end:
            self._skip_blanks()
            if ";;" in closers and _CASE_END.match(self.text, self.at, self.end):
                return
            if self._read_line_end():
                continue
            if self.text.startswith("||", self.at):
                self.at += 2
            elif self.at < self.end and self.text[self.at] in ";&" and not self.text.startswith("&>", self.at):
                self.at += 1
            else:
                return

    def _read_line_end(self) -> bool:
        """Read a comment, or a newline and the here-documents behind it. Return False if there is neither."""
        if comment := _LINE_END.match(self.text, self.at, self.end):
            self.at = comment.end()
            return True
        if self.at < self.end and self.text[self.at] == "\n":
            self.at += 1
            self._read_pending_here_documents()
            return True
        return False

    def _skip_to_command(self) -> None:
        self._skip_blanks()
        while self._read_line_end():
            self._skip_blanks()

    def _read_pending_here_documents(self) -> None:
        pending, self._pending = self._pending, []
        for document in pending:
            tabs = r"\t*" if document.redirect.operator == "<<-" else ""
            pattern = re.compile(rf"^{tabs}{re.escape(document.delimiter)}$", re.MULTILINE)
            last = pattern.search(self.text, self.at, self.end)
            end, after = last.span() if last else (self.end, self.end)
            read = self.read_unexpanded_text(end, "literal") if document.is_literal else self.read_here_document(end)
            document.redirect.target = read
            self.at = min(after + 1, self.end)

    def _read_pipeline(self) -> list[Command]:
        commands = [self._read_command()]
        while True:
            self._skip_blanks()
            if not self.text.startswith("|", self.at) or self.text.startswith("||", self.at) or self.at >= self.end:
                return commands
            self.at += 2 if self.text.startswith("|&", self.at) else 1
            self._skip_to_command()
            commands.append(self._read_command())

    def _read_command(self) -> Command:
        self._skip_to_command()
        while prefix := _PREFIX.match(self.text, self.at, self.end):
            self.at = prefix.end()
            self._skip_to_command()
        if self.text.startswith("((", self.at):
            start = self.at
            self.at += 2
            if computed := self.read_arithmetic():
                return self._add_redirects(Command("((", computed=(computed,)))
            self.at = start
        if self.text.startswith("(", self.at):
            return self._add_redirects(self._read_compound("(", 1, ")"))
        compound = _COMPOUND.match(self.text, self.at, self.end)
        if compound is None:
            return self._read_simple_command()
        kind = compound[0]
        if kind in _CLOSERS:
            return self._add_redirects(self._read_compound(kind, len(kind), _CLOSERS[kind]))
        self.at = compound.end()
        self._skip_blanks()
        return self._add_redirects(
            {
                "case": self._read_case_command,
                "[[": self._read_double_bracket_test,
                "function": self._read_function_definition,
            }.get(kind, self._read_for_loop)()
        )

    def _read_compound(self, kind: str, opening_length: int, closer: str) -> Command:
        self.at += opening_length
        command = Command(kind, scripts=[self.read_script(closer)])
        self.at = min(self.at + len(closer), self.end)
        return command

    def _read_for_loop(self) -> Command:
        command = Command("for")
        if self.text.startswith("((", self.at):
            self.at += 2
            if computed := self.read_arithmetic():
                command.computed = (computed,)
        else:
            command.words.append(self.read_word())
        self._skip_to_command()
        if found := _IN.match(self.text, self.at, self.end):
            self.at = found.end()
            self._skip_blanks()
            while word := self.read_word():
                command.words.append(word)
                self._skip_blanks()
        command.scripts = self._read_compound("for", 0, "done").scripts
        return command

    def _read_case_command(self) -> Command:
        command = Command("case", words=[self.read_word()])
        self._skip_to_command()
        self.at += 2 if _IN.match(self.text, self.at, self.end) else 0
        while True:
            self._skip_to_command()
            if self.at >= self.end:
                return command
            if self.text.startswith("esac", self.at) and self._has_word_end_after("esac"):
                self.at += 4
                return command
            start = self.at
            while self.at < self.end and self.text[self.at] in "(| \t":
                self.at += 1
            command.words.append(self.read_word())
            self._skip_blanks()
            if self.text.startswith(")", self.at):
                self.at += 1
                command.scripts.append(self.read_script(";;", "esac"))
                if end := _CASE_END.match(self.text, self.at, self.end):
                    self.at = end.end()
            elif self.at == start:
                raise Undecided("its `case` cannot be read")

    def _read_double_bracket_test(self) -> Command:
        command = Command(words=[(LiteralText("[["),)])
        while self.at < self.end:
            self._skip_to_command()
            if self.text.startswith("]]", self.at) and self._has_word_end_after("]]"):
                self.at += 2
                return command
            if word := self.read_word():
                command.words.append(word)
            else:
                self.at += 1
        return command

    def _read_function_definition(self) -> Command:
        name = self.read_word()
        self._skip_blanks()
        return self._read_function_after_name(name)

    def _read_function_after_name(self, name: Word) -> Command:
        if self.text.startswith("(", self.at):
            self.at += 1
            self._skip_blanks()
            self.at += 1 if self.text.startswith(")", self.at) else 0
        self.enter_nesting_level()
        body = self._read_command()
        self.leave_nesting_level()
        return Command("function", words=[name], scripts=[Script([[body]])])

    def _add_redirects(self, command: Command) -> Command:
        self._skip_blanks()
        while self._add_redirect_if_any(command):
            self._skip_blanks()
        return command

    def _add_redirect_if_any(self, command: Command) -> bool:
        found = _REDIRECT.match(self.text, self.at, self.end)
        if found is None:
            return False
        self.at = found.end()
        redirect = Redirect(found[1], found[2])
        command.redirects.append(redirect)
        if redirect.operator not in _HERE:
            self._skip_blanks()
            redirect.target = self.read_word()
            return True
        delimiter = _DELIMITER.match(self.text, self.at, self.end)
        if delimiter is None or "${" in delimiter[1]:
            raise Undecided("the word that ends a here-document is not constant")
        self.at = delimiter.end()
        bare = _QUOTES.sub("", delimiter[1])
        self._pending.append(_Pending(redirect, bare, bare != delimiter[1]))
        return True

    def _read_simple_command(self) -> Command:
        command = Command()
        while True:
            self._skip_blanks()
            if self._add_redirect_if_any(command):
                continue
            if self.at >= self.end or self.text[self.at] in "\n;&|)#":
                return command
            if self.text[self.at] == "(":
                if (
                    len(command.words) == 1
                    and not command.assignments
                    and get_constant_text(command.words[0]) is not None
                ):
                    return self._add_redirects(self._read_function_after_name(command.words[0]))
                raise Undecided("it has an unexpected parenthesis")
            word = self.read_word()
            assigned = parse_assignment(word)
            if self.text.startswith("(", self.at) and assigned and not get_constant_text(assigned.value):
                command.words += [] if not command.words else [word]
                self._add_array_assignments(command, word)
            elif assigned and not command.words:
                command.assignments.append(assigned)
            else:
                command.words.append(word)

    def _add_array_assignments(self, command: Command, word: Word) -> None:
        """Read the items in `name=(…)`. Each becomes an assignment, so that `[subscript]=value` is one too."""
        self.at += 1
        self._skip_to_command()
        while self.at < self.end and self.text[self.at] != ")":
            item = self.read_word()
            if not item:
                raise Undecided("its array cannot be read")
            name, first = _get_assigned_name(word), item[0]
            is_subscripted = isinstance(first, LiteralText) and not first.quoted and first.text.startswith("[")
            text = f"{name}{first.text}" if is_subscripted and isinstance(first, LiteralText) else f"{name}="
            assigned = parse_assignment((LiteralText(text, quoted=False), *(item[1:] if is_subscripted else item)))
            command.assignments += [assigned] if assigned else []
            self._skip_to_command()
        self.at = min(self.at + 1, self.end)


def _get_assigned_name(word: Word) -> str:
    assigned = parse_assignment(word)
    assert assigned is not None
    return assigned.name
