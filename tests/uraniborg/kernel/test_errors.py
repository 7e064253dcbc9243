"""Every failure has one shape, and says nothing of the inside or of the values it was given."""

import errno
import inspect
import json
import os
import re
from typing import Literal

import pytest
from pydantic import BaseModel, Field, SecretStr, ValidationError

from uraniborg.kernel import errors
from uraniborg.kernel.errors import (
    Conflict,
    InternalError,
    InvalidInput,
    MissingExtra,
    NotFound,
    UraniborgError,
    as_error,
    make_invalid_input,
)

FAMILY = [cls for _, cls in inspect.getmembers(errors, inspect.isclass) if issubclass(cls, UraniborgError)]


def test_the_body_carries_code_message_hint_and_every_id() -> None:
    error = Conflict("It is held.", hint="Wait.", session_id="ses_1", count=3)
    assert error.body() == {
        "error": {"code": "conflict", "message": "It is held.", "hint": "Wait.", "session_id": "ses_1", "count": 3}
    }
    assert str(error) == "It is held."


@pytest.mark.parametrize("cls", FAMILY)
def test_each_member_is_drawn_in_the_tree_with_its_status_and_exit_code(cls: type[UraniborgError]) -> None:
    line = re.search(rf"^.*\b{cls.__name__}\b.*$", errors.__doc__ or "", re.MULTILINE)
    assert line is not None
    if cls is not UraniborgError:
        assert re.search(rf"\b{cls.status}\b.*\bexit {cls.exit_code}\b", line[0])


def test_no_two_members_share_a_code() -> None:
    codes = [cls.code for cls in FAMILY]
    assert len(codes) == len(set(codes))
    assert all(re.fullmatch(r"[a-z]+(_[a-z]+)*", code) for code in codes)


def test_a_missing_extra_names_the_install_command() -> None:
    error = MissingExtra("mcp", "The MCP server")
    assert "The MCP server" in error.message
    assert "pip install 'uraniborg[mcp]'" in error.hint
    assert error.body()["error"].get("extra") == "mcp"


def test_a_member_of_the_family_stands_for_itself() -> None:
    error = NotFound("no such session")
    assert as_error(error) is error


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE, errno.ENOMEM])
def test_missing_resources_of_the_machine_are_reported_and_are_not_internal_errors(number: int) -> None:
    error = as_error(OSError(number, os.strerror(number), "/secret/path"))
    assert (error.code, error.exit_code) == ("out_of_room", 5)
    assert os.strerror(number) in error.message
    assert "/secret/path" not in str(error.body())
    assert as_error(OSError(number, None)).message != as_error(OSError(errno.ENOSPC, "full")).message
    for other in (errno.ENOENT, errno.EIO, errno.EACCES):
        assert as_error(OSError(other, os.strerror(other))).code == "internal_error"


def test_a_foreign_exception_becomes_an_internal_error_without_its_text() -> None:
    error = as_error(RuntimeError("connect to /home/someone failed with hunter2"))
    assert isinstance(error, InternalError)
    assert error.ids == {"exception": "RuntimeError"}
    assert "hunter2" not in json.dumps(error.body())


class _Login(BaseModel):
    user: str
    password: SecretStr = Field(min_length=20)
    tries: list[int] = []


def _failure(**values: object) -> ValidationError:
    with pytest.raises(ValidationError) as caught:
        _Login.model_validate(values)
    return caught.value


def test_a_validation_failure_names_each_field_and_never_its_value() -> None:
    error = make_invalid_input(_failure(password="hunter2", tries=["many"]), label="login")
    assert isinstance(error, InvalidInput)
    assert [problem["path"] for problem in error.ids["problems"]] == ["user", "password", "tries.0"]
    assert all(path in error.message for path in ("login", "user", "password", "tries.0"))
    assert "hunter2" not in json.dumps(error.body())
    assert "many" not in json.dumps(error.body())


def test_a_validation_failure_that_escapes_is_the_callers_to_correct() -> None:
    error = as_error(_failure(password="x" * 20))
    assert error.code == "invalid_argument"
    assert "_Login" in error.message


def test_a_thousand_problems_give_a_short_message() -> None:
    error = make_invalid_input(_failure(user="x", password="x" * 20, tries=["no"] * 1000), label="login")
    assert len(error.message) < 1000
    assert "and 995 more" in error.message
    assert len(error.ids["problems"]) == 20


def test_a_value_wrong_as_a_whole_is_named_the_root() -> None:
    with pytest.raises(ValidationError) as caught:
        _Login.model_validate("hunter2")
    error = make_invalid_input(caught.value, label="login")
    assert error.ids["problems"][0]["path"] == "(root)"
    assert "hunter2" not in json.dumps(error.body())


def test_a_failure_wrapped_alone_by_a_task_group_is_still_itself() -> None:
    error = NotFound("Session not found: x")
    assert as_error(ExceptionGroup("tasks", [ExceptionGroup("inner", [error])])) is error


def test_several_failures_at_once_are_an_internal_error() -> None:
    assert as_error(ExceptionGroup("tasks", [NotFound("a"), NotFound("b")])).code == "internal_error"


def test_an_unknown_tag_is_answered_with_the_known_ones_and_not_repeated() -> None:
    class Cat(BaseModel):
        kind: Literal["cat"]

    class Dog(BaseModel):
        kind: Literal["dog"]

    class Pet(BaseModel):
        pet: Cat | Dog = Field(discriminator="kind")

    with pytest.raises(ValidationError) as caught:
        Pet.model_validate({"pet": {"kind": "hunter2"}})
    body = str(make_invalid_input(caught.value, label="pet").body())
    assert "hunter2" not in body
    assert "'cat', 'dog'" in body
