"""Settings of searches: their defaults, their checks, and `load_config`, which reads them."""

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from pydantic import BaseModel, ConfigDict, Field, SecretStr, model_validator

if TYPE_CHECKING:
    from uraniborg.kernel.settings import LoadedSettings


class LLMConfig(BaseModel):
    """The language model. Without a `model` name none is used, and rules do all the work."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    provider: str = "openai"
    model: str = ""
    api_key: SecretStr = SecretStr("")
    base_url: str | None = None
    temperature: float = 0.0
    max_tokens: int = Field(default=4096, ge=1)
    timeout_s: float = Field(default=60.0, gt=0)


class SearchSourceConfig(BaseModel):
    """One source. `rate_limit` is requests per second, `max_calls` the call budget of one search."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    name: str
    api_key: SecretStr = SecretStr("")
    enabled: bool = True
    rate_limit: float | None = Field(default=None, gt=0)
    max_calls: int | None = Field(default=None, ge=0)


class SessionsConfig(BaseModel):
    """The settings of sessions."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    idle_s: float = Field(default=1_800.0, gt=0)
    """A session that was not used for this long leaves memory. The next call loads it again."""
    retention_days: float = Field(default=90.0, gt=0)
    """A session that was not used for this long is deleted."""
    reply_within_s: float = Field(default=50.0, ge=0)
    """A call that waits for a search returns its progress after this time; common clients give up after 60 seconds."""


class AppConfig(BaseModel):
    """The configuration of a search."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    llm: LLMConfig = Field(default_factory=LLMConfig)
    sources: dict[str, SearchSourceConfig] = Field(default_factory=dict[str, SearchSourceConfig])
    """Settings by source name; a source that is not named has its defaults."""
    default_max_results: int = Field(default=100, ge=1)
    domain: str = "general"
    max_rounds: int = Field(default=5, ge=1)
    min_relevance: float | None = Field(default=None, ge=0.0, le=1.0)
    """Papers that score lower are removed by automation; None removes none. The plan of each search shows it."""
    relevance_batch_size: int = Field(default=25, ge=1)
    relevance_max_concurrency: int = Field(default=5, ge=1)
    contact_email: str | None = None
    """Sent to the sources that answer identified callers faster (Crossref, OpenAlex, NCBI)."""
    timeout_s: float = Field(default=20.0, gt=0)
    """The maximum time of one request."""
    source_deadline_s: float = Field(default=60.0, gt=0)
    """The maximum time of one source in all; papers that arrived by then are used, and the source is marked partial."""
    cache_dir: Path | None = None
    """The folder of cached answers; None is the platform's cache folder."""
    cache_ttl_s: float = Field(default=86_400.0, ge=0)
    """The time for which a cached answer is used; 0 turns the cache off."""
    record_dir: Path | None = None
    """The folder in which every answer of the search is recorded, for a replay."""
    replay_dir: Path | None = None
    """The folder of a recording from which every answer is taken; the network is not used."""
    offline: bool = False
    """Whether searches are trials that filter the shipped recording; the network is not used."""
    sessions: SessionsConfig = Field(default_factory=SessionsConfig)

    @model_validator(mode="before")
    @classmethod
    def _add_source_names(cls, values: Any) -> Any:
        """Add the name to the settings of each source, which need not repeat it."""
        if not isinstance(values, dict):
            return values
        given = dict(cast("dict[str, object]", values))
        if isinstance(given.get("sources"), dict):
            named = cast("dict[str, object]", given["sources"])
            given["sources"] = {
                key: {"name": key, **value} if isinstance(value, dict) else value for key, value in named.items()
            }
        return given


_ALIASES = {
    "LLM_PROVIDER": "llm.provider",
    "LLM_MODEL": "llm.model",
    "LLM_BASE_URL": "llm.base_url",
    "LLM_TEMPERATURE": "llm.temperature",
    "LLM_MAX_TOKENS": "llm.max_tokens",
    "LLM_API_KEY": "llm.api_key",
    "SERPAPI_API_KEY": "sources.serpapi_scholar.api_key",
    "SERPAPI_MAX_CALLS": "sources.serpapi_scholar.max_calls",
    "OPENALEX_API_KEY": "sources.openalex.api_key",
    "SEMANTIC_SCHOLAR_API_KEY": "sources.semantic_scholar.api_key",
    "NCBI_API_KEY": "sources.pubmed.api_key",
    "DEFAULT_MAX_RESULTS": "default_max_results",
    "DOMAIN": "domain",
    "RELEVANCE_BATCH_SIZE": "relevance_batch_size",
    "RELEVANCE_MAX_CONCURRENCY": "relevance_max_concurrency",
}
_FROM_DOTENV = (
    *("llm.provider", "llm.model", "llm.api_key", "llm.temperature", "llm.max_tokens", "llm.timeout_s"),
    *("sources.*.api_key", "sources.*.enabled", "sources.*.rate_limit", "sources.*.max_calls"),
    *("default_max_results", "domain", "max_rounds", "min_relevance"),
    *("relevance_batch_size", "relevance_max_concurrency", "contact_email"),
    *("timeout_s", "source_deadline_s", "cache_ttl_s", "sessions.idle_s", "sessions.reply_within_s"),
)
"""The settings that a `.env` in the working directory may change: no address, no folder, and nothing that deletes."""


def load_config(env_path: str | Path | None = None) -> AppConfig:
    """Return the configuration from the environment, `env_path` (or `.env`), and the settings file.

    Raise InvalidConfig for unknown keys and invalid values; messages never repeat values.
    """
    return read_config(env_path).settings


def read_config(env_path: str | Path | None = None) -> "LoadedSettings[AppConfig]":
    """Return the configuration with the origin of each setting. Raise InvalidConfig."""
    # Constructing a config must stay cheap.
    from uraniborg.kernel.language_model import KEY_VARIABLES
    from uraniborg.kernel.settings import OriginKind, read_settings

    def read(aliases: dict[str, str], from_dotenv: Collection[str] = _FROM_DOTENV) -> "LoadedSettings[AppConfig]":
        env_file = Path(env_path) if env_path else None
        return read_settings(
            AppConfig, section="paper_search", aliases=aliases, env_file=env_file, from_dotenv=from_dotenv
        )

    def read_with_key(from_dotenv: Collection[str]) -> "LoadedSettings[AppConfig]":
        loaded = read(_ALIASES, from_dotenv)
        if loaded.settings.llm.api_key.get_secret_value():
            return loaded
        # Only the variable of the chosen provider may give its key: another provider's key must not be sent to it.
        own = KEY_VARIABLES.get(loaded.settings.llm.provider, ())
        return read({**_ALIASES, **dict.fromkeys(own, "llm.api_key")}, from_dotenv)

    loaded = read_with_key(_FROM_DOTENV)
    kinds = [loaded.find_origin(name).kind for name in ("llm.provider", "llm.api_key")]
    if not env_path and kinds[0] is OriginKind.DOTENV and kinds[1] is not OriginKind.DOTENV:
        # The file chooses the provider, and the key is not from the file: the key must be the provider's own, and must
        # go to the provider's own address.
        is_own = loaded.find_origin("llm.api_key").name in KEY_VARIABLES.get(loaded.settings.llm.provider, ())
        if not is_own or loaded.settings.llm.base_url:
            return read_with_key([name for name in _FROM_DOTENV if name != "llm.provider"])
    return loaded
