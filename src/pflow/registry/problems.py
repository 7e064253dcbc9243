"""What could not be read while the nodes were looked for. One bad file never hides the others."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """`where` is a file as seen from the pflow home, or what else declares nodes."""

    where: str
    problem: str
    hint: str = ""

    def __str__(self) -> str:
        return f"{self.where}: {self.problem} {self.hint}".rstrip()

    def plain(self) -> dict[str, str]:
        return {"where": self.where, "problem": self.problem, "hint": self.hint}
