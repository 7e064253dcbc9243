"""Whether a workflow can run with nobody there to give it what is missing. Pure."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from pflow.engine.inputs import prepared
from pflow.errors import InvalidInputs, TemplateUnresolved
from pflow.ir.model import Workflow
from pflow.ir.uses import variables_of
from pflow.redaction import is_sensitive
from uraniborg.kernel.logging import redact

_FILE: Final = "Write it to a file that only you can read, and give @FILE as the value: it is read at each run."
_ENVIRONMENT: Final = (
    " Or leave it out, and set a variable of this name in the environment of scheduled runs: for systemd in "
    "~/.config/environment.d/pflow.conf, for cron at the top of the crontab, for launchd with `launchctl setenv`."
)


def check_runnable(workflow: Workflow, given: Mapping[str, str], values: Mapping[str, Any]) -> list[str]:
    """Return the secrets that each run takes from its environment.

    `given` are the inputs as text, `values` what they stand for. Raises InvalidInputs for a secret among them and for
    values of the wrong type, and TemplateUnresolved for inputs that are missing.
    """
    secrets = [name for name, declared in workflow.inputs.items() if declared.secret]
    for name, text in given.items():
        is_secret = name in secrets or is_sensitive(name) or redact(text) != text
        if is_secret and not (text.startswith("@") and not text.startswith("@@")):
            raise InvalidInputs(
                f"The input '{name}' is a secret, which is not written into a schedule.",
                hint=_FILE + (_ENVIRONMENT if name in secrets else ""),
            )
    prepared(replace(workflow, inputs={key: one for key, one in workflow.inputs.items() if key not in secrets}), values)
    needed = [one["name"] for one in variables_of(workflow) if one["required"] and not one["declared"]]
    missing = [name for name in needed if values.get(name) is None]
    if missing:
        raise TemplateUnresolved(missing, hint=f"Give {', '.join(f'{name}=VALUE' for name in missing)}.")
    return [name for name in secrets if workflow.inputs[name].required]
