from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.mcp.tool_calls import Arguments


class Strategy(BaseModel):
    queries: list[str]


async def decide(
    session_id: str,
    action: Literal["approve", "edit"] = "approve",
    data: dict[str, Any] | None = None,
    note: str | None = None,
    strategy: Strategy | None = None,
    limit: Annotated[int, Field(ge=1, le=100)] = 10,
) -> None: ...


arguments = Arguments(decide, "decide")


def refusal(given: dict[str, Any]) -> Any:
    with pytest.raises(InvalidInput) as caught:
        arguments.validate(given)
    return caught.value.body()["error"]


def test_defaults_are_filled_in() -> None:
    accepted = arguments.validate({"session_id": "s"})
    assert accepted == {
        "session_id": "s",
        "action": "approve",
        "data": None,
        "note": None,
        "strategy": None,
        "limit": 10,
    }


def test_null_for_an_optional_argument_means_its_default() -> None:
    nothing = dict.fromkeys(["action", "data", "note", "strategy", "limit"])
    assert arguments.validate({"session_id": "s", **nothing}) == arguments.validate({"session_id": "s"})


def test_null_is_a_value_where_the_schema_lists_it_or_lists_nothing() -> None:
    async def choose(level: int | None = 3, mode: Literal["fast", None] = "fast", anything: Any = 7) -> None: ...

    chosen = Arguments(choose, "choose").validate({"level": None, "mode": None, "anything": None})
    assert chosen == {"level": None, "mode": None, "anything": None}


def test_null_for_a_required_argument_is_refused() -> None:
    assert refusal({"session_id": None})["argument"] == "session_id"


def test_a_number_in_a_string_of_json_that_is_not_finite_is_refused() -> None:
    error = refusal({"session_id": "s", "data": '{"years": [1, NaN]}'})
    assert (error["argument"], error["path"]) == ("data", "data.years[1]")


def test_nested_objects_become_models() -> None:
    accepted = arguments.validate({"session_id": "s", "strategy": {"queries": ["a"]}})
    assert accepted["strategy"] == Strategy(queries=["a"])


def test_unknown_arguments_are_refused_with_the_names_there_are() -> None:
    error = refusal({"session_id": "s", "sesion": "x", "max": 3})
    assert error["code"] == "invalid_argument"
    assert "'max', 'sesion'" in error["message"]
    assert error["argument"] == "max"
    assert error["allowed"] == ["session_id", "action", "data", "note", "strategy", "limit"]
    assert "session_id (required)" in error["hint"]


def test_a_missing_argument_is_named() -> None:
    error = refusal({})
    assert error["argument"] == "session_id"
    assert "session_id: Field required" in error["message"]


def test_the_error_of_a_wrong_choice_lists_the_choices() -> None:
    error = refusal({"session_id": "s", "action": "explode"})
    assert error["argument"] == "action"
    assert error["allowed"] == ["approve", "edit"]
    assert "explode" not in str(error)


def test_the_error_of_a_number_out_of_range_has_the_range() -> None:
    assert "less than or equal to 100" in refusal({"session_id": "s", "limit": 101})["message"]


def test_an_error_inside_an_argument_names_the_argument_itself() -> None:
    assert refusal({"session_id": "s", "strategy": {"queries": [1]}})["argument"] == "strategy"


def test_every_wrong_argument_is_listed() -> None:
    error = refusal({"session_id": 1, "limit": 0, "strategy": {"queries": [1]}})
    assert [problem["path"] for problem in error["problems"]] == ["session_id", "strategy.queries.0", "limit"]


@given(st.text(min_size=12, max_size=40).map(lambda text: f"sk-{text}"))
def test_refused_values_are_never_repeated(secret: str) -> None:
    error = refusal({"session_id": [secret], "action": secret, "limit": secret, "strategy": {"queries": secret}})
    assert secret not in str(error)
    assert "sk-" not in str(error)


def test_an_object_sent_as_a_string_of_json_is_understood() -> None:
    accepted = arguments.validate({"session_id": "s", "data": '{"a": 1}', "strategy": '{"queries": ["q"]}'})
    assert accepted["data"] == {"a": 1}
    assert accepted["strategy"] == Strategy(queries=["q"])


@pytest.mark.parametrize("text", ['{"a": 1}', "[1]", "null", "12", "true"])
def test_text_that_looks_like_json_stays_text_where_text_is_allowed(text: str) -> None:
    accepted = arguments.validate({"session_id": text, "note": text})
    assert (accepted["session_id"], accepted["note"]) == (text, text)


def test_a_string_of_hopelessly_nested_json_is_refused_like_any_other() -> None:
    assert refusal({"session_id": "s", "data": "[" * 100_000})["argument"] == "data"


def test_an_alias_is_the_name_on_the_wire_only() -> None:
    async def get_state(universe_id: Annotated[str, Field(alias="universeId")], copy: int = 0) -> None: ...

    aliased = Arguments(get_state, "get_state")
    assert aliased.validate({"universeId": "u", "copy": 1}) == {"universe_id": "u", "copy": 1}
    assert aliased.schema.get("required") == ["universeId"]
    with pytest.raises(InvalidInput, match="universe_id"):
        aliased.validate({"universe_id": "u"})


def test_the_schema_says_that_nothing_else_is_taken() -> None:
    schema: Any = arguments.schema
    assert schema["additionalProperties"] is False
    assert schema["required"] == ["session_id"]
    assert schema["properties"]["limit"]["maximum"] == 100


def test_a_function_without_parameters_says_so() -> None:
    async def nothing() -> None: ...

    with pytest.raises(InvalidInput) as caught:
        Arguments(nothing, "nothing").validate({"x": 1})
    assert caught.value.hint == "nothing takes no arguments."


@pytest.mark.parametrize("name", ["whole", "part", "maybe"])
def test_true_is_not_taken_for_one(name: str) -> None:
    async def count(
        whole: int = 0, part: float = 0.0, maybe: Annotated[int, Field(ge=0)] | None = None, flag: bool | int = 0
    ) -> None: ...

    counting = Arguments(count, "count")
    assert counting.validate({"flag": True, "maybe": None})["flag"] is True
    with pytest.raises(InvalidInput, match=f"{name} must be a number"):
        counting.validate({name: True})


def test_a_hint_of_the_server_precedes_the_usage_of_a_tool() -> None:
    hinted = Arguments(decide, "decide", {"year|since": "Write years into the query."})
    with pytest.raises(InvalidInput) as caught:
        hinted.validate({"session_id": "s", "year_from": 2015})
    assert caught.value.hint.startswith("Write years into the query. decide takes session_id (required)")
