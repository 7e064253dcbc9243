"""Tests of the choice of the provider by the settings."""

import sys

import pytest
from pydantic import SecretStr

from paper_search.config import LLMConfig
from paper_search.service.llm.provider import create_provider
from uraniborg.kernel.errors import InvalidInput, MissingExtra


def make_config(
    provider: str = "openai", *, key: str = "sk-x", model: str = "m-1", base_url: str | None = None
) -> LLMConfig:
    return LLMConfig(provider=provider, model=model, api_key=SecretStr(key), base_url=base_url)


@pytest.mark.parametrize("model", ["", "  "])
def test_no_model_means_no_provider_even_with_a_key(model: str) -> None:
    assert create_provider(make_config(model=model)) is None


@pytest.mark.parametrize(
    ("provider", "host"),
    [
        ("openai", "api.openai.com"),
        ("anthropic", "api.anthropic.com"),
        ("Claude", "api.anthropic.com"),
        ("google", "generativelanguage.googleapis.com"),
        (" gemini ", "generativelanguage.googleapis.com"),
    ],
)
def test_each_provider_is_reached_at_its_own_endpoint(
    provider: str, host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://elsewhere.invalid/")
    made = create_provider(make_config(provider))
    assert host in vars(made)["_client"].endpoint.url


def test_the_key_of_the_settings_is_used_and_not_one_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-from-the-environment")
    made = create_provider(make_config("anthropic", key="sk-anthropic"))
    assert vars(made)["_client"].endpoint.key == "sk-anthropic"


@pytest.mark.parametrize("provider", ["openai", "anthropic", "gemini"])
def test_the_error_for_a_missing_key_names_the_variable_to_set(provider: str) -> None:
    with pytest.raises(InvalidInput, match="API key required") as caught:
        create_provider(make_config(provider, key=" "))
    assert "_API_KEY" in caught.value.hint


def test_a_custom_server_needs_no_key_and_receives_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-from-the-environment")
    made = create_provider(make_config(key="", base_url="http://127.0.0.1:9/v1"))
    assert vars(made)["_client"].endpoint.key == "none"


def test_an_unknown_provider_is_refused_by_naming_the_known_ones() -> None:
    with pytest.raises(InvalidInput, match="Unknown LLM provider 'mystery'") as caught:
        create_provider(make_config("mystery"))
    assert all(name in caught.value.message for name in ("openai", "anthropic", "claude", "google", "gemini"))
    assert "base_url" in caught.value.hint


def test_without_the_client_library_the_extra_to_install_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(MissingExtra) as caught:
        create_provider(make_config())
    assert "uraniborg[llm]" in caught.value.hint


def test_errors_and_the_provider_itself_do_not_show_the_key() -> None:
    with pytest.raises(InvalidInput) as caught:
        create_provider(make_config("mystery", key="sk-very-secret"))
    assert "sk-very-secret" not in str(caught.value.body())
    assert "sk-very-secret" not in repr(create_provider(make_config(key="sk-very-secret")))
