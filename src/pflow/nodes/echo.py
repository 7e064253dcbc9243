"""The echo node: gives back what it is given. What the engine itself costs is measured with it."""

from typing import Any, Final

from pflow.errors import NodeFailed
from pflow.node import Context

_MOST_CHARACTERS: Final = 10_000_000


async def echo(params: dict[str, Any], context: Context) -> dict[str, Any]:
    """The message as it is; as text, once it is to be changed. Raises NodeFailed for more of it than fits a value."""
    message, data = params.get("message"), params.get("data")
    prefix, suffix = params.get("prefix"), params.get("suffix")
    uppercase, count = params.get("uppercase"), params.get("count")
    if prefix or suffix or uppercase or count not in (None, 1):
        message = _changed(message, str(prefix or ""), str(suffix or ""), bool(uppercase), count)
    return {"echo": message} if data is None else {"echo": message, "data": data}


def _changed(message: Any, prefix: str, suffix: str, uppercase: bool, count: Any) -> str:
    from pflow.nodes.param_values import text_of  # an echo that changes nothing costs nothing

    text = f"{prefix}{'' if message is None else text_of(message, 'message')}{suffix}"
    times = 1 if count is None else int(count)
    if times < 0 or (len(text) + 1) * times > _MOST_CHARACTERS:
        raise NodeFailed(
            f"`count` is {times}: the echo would not fit a value.",
            hint=f"Repeat it so that it stays under {_MOST_CHARACTERS:,} characters.",
        )
    return " ".join([text.upper() if uppercase else text] * times)
