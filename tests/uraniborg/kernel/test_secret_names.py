"""Names and forms of text that indicate a secret, and similar ones that do not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uraniborg.kernel.secrets_in_text import is_sensitive, mask_patterns

SECRET_NAMES = [
    *("api_key", "apiKey", "APIKey", "api-key", "apikey", "API-KEY", "x-api-key", "X-API-Key", "OPENAI_API_KEY"),
    *("openaiapikey", "api_keys", "api_key_2", "AWS_SECRET_ACCESS_KEY", "access_key_id", "private_key", "privateKey"),
    *("private_key_pem", "ssh_key", "signing_key", "encryptionKey", "token", "GITHUB_TOKEN", "githubToken"),
    *("auth_token", "authtoken", "X-Auth-Token", "access_token", "access_tokens", "refreshToken", "id_token"),
    *("csrftoken", "token2", "token_value", "homepage_token", "backend_token", "developer_token", "OAuth2Token"),
    *("password", "Password", "PassWord", "db_password", "db.password", "dbPassword", "dbpassword", "password1"),
    *("password2", "passwords", "passwd", "db_passwd", "pwd", "db_pwd", "passphrase", "passcode", "db_pass"),
    *("password_hash", "secret", "secrets", "client_secret", "clientSecret", "clientsecret", "secret_1"),
    *("SECRET_KEY_BASE", "Authorization", "proxy-authorization", "authorization_header", "auth", "basic_auth"),
    *("oauth", "auth_header", "bearer", "cookie", "cookies", "Set-Cookie", "session_cookie", "cookie_header"),
    *("credential", "credentials", "GOOGLE_CREDENTIALS_JSON", "jwt"),
]
OTHER_NAMES = [
    *("author", "authors", "authored_by", "authority", "authentic", "max_tokens", "maxTokens", "tokens"),
    *("tokens_total", "total_tokens", "tokenizer", "token_type", "token_count", "tokenCount", "page_token"),
    *("next_token", "next_page_token", "nextPageToken", "nextpagetoken", "NEXT-TOKEN", "continuation_token"),
    *("continuationToken", "sync_token", "nextSyncToken", "cancellation_token", "resumptionToken", "cost_per_token"),
    *("eos_token", "keyboard", "key", "keys", "primary_key", "public_key", "monkey", "keywords", "secretary"),
    *("secretariat", "compass", "passenger", "low_pass", "path", "cookies_eaten", "cookies_sold", "cookie_policy"),
    *("name", "url", "message", "api_key_header", "api_key_env", "api_keys_found", "auth_type", "auth_method"),
    *("password_file", "password_length", "private_key_path", "credentials_path", "authorization_endpoint"),
    *("access_token_expires_in", "access_token_url", "standard_bearer", "名前"),
]


@pytest.mark.parametrize("name", SECRET_NAMES)
def test_a_value_of_such_a_name_is_a_secret(name: str) -> None:
    assert is_sensitive(name)


@pytest.mark.parametrize("name", ["", *OTHER_NAMES])
def test_a_similar_name_is_not_sensitive(name: str) -> None:
    assert not is_sensitive(name)


def test_the_end_of_a_long_name_decides() -> None:
    assert is_sensitive("x" * 1_000_000 + "_password")
    assert not is_sensitive("password_" + "x" * 1_000_000)


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("https://h/x?q=a&api_key=abc123&n=1#f", "https://h/x?q=a&api_key=***&n=1#f"),
        ("https://h/x?key=AIza77", "https://h/x?key=***"),
        ("https://h/x?q=1&sig=AIza77&n=2", "https://h/x?q=1&sig=***&n=2"),
        ("https://someone:pass@h/x", "https://***@h/x"),
        ("https://ghp_0123456789abcdefghij@h/x", "https://***@h/x"),
        ("https://someone@h/x", "https://someone@h/x"),
        ("https://h/x?token=${TOKEN}&n=1", "https://h/x?token=${TOKEN}&n=1"),
        ("https://h/x?token=${TOKEN&n=1", "https://h/x?token=***&n=1"),
        ('{"api_key": "abc", "n": 1}', '{"api_key": "***", "n": 1}'),
        ("{'client_secret':'abc'}", "{'client_secret':'***'}"),
        ("Config(api_key='abc', n=1)", "Config(api_key='***', n=1)"),
        ("PASSWORD=abc next", "PASSWORD=*** next"),
        ("pwd=x", "pwd=***"),
        ("token=api_key=abc", "token=***"),
        ("Authorization: Bearer abc.def-ghi", "Authorization: ***"),
        ("x-api-key:abc\nmore", "x-api-key:***\nmore"),
        ("Set-Cookie: a=b; c=d", "Set-Cookie: ***"),
        ("sent with Bearer  abc.def-gh1 today", "sent with Bearer  *** today"),
        ("A standard bearer walked: basic research", "A standard bearer walked: basic research"),
        ("the token ring=ring was a network", "the token ring=ring was a network"),
        ("?page_token=abc&nextPageToken=abc&sync-token=abc", "?page_token=abc&nextPageToken=abc&sync-token=abc"),
        ('{"next_page_token": "abc"}', '{"next_page_token": "abc"}'),
        ("page_token=api_key=abc", "page_token=api_key=***"),
        ("homepage_token=abc", "homepage_token=***"),
        ("secretary=Ann", "secretary=Ann"),
    ],
)
def test_a_secret_is_masked_where_the_form_of_the_text_gives_it_away(text: str, masked: str) -> None:
    assert mask_patterns(text) == masked


@given(st.text(st.characters(exclude_characters="=:")))
def test_text_without_a_sign_is_kept_unless_it_speaks_of_a_bearer(text: str) -> None:
    assert mask_patterns(text) == text or "bearer " in text.lower()


def test_megabytes_of_hostile_text_are_read_before_the_tests_time_is_up() -> None:
    for piece in (
        "://",
        "://a:",
        "a.-",
        "'api_key'",
        "bearer ",
        "token=",
        "page_token=",
        "?key=",
        "authorization: ",
        "=",
    ):
        assert isinstance(mask_patterns(piece * (1_000_000 // len(piece))), str)
