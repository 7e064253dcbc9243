"""How the questions of workflows are told to people, and which answers they take."""

import json
from typing import Any, Final

from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.inbox import Decision, Entry

ACTIONS: Final = ("approve", "reject")


def check_answer(entry: Entry, given: Decision) -> None:
    """Raises InvalidInput for what is no answer."""
    if given.action not in ACTIONS:
        raise InvalidInput(
            f"A workflow asks for a yes or a no, and '{given.action[:40]}' is neither.",
            hint="Use approve or reject; a note can say why.",
            argument="action",
            allowed=list(ACTIONS),
            decision_id=entry.id,
        )


def format_payload(payload: dict[str, Any]) -> list[str]:
    """Who asks what, and all that was given along."""
    # What runs of a file go by is made of its stem, and of what tells it from others.
    stem, at, _ = str(payload.get("workflow")).partition("@")
    lines = [f"Workflow {stem}{'.json' if at else ''}, at {payload.get('node')}"]
    details = payload.get("details")
    if details is not None:
        text = details if isinstance(details, str) else json.dumps(details, indent=2, ensure_ascii=False)
        lines += ["", *text.splitlines()]
    return lines
