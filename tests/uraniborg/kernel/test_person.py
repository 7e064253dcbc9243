"""The name of the person: from the settings, or that of the account."""

import getpass
from pathlib import Path

import pytest

from uraniborg.kernel.actors import get_user_name, read_config


@pytest.fixture(autouse=True)
def settings_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("URANIBORG_CONFIG", str(tmp_path / "s.toml"))
    monkeypatch.delenv("URANIBORG_USER", raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.toml").write_text("")
    return tmp_path / "s.toml"


def test_the_variable_comes_before_the_file_and_the_file_before_the_account(
    settings_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (get_user_name(), str(read_config().find_origin("user"))) == (getpass.getuser(), "default")
    settings_file.write_text('[uraniborg]\nuser = "Sophie"\n')
    assert get_user_name() == "Sophie"
    monkeypatch.setenv("URANIBORG_USER", " Tycho\x1b[1m ")
    assert get_user_name() == "Tycho[1m"
    assert str(read_config().find_origin("user")) == "URANIBORG_USER"


def test_a_dotenv_file_of_the_working_folder_does_not_name_the_person(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("URANIBORG_USER=Mallory\n")
    assert get_user_name() == getpass.getuser()


def test_an_account_without_a_name_is_somebody(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> str:
        raise KeyError

    monkeypatch.setattr(getpass, "getuser", fail)
    assert get_user_name() == "somebody"
