"""What a node may say of how it is run: for each item of a list, how often, and for how long."""

from typing import Any, Final, cast

from pflow.ir.declarations import is_name
from pflow.ir.diagnostics import Diagnostic, error, unknown_keys
from pflow.ir.model import Batch, Retry

_BATCH_KEYS: Final = (
    "items",
    "as",
    "error_handling",
    "parallel",
    "max_concurrent",
    "max_retries",
    "retry_wait",
)
_RETRY_KEYS: Final = ("attempts", "max", "wait", "backoff")
_BATCH_EXAMPLE: Final = {"items": "${list.result}", "as": "item", "parallel": True, "max_concurrent": 10}
_MOST_ATTEMPTS: Final = 10
_MOST_AT_ONCE: Final = 100
_LONGEST_S: Final = 7 * 24 * 3600


def read_batch(plain: Any, path: str, found: list[Diagnostic]) -> Batch | None:
    if plain is None:
        return None
    told = cast("dict[str, Any]", plain) if isinstance(plain, dict) else {}
    if not isinstance(plain, dict) or "items" not in told:
        message = "`batch` is an object with `items`: a list, or a template that stands for one."
        found.append(error("bad_batch", path, message, example=_BATCH_EXAMPLE))
        return None
    found += unknown_keys(told, _BATCH_KEYS, "`batch`", path, _BATCH_EXAMPLE)
    items = told["items"]
    if not isinstance(items, (list, str)) or (isinstance(items, str) and "${" not in items):
        message = "`items` is a list, or a template that stands for one."
        found.append(error("bad_batch", f"{path}.items", message, example=_BATCH_EXAMPLE["items"]))
    alias = told.get("as", "item")
    if not isinstance(alias, str) or not is_name(alias):
        found.append(error("bad_batch", f"{path}.as", "`as` is the name of the item in templates.", example="item"))
        alias = "item"
    handling = told.get("error_handling", "fail_fast")
    if handling not in ("fail_fast", "continue"):
        message = '`error_handling` is "fail_fast" or "continue".'
        found.append(error("bad_batch", f"{path}.error_handling", message, available=("fail_fast", "continue")))
        handling = "fail_fast"
    if not isinstance(told.get("parallel", False), bool):
        found.append(error("bad_batch", f"{path}.parallel", "`parallel` is true or false.", example=True))
    return Batch(
        items=items,
        alias=alias,
        error_handling=handling,
        parallel=told.get("parallel") is True,
        max_concurrent=_whole(told.get("max_concurrent", 10), 1, _MOST_AT_ONCE, f"{path}.max_concurrent", found),
        retry=Retry(
            attempts=_whole(told.get("max_retries", 1), 1, _MOST_ATTEMPTS, f"{path}.max_retries", found),
            wait=_seconds(told.get("retry_wait", 0), f"{path}.retry_wait", found) or 0.0,
        ),
    )


def read_retry(plain: Any, path: str, found: list[Diagnostic]) -> Retry | None:
    if plain is None:
        return None
    if not isinstance(plain, dict):
        message = "`retry` is an object: how many attempts in all, and how long to wait in between."
        found.append(error("bad_retry", path, message, example={"attempts": 3, "wait": 1, "backoff": "exponential"}))
        return None
    told = cast("dict[str, Any]", plain)
    found += unknown_keys(told, _RETRY_KEYS, "`retry`", path, {"attempts": 3, "wait": 1})
    key = "max" if "max" in told and "attempts" not in told else "attempts"
    backoff = told.get("backoff", "fixed")
    if backoff not in ("fixed", "exponential"):
        message = '`backoff` is "fixed" or "exponential".'
        found.append(error("bad_retry", f"{path}.backoff", message, available=("fixed", "exponential")))
        backoff = "fixed"
    return Retry(
        attempts=_whole(told.get(key, 3), 1, _MOST_ATTEMPTS, f"{path}.{key}", found),
        wait=_seconds(told.get("wait", 0), f"{path}.wait", found) or 0.0,
        backoff=backoff,
    )


def read_timeout(plain: Any, path: str, found: list[Diagnostic]) -> float | None:
    if plain is None:
        return None
    seconds = _seconds(plain, path, found)
    if seconds == 0:
        found.append(error("bad_number", path, "A timeout is more than 0 seconds.", example=30))
    return seconds or None


def _whole(value: Any, least: int, most: int, path: str, found: list[Diagnostic]) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        found.append(error("bad_number", path, f"This is a whole number from {least} to {most}.", example=least))
        return least
    return value


def _seconds(value: Any, path: str, found: list[Diagnostic]) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= _LONGEST_S:
        found.append(error("bad_number", path, f"This is a number of seconds, from 0 to {_LONGEST_S:,}.", example=30))
        return None
    return float(value)
