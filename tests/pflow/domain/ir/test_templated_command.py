"""Values in shell commands, tested by running them: every value arrives unchanged, and none is code."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pflow.domain.shell.templated_command import replace_templates_by_variables
from pflow.domain.template_references import Template
from pflow.errors import NodeFailed

SHELLS = ["/bin/sh", *(["bash --posix"] if shutil.which("bash") else [])]
"""On many systems /bin/sh is bash as it is here, which computes and expands more than others do."""

HOSTILE = [
    "",
    " ",
    "\n",
    "\n\n",
    "a  b\tc",
    "*",
    "~",
    "-n",
    "--help",
    "\\",
    "\\n",
    "'",
    '"',
    "`",
    "it's",
    "$HOME",
    "${HOME}",
    "$(touch PWNED)",
    "`touch PWNED`",
    "'; touch PWNED; '",
    '"; touch PWNED; "',
    "'$(touch PWNED)'",
    '"$(touch PWNED)"',
    "\n touch PWNED\n",
    "; touch PWNED #",
    "| touch PWNED",
    "&& touch PWNED",
    "> PWNED",
    "EOF\ntouch PWNED\n",
    "a[$(touch PWNED)]",
    "x[0`touch PWNED`]",
    "$((1+1))",
    "{a,b}",
    "!!",
    "%s%n",
    "ünïcödé 名前 🦉",
    "\u202e\u2028",
]
VALUES = st.one_of(
    st.sampled_from(HOSTILE),
    st.lists(st.sampled_from(HOSTILE), max_size=6).map("".join),
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=40),
)

ONE_PLACE = {
    "bare": "printf %s ${x}",
    "bare within a word": "printf %s a${x}b",
    "bare behind a quoted part": "printf %s 'it''s'${x}\"b\"",
    "in double quotes": 'printf %s "${x}"',
    "in double quotes with text": 'printf %s "it\'s <${x}>"',
    "in single quotes": "printf %s '${x}'",
    "in single quotes with text": "printf %s '\"<${x}>\\'",
    "behind escaped quotes": "printf %s \\\"\\'${x}",
    "behind an escaped quote in double quotes": 'printf %s "\\"${x}\\""',
    "in an assignment": 'y=${x}; printf %s "$y"',
    "in a substitution": 'printf %s "$(printf "%s." ${x})"',
    "in double quotes in a substitution in double quotes": 'printf %s "$(printf \'%s.\' "${x}")"',
    "in single quotes in a substitution in double quotes": "printf %s \"$(printf '%s.' '${x}')\"",
    "in a substitution in a substitution": 'printf %s "$(printf %s "$(printf %s. ${x})")"',
    "in a subshell in a substitution": 'printf %s "$( (printf %s. ${x}) )"',
    "behind a substitution in double quotes": 'printf %s "$(echo ")")${x}"',
    "behind nested parentheses": 'printf %s "$( (echo a) | tr -d a )${x}"',
    "in backticks": 'printf %s "`printf %s. ${x}`"',
    "in double quotes in backticks": 'printf %s "`printf %s. "${x}"`"',
    "in single quotes in backticks": "printf %s \"`printf %s. '${x}'`\"",
    "behind backticks": 'printf %s "`printf %s "a"`${x}"',
    "in a here-document": "cat <<EOF\n${x}\nEOF",
    "in a here-document with apostrophes": 'cat <<EOF\nit\'s "<${x}>"\nEOF',
    "in a here-document whose lines are indented": "cat <<-EOF\n\t<${x}>\n\tEOF",
    "behind a here-document": "cat >/dev/null <<EOF\nit's \"\nEOF\nprintf %s ${x}",
    "behind a quoted here-document": "cat >/dev/null <<'EOF'\nit's ` $( \"\nEOF\nprintf %s ${x}",
    "behind an escaped here-document": "cat >/dev/null <<\\EOF\nit's $(\nEOF\nprintf %s '${x}'",
    "in the second of two here-documents": "cat <<A >/dev/null; cat <<B\nit's\nA\n${x}\nB",
    "behind two here-documents": "cat <<A <<'B' >/dev/null\nit's\nA\n\"\nB\nprintf %s \"${x}\"",
    "in a substitution in a here-document": "cat <<EOF\n$(printf %s. ${x})\nEOF",
    "in single quotes in a substitution in a here-document": "cat <<EOF\n$(printf %s. '${x}')\nEOF",
    "in backticks in a here-document": "cat <<EOF\n`printf %s. ${x}`\nEOF",
    "in a here-document in a substitution": 'printf %s "$(cat <<EOF\n<${x}>\nEOF\n)"',
    "behind a here-document in a substitution": 'printf %s "$(cat <<EOF\nit\'s\nEOF\n)${x}"',
    "behind a comment": "# it's a comment\nprintf %s ${x}",
    "behind a comment at the end of a line": "true # don't \"\nprintf %s '${x}'",
    "behind a comment in a substitution": 'printf %s "$(true # it\'s )\nprintf %s. ${x})"',
    "behind a comment at a bracket": "(true)# it's\nprintf %s ${x}",
    "behind a sharp that is not a comment": "printf %s a#'${x}'",
    "behind a sharp at a substitution": "printf %s $(echo a)#'${x}'",
    "behind the length of a variable": "y=abc; printf %s ${#y}'${x}'",
    "behind a shell's own expansion": 'printf %s "${y:-it\'s}${x}"',
    "in a shell's own expansion": 'printf %s "${y:-${x}}"',
    "bare in a shell's own expansion": "printf %s ${y:-${x}}",
    "in double quotes in a shell's own expansion": 'printf %s "${y:-"${x}"}"',
    "behind arithmetic": 'printf %s "$((1 + (2 * 3)))${x}"',
    "behind a shift": "echo $(( (1 << 2) )) >/dev/null\nprintf %s ${x}",
    "behind a continued line": "printf \\\n %s ${x}",
    "in a loop": 'for y in ${x}; do printf %s "$y"; done',
    "in a test": "[ ${x} = ${x} ] && printf %s ${x}",
    "in a case": "case ${x} in *) printf %s ${x};; esac",
    "in a function": 'f() { printf %s "$1"; }; f ${x}',
    "in an ANSI quote": "printf %s $'${x}'",
}
"""Commands that print the value, perhaps with signs around it."""

SIGNS = {
    "bare within a word": "a{}b",
    "bare behind a quoted part": "its{}b",
    "in double quotes with text": "it's <{}>",
    "in single quotes with text": '"<{}>\\',
    "behind escaped quotes": "\"'{}",
    "behind an escaped quote in double quotes": '"{}"',
    "in a here-document with apostrophes": 'it\'s "<{}>"\n',
    "in a here-document whose lines are indented": "<{}>\n",
    "in a here-document": "{}\n",
    "in the second of two here-documents": "{}\n",
    "in a substitution in a here-document": "{}.\n",
    "in single quotes in a substitution in a here-document": "{}.\n",
    "in backticks in a here-document": "{}.\n",
    "in a here-document in a substitution": "<{}>",
    "behind a sharp that is not a comment": "a#{}",
    "behind a sharp at a substitution": "a#{}",
    "behind the length of a variable": "3{}",
    "behind a shell's own expansion": "it's{}",
    "behind arithmetic": "7{}",
    "behind a substitution in double quotes": "){}",
    "behind backticks": "a{}",
    "behind a here-document in a substitution": "it's{}",
}
STOPPED = [
    "in a substitution",
    "in double quotes in a substitution in double quotes",
    "in single quotes in a substitution in double quotes",
    "in a substitution in a substitution",
    "in a subshell in a substitution",
    "in backticks",
    "in double quotes in backticks",
    "in single quotes in backticks",
    "behind a comment in a substitution",
]
"""A full stop is put behind the value: the shell takes newlines from the end of what a substitution gives."""
AROUND = SIGNS | dict.fromkeys(STOPPED, "{}.")


def run_command(
    shell: str, command: str, variables: dict[str, str], folder: Path
) -> subprocess.CompletedProcess[bytes]:
    environment = {"PATH": os.environ["PATH"], "HOME": "/nowhere", **variables}
    return subprocess.run(
        [*shell.split(), "-c", command],
        env=environment,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=20,
        check=False,
    )


def get_printed_text(shell: str, command: str, value: Any) -> str:
    """Return the output of the command with this value, and check that it had no other effect."""
    made, variables = replace_templates_by_variables(command, lambda _: value)
    with tempfile.TemporaryDirectory() as folder:
        ended = run_command(shell, made, variables, Path(folder))
        assert os.listdir(folder) == []
    assert ended.stderr == b""
    assert ended.returncode == 0
    return ended.stdout.decode()


PLACES = [(shell, place) for shell in SHELLS for place in ONE_PLACE]
ANSI = "in an ANSI quote"


@pytest.mark.parametrize(("shell", "place"), PLACES, ids=[f"{shell}: {place}" for shell, place in PLACES])
@settings(max_examples=12)
@given(value=VALUES)
@example(value="'; touch PWNED; '")
@example(value="$(touch PWNED) `touch PWNED` * a  b\n")
@example(value="\"'\\\n")
def test_a_value_arrives_unchanged_and_is_never_code(shell: str, place: str, value: str) -> None:
    expected = AROUND.get(place, "{}").replace("{}", value)
    if place == ANSI and "bash" not in shell:
        expected = f"${value}"
    assert get_printed_text(shell, ONE_PLACE[place], value) == expected


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("place", ["bare", "in double quotes", "in single quotes", "in a here-document"])
@pytest.mark.parametrize("value", HOSTILE)
def test_every_known_attack_is_printed_and_does_nothing(shell: str, place: str, value: str) -> None:
    assert get_printed_text(shell, ONE_PLACE[place], value) == AROUND.get(place, "{}").replace("{}", value)


WORDS = st.recursive(
    st.one_of(
        st.just(("${x}", "{x}")),
        st.sampled_from([("a", "a"), ("\\'", "'"), ('\\"', '"'), ("\\\\", "\\"), ("a#", "a#"), ("\\`", "`")]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(
            lambda all_: ("".join(c for c, _ in all_), "".join(p for _, p in all_))
        ),
        inner.map(lambda one: (f'"$(printf %s {one[0]}.)"', one[1] + ".")),
        inner.map(lambda one: (f'"it\'s $(printf %s {one[0]}.)"', "it's " + one[1] + ".")),
        st.just(("'${x}'", "{x}")),
        st.just(("'\"${x}`'", '"{x}`')),
        st.just(('"\'${x}"', "'{x}")),
    ),
    max_leaves=6,
)


@pytest.mark.parametrize("shell", SHELLS)
@settings(max_examples=80)
@given(word=WORDS, value=VALUES)
def test_a_value_arrives_unchanged_in_any_nesting_of_quotes_and_substitutions(
    shell: str, word: tuple[str, str], value: str
) -> None:
    command, pattern = word
    assert get_printed_text(shell, f"printf %s a{command}", value) == "a" + pattern.replace("{x}", value)


def test_each_template_has_a_variable_of_its_own() -> None:
    values = {"a": "1", "b": "2"}
    made, variables = replace_templates_by_variables(
        "echo ${a} '${b}' \"${a}\"", lambda template: values[template.text]
    )
    assert list(variables.values()) == ["1", "2", "1"]
    assert not any(value in made.replace("PFLOW_1", "").replace("PFLOW_2", "") for value in values.values())
    assert all(name in made for name in variables)


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=4))
def test_no_part_of_a_value_is_ever_in_the_command(value: str) -> None:
    command = "cat ${x} '${x}' \"${x}\" $(cat ${x}) `cat ${x}`\ncat <<E\n${x}\nE"
    made, variables = replace_templates_by_variables(command, lambda _: value)
    assert set(variables.values()) == {value}
    assert made == replace_templates_by_variables(command, lambda _: "another")[0]


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, ""), (True, "true"), (5, "5"), (1.5, "1.5"), ([1, "a b"], '[1,"a b"]'), ({"a": "'"}, '{"a":"\'"}')],
)
def test_values_that_are_not_text_arrive_as_json(value: Any, text: str) -> None:
    assert get_printed_text("/bin/sh", "printf %s ${x}", value) == text


@pytest.mark.parametrize(
    "command",
    [
        "echo ${HOME:-x}",
        "echo ${#x}",
        "echo ${x%.*}",
        "echo ${x##*/}",
        "echo ${arr[@]}",
        "echo ${1} ${@} ${?}",
        "echo $HOME $x $(date) $((1 + 2))",
        "awk '{print $1}'",
        "echo ${x",
        "no templates, it's plain",
    ],
)
def test_shell_syntax_is_left_to_the_shell(command: str) -> None:
    def never(template: Template) -> Any:
        pytest.fail(f"asked for {template.text}")

    assert replace_templates_by_variables(command, never) == (command, {})


def test_the_shells_own_expansions_work_beside_templates() -> None:
    command = 'y=a.b.c; printf "%s|" "${HOME:-none}" "${#y}" "${y%.*}" "${gone:-d}" ${x}'
    assert get_printed_text("/bin/sh", command, "${HOME}") == "/nowhere|5|a.b|d|${HOME}|"


def test_an_escaped_template_is_the_shells() -> None:
    assert replace_templates_by_variables("y=1; echo $${y}", lambda _: "never") == ("y=1; echo ${y}", {})
    assert get_printed_text("/bin/sh", "y=1; printf %s $${y} ${x}", "v") == "1v"


@pytest.mark.parametrize("command", ["printf %s \\${x}", 'printf %s "\\${x}"', "cat <<EOF\n\\${x}\nEOF"])
def test_a_template_behind_a_backslash_is_the_text_itself(command: str) -> None:
    assert get_printed_text("/bin/sh", command, "never").strip() == "${x}"


def test_a_backslash_in_single_quotes_escapes_nothing() -> None:
    assert get_printed_text("/bin/sh", "printf %s '\\${x}'", "v") == "\\v"


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(
    ("command", "value", "text"),
    [
        ("printf %s $((${x} + 1))", 5, "6"),
        ("printf %s $((${x} + 1))", "5\n", "6"),
        ("printf %s $((3 - ${x}))", -2, "5"),
        ("printf %s $((-${x}))", "-2", "2"),
        ('printf %s "$((2 * (${x} + 1)))"', 2, "6"),
        ("printf %s $((${x} * 1))", "010", "10"),
        ("cat <<E\n$((${x} + 1))\nE", 1, "2\n"),
        ("printf %s $((1 + $(printf %s ${x})))", "4", "5"),
    ],
)
def test_arithmetic_takes_whole_numbers(shell: str, command: str, value: Any, text: str) -> None:
    assert get_printed_text(shell, command, value) == text


COMPUTED = [
    "echo $((${x} + 1))",
    'echo "$((${x}))"',
    "echo $(( (1 + (${x})) ))",
    'echo $(( "${x}" + 1 ))',
    "cat <<EOF\n$((${x}))\nEOF",
    "echo `echo $((${x}))`",
    "((${x} > 1))",
    "if ((y = ${x})); then echo; fi",
    "y=abc; echo ${y:${x}}",
    'y=abc; echo "${y:0:${x}}"',
    "echo ${y[${x}]%a}",
]


@pytest.mark.parametrize("command", COMPUTED)
@pytest.mark.parametrize(
    "value", ["a[$(touch PWNED)]", "1 + 1", "1; touch PWNED", "", None, 1.5, True, "x", [1], "9" * 5000]
)
def test_arithmetic_takes_nothing_but_whole_numbers(command: str, value: Any) -> None:
    with pytest.raises(NodeFailed, match="not a whole number") as caught:
        replace_templates_by_variables(command, lambda _: value)
    assert "${x}" in caught.value.message
    assert caught.value.hint


def test_positions_outside_of_arithmetic_accept_any_text() -> None:
    made, variables = replace_templates_by_variables(
        "echo ${y:-${x}} ${y:=${x}} ${y:+${x}} $(echo ${x})", lambda _: "any"
    )
    assert len(variables) == 4
    assert "any" not in made


@pytest.mark.parametrize("word", ["'EOF'", '"EOF"', "\\EOF", "-'EOF'"])
def test_a_here_document_in_which_the_shell_puts_nothing_is_refused(word: str) -> None:
    with pytest.raises(NodeFailed, match="here-document") as caught:
        replace_templates_by_variables(f"cat <<{word}\n${{x}}\nEOF", lambda _: "v")
    assert "stdin" in caught.value.hint


def test_a_value_with_a_nul_is_refused_with_an_alternative() -> None:
    with pytest.raises(NodeFailed, match="NUL") as caught:
        replace_templates_by_variables("cat ${data.body}", lambda _: "a\0b")
    assert '"stdin": "${data.body}"' in caught.value.hint


def test_a_value_too_long_for_a_variable_is_refused_with_an_alternative() -> None:
    assert replace_templates_by_variables("echo ${x}", lambda _: "x" * 100_000)[1] == {"PFLOW_1": "x" * 100_000}
    for value in ("x" * 100_001, "é" * 50_001):
        with pytest.raises(NodeFailed, match="longer than 100,000 bytes") as caught:
            replace_templates_by_variables("echo ${x}", lambda _, value=value: value)
        assert "stdin" in caught.value.hint


@pytest.mark.skipif(len(SHELLS) < 2, reason="there is no bash here")
@pytest.mark.parametrize(
    ("command", "text"),
    [
        ('cat <<< "${x}"\nprintf %s ${x}', "{}\n{}"),
        ("cat <<<${x}\nprintf %s '${x}'", "{}\n{}"),
        ('printf %s "$((echo a) | tr -d a)${x}"', "{}"),
        ("((y = 1 << 2))\nprintf %s ${x}", "{}"),
        ("for ((i = 0; i < 2; i++)); do printf %s ${x}; done", "{}{}"),
        ('y=(a ${x}); printf %s "${y[1]:-}"', "{}"),
    ],
)
def test_extensions_of_some_shells_do_not_change_how_values_arrive(command: str, text: str) -> None:
    value = "a  '*' $(touch PWNED)"
    assert get_printed_text(SHELLS[1], command, value) == text.replace("{}", value)


def test_a_command_of_200_000_characters_is_rewritten() -> None:
    line = "echo 'a' \"b\" $(c) # d's".ljust(99) + "\n"
    command = line * 2_000 + "echo '${x}'"
    made, variables = replace_templates_by_variables(command, lambda _: "v")
    assert made.endswith("echo ''\"${PFLOW_1}\"''")
    assert len(variables) == 1


def test_many_templates_are_rewritten() -> None:
    made, variables = replace_templates_by_variables("echo ${x} '${x}' <<E\n${x}\nE\n" * 5_000, lambda _: "v")
    assert len(variables) == 15_000
    assert made.count("PFLOW_") == 15_000
