"""Answer requests to run a workflow at fixed times with a hint, because no workflow can state them."""

import re
from typing import Final

SCHEDULE_HINT: Final = (
    'A schedule belongs to the system: the person runs `pflow schedule NAME --at "mon 07:00" --install`.'
)
SCHEDULE_PATTERN: Final = r"schedul|cron|\bevery (?:\w*day|hour|week|month|morning|night)\b"
"""A regular expression for requests to run a workflow at fixed times; letters are compared without case."""


def mentions_schedule(text: str) -> bool:
    """Return True if a text asks to run something at fixed times."""
    return re.search(SCHEDULE_PATTERN, text, re.IGNORECASE) is not None
