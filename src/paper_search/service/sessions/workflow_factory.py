"""Build the workflows of the sessions of a process, which share one network client."""

import threading
from typing import TYPE_CHECKING, Any

from paper_search.config import AppConfig
from paper_search.sources.registry import build_transport
from paper_search.workflow.engine import SearchWorkflow

if TYPE_CHECKING:
    from paper_search.sources.transport.http_transport import Network


class WorkflowFactory:
    """Builds the workflows of sessions, which share one network client and so the rate limits of the sources."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._network: Network | None = None

    def build(self, config: AppConfig, **hooks: Any) -> SearchWorkflow:
        """Return a workflow; it records nothing, because the session stores its steps. Reads the disk for a replay.

        Raise UnknownDomain, UnknownSource, InvalidInput or InvalidRecording.
        """
        uses_network = not (config.replay_dir or config.offline)
        transport = build_transport(config, network=self._get_or_create_network()) if uses_network else None
        return SearchWorkflow.from_config(config.model_copy(update={"record_dir": None}), transport=transport, **hooks)

    async def aclose(self) -> None:
        """Close the network client."""
        if self._network is not None:
            await self._network.aclose()

    def forget_network(self) -> None:
        """Use a new network client from now on: the event loop of the present one is closed."""
        self._network = None

    def _get_or_create_network(self) -> "Network":
        from paper_search.sources.transport.http_transport import Network  # httpx is slow to import

        with self._lock:
            self._network = self._network or Network()
            return self._network
