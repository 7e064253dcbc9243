"""Every worker of a parallel run starts with its share of the long tests."""

from pathlib import Path

from tests.worker_shares import order_for_workers

FILES = {Path(name): [f"{name}{number}" for number in range(5)] for name in "abcdefgh"}


def test_every_share_starts_with_whole_files_of_long_tests_and_no_test_is_lost() -> None:
    ordered = order_for_workers(FILES, {Path("f"), Path("g"), Path("h")}, workers=3)
    assert sorted(ordered) == sorted(test for tests in FILES.values() for test in tests)
    shares = ordered[:13], ordered[13:26], ordered[26:]
    assert [share[:5] for share in shares] == [FILES[Path("f")], FILES[Path("g")], FILES[Path("h")]]


def test_more_long_tests_than_a_share_holds_are_all_run() -> None:
    ordered = order_for_workers(FILES, FILES.keys(), workers=3)
    assert sorted(ordered) == sorted(test for tests in FILES.values() for test in tests)


def test_more_workers_than_tests_are_possible() -> None:
    assert order_for_workers({Path("a"): ["a1"]}, {Path("a")}, workers=4) == ["a1"]
