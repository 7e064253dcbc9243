"""A bundle that was forged does not pass: what was changed is named, whatever digests and sizes were written anew."""

import copy
import json
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.installed_programs import find_program
from tests.shared_folders import PATIENCE_S, make_once
from tests.uraniborg.bundle.forgeries import FORGERIES, Forgery, reseal
from tests.uraniborg.bundle.forging import list_paths
from tests.uraniborg.bundle.genuine_bundles import make_bundles
from tests.uraniborg.demo_runs import make_demo, read_demo
from universe.service.jobs.measurement import Measurement, measure
from universe.service.jobs.options_and_replies import JobOptions
from uraniborg.bundle import measurement_checks
from uraniborg.bundle.pieces import BundleFile
from uraniborg.bundle.signatures import create_key, sign_files
from uraniborg.cli import main

pytestmark = pytest.mark.timeout(2 * PATIENCE_S)
MEASURED: dict[bytes, Measurement] = {}
SIGNATURE = "signature.json"
OTHER_KEY = f"ed25519:{'A' * 43}"
AUTHORS = [
    forgery
    for forgery in FORGERIES
    if forgery.lie
    in (
        "a measurement by another person",
        "all changes of the universe by another person, in every file",
        "a decision attributed to another person",
    )
]
KINDS = ("papers", "runs", "universe", "measurements", "story")


@dataclass(frozen=True)
class Verdict:
    """What `uraniborg verify` answered."""

    code: int
    checks: list[dict[str, Any]]
    refusal: str

    def list_unmatched(self, *names: str) -> list[str]:
        """Return the checks that did not match and name one of these files or values."""
        found = [f"{one['result']} {one['item']}: {one['detail']}" for one in self.checks if one["result"] != "matched"]
        found += [f"differs {self.refusal}"] if self.refusal else []
        return [one for one in found if not names or any(name in one for name in names)]


@pytest.fixture(scope="session")
def genuine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a genuine bundle of each kind."""
    demo = read_demo(make_once(tmp_path_factory, "demo", make_demo))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sys, "executable", find_program("python"))  # lets the jobs fork their workers
        return make_once(tmp_path_factory, "genuine-bundles", lambda folder: make_bundles(demo, folder))


@pytest.fixture(autouse=True)
def measured_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Repeat the same measurement of the same state once for all tests."""

    def measure_once(state: Any, options: JobOptions, **more: Any) -> Measurement:
        named = {key: value for key, value in more.items() if key != "progress"}
        key = orjson.dumps([state, options.model_dump(), named])
        if key not in MEASURED:
            MEASURED[key] = measure(state, options, **more)
        return copy.deepcopy(MEASURED[key])

    monkeypatch.setattr(measurement_checks, "measure", measure_once, raising=False)


def verify(path: Path, capsys: pytest.CaptureFixture[str], patched: pytest.MonkeyPatch, *options: str) -> Verdict:
    patched.setattr(sys, "argv", ["uraniborg", "verify", str(path), "--json", *options])
    with pytest.raises(SystemExit) as exited:
        main()
    printed = capsys.readouterr()
    code = exited.value.code or 0
    assert isinstance(code, int)
    reply: dict[str, Any] = json.loads(printed.out) if printed.out.strip() else {}
    return Verdict(code, reply.get("checks", []), "" if "checks" in reply else printed.out + printed.err)


def read_files(bundle: Path) -> dict[str, bytes]:
    return {path: (bundle / path).read_bytes() for path in list_paths(bundle)}


@pytest.mark.parametrize("kind", KINDS)
def test_a_genuine_bundle_has_no_difference_after_its_digests_are_written_anew(
    genuine: Path, tmp_path: Path, kind: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle = tmp_path / "bundle"
    shutil.copytree(genuine / kind, bundle)
    reseal(bundle)
    assert read_files(bundle) == read_files(genuine / kind)
    verdict = verify(bundle, capsys, monkeypatch)
    assert [one for one in verdict.list_unmatched() if one.startswith("differs")] == []


@pytest.mark.parametrize("forgery", FORGERIES, ids=lambda forgery: forgery.lie)
def test_a_forged_bundle_does_not_match(
    genuine: Path, tmp_path: Path, forgery: Forgery, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle = tmp_path / "bundle"
    shutil.copytree(genuine / forgery.kind, bundle)
    target = forgery.forge(bundle)
    if target is None:
        reseal(bundle)
    assert target is not None or read_files(bundle) != read_files(genuine / forgery.kind)
    verdict = verify(target or bundle, capsys, monkeypatch)
    assert verdict.code != 0
    found = verdict.list_unmatched(*forgery.names)
    assert found, verdict.list_unmatched()
    if forgery.expected == "differs":
        assert [one for one in found if one.startswith("differs")], found


def sign(bundle: Path) -> str:
    """Sign the files of a bundle, and return the public key."""
    key = create_key()
    files = [BundleFile(path, "", content) for path, content in read_files(bundle).items()]
    (bundle / SIGNATURE).write_bytes(sign_files(files)[-1].content)
    return key


@pytest.mark.parametrize("kind", ["papers", "universe", "measurements"])
def test_an_honest_bundle_of_a_known_signer_matches_and_its_statements_are_named_as_those_of_the_signer(
    genuine: Path, tmp_path: Path, kind: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("URANIBORG_HOME", str(tmp_path / "home"))
    bundle = shutil.copytree(genuine / kind, tmp_path / "bundle")
    unsigned = verify(bundle, capsys, monkeypatch)
    key = sign(bundle)
    signed = verify(bundle, capsys, monkeypatch, "--signer", key)
    assert (unsigned.code, signed.code) == (6, 0)
    assert {one["result"] for one in signed.checks} == {"matched", "stated by the signer"}
    stated = [one["detail"] for one in signed.checks if one["result"] == "stated by the signer"]
    found = [one["detail"] for one in unsigned.checks if one["result"] == "not checked" and one["item"] != SIGNATURE]
    assert stated == found != []
    assert verify(bundle, capsys, monkeypatch).code == 6  # without --signer, anybody could have signed it


def test_a_bundle_with_nodes_that_were_not_repeated_does_not_match_with_any_signature(
    genuine: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("URANIBORG_HOME", str(tmp_path / "home"))
    bundle = shutil.copytree(genuine / "runs", tmp_path / "bundle")
    verdict = verify(bundle, capsys, monkeypatch, "--signer", sign(bundle))
    assert verdict.code == 6
    assert {one.partition(" runs/")[0] for one in verdict.list_unmatched() if "stated" not in one} == {"not repeated"}


@pytest.mark.parametrize("forgery", AUTHORS, ids=lambda forgery: forgery.lie)
def test_a_forged_author_ends_with_0_only_for_the_key_that_signed_the_forgery(
    genuine: Path, tmp_path: Path, forgery: Forgery, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("URANIBORG_HOME", str(tmp_path / "home"))
    bundle = shutil.copytree(genuine / forgery.kind, tmp_path / "bundle")
    forgery.forge(bundle)
    reseal(bundle)
    assert verify(bundle, capsys, monkeypatch).code == 6
    assert verify(bundle, capsys, monkeypatch, "--signer", OTHER_KEY).code == 1
    key = sign(bundle)
    assert verify(bundle, capsys, monkeypatch).code == 6
    assert verify(bundle, capsys, monkeypatch, "--signer", OTHER_KEY).code == 1
    assert verify(bundle, capsys, monkeypatch, "--signer", key).code == 0


def test_every_lie_has_a_name_of_its_own() -> None:
    lies = [forgery.lie for forgery in FORGERIES]
    assert len(set(lies)) == len(lies) >= 40
