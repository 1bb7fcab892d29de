"""LangChain's chat model against the daemon: text, streams, structured output, an image, and errors. Prints what works."""

import os

import openai
from langchain_core.exceptions import ContextOverflowError
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_openai import ChatOpenAI
from pydantic import BaseModel


class Place(BaseModel):
    """A place."""

    city: str


model = ChatOpenAI(model="palyra", max_retries=0)
said = []

assert model.invoke("hello there").content == "You said: hello there"
said.append("text")

pieces = [chunk.text for chunk in model.stream("a stream of words")]
assert "".join(pieces) == "You said: a stream of words" and len(pieces) > 2, pieces
said.append("stream")

talk = [SystemMessage("be brief"), HumanMessage("my name is Ada")]
answer = model.invoke(talk)
assert "my name is Ada" in answer.content, answer
again = model.invoke([*talk, AIMessage(answer.content), HumanMessage("and now")])
assert again.content == "You said: and now", again
said.append("session")

place = model.with_structured_output(Place, method="json_schema").invoke("where is it")
assert isinstance(place.city, str)
said.append("structured")

DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mP4z8AAAAMBAQD3A0FDAAAAAElFTkSuQmCC"
content = [
    {"type": "text", "text": "what is it"},
    {"type": "image", "base64": DOT, "mime_type": "image/png"},
]
responses = ChatOpenAI(model="palyra", max_retries=0, use_responses_api=True)
for reader in (model, responses):
    shown = reader.invoke([HumanMessage(content)])
    assert shown.text.startswith("You showed: image/png"), shown
said.append("image")


def fails(kind, code, text="fail", **more):
    """Has a request fail with this class of the client; LangChain's own classes are below it."""
    chat = ChatOpenAI(**{"model": "palyra", "max_retries": 0, **more})
    try:
        chat.invoke(text)
    except openai.APIStatusError as error:
        assert isinstance(error, kind) and error.code == code, (type(error), error.code)
        assert error.request_id.startswith("req_"), error.request_id
        assert error.response.headers["x-should-retry"] == "false"
        said.append(kind.__name__)
        return
    raise AssertionError(f"no {kind}")


key = {"Idempotency-Key": "a key of the chain"}
ChatOpenAI(model="palyra", default_headers=key).invoke("once in a chain")
fails(openai.RateLimitError, "insufficient_quota", model="faults/quota")
fails(ContextOverflowError, "context_length_exceeded", model="faults/context")
fails(openai.BadRequestError, "unsupported_parameter", n=2)
fails(openai.NotFoundError, "model_not_found", model="gpt-4o")
fails(openai.AuthenticationError, "invalid_api_key", api_key="sk-wrong")
fails(openai.PermissionDeniedError, "scope_missing", api_key=os.environ["PALYRA_NARROW_TOKEN"])
fails(openai.ConflictError, "idempotency_conflict", "another in a chain", default_headers=key)
fails(openai.InternalServerError, "model_auth", model="faults/auth")

try:
    list(ChatOpenAI(model="faults/quota", max_retries=0).stream("fail in a stream"))
    raise AssertionError("no error in the stream")
except openai.APIError as error:
    assert error.code == "insufficient_quota", error
    said.append("stream-error")

print(" ".join(said))
