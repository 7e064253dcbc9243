"""Parse bodies of responses as JSON and XML; unusable ones become errors."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from urllib.parse import urlencode
from xml.etree.ElementTree import Element, ParseError, fromstring
from xml.parsers import expat

from paper_search.domain.query.identifier_queries import Identifier
from paper_search.errors import NonRetryableError, RetryableError, SearchSourceError
from paper_search.sources.interfaces import Request, Response
from paper_search.sources.record_fields import clean_text, ensure_list, get_first_text, get_object_or_empty
from uraniborg.kernel.boundary import parse_lenient_json
from uraniborg.kernel.json_values import Json, JsonObject


def parse_json(source: str, response: Response) -> Json:
    """Return the JSON of a response. Raise NonRetryableError if the body is empty, a web page, or broken."""
    if not response.body.strip():
        raise make_unreadable_error(source, "an empty body")
    try:
        return parse_lenient_json(response.body)
    except ValueError:
        what = "a web page or XML" if is_xml_or_html(response) else "a body that is not complete JSON"
        raise make_unreadable_error(source, what) from None


def parse_json_object(source: str, response: Response) -> JsonObject:
    """Return the JSON object of a response. Raise NonRetryableError for other JSON and for other bodies."""
    body = parse_json(source, response)
    if not isinstance(body, dict):
        raise make_unreadable_error(source, f"a JSON {type(body).__name__} instead of an object")
    return body


def parse_xml(source: str, response: Response) -> Element:
    """Return the root of an XML response. Raise NonRetryableError if it is not XML or declares entities."""
    if not response.body.strip():
        raise make_unreadable_error(source, "an empty body")
    try:
        _check_no_entities(response.body)
        return fromstring(response.body)  # noqa: S314 - bodies that declare entities are refused above
    except _DeclaresEntitiesError:
        raise make_unreadable_error(source, "XML that declares entities, which are not supported") from None
    except (ParseError, expat.ExpatError, ValueError, LookupError):
        raise make_unreadable_error(source, "a body that is not complete XML") from None


class _DeclaresEntitiesError(Exception):
    pass


class _PrologOverError(Exception):
    pass


def _check_no_entities(body: bytes) -> None:
    def refuse(*_: object) -> None:
        raise _DeclaresEntitiesError

    def stop(*_: object) -> None:
        raise _PrologOverError

    parser = expat.ParserCreate()
    parser.EntityDeclHandler = refuse
    parser.StartElementHandler = stop
    try:
        parser.Parse(body, True)
    except _PrologOverError:
        return


def is_xml_or_html(response: Response) -> bool:
    """Return True if the body starts like XML or HTML."""
    return response.body.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<")


def make_unreadable_error(source: str, body_description: str) -> NonRetryableError:
    """Return the error for a body that cannot be read, described by `body_description`."""
    return NonRetryableError(
        f"{source} answered with {body_description}.",
        hint=f"Try again later, or search without {source}.",
        source=source,
    )


def make_permanent_refusal_error(source: str, response: Response, message: object) -> NonRetryableError | None:
    """Return the error for a request that the source will never accept, with the source's message; else None."""
    detail = clean_text(message)[:300]
    if not detail or response.status in {408, 425, 429} or not 400 <= response.status < 500:
        return None
    return NonRetryableError(f"{source} refused the request ({response.status}): {detail}", source=source)


def make_source_error(
    source: str, detail: str, *, retryable: bool = False, rate_limited: bool = False
) -> SearchSourceError:
    """Return the error that a source reports in a 200 response, with its message. A `retryable` error may pass."""
    message = f"{source} answered with an error: {detail[:300]}"
    if retryable:
        return RetryableError(message, rate_limited=rate_limited, source=source)
    return NonRetryableError(message, source=source)


def try_parse_json(response: Response) -> Json:
    """Return the JSON of a response, or None if the body is not JSON, such as an error page."""
    try:
        return parse_json("", response)
    except NonRetryableError:
        return None


def split_batches(values: Sequence[str], size: int) -> list[Sequence[str]]:
    """Return the values in batches of at most `size`."""
    return [values[start : start + size] for start in range(0, len(values), size)]


def replace_params(request: Request, **params: object) -> Request:
    """Return the request with these parameters replaced, those of a POST in its form.

    Underscores in their names stand for hyphens.
    """
    new = {name.replace("_", "-"): str(value) for name, value in params.items()}
    part = "form" if request.form else "params"
    unchanged = tuple((name, value) for name, value in getattr(request, part) if name not in new)
    return replace(request, **{part: (*unchanged, *new.items())})


def get_params(request: Request) -> dict[str, str]:
    """Return the parameters of a request, those of a POST with its form."""
    return dict([*request.params, *request.form])


def build_request_for_length(
    source: str, url: str, params: tuple[tuple[str, str], ...], *, most_bytes: int, post_url: str | None = None
) -> Request:
    """Return a GET, or a POST to `post_url` if the parameters are too long for an address."""
    if len(urlencode(params)) <= most_bytes:
        return Request(source, url, params)
    return Request(source, post_url or url, form=params)


def get_list_or_raise(source: str, body: Mapping[str, Json], key: str) -> list[Json]:
    """Return the list under a key, [] without the key. Raise NonRetryableError for other values."""
    found = body.get(key)
    if found is not None and not isinstance(found, list):
        raise make_unreadable_error(source, f"JSON in which {key} is not a list")
    return ensure_list(found)


def make_refusal_error_from_json(source: str, response: Response, *keys: str) -> NonRetryableError | None:
    """Return `make_permanent_refusal_error` with the first text under `keys` of the JSON body as the message."""
    body = get_object_or_empty(try_parse_json(response))
    return make_permanent_refusal_error(source, response, get_first_text(*(body.get(key) for key in keys)))


def limit_page_size(wanted_papers: int, max_size: int) -> int:
    """Return the page size for up to `wanted_papers` papers: at least 1, at most `max_size`."""
    return max(1, min(wanted_papers, max_size))


def select_values_of_scheme(identifiers: Iterable[Identifier], scheme: str) -> list[str]:
    return [identifier.value for identifier in identifiers if identifier.scheme == scheme]
