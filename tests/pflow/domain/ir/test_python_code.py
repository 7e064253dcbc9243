"""Names that code assigns, found without running it."""

import pytest

from pflow.domain.ir.python_code import never_assigns


@pytest.mark.parametrize(
    "code",
    [
        "",
        "print(1)",
        "x = result",
        "results = 1",
        "Result = 1",
        "# result = 1",
        "text = 'result = 1'",
        "x.result = 1",
        "x['result'] = 1",
        "f(result=1)",
        "def main():\n    result = 1\nmain()",
        "class A:\n    result = 1",
        "f = lambda result: result",
        "x = [result for result in range(3)]",
        "def outer():\n    result = 1\n    def inner():\n        nonlocal result\n        result = 2",
    ],
)
def test_code_without_a_global_result_never_assigns_one(code: str) -> None:
    assert never_assigns(code, "result") is True


@pytest.mark.parametrize(
    "code",
    [
        "result = 1",
        "if x:\n    result = 1",
        "for result in range(3): pass",
        "with open(f) as result: pass",
        "try:\n    pass\nexcept OSError as result:\n    pass",
        "import json as result",
        "from json import loads as result",
        "from json import *",
        "def result(): pass",
        "class result: pass",
        "a, (b, *result) = x",
        "result += 1",
        "result: int = 1",
        "print(result := 1)",
        "x = [result := y for y in range(3)]",
        "def main():\n    global result\n    result = 1\nmain()",
        "match x:\n    case {'a': result}:\n        pass",
        "exec('result = 1')",
        "globals()['result'] = 1",
        "vars().update(result=1)",
        "import sys\nsys.modules['__main__'].result = 1",
        "if x",
        "\0",
        "-" * 10_000 + "1",
        "(" * 10_000,
    ],
)
def test_code_that_may_assign_a_result_is_not_blamed(code: str) -> None:
    assert never_assigns(code, "result") is False


def test_any_of_several_names_will_do() -> None:
    assert never_assigns("action = 'a'", "result", "action") is False
    assert never_assigns("x = 'a'", "result", "action") is True
