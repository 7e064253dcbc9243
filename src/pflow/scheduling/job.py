"""Describe what a scheduler runs: the command, its folder and environment. Pure: nothing is installed here."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from pflow.config import SCHEDULE_VARIABLE
from pflow.engine.inputs import prepare_inputs
from pflow.errors import InvalidInputs, TemplateUnresolved
from pflow.ir.model import Workflow
from pflow.ir.template_uses import list_variables
from pflow.scheduling.timing import Timing
from uraniborg.kernel.boundary import is_encodable
from uraniborg.kernel.logging import redact
from uraniborg.kernel.redaction import is_sensitive

if TYPE_CHECKING:
    from uraniborg.kernel.json_values import Json

CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_UNSAFE: Final = re.compile(r"[\x00-\x1f\x7f\"$\\]|\s\Z")
_FILE: Final = "Write it to a file that only you can read, and give @FILE as the value: it is read at each run."
_ENVIRONMENT: Final = (
    " Or leave it out, and set a variable of this name in the environment of scheduled runs: for systemd in "
    "~/.config/environment.d/pflow.conf, for cron at the top of the crontab, for launchd with `launchctl setenv`."
)


@dataclass(frozen=True, slots=True)
class Job:
    """`program` is how pflow is started, `inputs` are KEY=VALUE, `log` is for schedulers without a journal.

    `environment` has the variables that are passed on from the environment of the person.
    """

    workflow: str
    timing: Timing
    program: tuple[str, ...]
    inputs: tuple[str, ...]
    folder: str
    environment: Mapping[str, str]
    log: str

    def __post_init__(self) -> None:
        """Raise InvalidInputs for text that no scheduler can carry."""
        for path in (self.program[0], self.folder, self.log, *self.environment.values()):
            # systemd does not accept a program with a quote in its path.
            if _UNSAFE.search(path) or not is_encodable(path) or (path == self.program[0] and "'" in path):
                raise InvalidInputs(
                    f"{ascii(path)[:200]} cannot be written into a schedule.",
                    hint='Use paths without control characters, ", $ and \\.',
                )
        for given in self.inputs:
            if "\0" in given:
                name = given.partition("=")[0]
                raise InvalidInputs(
                    f"The input '{name}' is not text.", hint=f"Write it to a file, and give {name}=@FILE."
                )

    @property
    def command(self) -> list[str]:
        return [*self.program, "run", "--quiet", self.workflow, *self.inputs]

    @property
    def variables(self) -> dict[str, str]:
        """The environment of the run, with the variable that marks a scheduled run."""
        return {**self.environment, SCHEDULE_VARIABLE: str(self.timing)}


def check_inputs_and_list_secrets(
    workflow: Workflow, given_texts: Mapping[str, str], values: "Mapping[str, Json]"
) -> list[str]:
    """Check the inputs of a scheduled run, and return the secrets that each run takes from its environment.

    `given_texts` are the inputs as text, `values` their values. Raise InvalidInputs for a secret among them and for
    values of the wrong type, and TemplateUnresolved for missing inputs.
    """
    secrets = [name for name, declared in workflow.inputs.items() if declared.secret]
    for name, text in given_texts.items():
        is_secret = name in secrets or is_sensitive(name) or redact(text) != text
        if is_secret and not (text.startswith("@") and not text.startswith("@@")):
            raise InvalidInputs(
                f"The input '{name}' is a secret, which is not written into a schedule.",
                hint=_FILE + (_ENVIRONMENT if name in secrets else ""),
            )
    prepare_inputs(
        replace(workflow, inputs={key: one for key, one in workflow.inputs.items() if key not in secrets}), values
    )
    needed = [one["name"] for one in list_variables(workflow) if one["required"] and not one["declared"]]
    missing = [name for name in needed if values.get(name) is None]
    if missing:
        raise TemplateUnresolved(missing, hint=f"Give {', '.join(f'{name}=VALUE' for name in missing)}.")
    return [name for name in secrets if workflow.inputs[name].required]
