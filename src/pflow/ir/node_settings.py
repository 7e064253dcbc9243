"""Read the settings that control how a node runs: batch, retry and timeout."""

from typing import TYPE_CHECKING, Any, Final, cast

from pflow.ir.declarations import is_valid_name
from pflow.ir.diagnostics import Diagnostic, make_error, make_unknown_key_errors
from pflow.ir.model import Batch, Retry

if TYPE_CHECKING:
    from uraniborg.kernel.json_values import JsonObject

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


def parse_batch(plain: Any, path: str, diagnostics: list[Diagnostic]) -> Batch | None:
    if plain is None:
        return None
    setting = cast("JsonObject", plain) if isinstance(plain, dict) else {}
    if not isinstance(plain, dict) or "items" not in setting:
        message = "`batch` must be an object with `items`: a list, or a template for one."
        diagnostics.append(make_error("bad_batch", path, message, example=_BATCH_EXAMPLE))
        return None
    diagnostics += make_unknown_key_errors(setting, _BATCH_KEYS, "`batch`", path, _BATCH_EXAMPLE)
    items = setting["items"]
    if not isinstance(items, (list, str)) or (isinstance(items, str) and "${" not in items):
        message = "`items` must be a list, or a template for one."
        diagnostics.append(make_error("bad_batch", f"{path}.items", message, example=_BATCH_EXAMPLE["items"]))
    alias = setting.get("as", "item")
    if not isinstance(alias, str) or not is_valid_name(alias):
        diagnostics.append(
            make_error("bad_batch", f"{path}.as", "`as` must be the name of the item in templates.", example="item")
        )
        alias = "item"
    handling = setting.get("error_handling", "fail_fast")
    if handling not in ("fail_fast", "continue"):
        message = '`error_handling` is "fail_fast" or "continue".'
        diagnostics.append(
            make_error("bad_batch", f"{path}.error_handling", message, available=("fail_fast", "continue"))
        )
        handling = "fail_fast"
    if not isinstance(setting.get("parallel", False), bool):
        diagnostics.append(
            make_error("bad_batch", f"{path}.parallel", "`parallel` must be true or false.", example=True)
        )
    return Batch(
        items=items,
        alias=alias,
        error_handling=handling,
        parallel=setting.get("parallel") is True,
        max_concurrent=_parse_whole_number(
            setting.get("max_concurrent", 10), 1, _MOST_AT_ONCE, f"{path}.max_concurrent", diagnostics
        ),
        retry=Retry(
            attempts=_parse_whole_number(
                setting.get("max_retries", 1), 1, _MOST_ATTEMPTS, f"{path}.max_retries", diagnostics
            ),
            wait=_parse_seconds(setting.get("retry_wait", 0), f"{path}.retry_wait", diagnostics) or 0.0,
        ),
    )


def parse_retry(plain: Any, path: str, diagnostics: list[Diagnostic]) -> Retry | None:
    if plain is None:
        return None
    if not isinstance(plain, dict):
        message = "`retry` must be an object with the number of attempts and the seconds to wait between them."
        diagnostics.append(
            make_error("bad_retry", path, message, example={"attempts": 3, "wait": 1, "backoff": "exponential"})
        )
        return None
    setting = cast("JsonObject", plain)
    diagnostics += make_unknown_key_errors(setting, _RETRY_KEYS, "`retry`", path, {"attempts": 3, "wait": 1})
    key = "max" if "max" in setting and "attempts" not in setting else "attempts"
    backoff = setting.get("backoff", "fixed")
    if backoff not in ("fixed", "exponential"):
        message = '`backoff` is "fixed" or "exponential".'
        diagnostics.append(make_error("bad_retry", f"{path}.backoff", message, available=("fixed", "exponential")))
        backoff = "fixed"
    return Retry(
        attempts=_parse_whole_number(setting.get(key, 3), 1, _MOST_ATTEMPTS, f"{path}.{key}", diagnostics),
        wait=_parse_seconds(setting.get("wait", 0), f"{path}.wait", diagnostics) or 0.0,
        backoff=backoff,
    )


def parse_timeout(plain: Any, path: str, diagnostics: list[Diagnostic]) -> float | None:
    if plain is None:
        return None
    seconds = _parse_seconds(plain, path, diagnostics)
    if seconds == 0:
        diagnostics.append(make_error("bad_number", path, "A timeout must be more than 0 seconds.", example=30))
    return seconds or None


def _parse_whole_number(value: Any, least: int, most: int, path: str, diagnostics: list[Diagnostic]) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        diagnostics.append(
            make_error("bad_number", path, f"This must be a whole number from {least} to {most}.", example=least)
        )
        return least
    return value


def _parse_seconds(value: Any, path: str, diagnostics: list[Diagnostic]) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= _LONGEST_S:
        diagnostics.append(
            make_error("bad_number", path, f"This must be a number of seconds from 0 to {_LONGEST_S:,}.", example=30)
        )
        return None
    return float(value)
