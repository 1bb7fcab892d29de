"""Drives a model server with the official OpenAI SDK.

argv: the URLs of the assistant, of a server that limits rates, of one that reasons, and of one that fails with
each fault in turn, as told by the status and exception names behind it; behind `stream:` within an answer.
"""

import json
import sys

import openai

assistant_url, limited_url, thinker_url, faulty_url, *expected = sys.argv[1:]
MODEL = "test-model"
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "read_file",
            "description": "Reads a file.",
            "parameters": {"type": "object", "properties": {"path": {"type": "string"}}},
        },
    }
]


def client(url, key="test-key"):
    return openai.OpenAI(base_url=url, api_key=key, max_retries=0, timeout=30)


def say(text):
    return [{"role": "user", "content": text}]


def check_models(server):
    assert [model.id for model in server.models.list()] == [MODEL]


def check_document(server):
    answer = server.chat.completions.create(model=MODEL, messages=say("Hello there"))
    assert answer.choices[0].message.content == "You said: Hello there", answer
    assert answer.choices[0].finish_reason == "stop"
    assert answer.usage.total_tokens > 0


def check_stream(server):
    options = {"include_usage": True}
    stream = server.chat.completions.create(
        model=MODEL, messages=say("Hello there"), stream=True, stream_options=options
    )
    pieces, usage = [], None
    for chunk in stream:
        usage = chunk.usage or usage
        pieces += [choice.delta.content for choice in chunk.choices if choice.delta.content]
    assert "".join(pieces) == "You said: Hello there" and len(pieces) > 2, pieces
    assert usage.total_tokens > 0


def check_tools(server):
    messages = say("Read README.md, please")
    with server.chat.completions.stream(model=MODEL, messages=messages, tools=TOOLS) as stream:
        message = stream.get_final_completion().choices[0].message
    call = message.tool_calls[0]
    assert call.function.name == "read_file"
    assert json.loads(call.function.arguments) == {"path": "README.md"}
    messages.append(message.model_dump(include={"role", "content", "tool_calls"}))
    messages.append({"role": "tool", "tool_call_id": call.id, "content": "# Heron\n\nCounts."})
    answer = server.chat.completions.create(model=MODEL, messages=messages, tools=TOOLS)
    assert answer.choices[0].message.content == "The file says: # Heron / Counts.", answer


def check_unpaired(server):
    call = {"id": "a", "type": "function", "function": {"name": "read_file", "arguments": "{}"}}
    history = [{"role": "assistant", "content": None, "tool_calls": [call]}]
    raises(openai.BadRequestError, server, say("x") + history + say("y"))


def raises(expected, server, messages, **more):
    try:
        server.chat.completions.create(model=MODEL, messages=messages, **more)
    except expected as error:
        return error
    raise AssertionError(f"{expected} was not raised")


def check_image(server):
    url = "data:image/png;base64,iVBORw0KGgo="
    image = {"type": "image_url", "image_url": {"url": url}}
    text = {"type": "text", "text": "What is it?"}
    answer = server.chat.completions.create(model=MODEL, messages=say([image, text]))
    assert answer.choices[0].message.content == "You showed: image/png of 8 bytes", answer
    image["image_url"]["url"] = url.replace("png", "gif")
    raises(openai.BadRequestError, server, say([image, text]))


def check_schema(server):
    schema = {
        "type": "object",
        "properties": {"said": {"type": "string"}},
        "required": ["said"],
        "additionalProperties": False,
    }
    shape = {"name": "report", "strict": True, "schema": schema}
    wanted = {"type": "json_schema", "json_schema": shape}
    answer = server.chat.completions.create(model=MODEL, messages=say("Hello"), response_format=wanted)
    assert json.loads(answer.choices[0].message.content) == {"said": "Hello"}, answer
    del schema["additionalProperties"]
    raises(openai.BadRequestError, server, say("Hello"), response_format=wanted)


def check_options(server):
    raises(openai.BadRequestError, server, say("x"), stream_options={"include_usage": True})
    raises(openai.BadRequestError, server, say("x"), extra_body={"temprature": 1})
    raises(openai.BadRequestError, server, say("x"), max_tokens=5, max_completion_tokens=5)


def check_reasoning(server):
    stream = server.chat.completions.create(model=MODEL, messages=say("x"), stream=True)
    deltas = [chunk.choices[0].delta for chunk in stream if chunk.choices]
    thought = "".join((delta.model_extra or {}).get("reasoning_content") or "" for delta in deltas)
    said = "".join(delta.content or "" for delta in deltas)
    assert (thought, said) == ("Let me think.", "It counts herons."), deltas
    answer = server.chat.completions.create(model=MODEL, messages=say("x"))
    assert answer.choices[0].message.model_extra["reasoning_content"] == "Let me think.", answer
    assert answer.usage.completion_tokens_details.reasoning_tokens == 30, answer.usage
    assert answer.usage.prompt_tokens_details.cached_tokens == 80, answer.usage
    assert answer.choices[0].finish_reason == "length"


def check_embeddings(server):
    texts = ["one", "two words"]
    decoded = server.embeddings.create(model=MODEL, input=texts)
    assert [entry.index for entry in decoded.data] == [0, 1] and decoded.usage.total_tokens == 4, decoded
    plain = server.embeddings.create(model=MODEL, input=texts, encoding_format="float")
    for one, other in zip(decoded.data, plain.data):
        assert len(one.embedding) == 8, one
        assert all(abs(a - b) < 1e-6 for a, b in zip(one.embedding, other.embedding)), (one, other)
    assert len(server.embeddings.create(model=MODEL, input="one", dimensions=3).data[0].embedding) == 3
    for wrong in [{"input": []}, {"input": [""]}, {"input": "x", "dimensions": 65}, {"input": [[1, 2]]}]:
        try:
            server.embeddings.create(model=MODEL, **wrong)
        except openai.BadRequestError:
            continue
        raise AssertionError(wrong)


def check_faults(server):
    for told in expected:
        status, name = told.rsplit(":", 1)
        streams = status == "stream"
        kind = getattr(openai, name)
        try:
            answer = server.chat.completions.create(model=MODEL, messages=say("x"), stream=streams)
            pieces = list(answer) if streams else []
        except openai.APIError as error:
            assert type(error) is kind, (told, error)
            assert error.body and error.body["message"], (told, error.body)
            assert streams or error.status_code == int(status), (told, error)
        else:
            raise AssertionError(f"{told} was not raised, but {answer} {pieces}")


server = client(assistant_url)
check_models(server)
check_document(server)
check_stream(server)
check_tools(server)
check_unpaired(server)
raises(openai.AuthenticationError, client(assistant_url, "wrong"), say("x"))
limited = raises(openai.RateLimitError, client(limited_url), say("x"))
assert limited.response.headers["retry-after"] == "7"
assert limited.response.headers["x-ratelimit-reset-tokens"] == "6m0s"
assert limited.code == "rate_limit_exceeded"
check_image(server)
check_schema(server)
check_options(server)
check_reasoning(client(thinker_url))
check_embeddings(server)
check_faults(client(faulty_url))
print("models document stream tools unpaired auth rate_limit image schema options reasoning embeddings faults")
