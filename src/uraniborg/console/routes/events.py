"""Route that streams events to the open pages."""

from typing import Annotated

from fastapi import Header
from starlette.responses import StreamingResponse

from uraniborg.console.replies import AnyChange
from uraniborg.console.routes.dependencies import make_router
from uraniborg.console.services import Services


class EventStreamResponse(StreamingResponse):
    """A stream of server-sent events."""

    media_type = "text/event-stream"


router = make_router("events")


@router.get(
    "/api/events",
    summary="Stream every change",
    response_class=EventStreamResponse,
    responses={200: {"model": AnyChange}},
)
async def stream_events(
    services: Services,
    last_event_id: Annotated[str | None, Header(max_length=50)] = None,
) -> EventStreamResponse:
    """Send each change of each process as a server-sent event, in order.

    The id of an event is its position. Send the last one as Last-Event-ID to resume without a gap. After an event
    `reset`, read everything again: changes before it were lost.
    """
    services.broadcast.check_room()
    return EventStreamResponse(services.broadcast.stream(last_event_id), headers={"X-Accel-Buffering": "no"})
