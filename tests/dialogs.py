"""Persons who answer the dialogs of a client."""

import asyncio
from typing import Any, Final

from mcp.types import ElicitRequestFormParams, ElicitResult

APPROVE: Final[dict[str, Any]] = {"action": "accept", "content": {"decision": "approve"}}
DECLINE: Final[dict[str, Any]] = {"action": "decline"}
CANCEL: Final[dict[str, Any]] = {"action": "cancel"}
NEVER: Final[dict[str, Any]] = {"action": "never"}
"""A dialog that is not answered before `answer_late` is called."""


def fill_in(**fields: Any) -> dict[str, Any]:
    """Return the answer of a person who fills in these fields."""
    return {"action": "accept", "content": fields}


class Person:
    """Answers each dialog with the next of these answers, and the dialogs after them never."""

    def __init__(self, *answers: dict[str, Any]) -> None:
        self._answers = list(answers)
        self._asked = asyncio.Condition()
        self._late: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self.questions: list[ElicitRequestFormParams] = []
        self.cancelled = 0
        """The number of dialogs that the server has closed."""

    async def __call__(self, context: Any, params: Any) -> ElicitResult:
        assert isinstance(params, ElicitRequestFormParams)
        self.questions.append(params)
        async with self._asked:
            self._asked.notify_all()
        answer = self._answers.pop(0) if self._answers else NEVER
        try:
            return ElicitResult.model_validate(await asyncio.shield(self._late) if answer is NEVER else answer)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise

    async def wait_for_question(self, number: int = 1) -> ElicitRequestFormParams:
        """Return the question with this number once it is asked."""
        async with asyncio.timeout(30), self._asked:
            await self._asked.wait_for(lambda: len(self.questions) >= number)
        return self.questions[number - 1]

    def answer_late(self, answer: dict[str, Any]) -> None:
        """Answer the dialogs that were not answered."""
        self._late.set_result(answer)
