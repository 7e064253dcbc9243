"""The llm node: one prompt to a language model."""

import asyncio
import mimetypes
import os
import re
from base64 import b64encode
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypedDict, cast

from pflow.domain.node import NodeContext
from pflow.domain.redaction import cut_masked_start
from pflow.errors import NodeFailed, NodeTimedOut
from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.language_model import ChatAnswer, ChatClient, ChatError, Failure, read_endpoint
from uraniborg.kernel.store.files import display_path

if TYPE_CHECKING:
    from uraniborg.kernel.json_values import Json, JsonObject

_TIMEOUT_S: Final = 300.0
_IMAGE_BYTES: Final = 20 << 20
_EXCERPT_CHARS: Final = 300
_FENCED: Final = re.compile(r"```[\w+-]*\n(?P<text>.*?)\n?```", re.DOTALL)


_HINTS: Final = {
    Failure.KEY_REFUSED: "Check the key, and that it belongs to this provider.",
    Failure.RATE_LIMITED: "Wait a while, or check the account's limits.",
    Failure.TIMED_OUT: "Set the node's timeout higher.",
    Failure.UNREACHABLE: "Check the network and LLM_BASE_URL.",
    Failure.REQUEST_REFUSED: "Check the params: models differ in which they accept.",
    Failure.SERVER_FAILED: "Try again later.",
    Failure.NOT_A_COMPLETION: "Check LLM_BASE_URL.",
    Failure.NO_ANSWER: "Check the model's name, and that the server supports the chat completions interface.",
    Failure.CUT_SHORT: "Allow it more with max_tokens.",
}


class Usage(TypedDict):
    model: str
    input_tokens: int
    output_tokens: int
    total_tokens: int


class AnswerOutputs(TypedDict):
    response: str
    llm_usage: Usage


async def answer_prompt(params: "JsonObject", context: NodeContext) -> AnswerOutputs:
    """Return the model's answer to the prompt, and the tokens that it took."""
    prompt = str(params["prompt"])
    if not prompt.strip():
        raise InvalidInput("The prompt is empty.", hint="Describe what the model has to do.", argument="prompt")
    model = str(params.get("model") or os.environ.get("LLM_MODEL") or "").strip()
    if not model:
        raise InvalidInput("No model is named.", hint="Set the param model, or LLM_MODEL.", argument="model")
    endpoint = read_endpoint(model)
    given = cast("list[str] | str", params.get("images") or [])
    paths = [given] if isinstance(given, str) else given
    images = [await asyncio.to_thread(_make_image_part, str(path), context) for path in paths]
    content: Json = [{"type": "text", "text": prompt}, *images] if images else prompt
    messages: list[JsonObject] = [{"role": "user", "content": content}]
    if system := params.get("system"):
        messages.insert(0, {"role": "system", "content": system})
    limits = {"temperature": params.get("temperature"), endpoint.max_tokens_field: params.get("max_tokens")}
    options = {name: value for name, value in limits.items() if value is not None}
    try:
        client = ChatClient(endpoint, timeout_s=context.timeout or _TIMEOUT_S)
        return _make_outputs(await client.request_answer(messages, options))
    except ChatError as error:
        raise _make_node_error(error, context) from error


def _make_outputs(answer: ChatAnswer) -> AnswerOutputs:
    usage: Usage = {
        "model": answer.model,
        "input_tokens": answer.input_tokens,
        "output_tokens": answer.output_tokens,
        "total_tokens": answer.total_tokens,
    }
    return {"response": _strip_code_fence(answer.text.strip()), "llm_usage": usage}


def _make_node_error(error: ChatError, context: NodeContext) -> NodeFailed:
    message, hint = error.message, _HINTS[error.failure]
    if error.failure is Failure.TIMED_OUT:
        return NodeTimedOut(message, hint=hint)
    if error.failure is Failure.REQUEST_REFUSED:
        message = f"{message.rstrip('.')}: {cut_masked_start(error.server_text, _EXCERPT_CHARS, context)}"
    failed = NodeFailed(message, hint=hint)
    if error.failure in (Failure.REQUEST_REFUSED, Failure.SERVER_FAILED):
        failed.ids["status_code"] = error.status
    if error.answer is not None:
        outputs = _make_outputs(error.answer)
        failed.outputs = {**outputs} if error.answer.text else {"llm_usage": outputs["llm_usage"]}
    return failed


def _make_image_part(given: str, context: NodeContext) -> "JsonObject":
    """Return an image as a part of a message: its URL, or its bytes as a data URL."""
    if not given.startswith(("https://", "http://", "data:image/")):
        given = _make_data_url(context.path(given))
    return {"type": "image_url", "image_url": {"url": given}}


def _make_data_url(path: Path) -> str:
    kind = mimetypes.guess_type(path.name)[0] or ""
    if not kind.startswith("image/"):
        raise InvalidInput(
            f"{display_path(path)} does not have the name of an image.",
            hint="Name a .png, .jpeg, .gif or .webp file.",
            argument="images",
        )
    try:
        if path.stat().st_size > _IMAGE_BYTES:
            raise InvalidInput(
                f"{display_path(path)} is too large.",
                hint=f"An image has at most {_IMAGE_BYTES >> 20} MiB.",
                argument="images",
            )
        return f"data:{kind};base64,{b64encode(path.read_bytes()).decode()}"
    except OSError as exc:
        raise NodeFailed(
            f"{display_path(path)} cannot be read: {exc.strerror}.", hint="Check the path in images."
        ) from exc


def _strip_code_fence(text: str) -> str:
    """Return the answer without the fence that some models put around all of it."""
    fenced = _FENCED.fullmatch(text)
    return fenced["text"] if fenced and "```" not in fenced["text"] else text
