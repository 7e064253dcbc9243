"""The credentials of agents: one for each client and server, the same each time, and revocable."""

import stat
from pathlib import Path

import pytest

from uraniborg.servers.credentials import AgentCredentials


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "console" / "agents.json"


def test_a_token_is_the_same_each_time_and_opens_one_server(path: Path) -> None:
    token = AgentCredentials(path).make_token("cursor", "universe")
    assert AgentCredentials(path).make_token("cursor", "universe") == token
    server = AgentCredentials(path)
    assert server.find_client(token, "universe") == "cursor"
    assert server.find_client(token, "paper-library") is None
    assert server.find_client(token.replace("cursor", "codex"), "universe") is None
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("token", ["", "cursor", "cursor.", ".", "Ä.x", "a" * 10_000, "cursor.x\0y"])
def test_other_texts_are_no_tokens(path: Path, token: str) -> None:
    assert AgentCredentials(path).find_client(token, "universe") is None


def test_a_revoked_client_gets_a_new_token_and_others_keep_theirs(path: Path) -> None:
    server, command = AgentCredentials(path), AgentCredentials(path)
    revoked, other = command.make_token("cursor", "universe"), command.make_token("codex", "universe")
    assert server.find_client(revoked, "universe") == "cursor"
    command.revoke("cursor")
    assert server.find_client(revoked, "universe") is None
    assert server.find_client(command.make_token("cursor", "universe"), "universe") == "cursor"
    assert server.find_client(other, "universe") == "codex"


def test_looking_at_a_token_creates_no_file_where_no_credential_was_made(path: Path) -> None:
    assert AgentCredentials(path).find_client("not a token", "universe") is None
    assert not path.exists()
