"""A server with a tool that asks the person, for the tests of dialogs."""

import asyncio
from typing import Any

from uraniborg.kernel.mcp import Form, Server, can_ask_person, find_dialog, make_server, open_dialog, tool
from uraniborg.kernel.store.inbox import InboxDecision, InboxPort

FIELDS: dict[str, dict[str, Any]] = {
    "decision": {"type": "string", "enum": ["yes", "no"]},
    "note": {"type": "string", "default": "none"},
    "is_sure": {"type": "boolean"},
}


def asking_server(inbox: InboxPort) -> Server:
    """Return a server with the tool `ask`, which puts a question into the inbox and waits for its decision."""
    server = make_server("asking", version="1", instructions="A server for tests.")

    @tool(server, title="Ask", read_only=False)
    async def ask(question: str, seconds: float = 20) -> dict[str, Any]:
        """Ask the person."""
        entry = await asyncio.to_thread(inbox.put, question, "test", "question", question, {"question": question})
        dialog = find_dialog(question)
        if dialog is None and entry.state == "pending" and can_ask_person():

            async def decide(answer: Any) -> None:
                decision = InboxDecision(action=answer["decision"], note=answer.get("note"))
                await asyncio.to_thread(inbox.decide, question, decision, "client")

            dialog = open_dialog(Form(question, f"{question}\u202e", FIELDS), inbox, decide)
        if dialog is None:
            return {"state": entry.state}
        await dialog.wait(seconds)
        return {"state": "decided"} if dialog.is_decided else dialog.describe("Ask again.")

    @tool(server, title="Echo", read_only=True)
    async def echo(text: str) -> str:
        """Return the text."""
        return text

    return server
