"""Types and limits shared by the fields of all entities and commands."""

from typing import Annotated, Final

from pydantic import ConfigDict, Field

ID_CHARS: Final = 256
OPEN: Final = ConfigDict(extra="allow", strict=True, allow_inf_nan=False)
CLOSED: Final = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)
TRIMMED: Final = ConfigDict(extra="ignore", strict=True, allow_inf_nan=False)

Id = Annotated[str, Field(min_length=1, max_length=ID_CHARS)]
Ref = Annotated[str, Field(max_length=ID_CHARS)]
Seed = str | int | float
Mass = Annotated[float, Field(ge=0)]
Unit = Annotated[float, Field(description="From 0 to 1.")]
Degrees = Annotated[float, Field(description="In degrees.")]
