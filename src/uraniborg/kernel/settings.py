"""Typed settings from the environment, a dotenv file and a TOML file, in that order, and the folders of our data."""

import dataclasses
import os
import re
import types
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Final,
    Literal,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from uraniborg.kernel.boundary import make_all_encodable, make_encodable, parse_json
from uraniborg.kernel.language.messages import find_nearest_name
from uraniborg.kernel.logging import get_logger, redact, register_secret
from uraniborg.kernel.setting_origins import (
    CONFIG,
    HOME,
    InvalidConfig,
    Keys,
    LoadedSettings,
    Origin,
    OriginKind,
    Setting,
    SettingRow,
    read_dotenv,
    read_settings_file,
    read_variables,
)
from uraniborg.kernel.store.files import display_path, make_private

if TYPE_CHECKING:
    from pydantic import ValidationError

__all__ = [
    "CONFIG",
    "HOME",
    "InvalidConfig",
    "LoadedSettings",
    "Origin",
    "OriginKind",
    "SettingRow",
    "cache_dir",
    "config_dir",
    "data_dir",
    "make_own_folder_private",
    "read_settings",
    "secure_own_folder",
]

M = TypeVar("M")

_log: Final = get_logger(__name__)
_reported: set[tuple[str, str]] = set()
"""Dotenv files and the variables in them that were reported as ignored: each once per process."""


def data_dir(env: Mapping[str, str] | None = None) -> Path:
    """Return the folder of permanent data. Do not create it."""
    return _find_folder("data", env)


def cache_dir(env: Mapping[str, str] | None = None) -> Path:
    """Return the folder of data that can be fetched or computed again. Do not create it."""
    return _find_folder("cache", env)


def config_dir(env: Mapping[str, str] | None = None) -> Path:
    """Return the folder of the settings file. Do not create it."""
    return _find_folder("config", env)


def secure_own_folder(kind: Literal["data", "cache"], *parts: str) -> Path:
    """Return a folder below our data or cache folder. Make it and its parents private if they exist."""
    folder = _find_folder(kind, None).joinpath(*parts)
    make_own_folder_private(folder)
    return folder


def make_own_folder_private(folder: Path) -> None:
    """Remove the access of other users to a folder below our data or cache folder, and to its parents that are ours.

    Do nothing to other folders.
    """
    for root in (_find_folder("data", None), _find_folder("cache", None)):
        if folder.is_relative_to(root):
            ours = [root.parent, root] if os.environ.get(HOME) else [root]
            for name in folder.relative_to(root).parts:
                ours.append(ours[-1] / name)
            for one in ours:
                make_private(one)
            return


def _find_folder(kind: str, env: Mapping[str, str] | None) -> Path:
    home = (os.environ if env is None else env).get(HOME)
    if home:
        return Path(home).expanduser() / kind
    import platformdirs  # only needed without URANIBORG_HOME

    return Path(getattr(platformdirs, f"user_{kind}_dir")("uraniborg", appauthor=False))


def read_settings(
    model: type[M],
    *,
    section: str,
    aliases: Mapping[str, str] | None = None,
    env: Mapping[str, str] | None = None,
    file: Path | None = None,
    env_file: Path | None = None,
    from_dotenv: Collection[str] = (),
) -> LoadedSettings[M]:
    """Return the settings of one part with their origins.

    The first of these that has a setting determines it:

    1. the environment: `URANIBORG_<SECTION>__FIELD__NESTED`, lists and tables as JSON, empty for none;
    2. the variables of `aliases` (variable -> dotted setting), where an empty one counts as unset;
    3. the same two in `env_file`; without one, in `.env` of the working directory, which may set only the dotted names
       (or patterns such as `sources.*.api_key`) in `from_dotenv`: others are ignored, with a warning in the log;
    4. the table `[section]` of `file`, of `$URANIBORG_CONFIG`, or of `uraniborg.toml` in `config_dir()`;
    5. the model's defaults.

    The model is a pydantic model or a dataclass; pydantic is not imported for a simple dataclass. Every secret is
    registered with the redactor of the log. Raise InvalidConfig for an unknown or malformed setting.
    """
    env = os.environ if env is None else env
    aliases = aliases or {}
    settings_file = _find_settings_file(file, env)
    dotenv = env_file or Path(".env")
    variables: dict[str, str] = {}
    if env_file or dotenv.is_file():
        variables, dotenv = read_dotenv(dotenv), dotenv.absolute()
    given = [
        *read_settings_file(settings_file, section),
        *read_variables(variables, section, aliases, dotenv=dotenv),
        *read_variables(env, section, aliases),
    ]
    dotenv_filter = _DotenvFilter(None if env_file else from_dotenv)
    read = _read_plain_settings(model, given, dotenv_filter) if dataclasses.is_dataclass(model) else None
    settings, origins = read or _validate_settings(model, section, given, dotenv_filter)
    if env_file or not variables:
        return LoadedSettings(settings, section, origins)
    where = display_path(settings_file or config_dir(env) / "uraniborg.toml")
    remedies = {
        one: f", or '{'.'.join((section, *path))}' in {where}"
        for one, path in dotenv_filter.list_ignored(origins).items()
    }
    for name in (HOME, CONFIG):  # these are read from the environment alone
        if name in variables and name not in env:
            remedies[Origin(OriginKind.DOTENV, name, dotenv)] = ""
    _log_ignored_variables(remedies)
    return LoadedSettings(settings, section, origins, tuple(remedies))


class _DotenvFilter:
    """The settings that the `.env` of the working directory may set; all settings if `allowed` is None."""

    def __init__(self, allowed: Collection[str] | None) -> None:
        self._allowed = allowed
        self._refused: dict[Origin, Keys] = {}

    def accept(self, setting: Setting) -> bool:
        """Return True if the setting may be used. Remember the settings that may not."""
        if self._allowed is None or setting.origin.kind is not OriginKind.DOTENV:
            return True
        name = ".".join(setting.path)
        if any(fnmatchcase(name, pattern) for pattern in self._allowed):
            return True
        self._refused.setdefault(setting.origin, setting.path)
        return False

    def list_ignored(self, origins: Mapping[str, Origin]) -> dict[Origin, Keys]:
        """Return the refused settings, except those that the environment sets, which has priority anyway."""
        return {
            origin: path
            for origin, path in self._refused.items()
            if (used := origins.get(".".join(path))) is None or used.kind is not OriginKind.ENVIRONMENT
        }


def _log_ignored_variables(remedies: Mapping[Origin, str]) -> None:
    for origin, remedy in remedies.items():
        key = (str(origin.path), origin.name)
        if key not in _reported:
            _reported.add(key)
            _log.warning(
                f"{origin} is ignored: a .env file in the working directory may not set it. "
                f"Set {origin.name} in the environment{remedy}."
            )


def _validate_settings(
    model: type[M], section: str, given: "list[Setting]", dotenv_filter: _DotenvFilter
) -> tuple[M, dict[str, Origin]]:
    from pydantic import TypeAdapter, ValidationError

    merged: dict[str, object] = {}
    origins: dict[Keys, Origin] = {}
    for setting in given:
        for single in _split_setting(model, setting):
            if dotenv_filter.accept(single):
                _set_nested_value(merged, single.path, single.value)
                origins[single.path] = single.origin
    try:
        settings = TypeAdapter(model).validate_python(merged)
    except ValidationError as exc:
        raise _make_validation_error(exc, section, origins) from None
    return settings, {".".join(path): origin for path, origin in origins.items()}


def _read_plain_settings(
    model: type[M], given: "list[Setting]", dotenv_filter: _DotenvFilter
) -> tuple[M, dict[str, Origin]] | None:
    """Return the settings of a dataclass of texts, numbers and paths, without importing pydantic, which is slow.

    Return None for settings that need pydantic.
    """
    hints = get_type_hints(model)
    values: dict[str, object] = {}
    origins: dict[str, Origin] = {}
    for setting in given:
        name = setting.path[0]
        if len(setting.path) > 1 or name not in hints or not isinstance(setting.value, str):
            return None
        if not dotenv_filter.accept(setting):
            continue
        kinds = _list_union_members(hints[name])
        if not setting.value and types.NoneType in kinds:
            values[name] = None
        elif str in kinds or Path in kinds:
            values[name] = make_encodable(setting.value) if str in kinds else Path(setting.value)
        elif float in kinds and re.fullmatch(r"\d{1,9}(\.\d{1,9})?", setting.value):
            values[name] = float(setting.value)
        else:
            return None
        origins[name] = setting.origin
    return model(**values), origins


def _find_settings_file(file: Path | None, env: Mapping[str, str]) -> Path | None:
    if file is not None:
        return file
    if named := env.get(CONFIG):
        return Path(named).expanduser()
    usual = config_dir(env) / "uraniborg.toml"
    return usual if usual.exists() else None


def _split_setting(annotation: Any, setting: Setting) -> Iterator[Setting]:
    """Yield a setting for each single value in it. Raise InvalidConfig for a setting that the model does not have."""
    for depth, key in enumerate(setting.path):
        annotation = _get_child_type(annotation, key, setting, depth)
    if setting.is_text:
        setting = replace(setting, value=_parse_variable(annotation, setting))
    yield from _flatten_value(annotation, setting)


def _flatten_value(annotation: Any, setting: Setting) -> Iterator[Setting]:
    given: object = setting.value
    table = cast(dict[str, object], given) if isinstance(given, dict) else {}
    if not table:
        from pydantic import SecretStr

        kinds = _list_union_members(annotation)
        if SecretStr in kinds and isinstance(given, str):
            register_secret(given)
        yield setting if Path in kinds else replace(setting, value=make_all_encodable(given))
    for key, value in table.items():
        path = (*setting.path, key)
        origin = setting.origin if setting.is_text else setting.make_origin(path)
        inner = replace(setting, path=path, value=value, origin=origin)
        yield from _flatten_value(_get_child_type(annotation, key, inner, len(setting.path)), inner)


def _get_child_type(annotation: Any, key: str, setting: Setting, depth: int) -> Any:
    """Return the type of the model at `key`. Raise InvalidConfig if the model has no such key."""
    fields: dict[str, object] = {}
    for kind in _list_union_members(annotation):
        container = get_origin(kind) or kind
        if kind is Any:
            return Any
        if _is_model(container):
            fields |= _get_field_types(container)
        elif isinstance(container, type) and issubclass(container, Mapping):
            return get_args(kind)[1] if get_args(kind) else Any
    if key in fields:
        return fields[key]
    allowed = ", ".join(sorted(fields)) or "nothing: the setting is a single value"
    above = setting.path[:depth]
    known = find_nearest_name(key, fields)
    meant = f"Did you mean {setting.make_origin((*above, known))}? " if known else ""
    raise InvalidConfig(
        f"Unknown setting '{key}' given by {setting.origin}.",
        hint=f"{meant}Allowed {'under ' + '.'.join(above) if above else 'here'}: {allowed}.",
        setting=str(setting.origin),
    )


def _is_model(kind: Any) -> bool:
    from pydantic import BaseModel

    return dataclasses.is_dataclass(kind) or (isinstance(kind, type) and issubclass(kind, BaseModel))


def _get_field_types(model: Any) -> dict[str, object]:
    if dataclasses.is_dataclass(model):
        return get_type_hints(model, include_extras=True)
    return {name: field.annotation for name, field in model.model_fields.items()}


def _parse_variable(annotation: Any, setting: Setting) -> Any:
    kinds = _list_union_members(annotation)
    if not setting.value and types.NoneType in kinds:
        return None
    containers = [get_origin(kind) or kind for kind in kinds if kind is not types.NoneType]
    structured = (Mapping, list, tuple, set, frozenset)
    if not all(_is_model(kind) or (isinstance(kind, type) and issubclass(kind, structured)) for kind in containers):
        return setting.value
    try:
        return parse_json(setting.value)
    except ValueError:
        raise InvalidConfig(
            f"Invalid setting {setting.origin}: it is not JSON.",
            hint="Write a list or a table in a variable as JSON.",
            setting=str(setting.origin),
        ) from None


def _list_union_members(annotation: Any) -> list[Any]:
    origin = get_origin(annotation)
    if origin is Annotated:
        return _list_union_members(get_args(annotation)[0])
    if origin in (Union, types.UnionType):
        return [kind for argument in get_args(annotation) for kind in _list_union_members(argument)]
    return [annotation]


def _set_nested_value(tree: dict[str, object], path: Keys, value: Any) -> None:
    for key in path[:-1]:
        if not isinstance(tree.get(key), dict):
            tree[key] = {}
        tree = cast("dict[str, object]", tree[key])
    if value != {} or not isinstance(tree.get(path[-1]), dict):
        tree[path[-1]] = value


def _make_validation_error(exc: "ValidationError", section: str, origins: Mapping[Keys, Origin]) -> InvalidConfig:
    problems: list[dict[str, str]] = []
    for error in exc.errors(include_input=False, include_url=False, include_context=False):
        loc = tuple(str(part) for part in error["loc"])
        named = [origins[loc[:size]] for size in range(len(loc), 0, -1) if loc[:size] in origins]
        setting = str(named[0]) if named and error["type"] != "missing" else ".".join((section, *loc))
        problems.append({"setting": setting, "problem": redact(error["msg"])})
    listed = "; ".join(f"{p['setting']}: {p['problem']}" for p in problems[:5])
    more = f" (and {len(problems) - 5} more)" if len(problems) > 5 else ""
    return InvalidConfig(f"Invalid settings. {listed}{more}", hint="Correct these settings.", problems=problems[:20])
