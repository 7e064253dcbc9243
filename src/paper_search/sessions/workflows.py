"""Building the workflows of sessions, which share one way to the network."""

import threading
from typing import TYPE_CHECKING, Any

from paper_search.config import AppConfig
from paper_search.sources.registry import build_transport
from paper_search.workflow.engine import SearchWorkflow

if TYPE_CHECKING:
    from paper_search.sources.transport import Network


class Workflows:
    """Builds workflows that keep the sources' pace together. A session is not recorded: its journal is its record."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._network: Network | None = None

    def __call__(self, config: AppConfig, **hooks: Any) -> SearchWorkflow:
        """Raises UnknownDomain, UnknownSource, InvalidInput or InvalidRecording. Reads the disk for a replay."""
        transport = None if config.replay_dir else build_transport(config, network=self._shared())
        return SearchWorkflow.from_config(config.model_copy(update={"record_dir": None}), transport=transport, **hooks)

    async def aclose(self) -> None:
        if self._network is not None:
            await self._network.aclose()

    def forget_network(self) -> None:
        """For when the event loop that it belonged to is no more."""
        self._network = None

    def _shared(self) -> "Network":
        from paper_search.sources.transport import Network  # httpx is slow to import

        with self._lock:
            self._network = self._network or Network()
            return self._network
