"""A command that a template carries out: `forked_command.py ADDRESS ARGUMENT...` ends as the forked child ends.

The child has the streams, the environment and the folder of this process, and gets the signals that are sent to it.
Little is imported here, because every start pays for it.
"""

import json
import os
import signal
import socket
import sys
from contextlib import suppress


def main() -> None:
    address, *arguments = sys.argv[1:]
    report, reported = os.pipe()
    asked = json.dumps({"arguments": arguments, "env": dict(os.environ), "cwd": os.getcwd()}).encode()
    with socket.socket(socket.AF_UNIX) as template:
        template.connect(address)
        socket.send_fds(template, [len(asked).to_bytes(4, "big")], [0, 1, 2, reported])
        template.sendall(asked)
    for stream in (0, 1, 2, reported):
        os.close(stream)
    with os.fdopen(report) as lines:
        child = int(lines.readline())

        def forward(number: int, _: object) -> None:
            with suppress(ProcessLookupError):
                os.kill(child, number)

        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
            signal.signal(number, forward)
        code = int(lines.readline())
    if code < 0:
        signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


if __name__ == "__main__":
    main()
