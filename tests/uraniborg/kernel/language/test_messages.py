import pytest

from uraniborg.kernel.language.messages import plural


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (0, "0 nodes"),
        (1, "1 node"),
        (2, "2 nodes"),
        (12_000, "12,000 nodes"),
        (1.0, "1 node"),
        (0.5, "0.5 nodes"),
        (1_234_567.0, "1,234,567 nodes"),
    ],
)
def test_a_number_is_written_with_its_noun(number: float, expected: str) -> None:
    assert plural(number, "node") == expected


def test_a_plural_of_its_own_is_used_from_two_on() -> None:
    assert [plural(number, "body", "bodies") for number in (0, 1, 2)] == ["0 bodies", "1 body", "2 bodies"]
