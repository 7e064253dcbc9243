"""Put the arguments of a search into its configuration: a call without `max_results` uses the setting."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence


from paper_search.config import AppConfig, SearchSourceConfig


class _DefaultInt(int):
    pass


class _DefaultStr(str):
    __slots__ = ()


DEFAULT_MAX_RESULTS: Final[int] = _DefaultInt(100)
DEFAULT_DOMAIN: Final[str] = _DefaultStr("general")


def apply_given_arguments(
    config: "AppConfig",
    max_results: int | None = None,
    domain: str | None = None,
    *,
    sources: "Sequence[str] | None" = None,
    offline: bool | None = None,
    record: "Path | None" = None,
    replay: "Path | None" = None,
) -> "AppConfig":
    """Return the config, with each argument that was given in place of its setting, even if it equals the default.

    An offline search also replaces the settings for recording and replaying, and `record` and `replay` replace
    `offline`. Of `sources`, only those are enabled. Raise UnknownSource.
    """
    given = {
        "default_max_results": max_results,
        "domain": domain,
        "offline": offline,
        "record_dir": record,
        "replay_dir": replay,
    }
    update: dict[str, object] = {name: value for name, value in given.items() if _is_given(value)}
    if offline:
        update |= {"record_dir": record, "replay_dir": replay}
    elif record or replay:
        update["offline"] = False
    if sources:
        update["sources"] = _enable_only(sources, config)
    return config.model_copy(update=update)


def _is_given(value: object) -> bool:
    return value is not None and not isinstance(value, _DefaultInt | _DefaultStr)


def _enable_only(names: "Sequence[str]", config: "AppConfig") -> "dict[str, SearchSourceConfig]":
    from paper_search.sources.registry import check_source_names, list_source_names

    known = list_source_names()
    check_source_names(names, known)
    settings = {name: config.sources.get(name, SearchSourceConfig(name=name)) for name in known}
    return {name: one.model_copy(update={"enabled": name in names}) for name, one in settings.items()}
