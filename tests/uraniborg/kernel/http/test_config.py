"""The host names of a server, and similar names that it refuses."""

import pytest

from uraniborg.kernel.http.config import LOOPBACK, HostRefused, is_host, is_loopback, is_origin

THIS_MACHINE = ["localhost", "LOCALHOST", "localhost:8421", "127.0.0.1", "127.0.0.1:1", "[::1]", "[::1]:65535"]
LOOK_ALIKES = [
    "",
    "localhost.evil.example",
    "localhost.",
    "evil-localhost",
    "notlocalhost:80",
    "localhost:",
    "localhost:80:80",
    "localhost:abc",
    "localhost:123456",
    "localhost@evil.example",
    "evil.example#localhost",
    "127.0.0.1.evil.example",
    "127.0.0.1.nip.io",
    "127.0.0.10",
    "127.0.0.1\n",
    " 127.0.0.1",
    "0.0.0.0",
    "127.1",
    "2130706433",
    "0x7f.0.0.1",
    "::1",
    "[::1].evil.example",
    "[::]",
    "[::ffff:127.0.0.1]",
    "localhost:８０",
    "ⓛocalhost",
    "loopback",
]


@pytest.mark.parametrize("authority", THIS_MACHINE)
def test_the_names_of_this_machine_are_known_with_any_port(authority: str) -> None:
    assert is_loopback(authority)
    assert is_host(authority, {LOOPBACK})
    assert is_origin(f"http://{authority}", {LOOPBACK})
    assert is_origin(f"https://{authority}", {LOOPBACK})


@pytest.mark.parametrize("authority", LOOK_ALIKES)
def test_a_name_that_only_looks_like_this_machine_is_refused(authority: str) -> None:
    assert not is_loopback(authority)
    assert not is_host(authority, {LOOPBACK})
    assert not is_origin(f"http://{authority}", {LOOPBACK})


@pytest.mark.parametrize(
    "origin",
    [
        "null",
        "",
        "localhost",
        "//localhost",
        "file://localhost",
        "ftp://localhost",
        "HTTP://localhost",
        "http:localhost",
        "http://localhost/",
        "http://localhost/path",
        "http://user@localhost",
        "http://evil.example://localhost",
    ],
)
def test_only_http_and_https_of_this_machine_are_origins_of_it(origin: str) -> None:
    assert not is_origin(origin, {LOOPBACK})


def test_a_given_name_holds_exactly_and_no_other_with_it() -> None:
    hosts = {"papers.example.org", "papers.example.org:8421"}
    assert is_host("papers.example.org", hosts)
    assert is_host("papers.example.org:8421", hosts)
    for other in ("papers.example.org:80", "a.papers.example.org", "papers.example.org.evil.example", "localhost", ""):
        assert not is_host(other, hosts), other


def test_a_given_origin_holds_exactly_and_no_other_with_it() -> None:
    origins = {"https://app.example.org"}
    assert is_origin("https://app.example.org", origins)
    for other in (
        "http://app.example.org",
        "https://app.example.org:443",
        "https://app.example.org.evil.example",
        "null",
    ):
        assert not is_origin(other, origins), other


def test_the_word_for_this_machine_is_itself_no_name() -> None:
    assert not is_host(LOOPBACK, {LOOPBACK})
    assert not is_origin(LOOPBACK, {LOOPBACK})


def test_where_nothing_is_given_nothing_is_allowed() -> None:
    assert not is_host("localhost", ())
    assert not is_origin("http://localhost", ())


def test_a_refused_host_gets_a_hint() -> None:
    error = HostRefused()
    assert (error.status, error.code) == (421, "host_not_allowed")
    assert error.hint
