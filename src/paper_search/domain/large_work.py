"""Do work on many papers in threads, because it would block the event loop."""

import asyncio
from collections.abc import Callable
from typing import Final, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

_INLINE_PAPERS: Final = 50


async def call_in_thread_if_large(papers: int, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call the function, in a thread if it works on many papers."""
    if papers <= _INLINE_PAPERS:
        return function(*args, **kwargs)
    return await asyncio.to_thread(function, *args, **kwargs)
