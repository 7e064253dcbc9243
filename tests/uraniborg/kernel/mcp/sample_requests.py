"""Requests to the sample server: every method, with parameters that are right, wrong and odd."""

from typing import Any

from tests.uraniborg.kernel.mcp.raw_messages import INITIALIZE, call, request


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


def initialize(version: Any) -> dict[str, Any]:
    return {**INITIALIZE, "params": {**INITIALIZE["params"], "protocolVersion": version}}


GIVEN_BACK: list[Any] = [None, 1.5, 1e300, 2**70, {"a": [None, {}]}, nested(100), "x"]

SAMPLE_REQUESTS: list[dict[str, Any]] = [
    *(initialize(version) for version in ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "1999-01-01", "")),
    initialize(None),
    request("initialize"),
    request("ping"),
    request("ping", {}, id="a string"),
    request("ping", id=2**70),
    request("ping", id=-1),
    request("ping", id='Ж\u2028" '),
    {**request("ping"), "params": None, "extra": 1},
    request("tools/list"),
    request("tools/list", {}),
    request("tools/list", {"cursor": "x"}),
    request("tools/list", {"cursor": 1}),
    request("resources/list"),
    request("resources/templates/list"),
    request("prompts/list"),
    request("logging/setLevel", {"level": "info"}),
    request("unheard/of"),
    request(""),
    call("echo", {"text": 'Ü\u2028 "quoted" \\ 量', "times": 2}),
    call("echo", {"text": "a", "times": 101}),
    call("echo", {"text": "a", "times": True}),
    call("echo", {"text": "a", "sk": 1}),
    call("echo", {"text": "a"}, _meta={"progressToken": 1, "more": {"x": 1}}),
    call("echo", {"text": "a"}, _meta={"progressToken": [1]}),
    call("echo", {"text": "a"}, _meta="x"),
    call("echo", {"text": "a"}, more=1),
    call("echo", {"text": "a"}, task=1),
    call("echo", None),
    *(call("echo", arguments) for arguments in ([], "", 0, False, "x", [["text", "a"]])),
    call("say", {"text": '{"error": 1}'}),
    call("say", {"text": ""}),
    call("numbers", {"count": 3}),
    call("numbers", {"count": 0}),
    call("note", {"note": {"text": "a", "by": None}}),
    call("note", {"note": '{"text": "a"}'}),
    *(call("give_back", {"value": value}) for value in GIVEN_BACK),
    call("large", {"size": 10}),
    call("lose", {"paper_id": "p1"}),
    *(call("break_down", {"how": how}) for how in ("error", "exit", "answer", "typo")),
    call("work", {"steps": 2}),
    call("explode", {}),
    call("", {}),
    request("tools/call"),
    request("tools/call", {}),
    request("tools/call", {"name": ["echo"]}),
    *(
        request("resources/read", {"uri": uri})
        for uri in (
            "sample://about",
            "sample://10.1000%2Fa.b/text",
            "sample://Ü%20量/text",
            "sample://abc/facts",
            "sample://abc/bytes",
            "sample://abc/fail/missing",
            "sample://abc/fail/conflict",
            "sample://abc/fail/error",
            "sample://abc/fail/typo",
            "other://nowhere",
            "no uri",
            "",
            None,
        )
    ),
    request("resources/read"),
    request("resources/subscribe", {"uri": "sample://about"}),
]
