"""Drives a model server with the official OpenAI SDK: argv is the assistant's and the limited server's URL."""

import json
import sys

import openai

assistant_url, limited_url = sys.argv[1:]
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


def raises(expected, server, messages):
    try:
        server.chat.completions.create(model=MODEL, messages=messages)
    except expected as error:
        return error
    raise AssertionError(f"{expected} was not raised")


server = client(assistant_url)
check_models(server)
check_document(server)
check_stream(server)
check_tools(server)
check_unpaired(server)
raises(openai.AuthenticationError, client(assistant_url, "wrong"), say("x"))
limited = raises(openai.RateLimitError, client(limited_url), say("x"))
assert limited.response.headers["retry-after"] == "7"
print("models document stream tools unpaired auth rate_limit")
