"""Excerpts contain no part of a secret."""

from pathlib import Path

import pytest

from pflow.domain.node import NodeContext
from pflow.domain.redaction import cut_masked_end, cut_masked_start, mask_secrets
from pflow.nodes.files import quote_path
from tests.pflow.nodes.long_secrets import KEY_FILE, TOKEN, add_secrets
from uraniborg.kernel.logging import register_secret


@pytest.fixture
def context(tmp_path: Path) -> NodeContext:
    return add_secrets(NodeContext("run", "workflow", "node", tmp_path, tmp_path, tmp_path))


@pytest.mark.parametrize("secret", [TOKEN, KEY_FILE])
def test_a_secret_at_the_position_of_the_cut_is_masked_completely(context: NodeContext, secret: str) -> None:
    text = f"bad: {secret} it says"
    assert cut_masked_start(text, 7, context) == "bad: **"
    assert cut_masked_end(text, context, line_count=1, max_characters=9) == "* it says"


def test_secrets_of_the_process_are_masked_too(tmp_path: Path) -> None:
    register_secret("sk-of-the-process-17")
    unknowing = NodeContext("run", "workflow", "node", tmp_path, tmp_path, tmp_path)
    assert mask_secrets({"said": "no sk-of-the-process-17"}, unknowing) == {"said": "no ***"}


def test_the_last_lines_exclude_empty_ones(context: NodeContext) -> None:
    assert cut_masked_end("one\n\ntwo  \nthree\n\n", context, line_count=2, max_characters=600) == "two\nthree"
    assert len(cut_masked_end("x" * 4000, context, line_count=5, max_characters=600)) == 600


def test_only_the_end_of_a_very_long_text_is_processed(context: NodeContext) -> None:
    assert cut_masked_start("x" * (5 << 20), 4, context) == "xxxx"
    assert cut_masked_end("y" * (5 << 20), context, line_count=1, max_characters=3) == "yyy"


def test_a_path_that_is_cut_is_cut_after_its_secrets_are_masked(tmp_path: Path) -> None:
    secret = "sk-of-a-path-" + "9z8y7x" * 80
    register_secret(secret)
    assert quote_path(tmp_path / secret) == repr(f"{tmp_path / '***'}…")
