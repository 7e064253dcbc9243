"""The prompt of the workflow server."""

from pathlib import Path

from tests.pflow.mcp.agents import agent
from tests.pflow.mcp.sample_workflows import chain
from tests.pflow.store.homes import write_draft
from tests.prompt_client import complete_argument, read_prompt
from tests.requirements import requirement


@requirement("PF-S1")
async def test_a_workflow_is_described_and_run_after_the_person_agrees(home: Path) -> None:
    write_draft(home, "greeter", chain({"id": "say", "type": "echo", "params": {"message": "hello"}}))
    async with agent(home) as client:
        (prompt,) = (await client.list_prompts()).prompts
        assert [(argument.name, argument.required) for argument in prompt.arguments or []] == [("name", True)]
        text = await read_prompt(client, "run_workflow", name="greeter")
        assert await complete_argument(client, "run_workflow", "name", "gre") == ["greeter"]
        saved = {"draft_name": "greeter", "final_name": "hello-all", "description": "Say hello."}
        assert not (await client.call_tool("save_to_library", saved)).isError
        assert await complete_argument(client, "run_workflow", "name", "") == ["hello-all"]
    described, run = text.index('describe_workflow with name "greeter"'), text.index('execute with name "greeter"')
    assert described < text.index("Wait for my answer") < run
    assert "the decision is mine" in text
