"""Prove that hostile texts on a page did nothing: no script, dialog, foreign request, element or link of theirs."""

from playwright.sync_api import Dialog, Page

from tests.uraniborg.console.browser.conftest import Visitor
from tests.uraniborg.console.browser.payloads import FOREIGN

FIND_HARM = """() => {
  const found = window.hit === undefined ? [] : ['a text was executed'];
  for (const name in {}) found.push(`every object has ${name}: ${({})[name]}`);
  const foreign = ['script', 'iframe', 'frame', 'object', 'embed', 'base', 'link', 'meta', 'style', 'video', 'audio',
    'source', 'marquee', 'template', 'xmp', 'plaintext', 'image', 'use', 'animate', 'foreignobject', 'mglyph'];
  const addresses = ['href', 'xlink:href', 'src', 'srcset', 'action', 'formaction', 'data', 'ping'];
  for (const element of document.body.querySelectorAll('*')) {
    const name = element.localName.toLowerCase();
    if (foreign.includes(name)) found.push(`element ${element.outerHTML.slice(0, 200)}`);
    for (const { name: attribute, value } of element.attributes) {
      const isHandler = attribute.startsWith('on');
      const isLoading = attribute === 'style' && /url|expression/i.test(value);
      const isAddress = addresses.includes(attribute) && !/^https?:$/.test(new URL(value, location).protocol);
      const isInFormula = element.closest('math') && ['id', 'href'].includes(attribute);
      if (isHandler || isLoading || isAddress || isInFormula) found.push(`attribute ${attribute}=${value}`);
    }
  }
  return found;
}"""


def record_fetches(visitor: Visitor) -> list[str]:
    """Return a list that receives the address of every request and the text of every dialog of a visitor's pages."""
    fetched: list[str] = []

    def dismiss_dialog(dialog: Dialog) -> None:
        fetched.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    visitor.context.on("request", lambda request: fetched.append(request.url))
    visitor.context.on("dialog", dismiss_dialog)
    return fetched


def check_nothing_happened(page: Page, visitor: Visitor, fetched: list[str]) -> None:
    """Assert that no text was executed, became an element, an attribute or a link, or fetched a foreign address.

    The fixture `make_visitor` asserts that the browser did not report a breach of the Content-Security-Policy.
    """
    harm = page.evaluate(FIND_HARM)
    assert not harm, (page.url, harm)
    assert [address for address in fetched if not address.startswith(f"{visitor.url}/")] == []
    assert not any(FOREIGN in address for address in fetched)
