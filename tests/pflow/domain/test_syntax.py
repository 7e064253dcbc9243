"""Syntax of templates: references, literals, escapes and malformed text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pflow.domain.template_references import (
    Literal,
    Template,
    TemplateReference,
    find_malformed_positions,
    find_templates,
    find_templates_and_escapes,
    iter_references,
    iter_strings_with_paths,
)

NAMES = st.from_regex(r"[^\W\d][\w-]{0,20}", fullmatch=True).filter(lambda name: name not in ("true", "false", "null"))
STEPS = st.lists(
    st.one_of(
        st.from_regex(r"[\w-]{1,10}", fullmatch=True).map(lambda key: f".{key}"),
        st.integers(-999_999_999, 999_999_999).map(lambda index: f"[{index}]"),
    ),
    max_size=5,
).map("".join)
PIECES = [
    "${",
    "}",
    "$",
    "$${",
    "a",
    "b-c",
    ".",
    "[",
    "]",
    "0",
    "7",
    "-1",
    '"',
    "\\",
    " ",
    "??",
    "true",
    "null",
    "é",
    ":-",
]
TEMPLATE_LIKE = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)


def parse_only_template(text: str) -> Template:
    (template,) = find_templates(text)
    return template


def parse_only_reference(text: str) -> TemplateReference:
    (choice,) = parse_only_template(text).choices
    assert isinstance(choice, TemplateReference)
    return choice


@pytest.mark.parametrize(
    ("text", "root", "steps"),
    [
        ("${name}", "name", ()),
        ("${a.b.c}", "a", ("b", "c")),
        ("${a[0].b}", "a", (0, "b")),
        ("${a.items[2].x[1]}", "a", ("items", 2, "x", 1)),
        ("${a[-1]}", "a", (-1,)),
        ("${a.0}", "a", ("0",)),
        ("${fetch-data.stdout}", "fetch-data", ("stdout",)),
        ("${ padded }", "padded", ()),
        ("${größe}", "größe", ()),
        ("${名前.値}", "名前", ("値",)),
        ("${_x}", "_x", ()),
        ("${__index__}", "__index__", ()),
        ("${false-positives.count}", "false-positives", ("count",)),
        ("${nullable}", "nullable", ()),
        ("${true.x}", "true", ("x",)),
        ("${trueish}", "trueish", ()),
    ],
)
def test_a_reference_is_a_name_and_the_path_from_its_value(text: str, root: str, steps: tuple[str | int, ...]) -> None:
    reference = parse_only_reference(text)
    assert (reference.root, reference.steps) == (root, steps)
    assert reference.text == text[2:-1].strip()


def test_an_index_may_be_a_reference_of_its_own() -> None:
    template = parse_only_template("${outer.list[${inner.n}].rest}")
    (reference,) = template.choices
    assert isinstance(reference, TemplateReference)
    assert reference.steps == ("list", TemplateReference("inner", ("n",), "inner.n"), "rest")
    assert [one.root for one in iter_references(template)] == ["outer", "inner"]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ('${a ?? "text"}', ["text"]),
        ('${a ?? ""}', [""]),
        (r'${a ?? "a \"quote\" and a } and ${b}"}', ['a "quote" and a } and ${b}']),
        ('${a ?? "émigré 名"}', ["émigré 名"]),
        ("${a ?? 5}", [5]),
        ("${a ?? -1.5}", [-1.5]),
        ("${a ?? true}", [True]),
        ("${a??false??null}", [False, None]),
    ],
)
def test_choices_after_the_first_may_be_literals(text: str, values: list[object]) -> None:
    template = parse_only_template(text)
    assert [one.value for one in template.choices if isinstance(one, Literal)] == values
    assert template.choices[0] == TemplateReference("a", (), "a")
    assert (template.start, template.end) == (0, len(text))


def test_choices_are_in_the_order_they_are_written() -> None:
    assert [one.text for one in iter_references(parse_only_template("${first.x ?? second[0] ?? third}"))] == [
        "first.x",
        "second[0]",
        "third",
    ]


def test_a_template_has_its_original_text() -> None:
    assert parse_only_template('${a.x ?? true ?? null ?? "b"}').text == 'a.x ?? true ?? null ?? "b"'


@pytest.mark.parametrize(
    "text",
    [
        "${HOME:-x}",
        "${#x}",
        "${x%.*}",
        "${x##*/}",
        "${x/a/b}",
        "${arr[@]}",
        "${arr[*]}",
        "${!x}",
        "${x:0:3}",
        "${x^^}",
        "${1}",
        "${10}",
        "${@}",
        "${?}",
        "${}",
        "${ }",
        "${a b}",
        "${a..b}",
        "${.a}",
        "${a.}",
        "${a[}",
        "${a[]}",
        "${a[x]}",
        "${9lives}",
        "${a ?? }",
        "${?? a}",
        '${"text"}',
        "${true}",
        "${a ?? 'single'}",
        "${unclosed",
        "$ {a}",
        "$a",
        "{a}",
        "${a ?? 007}",
        r'${a ?? "\q"}',
        '${a ?? "two\nlines"}',
        r'${a ?? "\ud800"}',
        "${a[" + "1" * 5000 + "]}",
    ],
)
def test_text_that_is_not_a_template_is_ignored(text: str) -> None:
    assert find_templates(text) == []


@pytest.mark.parametrize("text", ["${HOME:-x}", "${1}", "${}", "${a ?? 007}", "${unclosed", '${"text"}', "${true}"])
def test_a_start_that_is_not_a_template_is_malformed(text: str) -> None:
    assert find_malformed_positions(f"ab{text}") == [2]


def test_malformed_beginnings_are_found_between_templates_and_escapes() -> None:
    assert find_malformed_positions("${a} ${ $${b} ${c[${d}]} ${e") == [5, 25]


@pytest.mark.parametrize(
    "text", ["", "$", "$$", "plain $HOME", "$${x}", "$$${x}", "${a}", "${a[${b}]}", '${a ?? "${"}']
)
def test_well_formed_and_escaped_templates_are_not_malformed(text: str) -> None:
    assert find_malformed_positions(text) == []


def test_an_escape_is_not_a_template_and_has_its_own_position() -> None:
    assert find_templates("a $${x} b") == []
    assert find_templates_and_escapes("a $${x} ${y}") == (2, Template((TemplateReference("y", (), "y"),), 8, 12))


def test_a_template_behind_an_escape_is_still_one() -> None:
    assert [one.text for one in find_templates("$${a}${b}")] == ["b"]


def test_an_unclosed_beginning_does_not_hide_the_template_behind_it() -> None:
    assert [one.text for one in find_templates("${a ${b} ${HOME:-${c}}")] == ["b", "c"]


def test_texts_in_a_value_come_with_the_path_to_them() -> None:
    value = {"url": "u", "headers": {"accept": "h"}, "list": ["a", {"b": "c"}, [1, None, True]], "n": 5}
    assert dict(iter_strings_with_paths(value)) == {"url": "u", "headers.accept": "h", "list[0]": "a", "list[1].b": "c"}
    assert list(iter_strings_with_paths(["x"], "batch.items")) == [("batch.items[0]", "x")]


def test_repeated_text_is_parsed_once() -> None:
    first, *others = find_templates("${a.b[0] ?? 1}" * 10_000)
    assert len(others) == 9_999
    assert all(other.choices is first.choices for other in others)


@given(st.text().filter(lambda text: "${" not in text))
def test_a_text_without_a_beginning_has_no_templates(text: str) -> None:
    assert find_templates(text) == []
    assert find_malformed_positions(text) == []


@given(NAMES, STEPS)
def test_every_name_and_path_is_parsed_back_unchanged(name: str, steps: str) -> None:
    reference = parse_only_reference("${" + name + steps + "}")
    assert reference.root == name
    assert reference.text == name + steps
    written = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in reference.steps)
    assert written == steps.replace("[-0]", "[0]")


@given(TEMPLATE_LIKE)
def test_every_beginning_is_a_template_or_escaped_or_malformed(text: str) -> None:
    spans = [
        (one, one + 3) if isinstance(one, int) else (one.start, one.end) for one in find_templates_and_escapes(text)
    ]
    assert spans == sorted(spans)
    malformed = set(find_malformed_positions(text))
    for at in range(len(text)):
        if text.startswith("${", at):
            is_inside = any(start <= at < end for start, end in spans)
            assert is_inside != (at in malformed)
    for template in find_templates(text):
        assert text[template.start : template.start + 2] == "${"
        assert text[template.end - 1] == "}"


@pytest.mark.parametrize(
    "text",
    [
        "${" + "true ?? " * 200_000,
        "${" + "a ?? " * 200_000,
        "${a" + " " * 1_000_000,
        "${a" + ".a" * 500_000,
        "${" + "a" * 200_000,
        "${a[" * 50_000,
        "${a[${" * 30_000,
        '${a ?? "' * 24_000,
        "${a ?? " + "1" * 200_000,
        '${a ?? "' + '\\"' * 100_000,
        "$" * 200_000,
        "${a}${" * 30_000,
        "${a}" * 50_000,
    ],
    ids=range(13),
)
def test_no_text_of_200_000_characters_takes_long(text: str) -> None:
    count = len(find_templates(text))
    assert count == (text.count("${a}") if "${a}" in text else 0)
    find_malformed_positions(text)
