"""Read settings from environment, dotenv file and settings file, and remember where each came from."""

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, Generic, TypeVar, cast

from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.language.messages import resembles
from uraniborg.kernel.redaction import redact
from uraniborg.kernel.store.files import display_path

M = TypeVar("M")
Keys = tuple[str, ...]
HOME: Final = "URANIBORG_HOME"
CONFIG: Final = "URANIBORG_CONFIG"


class InvalidConfig(InvalidInput):
    """A setting is unknown, malformed or out of range. Names the setting and never repeats its value."""

    code = "invalid_config"


class OriginKind(StrEnum):
    ENVIRONMENT = "environment"
    DOTENV = "dotenv"
    FILE = "file"
    DEFAULT = "default"


@dataclass(frozen=True)
class Origin:
    """The source of the value of a setting."""

    kind: OriginKind
    name: str = ""
    """The variable, or the key in the settings file."""
    path: Path | None = None
    """The file, for the kinds that have one."""

    def __str__(self) -> str:
        if self.kind is OriginKind.DEFAULT:
            return "default"
        named = f"'{self.name}'" if self.kind is OriginKind.FILE else self.name
        return named if self.path is None else f"{named} in {display_path(self.path)}"


_DEFAULT: Final = Origin(OriginKind.DEFAULT)


@dataclass(frozen=True)
class Setting:
    """A value, the path of its setting in the model, and its origin."""

    path: Keys
    value: Any
    origin: Origin
    make_origin: Callable[[Keys], Origin]
    """Returns the origin that another setting would have in the same file or environment."""

    @property
    def is_text(self) -> bool:
        """True for the text of a variable, in which lists and tables are written as JSON."""
        return self.origin.kind is not OriginKind.FILE


@dataclass(frozen=True)
class SettingRow:
    """A setting for display: its dotted name, its value with secrets masked, and its origin."""

    name: str
    value: Any
    origin: Origin


@dataclass(frozen=True)
class LoadedSettings(Generic[M]):
    """The settings of a part and the origin of each."""

    settings: M
    section: str
    origins: Mapping[str, Origin]
    """By dotted name; a setting without an origin has its default."""
    ignored: tuple[Origin, ...] = ()
    """Variables of the `.env` in the working directory that are settings of this part and may not be set there."""

    def find_origin(self, name: str) -> Origin:
        """Return the origin of the setting with this dotted name, or of the nearest table around it."""
        keys = name.split(".")
        around = (".".join(keys[:size]) for size in range(len(keys), 0, -1))
        return next((self.origins[one] for one in around if one in self.origins), _DEFAULT)

    def list_rows(self) -> list[SettingRow]:
        """Return every setting in the order of the model."""
        return [SettingRow(name, value, self.find_origin(name)) for name, value in _iterate_values(self.settings, ())]


def _iterate_values(value: Any, path: Keys) -> Iterator[tuple[str, Any]]:
    """Yield the dotted name of each single value in the settings, and the value with secrets masked."""
    inner = _list_fields(value)
    for name, one in inner.items():
        yield from _iterate_values(one, (*path, name))
    if not inner:
        read_secret = getattr(value, "get_secret_value", None)
        is_empty = read_secret is not None and not read_secret()
        yield ".".join(path), "" if is_empty else redact({path[-1]: value})[path[-1]]


def _list_fields(value: Any) -> dict[str, object]:
    """Return the fields of a dataclass, of a model or of a table; nothing for a single value."""
    if isinstance(value, dict):
        return cast("dict[str, object]", value)
    names: Iterable[str] = getattr(cast("object", type(value)), "model_fields", ())
    if dataclasses.is_dataclass(value):
        names = [field.name for field in dataclasses.fields(value)]
    return {name: getattr(value, name) for name in names}


def read_variables(
    env: Mapping[str, str], section: str, aliases: Mapping[str, str], *, dotenv: Path | None = None
) -> Iterator[Setting]:
    """Yield the settings in variables: aliases first, then our own, shallow before deep. A later setting overrides.

    `dotenv` is the file that `env` was read from, if any. Raise InvalidConfig for a misspelt prefix.
    """
    prefix = f"URANIBORG_{section.upper()}__"
    kind = OriginKind.DOTENV if dotenv else OriginKind.ENVIRONMENT

    def make_origin(path: Keys) -> Origin:
        return Origin(kind, prefix + "__".join(path).upper(), dotenv)

    for name, dotted in reversed(list(aliases.items())):
        if value := env.get(name):
            yield Setting(tuple(dotted.split(".")), value, Origin(kind, name, dotenv), make_origin)
    ours: list[tuple[Keys, str]] = []
    for name in env:
        head, separator, tail = name.upper().partition("__")
        if separator and head + separator == prefix:
            ours.append((tuple(tail.lower().split("__")), name))
        elif head.startswith("URANIBORG_") and (
            head.startswith(prefix[:-1]) or (separator and resembles(head, prefix[:-2], 0.9))
        ):
            raise InvalidConfig(
                f"Unknown variable {Origin(kind, name, dotenv)}.",
                hint=f"Settings of this part start with {prefix}",
                setting=name,
            )
    for path, name in sorted(ours, key=lambda item: len(item[0])):
        yield Setting(path, env[name], Origin(kind, name, dotenv), make_origin)


def read_dotenv(path: Path) -> dict[str, str]:
    """Return the variables of a dotenv file. Raise InvalidConfig if it cannot be read."""
    import dotenv  # most runs have no dotenv file

    try:
        with path.open(encoding="utf-8") as stream:
            values = dotenv.dotenv_values(stream=stream, interpolate=False)
    except (OSError, UnicodeDecodeError) as exc:
        raise _make_unreadable_error(path, exc) from None
    return {name: value for name, value in values.items() if value is not None}


def read_settings_file(file: Path | None, section: str) -> Iterator[Setting]:
    """Yield the settings in the table `[section]` of a TOML file. Raise InvalidConfig."""
    if file is None:
        return
    import tomllib  # most runs have no settings file

    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as exc:
        raise _make_unreadable_error(file, exc) from None
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as exc:
        problem = str(exc).replace("at end of document", f"at line {text.count(chr(10)) + 1}, the last")
        raise InvalidConfig(
            f"The settings file {display_path(file)} is not valid TOML: {problem}.",
            hint="Correct that line.",
            file=display_path(file),
        ) from None

    def make_origin(path: Keys) -> Origin:
        return Origin(OriginKind.FILE, ".".join((section, *path)), file)

    for name, table in content.items():
        if not isinstance(table, dict):
            raise InvalidConfig(
                f"'{name}' in {display_path(file)} is not in a table.",
                hint=f"Put the settings of this part under [{section}].",
                setting=name,
                file=display_path(file),
            )
        if name == section:
            for key, value in cast(dict[str, object], table).items():
                yield Setting((key,), value, make_origin((key,)), make_origin)
        elif resembles(name, section, 0.85):
            raise InvalidConfig(
                f"Unknown table [{name}] in {display_path(file)}.",
                hint=f"Did you mean [{section}]?",
                setting=name,
                file=display_path(file),
            )


def _make_unreadable_error(path: Path, exc: Exception) -> InvalidConfig:
    reason = exc.strerror if isinstance(exc, OSError) else "it is not UTF-8 text"
    return InvalidConfig(
        f"The settings file {display_path(path)} cannot be read: {reason}.",
        hint="Correct or remove it.",
        file=display_path(path),
    )
