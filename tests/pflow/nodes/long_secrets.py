"""Secrets that are longer than an excerpt, and a context that masks them."""

from dataclasses import replace

from pflow.domain.node import NodeContext
from uraniborg.kernel.logging import Redactor

PIECE = "0a1b2c3d4e5f"
TOKEN = "eyJ" + PIECE * 80
KEY_FILE = "\n".join(["-----BEGIN KEY-----", *[f"{PIECE}{number}" for number in range(40)], "-----END KEY-----"])
"""A secret of many lines, none of which is one by itself."""


def add_secrets(context: NodeContext) -> NodeContext:
    """Return the context with these secrets of the run, which the process does not know."""
    mask = Redactor()
    for secret in (TOKEN, KEY_FILE):
        mask.register(secret)
    return replace(context, mask=mask)
