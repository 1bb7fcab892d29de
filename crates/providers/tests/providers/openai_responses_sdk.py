"""Drives a model server with the official OpenAI SDK, by its Responses.

argv: the URLs of the assistant, of a server that reasons and calls, and of one that fails within an answer.
"""

import json
import sys

import openai

assistant_url, thinker_url, faulty_url = sys.argv[1:]
MODEL = "test-model"
TOOL = {
    "type": "function",
    "name": "read_file",
    "description": "Reads a file.",
    "parameters": {"type": "object", "properties": {"path": {"type": "string"}}},
    "strict": False,
}


def client(url, key="test-key"):
    return openai.OpenAI(base_url=url, api_key=key, max_retries=0, timeout=30)


def say(content):
    return [{"role": "user", "content": content}]


def check_document(server):
    answer = server.responses.create(model=MODEL, input=say("Hello there"), store=False)
    assert answer.output_text == "You said: Hello there", answer
    assert answer.status == "completed" and answer.usage.total_tokens > 0, answer


def check_stream(server):
    kinds, pieces = [], []
    for event in server.responses.create(model=MODEL, input=say("Hello there"), stream=True):
        kinds.append(event.type)
        if event.type == "response.output_text.delta":
            pieces.append(event.delta)
    assert "".join(pieces) == "You said: Hello there" and len(pieces) > 2, pieces
    assert (kinds[0], kinds[-1]) == ("response.created", "response.completed"), kinds


def check_tools(server):
    items = say("Read README.md, please")
    with server.responses.stream(model=MODEL, input=items, tools=[TOOL]) as stream:
        response = stream.get_final_response()
    call = response.output[-1]
    assert (call.type, call.name) == ("function_call", "read_file"), response
    assert json.loads(call.arguments) == {"path": "README.md"}, call
    items += [item.model_dump(exclude_none=True, exclude={"parsed_arguments"}) for item in response.output[1:]]
    items.append({"type": "function_call_output", "call_id": call.call_id, "output": "# Heron\n\nCounts."})
    answer = server.responses.create(model=MODEL, input=items, tools=[TOOL], store=False)
    assert answer.output_text == "The file says: # Heron / Counts.", answer


def raises(expected, server, **request):
    try:
        server.responses.create(model=MODEL, **request)
    except expected as error:
        return error
    raise AssertionError(f"{expected} was not raised")


def check_unpaired(server):
    call = {"type": "function_call", "call_id": "a", "name": "read_file", "arguments": "{}"}
    raises(openai.BadRequestError, server, input=[call] + say("y"))


def check_image(server):
    image = {"type": "input_image", "image_url": "data:image/png;base64,iVBORw0KGgo=", "detail": "auto"}
    answer = server.responses.create(model=MODEL, input=say([image, {"type": "input_text", "text": "What?"}]))
    assert answer.output_text == "You showed: image/png of 8 bytes", answer


def check_schema(server):
    schema = {"type": "object", "properties": {"said": {"type": "string"}}}
    wanted = {"format": {"type": "json_schema", "name": "report", "strict": False, "schema": schema}}
    answer = server.responses.create(model=MODEL, input=say("Hello"), text=wanted)
    assert json.loads(answer.output_text) == {"said": "Hello"}, answer


def check_reasoning(server):
    include = ["reasoning.encrypted_content"]
    events = list(server.responses.create(model=MODEL, input=say("x"), include=include, stream=True))
    thought = "".join(event.delta for event in events if event.type == "response.reasoning_summary_text.delta")
    response = events[-1].response
    assert thought == "Let me think." and response.output[0].summary[0].text == thought, events
    assert response.output[0].encrypted_content, response
    assert response.usage.output_tokens_details.reasoning_tokens == 30, response.usage
    assert response.usage.input_tokens_details.cached_tokens == 80, response.usage
    assert (response.status, response.incomplete_details.reason) == ("incomplete", "max_output_tokens"), response
    back = say("x") + [item.model_dump(exclude_none=True) for item in response.output]
    reasoning = next(item for item in back if item.get("type") == "reasoning")
    for item in back[1:]:
        for part in item.get("content") or []:
            part.pop("logprobs", None), part.pop("annotations", None)
    server.responses.create(model=MODEL, input=back + say("y"), include=include, store=False)
    reasoning["summary"][0]["text"] += " "
    raises(openai.BadRequestError, server, input=back + say("y"), include=include, store=False)
    plain = server.responses.create(model=MODEL, input=say("x"))
    assert plain.output[0].encrypted_content is None, plain


def check_faults(server):
    events = list(server.responses.create(model=MODEL, input=say("x"), stream=True))
    assert events[-1].type == "response.failed" and events[-1].response.error.code, events[-1]
    try:
        events = list(server.responses.create(model=MODEL, input=say("x"), stream=True))
        assert events[-1].type == "error" and events[-1].code == "rate_limit_exceeded", events[-1]
    except openai.APIError as error:
        assert error.code == "rate_limit_exceeded", error


server = client(assistant_url)
check_document(server)
check_stream(server)
check_tools(server)
check_unpaired(server)
raises(openai.AuthenticationError, client(assistant_url, "wrong"), input="x")
raises(openai.BadRequestError, server, input="x", extra_body={"messages": []})
check_image(server)
check_schema(server)
check_reasoning(client(thinker_url))
check_faults(client(faulty_url))
print("document stream tools unpaired auth unknown image schema reasoning faults")
