"""Child processes inherit what they need to run, and no key or token."""

import re
from pathlib import Path

import pytest

from uraniborg.kernel.processes.child_processes import (
    INHERITED,
    build_child_environment,
    find_secrets,
    is_sensitive_variable,
)


def test_a_child_inherits_the_listed_variables_and_no_others() -> None:
    environ = {
        "PATH": "/bin",
        "HOME": "/home/tycho",
        "LC_ALL": "C",
        "XDG_CACHE_HOME": "/cache",
        "https_proxy": "http://proxy.example",
        "SSL_CERT_FILE": "/certs.pem",
        "OPENAI_API_KEY": "sk-1",
        "DATABASE_URL": "postgresql://a:b@c/d",
        "LD_PRELOAD": "/evil.so",
        "PYTHONPATH": "/elsewhere",
        "EDITOR": "vi",
    }
    kept = ("PATH", "HOME", "LC_ALL", "XDG_CACHE_HOME", "https_proxy", "SSL_CERT_FILE")
    assert build_child_environment(environ=environ) == {name: environ[name] for name in kept}
    assert build_child_environment(["EDITOR"], environ) == {name: environ[name] for name in (*kept, "EDITOR")}


def test_a_sensitive_name_is_inherited_only_when_it_is_named_exactly() -> None:
    environ = {"GIT_TOKEN": "t", "GIT_DIR": "d", "XDG_SECRET": "s"}
    assert build_child_environment(["GIT_*"], environ) == {"GIT_DIR": "d"}
    assert build_child_environment(["GIT_*", "GIT_TOKEN"], environ) == {"GIT_TOKEN": "t", "GIT_DIR": "d"}
    assert not any(map(is_sensitive_variable, INHERITED))


@pytest.mark.parametrize(
    "name",
    [
        "OPENAI_API_KEY",
        "GITHUB_TOKEN",
        "AWS_SECRET_ACCESS_KEY",
        "PGPASSWORD",
        "GITHUB_PAT",
        "STRIPE_KEY",
        "DB_PASS",
        "SLACK_WEBHOOK_URL",
        "TEAMS_WEBHOOK",
        "SENTRY_DSN",
        "api_key",
    ],
)
def test_a_variable_named_for_a_secret_is_sensitive(name: str) -> None:
    assert is_sensitive_variable(name)


@pytest.mark.parametrize(
    "name", ["PATH", "PWD", "OLDPWD", "SSH_AUTH_SOCK", "XAUTHORITY", "KEYBOARD", "MAX_TOKENS", "AUTHOR", "TOKEN_FILE"]
)
def test_a_variable_about_a_secret_is_not_one(name: str) -> None:
    assert not is_sensitive_variable(name)


def test_passwords_in_addresses_are_secrets_too() -> None:
    environ = {
        "HF_TOKEN": "hf-1",
        "DATABASE_URL": "postgresql://tycho:hven-1576@db.example/stars",
        "HTTPS_PROXY": "http://u:p%40ss@proxy.example:8080",
        "REMOTE": "https://example.org/a:b@c",
    }
    assert list(find_secrets(environ)) == ["hf-1", "hven-1576", "p%40ss"]


def test_the_page_about_workflows_lists_every_inherited_variable() -> None:
    page = Path(__file__).parents[4] / "docs" / "reference" / "workflows.md"
    documented = set(re.findall(r"`([^`]+)`", page.read_text().partition("## Environment of child processes")[2]))
    assert {name for name in INHERITED if not name.islower()} <= documented
