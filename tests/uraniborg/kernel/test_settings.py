"""Settings come from the first place that names them; what is unknown or wrong is refused by name, never by value."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator

from uraniborg.kernel import settings
from uraniborg.kernel.logging import redact
from uraniborg.kernel.settings import (
    InvalidConfig,
    LoadedSettings,
    Origin,
    OriginKind,
    cache_dir,
    config_dir,
    data_dir,
    read_settings,
)

SECRET = "correct-horse-battery"


class Telescope(BaseModel):
    model_config = ConfigDict(extra="forbid")

    aperture_mm: int = Field(default=100, gt=0)
    mount: str = "alt-azimuth"
    api_key: SecretStr = SecretStr("")


class Observatory(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str = "Hven"
    open: bool = True
    telescope: Telescope = Field(default_factory=Telescope)
    telescopes: dict[str, Telescope] = Field(default_factory=dict[str, Telescope])
    nights: list[int] = Field(default_factory=list[int])
    dome: Path | None = Path("dome")
    spare: Telescope | None = None
    loose: dict[str, Any] = Field(default_factory=dict[str, Any])

    @field_validator("name")
    @classmethod
    def _has_letters(cls, value: str) -> str:
        if value.isdigit():
            raise ValueError(f"a name has letters, unlike {value}")
        return value


ALIASES = {"STAR_KEY": "telescope.api_key", "STAR_MM": "telescope.aperture_mm", "NORTH_KEY": "telescopes.north.api_key"}

FROM_DOTENV = ("telescope.api_key", "telescopes.*.api_key", "name")


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(settings, "_reported", set[tuple[str, str]]())


def read(env: dict[str, str] | None = None, **options: Any) -> LoadedSettings[Observatory]:
    merged = {"URANIBORG_HOME": "home", **(env or {})}
    return read_settings(
        Observatory, section="star_house", aliases=ALIASES, env=merged, from_dotenv=FROM_DOTENV, **options
    )


def load(env: dict[str, str] | None = None, **options: Any) -> Observatory:
    return read(env, **options).settings


def refused(env: dict[str, str] | None = None, **options: Any) -> InvalidConfig:
    with pytest.raises(InvalidConfig) as caught:
        load(env, **options)
    assert caught.value.code == "invalid_config"
    assert SECRET not in json.dumps(caught.value.body())
    return caught.value


def settings_file(text: str | bytes) -> Path:
    path = Path("uraniborg.toml")
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_without_any_setting_the_defaults_hold() -> None:
    assert load() == Observatory()


def test_variables_reach_plain_nested_and_named_settings() -> None:
    loaded = load(
        {
            "URANIBORG_STAR_HOUSE__NAME": "Stjerneborg",
            "URANIBORG_STAR_HOUSE__OPEN": "no",
            "URANIBORG_STAR_HOUSE__TELESCOPE__APERTURE_MM": "250",
            "URANIBORG_STAR_HOUSE__TELESCOPES__NORTH__API_KEY": SECRET,
        }
    )
    assert (loaded.name, loaded.open, loaded.telescope.aperture_mm) == ("Stjerneborg", False, 250)
    assert loaded.telescopes["north"].api_key.get_secret_value() == SECRET


def test_lists_and_tables_in_a_variable_are_json_and_deeper_variables_override_them() -> None:
    loaded = load(
        {
            "URANIBORG_STAR_HOUSE__TELESCOPE__MOUNT": "fork",
            "URANIBORG_STAR_HOUSE__TELESCOPE": '{"mount": "pier", "aperture_mm": 80}',
            "URANIBORG_STAR_HOUSE__NIGHTS": "[1, 2]",
            "URANIBORG_STAR_HOUSE__LOOSE": '{"any": {"thing": 1}}',
        }
    )
    assert (loaded.telescope.mount, loaded.telescope.aperture_mm) == ("fork", 80)
    assert (loaded.nights, loaded.loose) == ([1, 2], {"any": {"thing": 1}})


def test_an_empty_variable_means_none_if_none_is_allowed_and_empty_text_otherwise() -> None:
    loaded = load({"URANIBORG_STAR_HOUSE__DOME": "", "URANIBORG_STAR_HOUSE__NAME": ""})
    assert (loaded.dome, loaded.name) == (None, "")


def test_each_place_yields_to_the_one_above_it() -> None:
    file = settings_file("[star_house.telescope]\naperture_mm = 1\nmount = 'file'")
    dotenv = Path("my.env")

    def aperture(env: dict[str, str]) -> int:
        return load(env, file=file, env_file=dotenv).telescope.aperture_mm

    dotenv.write_text("")
    assert aperture({}) == 1
    dotenv.write_text("STAR_MM=2")
    assert aperture({}) == 2
    dotenv.write_text("STAR_MM=2\nURANIBORG_STAR_HOUSE__TELESCOPE__APERTURE_MM=3")
    assert aperture({}) == 3
    assert aperture({"STAR_MM": ""}) == 3
    assert aperture({"STAR_MM": "4"}) == 4
    assert aperture({"STAR_MM": "4", "URANIBORG_STAR_HOUSE__TELESCOPE__APERTURE_MM": "5"}) == 5
    assert load({"STAR_MM": "4"}, file=file, env_file=dotenv).telescope.mount == "file"


def test_an_empty_table_above_erases_nothing_below() -> None:
    file = settings_file("[star_house.telescope]\nmount = 'fork'")
    assert load({"URANIBORG_STAR_HOUSE__TELESCOPE": "{}"}, file=file).telescope.mount == "fork"


def test_of_two_aliases_of_one_setting_the_first_listed_wins() -> None:
    both = {"FIRST": "name", "SECOND": "name"}
    loaded = read_settings(
        Observatory, section="s", aliases=both, env={"SECOND": "two", "FIRST": "one", "URANIBORG_HOME": "home"}
    )
    assert loaded.settings.name == "one"


def test_the_dotenv_file_of_the_working_directory_is_read_as_it_stands() -> None:
    Path(".env").write_text("# a comment\nSTAR_KEY='${HOME}-$x'\nexport UNRELATED=1\nBARE\n")
    assert load().telescope.api_key.get_secret_value() == "${HOME}-$x"


@pytest.mark.parametrize("how", ["argument", "variable", "folder"])
def test_the_settings_file_is_found(how: str) -> None:
    file = settings_file(
        "\ufeff[star_house]\nname = 'Ven'\n[another_part]\nunknown = 1\n[star_house.telescopes.south]\n"
    )
    env: dict[str, str] = {}
    if how == "variable":
        env["URANIBORG_CONFIG"] = str(file)
    elif how == "folder":
        Path("home/config").mkdir(parents=True)
        file.rename("home/config/uraniborg.toml")
    loaded = load(env, file=file if how == "argument" else None)
    assert loaded.name == "Ven"
    assert loaded.telescopes == {"south": Telescope()}


@pytest.mark.parametrize(
    "variable",
    [
        "URANIBORG_STAR_HOUSE__TELESCOPE__APERTUR_MM",
        "URANIBORG_STAR_HOUSE__TELESCOPES__NORTH__APERTUR_MM",
        "URANIBORG_STAR_HOUSE__SPARE__APERTUR_MM",
    ],
)
def test_an_unknown_variable_is_refused_with_the_nearest_and_the_allowed(variable: str) -> None:
    error = refused({variable: SECRET})
    assert variable in error.message
    assert variable.replace("APERTUR_", "APERTURE_") in error.hint
    assert "aperture_mm, api_key, mount" in error.hint


@pytest.mark.parametrize(
    "variable",
    [
        "URANIBORG_STAR_HOUSE_NAME",
        "URANIBORG_STAR_HUOSE__NAME",
        "URANIBORG_STAR_HOUSE__",
        "URANIBORG_STAR_HOUSE____NAME",
    ],
)
def test_a_misspelt_prefix_is_not_ignored(variable: str) -> None:
    assert variable in refused({variable: SECRET}).message


def test_variables_of_other_parts_are_left_to_them() -> None:
    assert (
        load({"URANIBORG_PFLOW__NAME": "x", "URANIBORG_CONFIG": "", "URANIBORG_STAR_MAP__NAME": "y"}) == Observatory()
    )


def test_a_setting_beneath_a_single_value_is_refused() -> None:
    error = refused({"URANIBORG_STAR_HOUSE__NAME__FIRST": SECRET})
    assert "URANIBORG_STAR_HOUSE__NAME__FIRST" in error.message
    assert "single value" in error.hint


def test_an_unknown_key_of_the_file_is_refused_with_the_nearest_and_the_file() -> None:
    error = refused(file=settings_file(f"[star_house.telescope]\naperture = 3\nnmount = '{SECRET}'"))
    assert "'star_house.telescope.aperture' in uraniborg.toml" in error.message
    assert "'star_house.telescope.aperture_mm' in uraniborg.toml" in error.hint


def test_an_unknown_key_inside_json_is_refused_by_the_variable_that_holds_it() -> None:
    error = refused({"URANIBORG_STAR_HOUSE__TELESCOPE": f'{{"moutn": "{SECRET}"}}'})
    assert "'moutn' given by URANIBORG_STAR_HOUSE__TELESCOPE" in error.message
    assert "mount" in error.hint


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("[star_house]\nname = 'a'\nname = 'correct-horse-battery'", "line 3"),
        ("[star_house]\nname = correct-horse-battery\nopen = true", "line 2"),
        ("[star_house]\n\nname = 'correct-horse-battery", "line 3"),
        ("name = 'correct-horse-battery'", "[star_house]"),
        ("[star_huose]\nname = 'correct-horse-battery'", "[star_house]"),
        ("star_house = 'correct-horse-battery'", "[star_house]"),
        (b"[star_house]\nname = '\xff'", "UTF-8"),
    ],
)
def test_a_malformed_file_is_refused_with_its_path_and_the_place(text: str | bytes, named: str) -> None:
    error = refused(file=settings_file(text))
    assert "uraniborg.toml" in error.message
    assert named in error.message + error.hint


def test_a_file_that_was_asked_for_must_be_there() -> None:
    assert "absent.toml" in refused({"URANIBORG_CONFIG": "absent.toml"}).message
    assert "absent.toml" in refused(file=Path("absent.toml")).message
    assert "absent.env" in refused(env_file=Path("absent.env")).message
    Path("folder.env").mkdir()
    assert "folder.env" in refused(env_file=Path("folder.env")).message


@pytest.mark.parametrize(
    ("env", "named"),
    [
        ({"STAR_MM": SECRET}, "STAR_MM"),
        ({"URANIBORG_STAR_HOUSE__TELESCOPE__APERTURE_MM": "-5"}, "URANIBORG_STAR_HOUSE__TELESCOPE__APERTURE_MM"),
        ({"URANIBORG_STAR_HOUSE__NIGHTS": SECRET}, "URANIBORG_STAR_HOUSE__NIGHTS"),
        ({"URANIBORG_STAR_HOUSE__NIGHTS": f'["{SECRET}"]'}, "URANIBORG_STAR_HOUSE__NIGHTS"),
        ({"URANIBORG_STAR_HOUSE__TELESCOPE": "[]"}, "URANIBORG_STAR_HOUSE__TELESCOPE"),
    ],
)
def test_a_wrong_value_is_refused_by_the_name_of_its_variable(env: dict[str, str], named: str) -> None:
    assert named in refused(env).message


def test_a_wrong_value_in_a_file_is_refused_by_key_and_file() -> None:
    dotenv = Path("my.env")
    dotenv.write_text(f"STAR_MM={SECRET}")
    assert "STAR_MM in my.env" in refused(env_file=dotenv).message
    error = refused(file=settings_file(f"[star_house]\ntelescope = '{SECRET}'\nnights = 3"))
    assert "'star_house.telescope' in uraniborg.toml" in error.message
    assert "'star_house.nights' in uraniborg.toml" in error.message


def test_a_required_setting_that_is_missing_is_named_by_its_key() -> None:
    class Strict(BaseModel):
        where: str

    class House(BaseModel):
        rooms: dict[str, Strict]

    with pytest.raises(InvalidConfig, match=r"house\.rooms\.north\.where: Field required"):
        read_settings(House, section="house", file=settings_file("[house.rooms.north]"), env={})


def test_secrets_read_are_masked_from_then_on_even_when_the_settings_are_refused() -> None:
    load({"STAR_KEY": "sesame-open-one"})
    refused({"STAR_KEY": "sesame-open-two", "STAR_MM": "0"})
    file = settings_file("[star_house.telescopes.north]\napi_key = 'sesame-open-three'")
    load(file=file)
    assert redact("sesame-open-one sesame-open-two sesame-open-three") == "*** *** ***"


def test_the_models_own_message_about_a_value_that_is_not_secret_is_kept() -> None:
    assert "a name has letters" in refused({"URANIBORG_STAR_HOUSE__NAME": "1576"}).message


def test_one_home_holds_all_three_folders_and_none_is_created(tmp_path: Path) -> None:
    env = {"URANIBORG_HOME": str(tmp_path / "hven")}
    folders = [data_dir(env), cache_dir(env), config_dir(env)]
    assert folders == [tmp_path / "hven" / kind for kind in ("data", "cache", "config")]
    assert not (tmp_path / "hven").exists()


def test_without_a_home_the_platforms_folders_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("URANIBORG_HOME", raising=False)
    folders = [data_dir(), cache_dir(), config_dir({"URANIBORG_HOME": ""})]
    assert all(folder.is_absolute() and "uraniborg" in folder.parts for folder in folders)


def test_the_process_environment_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("URANIBORG_HOME", "home")
    monkeypatch.setenv("URANIBORG_STAR_HOUSE__NAME", "Prague")
    assert read_settings(Observatory, section="star_house").settings.name == "Prague"


@pytest.mark.parametrize(
    ("line", "setting"),
    [
        ("URANIBORG_STAR_HOUSE__DOME=elsewhere", "dome"),
        ('URANIBORG_STAR_HOUSE__TELESCOPE={"mount": "elsewhere"}', "telescope.mount"),
        ("STAR_MM=7", "telescope.aperture_mm"),
        ("URANIBORG_STAR_HOUSE__NIGHTS=[1]", "nights"),
    ],
)
def test_a_dotenv_file_of_the_working_directory_sets_only_the_listed_settings(
    line: str, setting: str, caplog: pytest.LogCaptureFixture
) -> None:
    Path(".env").write_text(f"{line}\nSTAR_KEY={SECRET}\n")
    loaded = read()
    assert loaded.settings == Observatory(telescope=Telescope(api_key=SecretStr(SECRET)))
    variable = line.partition("=")[0]
    assert loaded.ignored == (Origin(OriginKind.DOTENV, variable, Path(".env").absolute()),)
    assert f"{variable} in .env is ignored" in caplog.text
    assert f"Set {variable} in the environment, or 'star_house.{setting}' in home/config/uraniborg.toml." in caplog.text
    caplog.clear()
    assert read().ignored == loaded.ignored
    assert not caplog.text  # reported once per process


def test_a_listed_setting_inside_a_table_is_used_and_its_neighbour_is_not() -> None:
    Path(".env").write_text(f'URANIBORG_STAR_HOUSE__TELESCOPE={{"mount": "elsewhere", "api_key": "{SECRET}"}}')
    loaded = read()
    assert loaded.settings.telescope.api_key.get_secret_value() == SECRET
    assert loaded.settings.telescope.mount == "alt-azimuth"


def test_a_dotenv_file_that_the_caller_names_sets_everything() -> None:
    Path(".env").write_text("URANIBORG_STAR_HOUSE__DOME=elsewhere")
    loaded = read(env_file=Path(".env"))
    assert loaded.settings.dome == Path("elsewhere")
    assert loaded.ignored == ()


@pytest.mark.parametrize("name", ["URANIBORG_HOME", "URANIBORG_CONFIG"])
def test_a_dotenv_file_never_moves_the_folders_or_the_settings_file(
    name: str, caplog: pytest.LogCaptureFixture
) -> None:
    Path("other.toml").write_text("[star_house]\nname = 'moved'")
    Path(".env").write_text(f"{name}=other.toml")
    loaded = read_settings(Observatory, section="star_house", env={}).settings
    assert loaded.name == "Hven"
    assert f"Set {name} in the environment." in caplog.text


def test_a_setting_of_the_environment_is_not_reported_as_ignored(caplog: pytest.LogCaptureFixture) -> None:
    Path(".env").write_text("STAR_MM=7")
    assert read({"STAR_MM": "8"}).ignored == ()
    assert not caplog.text


def test_each_setting_knows_where_its_value_came_from() -> None:
    file = settings_file("[star_house]\nopen = false\n[star_house.telescope]\nmount = 'fork'")
    Path(".env").write_text(f"STAR_KEY={SECRET}")
    loaded = read({"URANIBORG_STAR_HOUSE__NIGHTS": "[1]", "STAR_MM": "8"}, file=file)
    rows = {row.name: row for row in loaded.list_rows()}
    assert {name: str(row.origin) for name, row in rows.items() if row.origin.kind is not OriginKind.DEFAULT} == {
        "open": "'star_house.open' in uraniborg.toml",
        "telescope.mount": "'star_house.telescope.mount' in uraniborg.toml",
        "telescope.api_key": "STAR_KEY in .env",
        "telescope.aperture_mm": "STAR_MM",
        "nights": "URANIBORG_STAR_HOUSE__NIGHTS",
    }
    assert loaded.find_origin("telescope.api_key") == Origin(OriginKind.DOTENV, "STAR_KEY", Path(".env").absolute())
    assert rows["telescope.api_key"].value == "***"
    assert (rows["name"].value, rows["name"].origin.kind) == ("Hven", OriginKind.DEFAULT)
    assert SECRET not in str(rows)


def test_a_dataclass_is_guarded_as_a_model_is() -> None:
    @dataclass(frozen=True)
    class Plain:
        home: Path = Path("~/plain")
        timeout: float | None = None

    Path(".env").write_text("PLAIN_HOME=elsewhere\nPLAIN_TIMEOUT=3")
    aliases = {"PLAIN_HOME": "home", "PLAIN_TIMEOUT": "timeout"}
    loaded = read_settings(Plain, section="plain", aliases=aliases, env={}, from_dotenv=("timeout",))
    assert loaded.settings == Plain(timeout=3.0)
    assert [one.name for one in loaded.ignored] == ["PLAIN_HOME"]
    assert str(loaded.find_origin("timeout")) == "PLAIN_TIMEOUT in .env"
    Path(".env").write_text("URANIBORG_PLAIN__HOOME=elsewhere")
    with pytest.raises(InvalidConfig, match="hoome"):
        read_settings(Plain, section="plain", env={})
