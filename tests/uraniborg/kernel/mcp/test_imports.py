import subprocess
import sys

import pytest


def python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=50)
    return done.stdout.strip()


@pytest.mark.parametrize("absent", ["mcp", "starlette"])
def test_without_the_extra_the_error_names_the_install_command(absent: str) -> None:
    output = python(
        f"""
import sys
sys.modules["{absent}"] = None
from uraniborg.kernel.errors import MissingExtra
try:
    import uraniborg.kernel.mcp
except MissingExtra as error:
    print(error.body()["error"]["extra"], error.hint)
"""
    )
    assert output == "mcp Install them with: pip install 'uraniborg[mcp]'"


def test_another_missing_module_is_not_mistaken_for_the_extra() -> None:
    output = python(
        """
import sys
sys.modules["anyio"] = None
try:
    import uraniborg.kernel.mcp
except ModuleNotFoundError as error:
    print(error.name.split(".")[0])
"""
    )
    assert output == "anyio"


def test_serving_does_not_load_the_test_clients() -> None:
    assert python("import sys, uraniborg.kernel.mcp as it; print(f'{it.__name__}.testing' in sys.modules)") == "False"


def test_the_public_names_are_these() -> None:
    import uraniborg.kernel.mcp as public

    assert sorted(public.__all__) == [
        "Dialog",
        "EncodedReply",
        "ErrorReply",
        "Form",
        "LOOPBACK",
        "Listed",
        "Origin",
        "Server",
        "Subscriptions",
        "add_subscriptions",
        "can_ask_person",
        "explain_mark",
        "find_dialog",
        "get_actor",
        "get_client_name",
        "get_dialog_actor",
        "is_cancelled",
        "make_server",
        "make_stateful_app",
        "make_stateless_app",
        "open_dialog",
        "prompt",
        "report_progress",
        "resource",
        "tool",
    ]
