"""Know every folder of this installation, and every setting with its origin; change settings."""

import os
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from uraniborg.kernel.actors import Actor
from uraniborg.kernel.errors import Conflict, InvalidInput, NotFound
from uraniborg.kernel.json_values import Json, JsonObject
from uraniborg.kernel.settings import (
    CONFIG,
    HOME,
    InvalidConfig,
    LoadedSettings,
    Origin,
    OriginKind,
    cache_dir,
    config_dir,
    data_dir,
)
from uraniborg.kernel.store.audit_log import record_change
from uraniborg.kernel.store.files import hold_lock, make_folder, write_atomic

if TYPE_CHECKING:
    from uraniborg.installation.replies import LocationFacts, OriginFacts, SettingFacts


SQLITE: Final = "sqlite:///"
PART_CONFIGS: Final = {
    "uraniborg": "uraniborg.kernel.actors",
    "search": "paper_search.config",
    "library": "paper_library.config",
    "universe": "universe.config",
    "pflow": "pflow.config",
    "decisions": "uraniborg.kernel.deciders",
    "console": "uraniborg.console.config",
}
"""The module of each part whose `read_config` returns its settings; `uraniborg` has those of all parts."""


@dataclass(frozen=True)
class InstallationPath:
    """A file or folder of this installation."""

    name: str
    path: Path
    purpose: str
    origin: Origin
    """Where its path comes from."""
    is_folder: bool = True
    files: str = ""
    """The pattern of its files in the folder, if the folder has others too."""

    @property
    def size(self) -> int:
        """Return the size of all its files, in bytes; 0 if it does not exist."""
        return sum(list_file_sizes(self.path, self.files or "*"))

    @property
    def display_text(self) -> str:
        """Return the path, with the pattern of the files."""
        return str(self.path / self.files) if self.files else str(self.path)


def list_locations() -> list[InstallationPath]:
    """Return all locations, whether they exist or not. Raise InvalidConfig."""
    from paper_search.config import read_config as read_search_config
    from pflow.config import read_config as read_workflow_config

    data, own = data_dir(), _find_home_origin()
    search, workflow = read_search_config(), read_workflow_config()
    home, home_origin = workflow.settings.home.expanduser(), workflow.find_origin("home")
    named = os.environ.get(CONFIG)
    settings_file = Path(named).expanduser() if named else config_dir() / "uraniborg.toml"
    cache = search.settings.cache_dir
    return [
        InstallationPath(
            *("config", settings_file, "your settings"),
            Origin(OriginKind.ENVIRONMENT, CONFIG) if named else own,
            is_folder=False,
        ),
        InstallationPath("data", data, "all of the data below, unless another path is set", own),
        InstallationPath("sessions", data / "paper_search" / "sessions", "searches and their decisions", own),
        InstallationPath("inbox", data / "inbox.db", "questions to you, and your answers", own, is_folder=False),
        find_universe_location(),
        InstallationPath("library", data / "library", "the sample shelf", own),
        InstallationPath("workflows", home, "workflows, runs, and the results that resume them", home_origin),
        InstallationPath(
            *("logs", home, "the output of scheduled runs; servers log to stderr", home_origin), files="schedule-*.log"
        ),
        InstallationPath(
            *("cache", cache or cache_dir(), "answers of sources; can be deleted"),
            search.find_origin("cache_dir") if cache else own,
        ),
    ]


def find_universe_location() -> InstallationPath:
    """Return the folder of universes, or the file that the settings name. Raise InvalidConfig."""
    from universe.config import read_config

    loaded = read_config()
    address = loaded.settings.database_address
    if loaded.settings.db is None:
        return InstallationPath("universes", data_dir() / "universe", "universes and their logs", _find_home_origin())
    origin = loaded.find_origin("db")
    if address.startswith(SQLITE):
        path = Path(address.removeprefix(SQLITE)).expanduser()
        return InstallationPath("universes", path, "universes and their logs", origin, is_folder=False)
    kind = address.partition(":")[0]
    purpose = f"high-water marks; the universes are in another database ({kind})"
    return InstallationPath("universes", data_dir() / "universe", purpose, origin)


def _find_home_origin() -> Origin:
    return Origin(OriginKind.ENVIRONMENT, HOME) if os.environ.get(HOME) else Origin(OriginKind.DEFAULT)


def list_file_sizes(path: Path, pattern: str = "*") -> Iterator[int]:
    """Yield the size of each file at or below `path` whose name matches. Links are not followed."""
    if path.is_symlink():
        return
    if path.is_file():
        yield path.stat().st_size
    elif path.is_dir():
        for inner in path.rglob(pattern):
            with suppress(FileNotFoundError):  # deleted since it was listed
                if inner.is_file() and not inner.is_symlink():
                    yield inner.stat().st_size


class SettingNotChangeable(NotFound):
    code = "setting_not_changeable"


class SettingOverridden(Conflict):
    code = "setting_overridden"


def list_location_facts() -> "dict[str, LocationFacts]":
    """Return every folder and file of the installation, by name. Raise InvalidConfig."""
    return {
        one.name: {
            "path": one.display_text,
            "exists": one.path.exists(),
            "bytes": one.size,
            **describe_origin(one.origin),
        }
        for one in list_locations()
    }


def list_setting_facts(part: str | None = None, *, include_defaults: bool = True) -> "list[SettingFacts]":
    """Return the settings of one part or of all with their origins. Secrets are masked. Raise InvalidConfig."""
    rows: list[SettingFacts] = []
    for name, module in PART_CONFIGS.items():
        if part in (None, name):
            loaded: LoadedSettings[Any] = import_module(module).read_config()
            for row in loaded.list_rows():
                if include_defaults or row.origin.kind is not OriginKind.DEFAULT:
                    setting = f"{loaded.section}.{row.name}"
                    rows.append({"setting": setting, "value": _make_plain(row.value), **describe_origin(row.origin)})
    return rows


def describe_origin(origin: Origin) -> "OriginFacts":
    """Return where a value comes from: as text, its kind, and the variable and the file if there are any."""
    file = str(origin.path) if origin.path else ""
    name = f"'{origin.name}'" if origin.kind is OriginKind.FILE else origin.name
    text = f"{name} in {file}" if file else name or "default"
    facts: OriginFacts = {"origin": text, "origin_kind": origin.kind.value}
    if origin.name:
        facts["origin_name"] = origin.name
    if file:
        facts["origin_file"] = file
    return facts


def change_setting(setting: str, value: Any, actor: Actor | None = None) -> "SettingFacts":
    """Write a setting to the settings file, or remove it if `value` is None, and return its facts.

    The file does not state who changed it: the log of changes does, `actor` or by default the program of this process.
    Raise SettingNotChangeable, SettingOverridden if a variable has priority, InvalidInput or InvalidConfig. After an
    error the file is as before.
    """
    if setting not in CHANGEABLE:
        raise SettingNotChangeable(
            f"'{setting[:80]}' cannot be changed here.",
            hint=f"Edit the settings file. These can be changed: {', '.join(CHANGEABLE)}.",
            setting=setting[:80],
        )
    checked = None if value is None else CHANGEABLE[setting](value)
    facts = _find_setting(setting)
    if facts["origin_kind"] in (OriginKind.ENVIRONMENT, OriginKind.DOTENV):
        raise SettingOverridden(
            f"'{setting}' is set by {facts['origin']}, which has priority over the settings file.",
            hint="Remove the variable, then start the server again.",
            setting=setting,
        )
    file = next(one.path for one in list_locations() if one.name == "config")
    section, _, key = setting.partition(".")
    with _edit_settings_file(file) as document:
        table = document.setdefault(section, {})
        if checked is None:
            table.pop(key, None)
        else:
            table[key] = checked
    changed = _find_setting(setting)
    details = {"before": facts["value"], "after": changed["value"]}
    record_change("setting changed", setting, actor, **details)
    return changed


def _find_setting(setting: str) -> "SettingFacts":
    return next(row for row in list_setting_facts() if row["setting"] == setting)


@contextmanager
def _edit_settings_file(file: Path) -> Generator[Any]:
    """Yield the contents of the file, and write them if all parts can read them. Raise InvalidConfig."""
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    make_folder(file.parent)
    with hold_lock(file.with_name(f".{file.name}.lock"), timeout_s=5):
        before = file.read_text(encoding="utf-8-sig") if file.exists() else None
        try:
            document = tomlkit.parse(before or "")
        except TOMLKitError as exc:
            raise InvalidConfig(f"The settings file is not valid TOML: {exc}.", hint="Correct that line.") from None
        yield document
        write_atomic(file, tomlkit.dumps(document))
        try:
            for module in PART_CONFIGS.values():
                import_module(module).read_config()
        except InvalidConfig:
            if before is None:
                file.unlink()
            else:
                write_atomic(file, before)
            raise


def _check_switch(value: Any) -> bool:
    if not isinstance(value, bool):
        raise InvalidInput("The value must be true or false.", hint="Send true or false.", argument="value")
    return value


def _check_user(value: Any) -> str:
    from uraniborg.kernel.actors import clean_name

    if not isinstance(value, str) or not (name := clean_name(value)):
        raise InvalidInput("A name has 1 to 100 printable characters.", hint="Choose another.", argument="value")
    return name


def _check_shelf(value: Any) -> str:
    from paper_library.store.layout import read_manifest

    if not isinstance(value, str) or "\0" in value:
        raise InvalidInput("The value must be the path of a shelf.", hint="Name a folder.", argument="value")
    path = Path(value).expanduser()
    if not path.is_absolute():
        raise InvalidInput("The path of a shelf must be absolute.", hint="Name the whole path.", argument="value")
    read_manifest(path)
    return str(path)


CHANGEABLE: Final[dict[str, Callable[[Any], Any]]] = {
    "uraniborg.user": _check_user,
    "decisions.require_person": _check_switch,
    "paper_search.offline": _check_switch,
    "library.shelf": _check_shelf,
}
"""The settings that the console may change, and the check of each value."""


def _make_plain(value: Any) -> Json:
    if isinstance(value, list | tuple | set | frozenset):
        return [_make_plain(one) for one in cast("Iterable[Any]", value)]
    if isinstance(value, dict):
        return cast("JsonObject", value)
    return value if isinstance(value, int | float | bool | None) else str(value)
