"""The share of agents' mistakes that each MCP server corrects in one step.

Corrected means: the server does what was meant, or its reply contains the fix, and the fixed call then succeeds.
The cases are in bench/agent_mistakes; those held out were written before anyone saw a reply.

python bench/bench_agent_mistakes.py              all servers
python bench/bench_agent_mistakes.py pflow        one of them
"""

import asyncio
import sys
from typing import Final

from mistake_replay import SERVERS, Verdict, replay_cases
from ratios import record_ratio

TARGET: Final = 0.95
_SHOWN: Final = 1_500


def main() -> int:
    verdicts: dict[str, list[Verdict]] = {}
    for server in sys.argv[1:] or SERVERS:
        verdicts[server] = asyncio.run(replay_cases(server))
        print_missed(verdicts[server])
    print(f"mistakes corrected in one step (target: at least {TARGET:.0%} on every server)")
    for server, of_server in verdicts.items():
        record_ratio(f"corrected, {server}", print_share(server, of_server))
    everything = [verdict for of_server in verdicts.values() for verdict in of_server]
    record_ratio("corrected, all servers", print_share("all servers", everything))
    return 0


def print_missed(verdicts: list[Verdict]) -> None:
    for verdict in verdicts:
        if not verdict.corrected:
            held_out = ", held out" if verdict.case.held_out else ""
            print(f"not corrected: {verdict.case.server}: {verdict.case.mistake}{held_out}")
            print(f"  {verdict.problem[:_SHOWN]}")


def print_share(label: str, verdicts: list[Verdict]) -> float:
    """Print the corrected share of all cases and of those held out; return the first."""
    held_out = [verdict for verdict in verdicts if verdict.case.held_out]
    corrected, held = count_corrected(verdicts), count_corrected(held_out)
    share = corrected / len(verdicts)
    print(
        f"  {label:<12} {corrected:3} of {len(verdicts):3}  {share:6.1%}"
        f"   held out: {held:3} of {len(held_out):3}  {held / max(1, len(held_out)):6.1%}"
    )
    return share


def count_corrected(verdicts: list[Verdict]) -> int:
    return sum(verdict.corrected for verdict in verdicts)


if __name__ == "__main__":
    sys.exit(main())
