"""Pieces of texts for messages. Secrets are masked before the text is cut: a part of one would not be known for one."""

from typing import Any, Final

from pflow.node import Context
from uraniborg.kernel.logging import redact

_LOOKED_AT: Final = 1 << 20  # whatever is shown is far shorter


def mask_secrets(value: Any, context: Context) -> Any:
    """The value without the secrets of the run, nor those that this process knows of otherwise."""
    return redact(context.mask(value))


def excerpt_start(text: str, most: int, context: Context) -> str:
    return mask_secrets(text[:_LOOKED_AT], context)[:most]


def excerpt_end(text: str, context: Context, *, count: int, length: int) -> str:
    """The last lines that say something."""
    lines = mask_secrets(text[-_LOOKED_AT:], context).split("\n")
    return "\n".join([line.rstrip() for line in lines if line.strip()][-count:])[-length:]
