"""Drives a model server with the official Anthropic SDK.

argv: the origins of the assistant, of a server that thinks and then calls, of one that lists 45 models, and of
one that fails with each fault in turn, as told by the exception names behind it.
"""

import json
import sys

import anthropic

assistant_url, thinker_url, lister_url, faulty_url, *expected = sys.argv[1:]
MODEL = "test-model"
TOOLS = [
    {
        "name": "read_file",
        "description": "Reads a file.",
        "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}},
    }
]
PNG = "iVBORw0KGgo="
THINKING = {"type": "enabled", "budget_tokens": 1024}


def client(url, key="test-key"):
    return anthropic.Anthropic(base_url=url, api_key=key, max_retries=0, timeout=30)


def say(content):
    return [{"role": "user", "content": content}]


def ask(server, messages, **more):
    return server.messages.create(**{"model": MODEL, "max_tokens": 2000, "messages": messages, **more})


def check_models(server):
    models = list(server.models.list(limit=20))
    assert len(models) == 45 and models[44].id == "model-44", models
    assert models[0].type == "model" and models[0].max_input_tokens == 200000


def check_document(server):
    answer = ask(server, say("Hello there"))
    assert answer.content[0].text == "You said: Hello there", answer
    assert (answer.type, answer.role, answer.stop_reason) == ("message", "assistant", "end_turn")
    assert answer.usage.input_tokens > 0 and answer.usage.output_tokens > 0
    assert answer.usage.cache_read_input_tokens == 0


def check_stream(server):
    arguments = {"model": MODEL, "max_tokens": 2000, "messages": say("Hello there")}
    with server.messages.stream(**arguments) as stream:
        pieces = list(stream.text_stream)
        message = stream.get_final_message()
    assert "".join(pieces) == "You said: Hello there" and len(pieces) > 2, pieces
    assert message.stop_reason == "end_turn" and message.usage.output_tokens > 1
    events = [event.type for event in server.messages.create(**arguments, stream=True)]
    assert events[:2] == ["message_start", "content_block_start"], events
    assert events[-3:] == ["content_block_stop", "message_delta", "message_stop"], events


def check_thinking(server):
    messages = say("Read README.md, please")
    arguments = {"model": MODEL, "max_tokens": 2000, "tools": TOOLS, "thinking": THINKING}
    with server.messages.stream(**arguments, messages=messages) as stream:
        message = stream.get_final_message()
    kinds = [block.type for block in message.content]
    assert kinds == ["thinking", "redacted_thinking", "text", "tool_use"], kinds
    thought, _, _, call = message.content
    assert thought.thinking == "Let me think." and thought.signature
    assert (call.name, call.input, message.stop_reason) == ("read_file", {"path": "README.md"}, "tool_use")
    usage = message.usage
    counts = (usage.input_tokens, usage.cache_read_input_tokens, usage.cache_creation_input_tokens)
    assert counts == (10, 80, 10) and usage.output_tokens == 40, usage
    assert usage.output_tokens_details.thinking_tokens == 30, usage
    result = {"type": "tool_result", "tool_use_id": call.id, "content": "# Heron\n\nCounts."}
    turns = lambda content: messages + [{"role": "assistant", "content": content}] + say([result])
    raises(anthropic.BadRequestError, server, turns([call]), "but found `tool_use`")
    forged = thought.model_copy(update={"thinking": "Let me think!"})
    raises(anthropic.BadRequestError, server, turns([forged, call]), "Invalid `signature`")
    answer = ask(server, turns(message.content), tools=TOOLS, thinking=THINKING)
    assert answer.content[0].text == "It counts herons.", answer


def check_tools(server):
    messages = say("Read README.md, please")
    message = ask(server, messages, tools=TOOLS)
    call = message.content[-1]
    assert call.input == {"path": "README.md"}, call
    messages.append(message.to_param())
    result = {"type": "tool_result", "tool_use_id": call.id, "content": [{"type": "text", "text": "# Heron"}]}
    answer = ask(server, messages + say([result]), tools=TOOLS)
    assert answer.content[0].text == "The file says: # Heron", answer
    raises(anthropic.BadRequestError, server, messages + say("Never mind"), "immediately after", thinking=None)


def check_image(server):
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
    text = {"type": "text", "text": "What is it?"}
    answer = ask(server, say([image, text]))
    assert answer.content[0].text == "You showed: image/png of 8 bytes", answer
    image["source"]["media_type"] = "image/gif"
    raises(anthropic.BadRequestError, server, say([image, text]), "appears to be", thinking=None)


def check_schema(server):
    schema = {
        "type": "object",
        "properties": {"said": {"type": "string"}},
        "required": ["said"],
        "additionalProperties": False,
    }
    answer = ask(server, say("Hello"), output_config={"format": {"type": "json_schema", "schema": schema}})
    assert json.loads(answer.content[0].text) == {"said": "Hello"}, answer


def check_faults(server):
    for name in expected:
        streams = name.startswith("stream:")
        kind = getattr(anthropic, name.removeprefix("stream:"))
        try:
            answer = ask(server, say("x"), stream=streams)
            pieces = list(answer) if streams else []
        except kind as error:
            assert type(error) is kind, (name, error)
            assert error.request_id and error.body["request_id"] == error.request_id, error.body
            if kind is anthropic.RateLimitError and not streams:
                assert error.response.headers["retry-after"] == "7"
        else:
            raise AssertionError(f"{name} was not raised, but {answer} {pieces}")


def raises(expected, server, messages, words="", thinking=THINKING):
    more = {"thinking": thinking} if thinking else {}
    try:
        ask(server, messages, tools=TOOLS, **more)
    except expected as error:
        assert words in error.message, error
        return
    raise AssertionError(f"{expected} was not raised")


server = client(assistant_url)
check_models(client(lister_url))
check_document(server)
check_stream(server)
check_tools(server)
check_image(server)
check_schema(server)
check_thinking(client(thinker_url))
raises(anthropic.AuthenticationError, client(assistant_url, "wrong"), say("x"), "Invalid bearer token")
wrong = anthropic.Anthropic(
    base_url=assistant_url, api_key=None, default_headers={"X-Api-Key": "wrong"}, max_retries=0, timeout=30
)
raises(anthropic.AuthenticationError, wrong, say("x"), "invalid x-api-key")
check_faults(client(faulty_url))
print("models document stream tools image schema thinking auth faults")
