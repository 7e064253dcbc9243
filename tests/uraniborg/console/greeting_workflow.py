"""A workflow with an input, a secret, a question to a person and an output."""

from typing import Final

GREETING: Final = {
    "inputs": {
        "name": {"type": "string", "required": True, "description": "Who is greeted."},
        "key": {"type": "string", "required": False, "secret": True, "default": ""},
    },
    "nodes": [
        {"id": "say", "type": "echo", "purpose": "Greet.", "params": {"message": "Hello ${name}"}},
        {"id": "ask", "type": "approval", "params": {"question": "Send it to ${name}?"}},
        {"id": "end", "type": "echo", "params": {"message": "${ask.decision} ${say.echo}"}},
    ],
    "edges": [{"from": "say", "to": "ask"}, {"from": "ask", "to": "end"}],
    "outputs": {"said": {"source": "${end.echo}"}},
}
