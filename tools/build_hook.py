"""The build hook of the wheel and the source archive: both carry the built console, so installing needs no Node.js."""

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

sys.path.insert(0, str(Path(__file__).resolve().parent))
import build_console


class ConsoleBuildHook(BuildHookInterface[Any]):
    """Builds the console if its sources changed. An editable install uses console/dist of the checkout instead."""

    def dependencies(self) -> list[str]:
        """Return the package of Node.js if the build needs it."""
        return [] if build_console.is_current() or build_console.find_fit_node() else [build_console.NODE_PACKAGE]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the built files. Raise SystemExit if they cannot be built."""
        if version == "editable":
            return
        try:
            build_console.build_if_changed()
        except (build_console.NodeMissing, build_console.NpmUnreachable) as problem:
            raise SystemExit(
                f"The web console, which the package contains, cannot be built. {problem}\n"
                "Build it where npm works, with `make console`; a source archive contains it built."
            ) from None
        target = "uraniborg/console/web" if self.target_name == "wheel" else "console/dist"
        build_data["force_include"][str(build_console.BUILT)] = target
