"""Read assets from the shelf's static folder or from a static server, verified by digest."""

import hashlib
import os
import time
from pathlib import Path

import httpx

from paper_library.domain.limits import ASSET_BYTES
from paper_library.errors import AssetFetchFailed, AssetInvalid
from paper_library.store.layout import STATIC, NotRegular, make_asset_path, open_regular_file
from paper_library.store.shelf import AssetRef
from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.store.files import confine_path


class AssetReader:
    """Reads assets. Errors name the paper and a reason, never an address or a path."""

    def __init__(
        self, base_url: str | None = None, *, timeout_s: float = 10.0, transport: httpx.BaseTransport | None = None
    ) -> None:
        self._base = _check_and_trim_base_url(base_url) if base_url else None
        self._timeout = timeout_s
        self._client: httpx.Client | None = None
        if self._base:
            self._client = httpx.Client(
                timeout=timeout_s,
                follow_redirects=False,
                transport=transport,
                headers={"Accept-Encoding": "identity"},
            )

    def read_asset(self, folder: Path, ref: AssetRef, paper_id: str) -> str:
        """Return the text of an asset. Raise AssetFetchFailed if it is missing, AssetInvalid if it has changed."""
        try:
            return self.read_bytes(folder, ref, paper_id).decode()
        except UnicodeDecodeError:
            raise _make_invalid_error(ref, _make_error_details(ref, paper_id)) from None

    def read_bytes(self, folder: Path, ref: AssetRef, paper_id: str) -> bytes:
        """Return the content of an asset. Raise AssetFetchFailed if it is missing, AssetInvalid if it has changed."""
        error_details = _make_error_details(ref, paper_id)
        content = self._read_local_file(folder, ref, error_details)
        if content is None:
            content = self._fetch_asset(ref, error_details)
        if hashlib.sha256(content).hexdigest() != ref.sha256:
            raise _make_invalid_error(ref, error_details)
        return content

    def close(self) -> None:
        """Close the HTTP client."""
        if self._client:
            self._client.close()

    def _read_local_file(self, folder: Path, ref: AssetRef, error_details: dict[str, str]) -> bytes | None:
        path = confine_path(folder / STATIC, make_asset_path(ref.kind, ref.sha256))
        try:
            with open_regular_file(path) as file:
                if os.fstat(file.fileno()).st_size != ref.size:
                    raise _make_invalid_error(ref, error_details)
                return file.read()
        except FileNotFoundError:
            return None
        except NotRegular:
            raise _make_invalid_error(ref, error_details) from None
        except OSError:
            raise _make_fetch_error(ref, error_details, "unreadable") from None

    def _fetch_asset(self, ref: AssetRef, error_details: dict[str, str]) -> bytes:
        if self._client is None or self._base is None:
            raise _make_fetch_error(ref, error_details, "missing")
        try:
            return self._download_asset(
                self._client, f"{self._base}/{make_asset_path(ref.kind, ref.sha256)}", ref, error_details
            )
        except httpx.TimeoutException:
            raise _make_fetch_error(ref, error_details, "timeout") from None
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError):
            raise _make_fetch_error(ref, error_details, "unreachable") from None

    def _download_asset(
        self, client: httpx.Client, address: str, ref: AssetRef, error_details: dict[str, str]
    ) -> bytes:
        deadline = time.monotonic() + self._timeout
        with client.stream("GET", address) as response:
            if response.status_code != 200:
                kind = "missing" if response.status_code in (404, 410) else f"http_{response.status_code}"
                raise _make_fetch_error(ref, error_details, "redirect" if response.is_redirect else kind)
            # A small compressed response can expand to a very large one, so compression is refused.
            if response.headers.get("content-encoding", "identity") != "identity":
                raise _make_invalid_error(ref, error_details)
            content = bytearray()
            for chunk in response.iter_raw():
                content += chunk
                if len(content) > min(ref.size, ASSET_BYTES):
                    raise _make_invalid_error(ref, error_details)
                if time.monotonic() > deadline:
                    raise _make_fetch_error(ref, error_details, "timeout")
        return bytes(content)


def _check_and_trim_base_url(base_url: str) -> str:
    try:
        url = httpx.URL(base_url)
    except httpx.InvalidURL:
        url = httpx.URL("")
    if (
        url.scheme not in ("http", "https")
        or not url.host
        or url.userinfo
        or url.query
        or url.fragment
        or (url.port or 0) > 65_535
    ):
        raise InvalidInput(
            "static_base_url must be an http:// or https:// address with a host, without user, query or fragment.",
            hint="Use an address such as https://static.example.org/papers.",
            argument="static_base_url",
        )
    return str(url).rstrip("/")


def _make_error_details(ref: AssetRef, paper_id: str) -> dict[str, str]:
    return {"paper_id": paper_id, **({"template": ref.name} if ref.kind == "summary" else {})}


def _make_fetch_error(ref: AssetRef, error_details: dict[str, str], reason: str) -> AssetFetchFailed:
    return AssetFetchFailed(
        f"The {ref.kind} of this paper could not be fetched ({reason}).",
        hint="Try again. `paper-library verify SHELF` lists missing files.",
        reason=reason,
        **error_details,
    )


def _make_invalid_error(ref: AssetRef, error_details: dict[str, str]) -> AssetInvalid:
    return AssetInvalid(
        f"The {ref.kind} of this paper has changed since the shelf was built.",
        hint="`paper-library verify SHELF` lists changed files. Build the shelf again or copy an intact one.",
        **error_details,
    )
