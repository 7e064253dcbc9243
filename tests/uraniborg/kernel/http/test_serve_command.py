"""A server that others can reach needs a token, and its address is printed on stderr."""

import pytest

from uraniborg.kernel.http.serve_command import InsecureBind, check_bind, print_status

TOKEN = "s3cret-of-the-tests"


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1"])
def test_a_loopback_address_needs_no_token(host: str) -> None:
    check_bind(host, None, insecure=False)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "", "192.168.1.5", "example.org", "localhost.evil.example", "[::]"])
def test_a_server_that_others_can_reach_needs_a_token_or_insecure(host: str) -> None:
    with pytest.raises(InsecureBind) as caught:
        check_bind(host, None, insecure=False)
    assert "--token" in caught.value.hint
    assert "--insecure" in caught.value.hint
    check_bind(host, TOKEN, insecure=False)
    check_bind(host, None, insecure=True)


def test_an_empty_token_does_not_open_a_server_to_others() -> None:
    with pytest.raises(InsecureBind):
        check_bind("0.0.0.0", "", insecure=False)


def test_a_status_is_printed_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    print_status("Listening.")
    assert capsys.readouterr() == ("", "Listening.\n")
