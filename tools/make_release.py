"""Build the wheel and the source archive of a release into dist/, check them, and write SHA256SUMS.

python tools/make_release.py [FOLDER]

Two builds of one commit are the same bytes: files get the time of the commit, or SOURCE_DATE_EPOCH if it is set.
"""

import hashlib
import json
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[1]
_HEADING: Final = re.compile(r"^## (\S+) \((\d{4}-\d\d-\d\d|unreleased)\)$", re.MULTILINE)
_WEB: Final = "uraniborg/console/web/"
_FILES_OF_SDIST: Final = (
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "LICENSE",
    "Makefile",
    "README.md",
    "SECURITY.md",
    "console/dist/index.html",
)
_FOLDERS_OF_SDIST: Final = ("bench", "console", "docs", "packaging", "requirements", "src", "tests", "tools")


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "dist"
    version = read_version()
    _exit_with_problems(find_version_problems(version))
    wheel, sdist = build_archives(folder, version)
    _exit_with_problems([*find_wheel_problems(wheel, version), *find_sdist_problems(sdist)])
    sums = write_checksums(folder, [wheel, sdist])
    print(f"uraniborg {version}, checked:")
    for path in (wheel, sdist, sums):
        print(f"  {path.name:<36} {path.stat().st_size:>11,} bytes")
    print(f"Install it: pipx install './{os.path.relpath(wheel)}[all]'")


def _exit_with_problems(problems: list[str]) -> None:
    if problems:
        sys.exit("\n".join(["The release is not complete:", *(f"  - {problem}" for problem in problems)]))


def read_version() -> str:
    """Return the version in pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]


def find_version_problems(version: str, root: Path = ROOT) -> list[str]:
    """Return the files whose version or date differs from that of the release."""
    problems: list[str] = []
    heading = _HEADING.search((root / "CHANGELOG.md").read_text(encoding="utf-8"))
    if heading is None or heading[1] != version:
        found = heading[1] if heading else "nothing"
        problems.append(f"CHANGELOG.md begins with {found}, and the version is {version}.")
    elif heading[2] == "unreleased":
        problems.append(f"CHANGELOG.md has no date for {version}.")
    for path in sorted((root / "packaging").glob("*/server.json")):
        versions = set(re.findall(r"\d+\.\d+\.\d+", _read_version_fields(path)))
        if versions != {version}:
            name = path.relative_to(root).as_posix()
            problems.append(f"{name} has {', '.join(sorted(versions))}, and the version is {version}.")
    return problems


def _read_version_fields(path: Path) -> str:
    """Return the versions of a server.json and of its packages, also those in arguments, as one text."""
    server: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    values = [server["version"]]
    for package in server["packages"]:
        values += [package["version"], *(argument["value"] for argument in package["runtimeArguments"])]
    return " ".join(values)


def build_archives(folder: Path, version: str) -> tuple[Path, Path]:
    """Build both archives and return their paths."""
    env = {"SOURCE_DATE_EPOCH": _read_commit_time(), **os.environ}
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-t", "sdist", "-d", str(folder.absolute())]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"hatchling did not build the archives:\n{done.stderr}")
    return folder / f"uraniborg-{version}-py3-none-any.whl", folder / f"uraniborg-{version}.tar.gz"


def find_wheel_problems(wheel: Path, version: str) -> list[str]:
    """Compare the wheel with the source files of the checkout, and check its metadata."""
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        about = f"uraniborg-{version}.dist-info/"
        metadata = archive.read(f"{about}METADATA").decode()
    sources = {path.relative_to(ROOT / "src").as_posix() for path in (ROOT / "src").rglob("*") if path.is_file()}
    sources = {name for name in sources if "__pycache__" not in name}
    built = ROOT / "console" / "dist"
    pages = {path.relative_to(built).as_posix() for path in built.rglob("*") if path.is_file()}
    sources |= {f"{_WEB}{name}" for name in pages} | {f"{_WEB}index.html", f"{_WEB}third-party-notices.md"}
    packed = {name for name in names if not name.startswith(about)}
    problems = [f"The wheel does not have {name}." for name in sorted(sources - packed)]
    problems += [
        f"The wheel has {name}, which is neither in src nor in the console." for name in sorted(packed - sources)
    ]
    if f"{about}licenses/LICENSE" not in names:
        problems.append("The wheel does not have the licence.")
    for line in (f"Version: {version}", "License-Expression: Apache-2.0", "Requires-Python: >=3.11"):
        if line not in metadata.splitlines():
            problems.append(f"The metadata of the wheel does not have '{line}'.")
    return problems


def find_sdist_problems(sdist: Path) -> list[str]:
    """Check that the source archive has the files that building and testing need, and no installed packages."""
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    problems = [f"{sdist.name} does not have {name}." for name in _FILES_OF_SDIST if name not in names]
    folders = {name.partition("/")[0] for name in names}
    problems += [f"{sdist.name} does not have the folder {name}." for name in _FOLDERS_OF_SDIST if name not in folders]
    problems += [f"{sdist.name} has {name}." for name in sorted(names) if "node_modules" in name or ".venv" in name]
    return problems


def write_checksums(folder: Path, paths: list[Path]) -> Path:
    """Write the SHA-256 digests as `sha256sum --check` reads them."""
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in sorted(paths)]
    sums = folder / "SHA256SUMS"
    sums.write_text("".join(lines), encoding="utf-8")
    return sums


def _read_commit_time() -> str:
    """Return the time of the last commit in seconds; outside a git checkout that of pyproject.toml."""
    command = ["git", "log", "-1", "--format=%ct"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip() or str(int((ROOT / "pyproject.toml").stat().st_mtime))


if __name__ == "__main__":
    main()
