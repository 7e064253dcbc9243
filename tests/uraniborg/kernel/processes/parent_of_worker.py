"""`python -m tests.uraniborg.kernel.processes.parent_of_worker REQUEST`: print the id of its worker once it reports."""

import asyncio
import sys

from uraniborg.kernel.processes.worker_dialogue import WorkerProcess, start_worker


async def main() -> None:
    worker: WorkerProcess[str, object, object] = await start_worker("tests.uraniborg.kernel.processes.waiting_worker")

    async def print_id(_progress: object) -> None:
        print(worker.process.pid, flush=True)

    await worker.request(sys.argv[1], on_progress=print_id)
    await asyncio.sleep(600)


if __name__ == "__main__":
    asyncio.run(main())
