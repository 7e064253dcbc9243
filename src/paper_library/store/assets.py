"""Reading assets: from the shelf's static folder, else from a static server. What comes back is what was shelved."""

import hashlib
import os
import time
from pathlib import Path

import httpx

from paper_library.errors import AssetFetchFailed, AssetInvalid
from paper_library.limits import ASSET_BYTES
from paper_library.regular_files import NotRegular, open_regular
from paper_library.store.layout import STATIC, asset_path
from paper_library.store.shelf import AssetRef
from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.files import confine


class Assets:
    """Where assets come from. Addresses and paths stay in here: errors name the paper and a reason, nothing else."""

    def __init__(
        self, base_url: str | None = None, *, timeout_s: float = 10.0, transport: httpx.BaseTransport | None = None
    ) -> None:
        self._base = _checked(base_url) if base_url else None
        self._timeout = timeout_s
        self._client: httpx.Client | None = None
        if self._base:
            self._client = httpx.Client(
                timeout=timeout_s,
                follow_redirects=False,
                transport=transport,
                headers={"Accept-Encoding": "identity"},
            )

    def read(self, folder: Path, ref: AssetRef, paper_id: str) -> str:
        """The text of an asset. Raises AssetFetchFailed when it cannot be had, AssetInvalid when it is not the one."""
        about = {"paper_id": paper_id, **({"template": ref.name} if ref.kind == "summary" else {})}
        content = self._local(folder, ref, about)
        if content is None:
            content = self._fetched(ref, about)
        if hashlib.sha256(content).hexdigest() != ref.sha256:
            raise _invalid(ref, about)
        try:
            return content.decode()
        except UnicodeDecodeError:
            raise _invalid(ref, about) from None

    def close(self) -> None:
        if self._client:
            self._client.close()

    def _local(self, folder: Path, ref: AssetRef, about: dict[str, str]) -> bytes | None:
        path = confine(folder / STATIC, asset_path(ref.kind, ref.sha256))
        try:
            with open_regular(path) as file:
                if os.fstat(file.fileno()).st_size != ref.size:
                    raise _invalid(ref, about)
                return file.read()
        except FileNotFoundError:
            return None
        except NotRegular:
            raise _invalid(ref, about) from None
        except OSError:
            raise _failed(ref, about, "unreadable") from None

    def _fetched(self, ref: AssetRef, about: dict[str, str]) -> bytes:
        if self._client is None or self._base is None:
            raise _failed(ref, about, "missing")
        try:
            return self._download(self._client, f"{self._base}/{asset_path(ref.kind, ref.sha256)}", ref, about)
        except httpx.TimeoutException:
            raise _failed(ref, about, "timeout") from None
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError):
            raise _failed(ref, about, "unreachable") from None

    def _download(self, client: httpx.Client, address: str, ref: AssetRef, about: dict[str, str]) -> bytes:
        deadline = time.monotonic() + self._timeout
        with client.stream("GET", address) as response:
            if response.status_code != 200:
                kind = "missing" if response.status_code in (404, 410) else f"http_{response.status_code}"
                raise _failed(ref, about, "redirect" if response.is_redirect else kind)
            # A small compressed answer can unfold into a very large one, so none is unfolded.
            if response.headers.get("content-encoding", "identity") != "identity":
                raise _invalid(ref, about)
            content = bytearray()
            for chunk in response.iter_raw():
                content += chunk
                if len(content) > min(ref.size, ASSET_BYTES):
                    raise _invalid(ref, about)
                if time.monotonic() > deadline:
                    raise _failed(ref, about, "timeout")
        return bytes(content)


def _checked(base_url: str) -> str:
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
            "The static base address must be http:// or https:// with a host, and no user, query or fragment.",
            hint="Use an address such as https://static.example.org/papers",
            argument="static_base_url",
        )
    return str(url).rstrip("/")


def _failed(ref: AssetRef, about: dict[str, str], reason: str) -> AssetFetchFailed:
    return AssetFetchFailed(
        f"The {ref.kind} of this paper could not be fetched ({reason}).",
        hint="The shelf says it exists. Trying again may help; `paper-library verify` lists what a shelf has lost.",
        reason=reason,
        **about,
    )


def _invalid(ref: AssetRef, about: dict[str, str]) -> AssetInvalid:
    return AssetInvalid(
        f"The {ref.kind} of this paper is not what was put on the shelf: its contents have changed.",
        hint="`paper-library verify` lists such files. Build the shelf again, or copy it again from where it is whole.",
        **about,
    )
