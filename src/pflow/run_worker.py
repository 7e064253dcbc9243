"""`python -m pflow.run_worker`: one run in a process of its own, for a server that starts workflows.

The request is one JSON object on stdin: `name`, and perhaps `inputs` and `fresh`. The worker writes two lines to
stdout: the id of the run as soon as it begins, and the reply of `execute` when it has ended.
"""

import json
import sys
from typing import Any

from pflow.config import load_settings
from pflow.engine.progress_output import NullProgressOutput
from pflow.replies import build_refusal_reply, build_reply_and_write_large_outputs
from pflow.service import Service
from uraniborg.kernel.errors import UraniborgError
from uraniborg.kernel.logging import configure_logging


class _RunIdWriter(NullProgressOutput):
    def on_run_started(self, name: str, run_id: str, nodes: int) -> None:
        _write_line({"run_id": run_id, "workflow": name, "nodes": nodes})


def main() -> None:
    """Run the workflow of the request."""
    configure_logging()
    request: dict[str, Any] = json.loads(sys.stdin.readline())
    name = str(request["name"])
    service = Service(load_settings())
    try:
        found = service.find_workflow(name)
        result = service.run_document(
            found.stored.ir,
            request.get("inputs"),
            name=found.stored.name,
            source=found.stored.source,
            warnings=list(found.warnings),
            output=_RunIdWriter(),
            fresh=bool(request.get("fresh")),
        )
        _write_line(build_reply_and_write_large_outputs(result, service.home))
    except UraniborgError as error:
        _write_line(build_refusal_reply(error, name))


def _write_line(reply: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(reply, default=str) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
