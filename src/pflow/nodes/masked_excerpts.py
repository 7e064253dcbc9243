"""Quote pieces of texts in messages. Secrets are masked before the cut: a part of one is not recognised."""

from typing import Any, Final

from pflow.node import Context
from uraniborg.kernel.redaction import redact

_LOOKED_AT: Final = 1 << 20  # far more than any excerpt shows


def mask_secrets(value: Any, context: Context) -> Any:
    """Return the value without the secrets of the run and other known secrets."""
    return redact(context.mask(value))


def cut_masked_start(text: str, max_characters: int, context: Context) -> str:
    return mask_secrets(text[:_LOOKED_AT], context)[:max_characters]


def cut_masked_end(text: str, context: Context, *, line_count: int, max_characters: int) -> str:
    """Return the last lines that are not empty, with secrets masked."""
    lines = mask_secrets(text[-_LOOKED_AT:], context).split("\n")
    return "\n".join([line.rstrip() for line in lines if line.strip()][-line_count:])[-max_characters:]
