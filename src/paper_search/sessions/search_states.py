"""Reply with the state of a search for people: every field, and names of sources that they know."""

from paper_search.search_replies import SearchState
from paper_search.session_replies import SessionReply
from paper_search.source_labels import get_source_label


def complete_reply(reply: SessionReply) -> SearchState:
    """Return the reply about a session with the labels of its sources, and with null for what it leaves out."""
    return {
        **reply,
        "sources": [{**source, "label": get_source_label(source["name"])} for source in reply["sources"]],
        "offline": reply.get("offline", False),
        "actor": reply.get("actor"),
        "checkpoint_id": reply.get("checkpoint_id"),
        "checkpoint_kind": reply.get("checkpoint_kind"),
        "checkpoint": reply.get("checkpoint"),
        "paper_count": reply.get("paper_count"),
        "error": reply.get("error"),
        "already_decided": reply.get("already_decided"),
    }
