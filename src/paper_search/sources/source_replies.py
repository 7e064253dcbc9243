"""Read replies of called sources: a list of papers, or an object that also states totals."""

from typing import Annotated, Any, cast

from pydantic import BaseModel, Field, ValidationError, model_validator

from paper_search.errors import NonRetryableError
from paper_search.models import StopReason
from uraniborg.kernel.errors import make_invalid_input


class SourceReply(BaseModel):
    """A reply to one query. A bare list of papers is a reply without a total."""

    papers: list[Any]
    total: Annotated[int, Field(ge=0, strict=True)] | None = None
    """The number of all matches."""
    stopped: StopReason | None = None
    """Why the source sends no more, such as "source_limit" or "too_broad"."""

    @model_validator(mode="after")
    def _check_total(self) -> "SourceReply":
        if self.total is not None and self.total < len(self.papers):
            raise ValueError(f"total is {self.total}, but there are {len(self.papers)} papers.")
        return self

    def has_more(self, wanted: int) -> bool:
        """Return True if a request for more than the `wanted` papers may return more."""
        cut = len(self.papers) >= wanted and (self.total is None or self.total > len(self.papers))
        return cut and self.stopped is None


def read_source_reply(name: str, answer: object) -> SourceReply:
    """Return the reply of a source. Raise NonRetryableError, with the invalid fields, for any other answer."""
    if not isinstance(answer, list | dict):
        raise NonRetryableError(
            f"{name} must return a list of papers or an object with papers, got {type(answer).__name__}.", source=name
        )
    try:
        return SourceReply.model_validate({"papers": answer} if isinstance(answer, list) else cast("object", answer))
    except ValidationError as error:
        invalid = make_invalid_input(error, label=f"reply of {name}")
        hint = "A reply has papers (a list), and may have total (0 or more, or None) and stopped (or None)."
        raise NonRetryableError(f"{invalid.message.rstrip('.')}.", hint=hint, source=name) from error
