"""Tests of the configuration."""

import os
from pathlib import Path

import pytest
from pydantic import SecretStr, ValidationError

from paper_search.config import AppConfig, LLMConfig, SearchSourceConfig, load_config, read_config
from uraniborg.kernel.errors import InvalidInput


@pytest.fixture(autouse=True)
def bare_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in list(os.environ):
        if name.startswith(("URANIBORG_", "LLM_", "SERPAPI_", "OPENALEX_", "NCBI_")) or name.endswith("_API_KEY"):
            monkeypatch.delenv(name)
    monkeypatch.delenv("DOMAIN", raising=False)
    monkeypatch.setenv("URANIBORG_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_constructing_a_config_reads_no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("URANIBORG_PAPER_SEARCH__DOMAIN", "materials_science")
    assert AppConfig().domain == "general"
    assert load_config().domain == "materials_science"


def test_without_settings_the_defaults_apply() -> None:
    assert load_config() == AppConfig()


def test_the_customary_variables_are_honoured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERPAPI_API_KEY", "serp-key-123")
    monkeypatch.setenv("SERPAPI_MAX_CALLS", "7")
    monkeypatch.setenv("DEFAULT_MAX_RESULTS", "40")
    config = load_config()
    source = config.sources["serpapi_scholar"]
    assert (source.name, source.api_key.get_secret_value(), source.max_calls) == ("serpapi_scholar", "serp-key-123", 7)
    assert config.default_max_results == 40


@pytest.mark.parametrize(
    ("provider", "variable"),
    [
        ("openai", "OPENAI_API_KEY"),
        ("anthropic", "ANTHROPIC_API_KEY"),
        ("claude", "ANTHROPIC_API_KEY"),
        ("google", "GOOGLE_API_KEY"),
        ("gemini", "GEMINI_API_KEY"),
    ],
)
def test_a_provider_uses_the_key_of_its_own_variable(
    monkeypatch: pytest.MonkeyPatch, provider: str, variable: str
) -> None:
    monkeypatch.setenv("LLM_PROVIDER", provider)
    monkeypatch.setenv(variable, "the-right-key")
    assert load_config().llm.api_key.get_secret_value() == "the-right-key"


def test_the_key_of_another_provider_is_never_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LLM_PROVIDER", "anthropic")
    monkeypatch.setenv("OPENAI_API_KEY", "the-wrong-key")
    assert load_config().llm.api_key.get_secret_value() == ""


def test_an_explicit_key_overrides_the_key_of_the_provider(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "customary")
    monkeypatch.setenv("LLM_API_KEY", "explicit")
    assert load_config().llm.api_key.get_secret_value() == "explicit"


def test_a_dotenv_file_in_the_working_folder_is_read(bare_environment: Path) -> None:
    (bare_environment / ".env").write_text("OPENALEX_API_KEY=from-the-file\n")
    assert load_config().sources["openalex"].api_key.get_secret_value() == "from-the-file"


@pytest.mark.parametrize(
    "line",
    [
        "LLM_BASE_URL=https://thief.example/v1",
        'URANIBORG_PAPER_SEARCH__LLM={"base_url": "https://thief.example/v1"}',
        "URANIBORG_PAPER_SEARCH__CACHE_DIR=elsewhere",
        "URANIBORG_PAPER_SEARCH__RECORD_DIR=elsewhere",
        "URANIBORG_PAPER_SEARCH__REPLAY_DIR=elsewhere",
        "URANIBORG_PAPER_SEARCH__SESSIONS__RETENTION_DAYS=0.001",
        "URANIBORG_HOME=elsewhere",
        "URANIBORG_CONFIG=elsewhere",
        "HTTPS_PROXY=http://thief.example",
    ],
)
def test_a_dotenv_file_cannot_set_folders_or_addresses(
    bare_environment: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "the-key-of-the-user")
    (bare_environment / ".env").write_text(line)
    loaded = read_config()
    assert loaded.settings == AppConfig(llm=LLMConfig(api_key=SecretStr("the-key-of-the-user")))
    assert len(loaded.ignored) == (not line.startswith(("HTTPS_PROXY", "URANIBORG_HOME")))  # URANIBORG_HOME is set here


def test_a_provider_in_a_dotenv_file_does_not_get_a_key_of_another_origin(
    bare_environment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (bare_environment / ".env").write_text("LLM_PROVIDER=anthropic\nLLM_API_KEY=of-the-file\n")
    llm = load_config().llm
    assert (llm.provider, llm.api_key.get_secret_value()) == ("anthropic", "of-the-file")
    monkeypatch.setenv("LLM_API_KEY", "of-the-environment")
    loaded = read_config()
    llm = loaded.settings.llm
    assert (llm.provider, llm.api_key.get_secret_value()) == ("openai", "of-the-environment")
    assert [one.name for one in loaded.ignored] == ["LLM_PROVIDER"]


def test_a_provider_in_a_dotenv_file_uses_its_own_key(bare_environment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (bare_environment / ".env").write_text("LLM_PROVIDER=anthropic\n")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "of-anthropic")
    llm = load_config().llm
    assert (llm.provider, llm.api_key.get_secret_value()) == ("anthropic", "of-anthropic")


def test_a_provider_in_a_dotenv_file_does_not_send_its_key_to_the_address_of_another(
    bare_environment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (bare_environment / ".env").write_text("LLM_PROVIDER=anthropic\n")
    monkeypatch.setenv("LLM_BASE_URL", "https://models.example.org")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "of-anthropic")
    loaded = read_config()
    llm = loaded.settings.llm
    assert (llm.provider, llm.api_key.get_secret_value()) == ("openai", "")
    assert [one.name for one in loaded.ignored] == ["LLM_PROVIDER"]


def test_a_settings_file_is_read_and_the_environment_overrides_it(
    bare_environment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = bare_environment / "home" / "config"
    folder.mkdir(parents=True)
    (folder / "uraniborg.toml").write_text('[paper_search]\ndomain = "materials_science"\nmax_rounds = 2\n')
    monkeypatch.setenv("URANIBORG_PAPER_SEARCH__MAX_ROUNDS", "3")
    config = load_config()
    assert (config.domain, config.max_rounds) == ("materials_science", 3)


def test_an_unknown_setting_is_refused_without_repeating_its_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("URANIBORG_PAPER_SEARCH__DOMIAN", "hunter2hunter2")
    with pytest.raises(InvalidInput) as caught:
        load_config()
    assert "domain" in str(caught.value.body()).casefold()
    assert "hunter2" not in str(caught.value.body())


def test_a_value_that_does_not_fit_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEFAULT_MAX_RESULTS", "lots")
    with pytest.raises(InvalidInput, match="DEFAULT_MAX_RESULTS"):
        load_config()


def test_unknown_fields_are_refused_at_construction() -> None:
    with pytest.raises(ValidationError):
        AppConfig.model_validate({"domian": "general"})


@pytest.mark.parametrize("values", [{"max_rounds": 0}, {"default_max_results": 0}, {"timeout_s": 0}])
def test_values_out_of_range_are_refused_at_construction(values: dict[str, int]) -> None:
    with pytest.raises(ValidationError):
        AppConfig.model_validate(values)


def test_the_settings_of_a_source_need_not_repeat_its_name() -> None:
    config = AppConfig.model_validate({"sources": {"dblp": {"enabled": False}}})
    assert config.sources["dblp"] == SearchSourceConfig(name="dblp", enabled=False)


def test_keys_are_hidden_when_a_config_is_printed() -> None:
    config = AppConfig.model_validate({"sources": {"openalex": {"api_key": "hunter2hunter2"}}})
    assert "hunter2" not in repr(config) + str(config) + config.model_dump_json()


@pytest.mark.parametrize(
    "values", [{"sources": {"openalex": {"api_kee": "hunter2hunter2"}}}, {"openalex_api_key": "hunter2hunter2"}]
)
def test_a_misspelt_key_is_refused_without_repeating_it(values: dict[str, object]) -> None:
    with pytest.raises(ValidationError) as caught:
        AppConfig.model_validate(values)
    assert "hunter2" not in str(caught.value)
