import pytest

from uraniborg.kernel.errors import UraniborgError
from uraniborg.kernel.http.config import LOOPBACK
from uraniborg.kernel.mcp.http_guard import Rules, accepts_json, check_content, read_headers

LOCAL = Rules(("POST",), frozenset({LOOPBACK, "https://shelf.example"}), frozenset({LOOPBACK, "shelf.example"}))
JSON = {b"content-type": b"application/json"}


def status_of(*headers: tuple[str, str], rules: Rules = LOCAL) -> int:
    given = [(name.encode(), value.encode("latin-1")) for name, value in headers]
    if "host" not in dict(headers):
        given.append((b"host", b"localhost"))
    try:
        rules.check("POST", read_headers({"headers": given}))
    except UraniborgError as error:
        return error.status
    return 200


def content_status(**headers: str) -> int:
    given = {name.replace("_", "-").encode(): value.encode("latin-1") for name, value in headers.items()}
    try:
        check_content({**JSON, **given}, 1_000)
    except UraniborgError as error:
        return error.status
    return 200


@pytest.mark.parametrize(
    "origin",
    [
        "http://localhost",
        "http://localhost:5173",
        "https://localhost:8421",
        "http://127.0.0.1:1",
        "https://[::1]",
        "http://[::1]:65535",
        "https://shelf.example",
    ],
)
def test_loopback_origins_pass_at_any_port_and_listed_ones_beside(origin: str) -> None:
    assert status_of(("origin", origin)) == 200


@pytest.mark.parametrize(
    "origin",
    [
        "null",
        "",
        "loopback",
        "http://loopback",
        "localhost",
        "http:localhost",
        "ftp://localhost",
        "http://localhost:9.evil.example",
        "http://localhost.evil.example",
        "http://evil.example/localhost",
        "http://localhost@evil.example",
        "http://evil.example:80@localhost",
        "http://localhost:",
        "http://localhost:123456",
        "http://localhost:80/path",
        "http://localhost:8\xb2",
        "http://127.0.0.1.evil.example",
        "http://127.0.0.10",
        "http://[::1].evil.example",
        "http://[::1",
        "http://0.0.0.0",
        "http://localhost\n",
        "https://shelf.example:8443",
        "http://localhost, http://localhost",
    ],
)
def test_an_origin_that_only_looks_like_loopback_is_refused(origin: str) -> None:
    assert status_of(("origin", origin)) == 403


def test_an_origin_sent_twice_is_refused_even_if_both_are_fine() -> None:
    assert status_of(("origin", "http://localhost"), ("origin", "http://localhost")) == 403


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost", 200),
        ("LocalHost:8421", 200),
        ("127.0.0.1:80", 200),
        ("[::1]:8421", 200),
        ("shelf.example", 200),
        ("", 421),
        ("loopback", 421),
        ("evil.example", 421),
        ("localhost.evil.example", 421),
        ("localhost:80.evil.example", 421),
        ("shelf.example:80", 421),
        ("localhost, evil.example", 421),
    ],
)
def test_loopback_hosts_pass_at_any_port_and_listed_ones_beside(host: str, status: int) -> None:
    assert status_of(("host", host)) == status


def test_loopback_is_refused_where_it_is_not_listed() -> None:
    rules = Rules(("POST",), frozenset({"https://shelf.example"}), None)
    assert status_of(("origin", "http://localhost"), rules=rules) == 403


@pytest.mark.parametrize(
    "accept",
    [
        "",
        "*/*",
        "*",
        "application/*",
        "application/json",
        "APPLICATION/JSON",
        "application/json;charset=utf-8",
        "application/json;q=0.1",
        "text/event-stream, application/json",
        "text/html, image/gif, *; q=.2, */*; q=.2",
        "application/json;q=oops",
        "text/html;q=1, application/*;q=0.001",
    ],
)
def test_an_accept_header_that_admits_json_is_fine(accept: str) -> None:
    assert accepts_json(accept.encode())
    assert content_status(accept=accept) == 200


@pytest.mark.parametrize(
    "accept",
    [
        "text/event-stream",
        "text/html, text/*",
        "application/json-seq",
        "application/json;q=0",
        "*/*, application/json; q=0.0",
        "application/*;q=0, */*;q=1",
        "application/json;q=nan",
        "\xff",
    ],
)
def test_an_accept_header_that_excludes_json_is_refused(accept: str) -> None:
    assert content_status(accept=accept) == 406


@pytest.mark.parametrize(
    ("content_type", "status"),
    [
        ("application/json", 200),
        ("Application/JSON; charset=UTF-8", 200),
        ("application/json;charset=utf-8", 200),
        ("", 415),
        ("text/plain", 415),
        ("application/x-www-form-urlencoded", 415),
        ("application/jsonp", 415),
        ("text/plain; application/json", 415),
    ],
)
def test_the_content_type_must_be_json(content_type: str, status: int) -> None:
    assert content_status(content_type=content_type) == status


@pytest.mark.parametrize(("encoding", "status"), [("identity", 200), ("gzip", 415), ("br", 415)])
def test_a_compressed_body_is_refused(encoding: str, status: int) -> None:
    assert content_status(content_encoding=encoding) == status


@pytest.mark.parametrize(("length", "status"), [("0", 200), ("1000", 200), ("1001", 413), ("9" * 5_000, 413)])
def test_a_body_with_a_content_length_that_is_too_large_is_refused(length: str, status: int) -> None:
    assert content_status(content_length=length) == status
