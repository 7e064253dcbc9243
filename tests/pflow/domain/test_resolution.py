"""Resolution of templates, and errors for missing values."""

import copy
import json
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pflow.domain.template_resolution import Resolution, Scope, format_as_text, iter_texts_and_numbers
from pflow.errors import NodeFailed, TemplateUnresolved
from tests.requirements import requirement

LONGEST = 64 * 1024 * 1024

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


def resolve(value: Any, **scope: Any) -> Any:
    resolution = Resolution(Scope(scope))
    made = resolution.resolve_value(value)
    resolution.raise_if_missing()
    return made


def expect_unresolved(value: Any, **scope: Any) -> TemplateUnresolved:
    resolution = Resolution(Scope(scope))
    resolution.resolve_value(value)
    with pytest.raises(TemplateUnresolved) as caught:
        resolution.raise_if_missing(node="fetch")
    return caught.value


@given(JSON)
def test_a_template_that_is_the_whole_text_has_the_type_of_its_value(value: Any) -> None:
    made = resolve({"a": ["${x}", {"b": "${ x }"}]}, x=value)
    assert made == {"a": [value, {"b": value}]}
    assert type(made["a"][0]) is type(value)


@given(JSON)
def test_a_value_at_the_end_of_a_path_has_its_own_type(value: Any) -> None:
    made = resolve("${node.out.list[1].x}", node={"out": {"list": [0, {"x": value}]}})
    assert (made, type(made)) == (value, type(value))


@given(st.text().filter(lambda text: "${" not in text))
def test_a_text_without_a_template_start_is_unchanged(text: str) -> None:
    assert resolve(text) == text


@given(st.text(st.sampled_from("${}ax $")))
def test_an_escaped_text_stands_for_itself(text: str) -> None:
    assert resolve(text.replace("${", "$${")) == text


@given(
    st.text().filter(lambda text: "${" not in text and not text.endswith("$")),
    JSON,
    st.text().filter(lambda text: "${" not in text),
)
def test_a_value_inside_a_text_becomes_text(before: str, value: Any, behind: str) -> None:
    made = resolve(f"<{before}${{x}}{behind}>", x=value)
    assert made == f"<{before}{format_as_text(value)}{behind}>"


@given(JSON)
def test_a_value_as_text_is_json_unless_it_is_text_or_null(value: Any) -> None:
    text = format_as_text(value)
    if value is None:
        assert text == ""
    elif isinstance(value, str):
        assert text == value
    else:
        assert json.loads(text) == value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "true"),
        (1, "1"),
        (1.5, "1.5"),
        ([1, "ä"], '[1,"ä"]'),
        ({"n": 2**70}, '{"n":1180591620717411303424}'),
        (2**70, "1180591620717411303424"),
        ({1: "a"}, '{"1":"a"}'),
        (["\ud800"], r'["\ud800"]'),
    ],
)
def test_a_value_inside_a_text_becomes_json_even_for_unusual_values(value: Any, text: str) -> None:
    assert format_as_text(value) == text


def test_a_value_that_json_cannot_express_becomes_the_text_of_python() -> None:
    assert format_as_text({(1, 2): 3}) == "{(1, 2): 3}"


@pytest.mark.parametrize(
    ("template", "value"),
    [
        ("${sh.stdout.name}", "Ada"),
        ("${sh.stdout.list[1]}", 2),
        ("${sh.stdout.list[-1]}", 3),
        ("${sh.stdout.list.0}", 1),
        ("first ${sh.stdout.list[0]}", "first 1"),
        ("${sh.stdout}", '  {"name": "Ada", "list": [1, 2, 3]}'),
    ],
)
def test_text_that_contains_json_is_parsed_if_a_path_leads_into_it(template: str, value: Any) -> None:
    assert resolve(template, sh={"stdout": '  {"name": "Ada", "list": [1, 2, 3]}'}) == value


def test_text_that_contains_a_number_stays_text() -> None:
    assert resolve("${sh.stdout}", sh={"stdout": "12345678901234567890"}) == "12345678901234567890"


def test_an_index_may_itself_be_a_value() -> None:
    assert resolve("${list[${i}].x}", list=[{"x": "a"}, {"x": "b"}], i=1) == "b"
    assert resolve("${by.name[${who.id}]}", by={"name": {"ada": 36}}, who={"id": "ada"}) == 36


@pytest.mark.parametrize(
    ("template", "value"),
    [
        ('${gone ?? "text"}', "text"),
        ("${gone.x.y ?? there}", "there"),
        ("${null ?? gone ?? there}", "there"),
        ("${empty ?? there}", ""),
        ("${zero ?? there}", 0),
        ("${no ?? there}", False),
        ("${none ?? there}", "there"),
        ("${gone ?? none}", None),
        ("${gone ?? null}", None),
        ("<${gone ?? null}>", "<>"),
        ("${none.x ?? 5}", 5),
        ("${list[9] ?? -1}", -1),
    ],
)
def test_the_first_choice_that_is_there_and_not_null_is_taken(template: str, value: Any) -> None:
    scope = {"there": "there", "empty": "", "zero": 0, "no": False, "none": None, "list": [1]}
    if template.startswith("${null"):
        template = template.replace("null", "none")
    assert resolve(template, **scope) == value


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("$${x}", "${x}"),
        ("a $${x} ${x}", "a ${x} 1"),
        ("$$${x}", "$${x}"),
        ("$${HOME:-x}", "${HOME:-x}"),
        ("$$", "$$"),
        ("${HOME:-x} ${x}", "${HOME:-x} 1"),
    ],
)
def test_an_escape_gives_the_two_characters_themselves(template: str, text: str) -> None:
    assert resolve(template, x=1) == text


def test_values_are_never_resolved_again() -> None:
    assert resolve(["${x}", "<${x}>"], x="${y} $${z}", y="secret") == ["${y} $${z}", "<${y} $${z}>"]


def test_resolving_changes_neither_the_value_nor_the_scope() -> None:
    value = {"a": ["${x}", {"b": "${x.k} and $${y}"}]}
    scope = {"x": {"k": [1, 2]}}
    before = copy.deepcopy((value, scope))
    resolve(value, **scope)
    assert (value, scope) == before


def test_names_of_an_item_hide_those_of_the_run() -> None:
    scope = Scope({"item": "inner"}, Scope({"item": "outer", "who": "run"}))
    resolution = Resolution(scope)
    assert resolution.resolve_value("${item} ${who}") == "inner run"
    assert scope.list_names() == ["item", "who"]


@requirement("PF-E4")
def test_all_missing_references_are_reported_at_once() -> None:
    error = expect_unresolved(
        {"url": "${api_url}/x", "list": ["${key}", "${api_url}"], "o": "${fetched.body}"}, fetched={"status": 200}
    )
    assert error.type == "template_error"
    assert error.code == "template_unresolved"
    assert error.missing == ["api_url", "key", "fetched.body"]
    body: Any = error.body()["error"]
    assert body["missing_variables"] == ["api_url", "key", "fetched.body"]
    assert body["node"] == "fetch"
    assert "${api_url}" in body["message"]
    assert body["available"] == ["fetched.status", "fetched"]


def test_the_probably_intended_name_is_suggested() -> None:
    assert "${fetch-data.stdout}" in expect_unresolved(
        "${fetch_data.stdout}", **{"fetch-data": {"stdout": "x"}}
    ).hint or ("${fetch-data}" in expect_unresolved("${fetch_data.stdout}", **{"fetch-data": {"stdout": "x"}}).hint)
    assert "${fetch.stdout}" in expect_unresolved("${fetch.stdot}", fetch={"stdout": "x", "exit_code": 0}).hint


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("${f.stdout.a.c}", "`f.stdout.a` has: bee, sea."),
        ("${f.stdout.a.be}", "`f.stdout.a` has: bee, sea. Did you mean ${f.stdout.a.bee}?"),
        ("${f.stdout.x}", "`f.stdout` has: a, list, none."),
        ("${f.out}", "`f` has: stdout, text, code. Did you mean ${f.stdout}?"),
        ("${f.stdout.list[7]}", "`f.stdout.list` is a list of 2: its first is `f.stdout.list[0]`."),
        ("${f.stdout.list.b}", "`f.stdout.list` is a list of 2: its first is `f.stdout.list[0]`."),
        ("${f.stdout.list[${i}].b}", "`f.stdout.list[${i}]` is empty."),
        ("${f.stdout.list[${f.stdout.a.be}]}", "`f.stdout.a` has: bee, sea. Did you mean ${f.stdout.a.bee}?"),
        ("${f.stdout.none.x}", "`f.stdout.none` is null, and does not have items."),
        ("${f.text.x}", "`f.text` is text without JSON, and does not have items."),
        ("${f.code.x}", "`f.code` is a number, and does not have items."),
    ],
)
def test_a_miss_below_a_node_is_reported_with_the_keys_of_the_deepest_existing_value(
    template: str, expected: str
) -> None:
    stdout = '{"a": {"bee": 1, "sea": 2}, "list": [{}, {"b": 1}], "none": null}'
    error = expect_unresolved(template, f={"stdout": stdout, "text": "plain", "code": 0}, i=0)
    assert error.hint == expected


def test_names_at_the_deepest_existing_value_come_first() -> None:
    error = expect_unresolved("${f.stdout.a.c}", f={"stdout": '{"a": {"b": 1}}'}, who="x")
    assert error.ids["available"] == ["f.stdout.a.b", "f", "who"]


def test_misses_of_many_kinds_are_summarised_and_only_unknown_names_are_suggested_as_inputs() -> None:
    error = expect_unresolved("${f.x} ${f.y} ${wo} ${f.z}", f={"stdout": 1}, who=1)
    assert error.hint.startswith("`f` has: stdout. Did you mean ${who}? Give it as an input")
    assert error.missing == ["f.x", "f.y", "wo", "f.z"]


def test_long_and_many_keys_are_shortened() -> None:
    error = expect_unresolved("${f.x}", f={f"{number}{'k' * 10_000}": 1 for number in range(5_000)})
    assert len(error.hint) < 5_000


def make_truncated_output(
    name: str = "stdout", size: Any = 20_000_000, file: Any = "/home/me/.pflow/spool/run_1/stdout-x7"
) -> Any:
    return {name: "beg", f"{name}_file": file, f"{name}_size": size}


@pytest.mark.parametrize(
    ("template", "scope", "file"),
    [
        ("${sh.stdout}", {"sh": make_truncated_output()}, "${sh.stdout_file}"),
        ("${sh.stdout.a.b}", {"sh": make_truncated_output()}, "${sh.stdout_file}"),
        (
            "${each.results[1].stdout}",
            {"each": {"results": [make_truncated_output("stderr"), make_truncated_output()]}},
            "${each.results[1].stdout_file}",
        ),
        (
            "${each.results[${i}].stdout}",
            {"each": {"results": [make_truncated_output()]}, "i": 0},
            "${each.results[${i}].stdout_file}",
        ),
    ],
)
def test_a_truncated_output_is_never_used_as_complete(template: str, scope: Any, file: str) -> None:
    with pytest.raises(NodeFailed, match="20,000,000 bytes long") as caught:
        resolve(template, **scope)
    assert f"`{file}`" in caught.value.hint


@pytest.mark.parametrize(
    "image",
    [
        make_truncated_output("image", "large", "cat.png"),
        make_truncated_output("image", 1234, "cat.png"),
        make_truncated_output("image", 1234, "/home/me/.pflow/spool/run_1/stdout-x7"),
        make_truncated_output("image", True, "/home/me/.pflow/spool/run_1/image-x7"),
        make_truncated_output("image", 1234, None),
        make_truncated_output("image", 1234, "image-x7"),
    ],
)
def test_data_with_keys_like_those_of_a_truncated_output_is_passed_on(image: Any) -> None:
    assert resolve("${get.image}", get=image) == "beg"
    assert resolve("${get.echo.image}", get={"echo": image}) == "beg"


def test_data_below_the_outputs_of_a_node_are_never_taken_for_a_cut_output() -> None:
    data = make_truncated_output()
    assert resolve("${get.response.stdout}", get={"response": data}) == "beg"
    assert resolve("${get.response.results[0].stdout}", get={"response": {"results": [data]}}) == "beg"


def test_only_choices_that_are_missing_are_called_missing() -> None:
    assert expect_unresolved("${none ?? gone}", none=None).missing == ["gone"]
    assert expect_unresolved("${gone.a ?? gone.b}").missing == ["gone.a", "gone.b"]


@pytest.mark.parametrize(
    "template",
    [
        "${x.y}",
        "${none.y}",
        "${list[3]}",
        "${list[-4]}",
        "${list.y}",
        "${n.y}",
        "${text.y}",
        "${list[${gone}]}",
        "${list.²}",
        "${list.9999999999999}",
    ],
)
def test_a_path_without_a_value_is_missing(template: str) -> None:
    error = expect_unresolved(template, none=None, list=[1, 2, 3], n=5, text="{no json")
    assert error.missing == [template[2:-1]]


def test_long_lists_of_missing_names_are_reported_in_time() -> None:
    error = expect_unresolved(
        " ".join(f"${{gone.x{n}}}" for n in range(20_000)), gone={f"y{n}": n for n in range(20_000)}
    )
    assert len(error.missing) == 20_000
    assert len(error.ids["available"]) == 20


def test_a_text_of_a_million_characters_is_resolved() -> None:
    text = "x" * 500_000
    assert resolve("${a} ${a}", a=text) == f"{text} {text}"
    assert resolve("y" * 1_000_000 + "${a}", a=1).endswith("y1")


def test_a_text_that_templates_would_blow_up_is_refused() -> None:
    with pytest.raises(NodeFailed, match=f"more than {LONGEST:,} characters and items") as caught:
        resolve("${a}" * 100_000, a="x" * 100_000)
    assert caught.value.hint


def test_text_that_is_expanded_over_several_parameters_is_refused_too() -> None:
    with pytest.raises(NodeFailed, match="characters and items"):
        resolve([" ${a}" * 100] * 1000, a="x" * 10_000)


def test_values_that_contain_each_other_many_times_are_refused_before_they_are_written_out() -> None:
    def grow() -> None:
        value: Any = ["laugh"] * 10
        for _ in range(60):
            value = resolve(["${a}"] * 10, a=value)

    with pytest.raises(NodeFailed, match="characters and items"):
        grow()


def test_one_large_text_inserted_many_times_is_refused() -> None:
    with pytest.raises(NodeFailed, match="characters and items"):
        resolve(["${a}"] * 1000, a="x" * 100_000)


def test_one_large_value_alone_is_passed_on_whole() -> None:
    text = "x" * (LONGEST + 1)
    assert resolve({"stdin": "${a}", "n": "${b}"}, a=text, b=5)["stdin"] is text


def test_many_small_values_are_resolved() -> None:
    assert resolve(["${a}"] * 10_000, a=[1, {"b": "c"}]) == [[1, {"b": "c"}]] * 10_000


def test_all_texts_in_a_value_are_found_at_any_depth() -> None:
    deep: Any = "bottom"
    for _ in range(5_000):
        deep = [deep]
    assert list(iter_texts_and_numbers(deep)) == ["bottom"]
    assert sorted(
        iter_texts_and_numbers({"k": ["a", ("b",), {"c"}], "n": 12, "y": b"raw", "t": True, "z": None})
    ) == sorted(["k", "a", "b", "c", "n", "12", "y", "raw", "t", "z"])
    assert list(iter_texts_and_numbers({"k": "v"}, include_keys=False)) == ["v"]


@given(JSON)
def test_every_resolved_value_can_be_written_as_json(value: Any) -> None:
    assert orjson.loads(orjson.dumps(resolve({"p": "${x}"}, x=value))) == {"p": value}
