"""The fields of changes in the feed. Each service declares its kinds of changes beside itself.

A change announces that a thing changed; the address of the thing has its present state. A change with too many facts is
announced without them, so that all facts may be missing.
"""

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict


class ChangeFields(TypedDict):
    """The fields of every change."""

    subject: Annotated[str, Field(description="The id of the thing that changed.")]
    at: str


class Reset(ChangeFields):
    """Changes before this event were lost: read everything again."""

    kind: Literal["reset"]
