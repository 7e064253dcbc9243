"""Frame every HTML page: style, search box, headers and links. No scripts, no external resources."""

from collections.abc import Mapping
from html import escape
from typing import Final
from urllib.parse import quote, urlencode

from paper_library.domain.limits import QUERY_CHARS
from uraniborg.kernel.http.secure_app import make_page_headers

HEADERS: Final = make_page_headers(allow_forms=True)
FACET_LABELS: Final = {
    "keyword": "Keywords",
    "author": "Authors",
    "venue": "Venues",
    "year": "Years",
    "tag": "Tags",
    "institution": "Institutions",
}
_STYLE: Final = """
:root { color-scheme: light dark; --ink: #1d2430; --soft: #5c6675; --line: #d9dee6; --mark: #fff0b8; --link: #1f4fa3;
  --paper: #fdfdfb; --tint: #f3f4f1; --alarm: #a3231f; --alarm-tint: #fbe9e7 }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e7ec; --soft: #9aa4b2; --line: #323a46; --mark: #5b4a10;
  --link: #8db4ff; --paper: #14181e; --tint: #1b2129; --alarm: #ff9c94; --alarm-tint: #3a1a1a } }
* { box-sizing: border-box }
body { margin: 0 auto; max-width: 52.5rem; padding: 1.5rem 1.25rem 4rem; background: var(--paper); color: var(--ink);
  font: 1.05rem/1.6 Georgia, "Noto Serif", serif; overflow-wrap: anywhere }
header, nav, form, summary, h2, .facts, .more, .values, .notice, .badge { font-family: system-ui, sans-serif }
a { color: var(--link); text-decoration: none } a:hover { text-decoration: underline }
header { display: flex; flex-wrap: wrap; gap: .2rem 1.1rem; align-items: baseline; font-size: .9rem }
header a:first-child { color: inherit; font-weight: 600; font-size: 1.05rem; margin-right: auto }
form { display: flex; gap: .5rem; margin: 1rem 0 1.5rem }
input { flex: 1; min-width: 0; font: inherit; padding: .5rem .75rem; border: 1px solid var(--line);
  border-radius: .4rem; background: transparent; color: inherit }
button { font: inherit; padding: .5rem 1rem; border: 0; border-radius: .4rem; background: var(--link);
  color: var(--paper); cursor: pointer }
h1 { line-height: 1.25; font-size: 1.6rem; margin: .5rem 0 } h2 { font-size: 1.05rem; margin: 2rem 0 .5rem }
article { padding: 1rem 0; border-top: 1px solid var(--line) }
article h2 { font: 600 1.15rem/1.35 Georgia, "Noto Serif", serif; margin: 0 }
p { margin: .5rem 0 } article p { margin: .3rem 0 0 }
.facts { color: var(--soft); font-size: .88rem; margin: .25rem 0 .4rem }
.authors { margin: .25rem 0 } .authors details, .authors summary { display: inline }
summary { font-size: .95rem } .authors summary { font: inherit }
summary { cursor: pointer; color: var(--link) }
.contents { display: flex; flex-wrap: wrap; gap: .2rem 1.1rem; margin: 1rem 0; padding: .5rem 0; font-size: .92rem;
  border: solid var(--line); border-width: 1px 0 }
.values { list-style: none; padding: 0; margin: .5rem 0; display: flex; flex-wrap: wrap; gap: .4rem; font-size: .88rem }
.values a { display: block; padding: .1rem .6rem; border: 1px solid var(--line); border-radius: 1rem }
.values .label { color: var(--soft); padding: .15rem .3rem .1rem 0 }
.more { font-size: .92rem }
.badge { color: var(--alarm); border: 1px solid; border-radius: .3rem; padding: 0 .35rem; font-size: .75rem;
  font-weight: 600; vertical-align: .1em; white-space: nowrap }
.notice { border-left: .25rem solid var(--line); background: var(--tint); padding: .5rem .75rem; font-size: .92rem }
.notice.retracted { border-color: var(--alarm); background: var(--alarm-tint) }
.notice.retracted b { color: var(--alarm) }
details { margin: .4rem 0 }
.similar { list-style: none; padding: 0 } .similar li { margin: .6rem 0 } .similar .facts { margin: 0 }
.found strong { background: var(--mark); font-weight: inherit; border-radius: .2rem; padding: 0 .1rem }
pre { overflow-x: auto; padding: .75rem; border: 1px solid var(--line); border-radius: .4rem; font-size: .82rem;
  line-height: 1.45; background: var(--tint); overflow-wrap: normal }
.citation { user-select: all; max-height: 22rem; overflow-y: auto; white-space: pre-wrap; overflow-wrap: anywhere }
img { max-width: 100% } table { border-collapse: collapse; display: block; overflow-x: auto }
td, th { border: 1px solid var(--line); padding: .2rem .5rem }
.text { margin-top: 1rem } .text h1 { font-size: 1.3rem } .text h2 { font-family: inherit; font-size: 1.2rem }
@media (max-width: 30rem) { body { padding: 1rem .9rem 3rem; font-size: 1rem } h1 { font-size: 1.35rem }
  header a:first-child { flex-basis: 100% } }
"""


def make_page(
    title: str, body: str, *, query: str = "", filters: Mapping[str, str] | None = None, focus_search_box: bool = False
) -> str:
    """Return a complete HTML page; on the start page the search box has the focus.

    `body` is HTML. All other arguments are escaped.
    """
    hidden = "".join(
        f'<input type="hidden" name="{escape(kind)}" value="{escape(value)}">'
        for kind, value in (filters or {}).items()
    )
    browse = " ".join(render_link(f"/browse/{kind}", label) for kind, label in list(FACET_LABELS.items())[:4])
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{_STYLE}</style></head><body>'
        f"<header>{render_link('/', 'The shelf')} {browse}</header>"
        f'<form action="/" role="search"><input name="q" value="{escape(query)}" maxlength="{QUERY_CHARS}" '
        'aria-label="Search" placeholder="Words, &quot;a phrase&quot;, author:, year:2019.."'
        f"{' autofocus' if focus_search_box else ''}>{hidden}<button>Search</button></form>"
        f"<main>{body}</main></body></html>"
    )


def render_link(target: str, text: str, **attributes: str) -> str:
    """Return a link whose address, text and attributes are escaped."""
    more = "".join(f' {name}="{escape(value)}"' for name, value in attributes.items())
    return f'<a href="{escape(target)}"{more}>{escape(text)}</a>'


def render_external_link(target: str, text: str) -> str:
    """Return a link to another site, or only the text if the address is not http or https."""
    if not target.lower().startswith(("http://", "https://")):
        return escape(text)
    return render_link(target, text, rel="noopener noreferrer")


def make_search_address(query: str, filters: Mapping[str, str] | None = None, offset: int = 0) -> str:
    given = {"q": query, **(filters or {}), "offset": str(offset or "")}
    return f"/?{urlencode({name: value for name, value in given.items() if value})}"


def make_paper_address(paper_id: str) -> str:
    return f"/papers/{quote(paper_id, safe='')}"


def render_value_links(kind: str, values: Mapping[str, int | None], label: str = "") -> str:
    """Return a list of links to the papers with each value, with numbers of papers if known."""
    first = f'<li class="label">{escape(label)}</li>' if label else ""
    items = (
        f"<li>{render_link(make_search_address('', {kind: value}), value + (f' ({count:,})' if count else ''))}</li>"
        for value, count in values.items()
    )
    return f'<ul class="values">{first}{"".join(items)}</ul>'
