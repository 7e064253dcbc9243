"""Typed settings from the environment, a dotenv file and a TOML file, in that order; and the folders we use."""

import dataclasses
import json
import os
import re
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.files import shown
from uraniborg.kernel.logging import redact, register_secret

if TYPE_CHECKING:
    from pydantic import ValidationError

M = TypeVar("M")
Keys = tuple[str, ...]


class InvalidConfig(InvalidInput):
    """A setting is unknown, malformed or out of range. Names the setting and never repeats its value."""

    code = "invalid_config"


def data_dir(env: Mapping[str, str] | None = None) -> Path:
    """Where what must last is kept. Creates nothing."""
    return _folder("data", env)


def cache_dir(env: Mapping[str, str] | None = None) -> Path:
    """Where what can be had again is kept. Creates nothing."""
    return _folder("cache", env)


def config_dir(env: Mapping[str, str] | None = None) -> Path:
    """Where the settings file lies. Creates nothing."""
    return _folder("config", env)


def _folder(kind: str, env: Mapping[str, str] | None) -> Path:
    home = (os.environ if env is None else env).get("URANIBORG_HOME")
    if home:
        return Path(home).expanduser() / kind
    import platformdirs  # only needed without URANIBORG_HOME

    return Path(getattr(platformdirs, f"user_{kind}_dir")("uraniborg", appauthor=False))


def load_settings(
    model: type[M],
    *,
    section: str,
    aliases: Mapping[str, str] | None = None,
    env: Mapping[str, str] | None = None,
    file: Path | None = None,
    env_file: Path | None = None,
) -> M:
    """The settings of one part. The first of these to name a setting wins:

    1. the environment: `URANIBORG_<SECTION>__FIELD__NESTED`, lists and tables as JSON, empty for none;
    2. the variables of `aliases` (variable -> dotted setting), where an empty one counts as unset;
    3. the same two in `env_file`, or in `.env` of the working directory;
    4. the table `[section]` of `file`, of `$URANIBORG_CONFIG`, or of `uraniborg.toml` in `config_dir()`;
    5. the model's defaults.

    The model is one of pydantic's, or a dataclass, which costs nothing where nothing is set. Every secret read is
    registered with the log's redactor. Raises InvalidConfig for anything unknown or malformed.
    """
    env = os.environ if env is None else env
    given = [
        *_from_file(_settings_file(file, env), section),
        *_from_variables(
            _dotenv(env_file), section, aliases or {}, where=f" in {shown(env_file) if env_file else '.env'}"
        ),
        *_from_variables(env, section, aliases or {}),
    ]
    if dataclasses.is_dataclass(model) and (read := _simply_read(model, given)) is not None:
        return read
    from pydantic import TypeAdapter, ValidationError

    merged: dict[str, Any] = {}
    origin: dict[Keys, str] = {}
    for setting in given:
        for leaf in _leaves(model, setting):
            _put(merged, leaf.path, leaf.value)
            origin[leaf.path] = leaf.label
    try:
        return TypeAdapter(model).validate_python(merged)
    except ValidationError as exc:
        raise _refusal(exc, section, origin) from None


def _simply_read(model: type[M], given: "list[_Setting]") -> M | None:
    """The settings of a dataclass whose fields are texts, numbers and paths, without the cost of loading pydantic; None
    if that is not beyond doubt."""
    hints = get_type_hints(model)
    values: dict[str, Any] = {}
    for setting in given:
        kinds = _alternatives(hints.get(setting.path[0])) if len(setting.path) == 1 else []
        if not isinstance(setting.value, str):
            return None
        if not setting.value and types.NoneType in kinds:
            values[setting.path[0]] = None
        elif str in kinds or Path in kinds:
            values[setting.path[0]] = setting.value if str in kinds else Path(setting.value)
        elif float in kinds and re.fullmatch(r"\d{1,9}(\.\d{1,9})?", setting.value):
            values[setting.path[0]] = float(setting.value)
        else:
            return None
    return model(**values)


@dataclass(frozen=True)
class _Setting:
    path: Keys
    value: Any
    label: str
    spell: Callable[[Keys], str]
    """How another setting would be written in the place this one came from."""
    is_text: bool
    """Whether the value is a variable's text, in which a list or a table is written as JSON."""


def _from_variables(
    env: Mapping[str, str], section: str, aliases: Mapping[str, str], *, where: str = ""
) -> Iterator[_Setting]:
    """Aliases first, then our own variables, shallow before deep, so that what comes later may override."""
    prefix = f"URANIBORG_{section.upper()}__"

    def spell(path: Keys) -> str:
        return prefix + "__".join(path).upper()

    for name, dotted in reversed(list(aliases.items())):
        if value := env.get(name):
            yield _Setting(tuple(dotted.split(".")), value, name + where, spell, is_text=True)
    ours: list[tuple[Keys, str]] = []
    for name in env:
        head, separator, tail = name.upper().partition("__")
        if separator and head + separator == prefix:
            ours.append((tuple(tail.lower().split("__")), name))
        elif head.startswith("URANIBORG_") and (
            head.startswith(prefix[:-1]) or (separator and _nearest(head, [prefix[:-2]], cutoff=0.9))
        ):
            raise InvalidConfig(
                f"Unknown variable {name}{where}.",
                hint=f"Settings of this part start with {prefix}",
                setting=name,
            )
    for path, name in sorted(ours, key=lambda item: len(item[0])):
        yield _Setting(path, env[name], name + where, spell, is_text=True)


def _dotenv(env_file: Path | None) -> dict[str, str]:
    path = env_file or Path(".env")
    if env_file is None and not path.is_file():
        return {}
    import dotenv  # most runs have no dotenv file

    try:
        with path.open(encoding="utf-8") as stream:
            values = dotenv.dotenv_values(stream=stream, interpolate=False)
    except (OSError, UnicodeDecodeError) as exc:
        raise _unreadable(path, exc) from None
    return {name: value for name, value in values.items() if value is not None}


def _settings_file(file: Path | None, env: Mapping[str, str]) -> Path | None:
    if file is not None:
        return file
    if named := env.get("URANIBORG_CONFIG"):
        return Path(named).expanduser()
    usual = config_dir(env) / "uraniborg.toml"
    return usual if usual.exists() else None


def _from_file(file: Path | None, section: str) -> Iterator[_Setting]:
    if file is None:
        return
    import tomllib  # most runs have no settings file

    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as exc:
        raise _unreadable(file, exc) from None
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as exc:
        problem = str(exc).replace("at end of document", f"at line {text.count(chr(10)) + 1}, the last")
        raise InvalidConfig(
            f"The settings file {shown(file)} is not valid TOML: {problem}.",
            hint="Correct that line.",
            file=shown(file),
        ) from None

    def spell(path: Keys) -> str:
        return f"'{'.'.join((section, *path))}' in {shown(file)}"

    for name, table in content.items():
        if not isinstance(table, dict):
            raise InvalidConfig(
                f"'{name}' in {shown(file)} stands outside any table.",
                hint=f"Settings of this part go under [{section}].",
                setting=name,
                file=shown(file),
            )
        if name == section:
            for key, value in cast(dict[str, Any], table).items():
                yield _Setting((key,), value, f"'{section}.{key}' in {shown(file)}", spell, is_text=False)
        elif _nearest(name, [section], cutoff=0.85):
            raise InvalidConfig(
                f"Unknown table [{name}] in {shown(file)}.",
                hint=f"Did you mean [{section}]?",
                setting=name,
                file=shown(file),
            )


def _unreadable(path: Path, exc: Exception) -> InvalidConfig:
    reason = exc.strerror if isinstance(exc, OSError) else "it is not UTF-8 text"
    return InvalidConfig(
        f"The settings file {shown(path)} cannot be read: {reason}.", hint="Correct or remove it.", file=shown(path)
    )


def _leaves(annotation: Any, setting: _Setting) -> Iterator[_Setting]:
    """The single values of a setting, each checked to have a place in the model."""
    for depth, key in enumerate(setting.path):
        annotation = _child(annotation, key, setting, depth)
    if setting.is_text:
        setting = replace(setting, value=_parsed(annotation, setting))
    yield from _flat(annotation, setting)


def _flat(annotation: Any, setting: _Setting) -> Iterator[_Setting]:
    given: object = setting.value
    table = cast(dict[str, Any], given) if isinstance(given, dict) else {}
    if not table:
        from pydantic import SecretStr

        if SecretStr in _alternatives(annotation) and isinstance(given, str):
            register_secret(given)
        yield setting
    for key, value in table.items():
        path = (*setting.path, key)
        label = setting.label if setting.is_text else setting.spell(path)
        inner = replace(setting, path=path, value=value, label=label)
        yield from _flat(_child(annotation, key, inner, len(setting.path)), inner)


def _child(annotation: Any, key: str, setting: _Setting, depth: int) -> Any:
    """What the model expects under `key`. Raises InvalidConfig when it expects nothing."""
    fields: dict[str, Any] = {}
    for kind in _alternatives(annotation):
        container = get_origin(kind) or kind
        if kind is Any:
            return Any
        if _is_model(container):
            fields |= _fields(container)
        elif isinstance(container, type) and issubclass(container, Mapping):
            return get_args(kind)[1] if get_args(kind) else Any
    if key in fields:
        return fields[key]
    allowed = ", ".join(sorted(fields)) or "nothing, it takes a single value"
    above = setting.path[:depth]
    nearest = _nearest(key, fields)
    meant = f"Did you mean {setting.spell((*above, nearest))}? " if nearest else ""
    raise InvalidConfig(
        f"Unknown setting '{key}' given by {setting.label}.",
        hint=f"{meant}Allowed {'under ' + '.'.join(above) if above else 'here'}: {allowed}.",
        setting=setting.label,
    )


def _is_model(kind: Any) -> bool:
    from pydantic import BaseModel

    return dataclasses.is_dataclass(kind) or (isinstance(kind, type) and issubclass(kind, BaseModel))


def _fields(model: Any) -> dict[str, Any]:
    if dataclasses.is_dataclass(model):
        return get_type_hints(model, include_extras=True)
    return {name: field.annotation for name, field in model.model_fields.items()}


def _parsed(annotation: Any, setting: _Setting) -> Any:
    kinds = _alternatives(annotation)
    if not setting.value and types.NoneType in kinds:
        return None
    containers = [get_origin(kind) or kind for kind in kinds if kind is not types.NoneType]
    structured = (Mapping, list, tuple, set, frozenset)
    if not all(_is_model(kind) or (isinstance(kind, type) and issubclass(kind, structured)) for kind in containers):
        return setting.value
    try:
        return json.loads(setting.value)
    except ValueError:
        raise InvalidConfig(
            f"Invalid setting {setting.label}: it is not JSON.",
            hint="A list or a table in a variable is written as JSON.",
            setting=setting.label,
        ) from None


def _alternatives(annotation: Any) -> list[Any]:
    origin = get_origin(annotation)
    if origin is Annotated:
        return _alternatives(get_args(annotation)[0])
    if origin in (Union, types.UnionType):
        return [kind for argument in get_args(annotation) for kind in _alternatives(argument)]
    return [annotation]


def _put(tree: dict[str, Any], path: Keys, value: Any) -> None:
    for key in path[:-1]:
        if not isinstance(tree.get(key), dict):
            tree[key] = {}
        tree = tree[key]
    if value != {} or not isinstance(tree.get(path[-1]), dict):
        tree[path[-1]] = value


def _refusal(exc: "ValidationError", section: str, origin: Mapping[Keys, str]) -> InvalidConfig:
    problems: list[dict[str, str]] = []
    for error in exc.errors(include_input=False, include_url=False, include_context=False):
        loc = tuple(str(part) for part in error["loc"])
        named = [origin[loc[:size]] for size in range(len(loc), 0, -1) if loc[:size] in origin]
        setting = named[0] if named and error["type"] != "missing" else ".".join((section, *loc))
        problems.append({"setting": setting, "problem": redact(error["msg"])})
    listed = "; ".join(f"{p['setting']}: {p['problem']}" for p in problems[:5])
    more = f" (and {len(problems) - 5} more)" if len(problems) > 5 else ""
    return InvalidConfig(
        f"Invalid settings. {listed}{more}", hint="Correct the settings named.", problems=problems[:20]
    )


def _nearest(word: str, known: Iterable[str], cutoff: float = 0.6) -> str | None:
    import difflib  # most runs have nothing misspelt

    return next(iter(difflib.get_close_matches(word, list(known), n=1, cutoff=cutoff)), None)
