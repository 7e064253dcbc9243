import asyncio

from tests.uraniborg.kernel.mcp.raw_messages import call, request, wire_to
from tests.uraniborg.kernel.mcp.sample_server import sample_server
from uraniborg.kernel.mcp import make_server, report_progress, tool
from uraniborg.kernel.mcp.testing import connect_client, get_text

Report = tuple[float, float | None, str | None]


async def test_a_client_that_requests_progress_receives_it() -> None:
    reports: list[Report] = []

    async def record_progress(progress: float, total: float | None, message: str | None) -> None:
        reports.append((progress, total, message))

    async with connect_client(sample_server()) as client:
        result = await client.call_tool("work", {"steps": 3}, progress_callback=record_progress)
    assert get_text(result) == "done"
    assert reports == [(1, 3, "step 1"), (2, 3, "step 2"), (3, 3, "step 3")]


async def test_outside_a_call_nothing_happens() -> None:
    await report_progress(1, 2)


async def test_progress_after_the_end_of_the_call_is_not_sent() -> None:
    server = make_server("lingering", version="1", instructions="")
    answered = asyncio.Event()
    lingering: list[asyncio.Task[None]] = []

    async def linger() -> None:
        await answered.wait()
        await report_progress(2, 2, "too late")

    @tool(server, title="Start", read_only=True)
    async def start() -> str:
        """Start work and do not wait for it."""
        await report_progress(1, 2, "in time")
        lingering.append(asyncio.create_task(linger()))
        return "started"

    async with wire_to(server) as wire:
        in_time = await wire.ask(call("start", {}, _meta={"progressToken": "t"}))
        assert in_time["params"]["message"] == "in time"
        assert (await wire.receive())["result"]["content"][0]["text"] == "started"
        answered.set()
        await lingering[0]
        assert (await wire.ask(request("ping", id="next")))["id"] == "next"
