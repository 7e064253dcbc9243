"""Import every module of the five packages while `fcntl`, `pwd` and `resource` are missing, as on Windows.

Print one line for each module that fails. Only our packages miss the modules: the standard library of this platform
needs them itself.
"""

import builtins
import importlib
import pkgutil
from typing import Any, Final

from tests.uraniborg.test_imports import PACKAGES

HIDDEN: Final = ("fcntl", "pwd", "resource")


def hide_modules() -> None:
    """Make imports of the hidden modules fail in our packages."""
    import_module = builtins.__import__

    def import_unless_hidden(
        name: str, namespace: dict[str, Any] | None = None, *arguments: Any, **options: Any
    ) -> Any:
        importer: str = (namespace or {}).get("__name__", "")
        if name in HIDDEN and importer.partition(".")[0] in PACKAGES:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return import_module(name, namespace, *arguments, **options)

    builtins.__import__ = import_unless_hidden


def main() -> None:
    hide_modules()
    for package in PACKAGES:
        for module in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}."):
            try:
                importlib.import_module(module.name)
            except Exception as exc:
                print(f"{module.name}: {exc!r}")


if __name__ == "__main__":
    main()
