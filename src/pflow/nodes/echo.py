"""The echo node, which returns its message. Benchmarks use it to measure the engine."""

from typing import TYPE_CHECKING, Final, NotRequired, TypedDict, cast

from pflow.domain.node import NodeContext
from pflow.errors import NodeFailed

if TYPE_CHECKING:
    from uraniborg.kernel.json_values import Json, JsonObject

_MOST_CHARACTERS: Final = 10_000_000


class EchoOutputs(TypedDict):
    echo: "Json"
    data: "NotRequired[Json]"


async def echo(params: "JsonObject", context: NodeContext) -> EchoOutputs:
    """Return the message, as text if it is changed. Raise NodeFailed if the result is too long."""
    message, data = params.get("message"), params.get("data")
    prefix, suffix = params.get("prefix"), params.get("suffix")
    uppercase, count = params.get("uppercase"), params.get("count")
    if prefix or suffix or uppercase or count not in (None, 1):
        message = _transform_message(
            message, str(prefix or ""), str(suffix or ""), bool(uppercase), cast("int | None", count)
        )
    return {"echo": message} if data is None else {"echo": message, "data": data}


def _transform_message(message: "Json", prefix: str, suffix: str, uppercase: bool, count: int | None) -> str:
    from pflow.nodes.param_values import format_param_as_text  # an echo that changes nothing costs nothing

    text = f"{prefix}{'' if message is None else format_param_as_text(message, 'message')}{suffix}"
    times = 1 if count is None else int(count)
    if times < 0 or (len(text) + 1) * times > _MOST_CHARACTERS:
        raise NodeFailed(
            f"`count` is {times}: the echo would be too long.",
            hint=f"Keep it under {_MOST_CHARACTERS:,} characters.",
        )
    return " ".join([text.upper() if uppercase else text] * times)
