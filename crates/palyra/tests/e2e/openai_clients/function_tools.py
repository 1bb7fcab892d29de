"""The official Python client with functions of its own. Prints the name of each part that works."""

import openai

said = []
client = openai.OpenAI(max_retries=0, timeout=60)
NAMES = ("get_weather", "get_time")
PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
FLAT = [{"type": "function", "name": name, "description": f"{name}.", "parameters": PARAMETERS} for name in NAMES]
NESTED = [{"type": "function", "function": {k: v for k, v in tool.items() if k != "type"}} for tool in FLAT]
RESULTS = {"get_weather": "rain", "get_time": "noon"}
ANSWER = "Results: rain; noon"


def part(function):
    function()
    said.append(function.__name__)


def refused(call):
    try:
        call()
    except openai.BadRequestError as error:
        assert error.response.headers["x-should-retry"] == "false"
        return error
    raise AssertionError("it is taken")


def ask(messages, **more):
    return client.chat.completions.create(model="palyra", messages=messages, tools=NESTED, **more)


def tool_messages(calls):
    """The results in the other order."""
    message = lambda call: {"role": "tool", "tool_call_id": call.id, "content": RESULTS[call.function.name]}
    return [message(call) for call in reversed(calls)]


def called(text, **more):
    """Asks, and returns the conversation with the two calls."""
    messages = [{"role": "user", "content": text}]
    choice = ask(messages, **more).choices[0]
    calls = choice.message.tool_calls
    assert choice.finish_reason == "tool_calls" and choice.message.content is None, choice
    assert [call.function.name for call in calls] == list(NAMES), calls
    assert all(call.id and call.function.arguments == '{"city":"Oslo"}' for call in calls), calls
    messages.append(choice.message.model_dump(exclude_none=True))
    return messages, calls


@part
def parallel():
    messages, calls = called("in parallel", tool_choice="required", parallel_tool_calls=True)
    parts = tool_messages(calls)
    parts[0]["content"] = [{"type": "text", "text": parts[0]["content"]}]
    messages += parts
    answer = ask(messages, tool_choice="auto")
    assert (answer.choices[0].message.content, answer.choices[0].finish_reason) == (ANSWER, "stop"), answer
    again = ask(messages, tool_choice="auto")
    assert (again.id, again.choices[0].message.content) == (answer.id, ANSWER), "a repetition has the same answer"
    messages += [{"role": "assistant", "content": ANSWER}, {"role": "user", "content": "plainly now"}]
    plain = client.chat.completions.create(model="palyra", messages=messages)
    assert plain.choices[0].message.content == "You said: plainly now", "the session goes on"


@part
def rounds():
    """A second call after the first results, and words of the user behind results."""
    messages, calls = called("twice please")
    messages += tool_messages(calls)
    choice = ask(messages, max_completion_tokens=500).choices[0]
    assert [call.function.name for call in choice.message.tool_calls] == ["get_time"], choice
    messages.append(choice.message.model_dump(exclude_none=True))
    messages += tool_messages(choice.message.tool_calls)
    messages.append({"role": "user", "content": "and hurry"})
    answer = ask(messages).choices[0].message.content
    assert answer == "You said: and hurry", answer


@part
def stream():
    messages = [{"role": "user", "content": "in a stream"}]
    with client.chat.completions.stream(model="palyra", messages=messages, tools=NESTED) as events:
        done = [event for event in events if event.type == "tool_calls.function.arguments.done"]
        final = events.get_final_completion().choices[0]
    assert [event.name for event in done] == list(NAMES), done
    assert final.finish_reason == "tool_calls", final
    calls = final.message.tool_calls
    assert [call.index for call in calls] == [0, 1] and all(call.id for call in calls), calls
    messages.append({
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": c.id, "type": "function", "function": {"name": c.function.name, "arguments": c.function.arguments}}
            for c in calls
        ],
    })
    messages += tool_messages(calls)
    with client.chat.completions.stream(model="palyra", messages=messages, tools=NESTED) as events:
        assert events.get_final_completion().choices[0].message.content == ANSWER


@part
def incomplete():
    messages, calls = called("with a result missing")
    results = tool_messages(calls)
    error = refused(lambda: ask(messages + results[:1]))
    assert error.param == "messages[1]" and calls[0].id in error.message, error.message
    assert calls[1].id not in error.message, error.message
    wrong = [{**results[0], "tool_call_id": "call_of_somebody"}, results[1]]
    assert "call_of_somebody" in refused(lambda: ask(messages + wrong)).message
    assert ask(messages + results).choices[0].message.content == ANSWER, "the run still waits"
    other = [{**result, "content": "something else"} for result in results]
    assert refused(lambda: ask(messages + other)).param == "messages[3]"


def respond(items, **more):
    return client.responses.create(model="palyra", input=items, tools=FLAT, **more)


def outputs(response):
    calls = [item for item in response.output if item.type == "function_call"]
    assert [call.name for call in calls] == list(NAMES), response.output
    assert all(call.status == "completed" and call.arguments == '{"city":"Oslo"}' for call in calls)
    output = lambda call: {"type": "function_call_output", "call_id": call.call_id, "output": RESULTS[call.name]}
    return [output(call) for call in reversed(calls)]


@part
def responses():
    first = respond("respond", tool_choice={"type": "function", "name": "get_time"})
    assert first.status == "completed" and first.tools[0].name == "get_weather", first
    results = outputs(first)
    error = refused(lambda: respond(results[:1], previous_response_id=first.id))
    assert error.param == "input" and results[1]["call_id"] in error.message, error
    error = refused(lambda: respond("go on", previous_response_id=first.id))
    assert all(result["call_id"] in error.message for result in results), error
    unknown = {**results[0], "call_id": "call_of_somebody"}
    assert refused(lambda: respond([unknown], previous_response_id=first.id)).param == "input[0]"
    second = respond(results, previous_response_id=first.id)
    assert (second.output_text, second.status) == (ANSWER, "completed"), second
    assert second.id != first.id
    assert respond(results, previous_response_id=first.id).id == second.id, "a repetition"
    assert client.responses.retrieve(second.id).output_text == ANSWER
    again = client.responses.retrieve(first.id)
    assert [item.type for item in again.output] == ["function_call", "function_call"], again
    items = list(client.responses.input_items.list(second.id, order="asc"))
    assert [item.output for item in items] == ["rain", "noon"], items
    third = client.responses.create(model="palyra", input="and plainly", previous_response_id=second.id)
    assert third.output_text == "You said: and plainly", third


@part
def response_stream():
    with client.responses.stream(model="palyra", input="respond in a stream", tools=FLAT) as events:
        kinds = [event.type for event in events]
        first = events.get_final_response()
    assert kinds.count("response.function_call_arguments.done") == 2, kinds
    with client.responses.stream(
        model="palyra", input=outputs(first), previous_response_id=first.id, tools=FLAT
    ) as events:
        numbers = [event.sequence_number for event in events]
        assert events.get_final_response().output_text == ANSWER
    assert numbers == list(range(len(numbers))), numbers


@part
def stateless():
    items = [{"role": "user", "content": "keep nothing"}]
    first = respond(items, store=False)
    items += [item.model_dump(exclude_none=True) for item in first.output] + outputs(first)
    second = respond(items, store=False)
    assert second.output_text == ANSWER, second
    items += [{"role": "assistant", "content": ANSWER}, {"role": "user", "content": "more"}]
    assert respond(items, store=False, tool_choice="none").output_text == "You said: more"


@part
def background():
    first = client.responses.create(model="palyra", input="alone", tools=FLAT, background=True)
    last = list(client.responses.retrieve(first.id, stream=True))[-1]
    assert last.type == "response.completed", last
    second = respond(outputs(last.response), previous_response_id=first.id)
    assert second.output_text == ANSWER, second


@part
def deleted():
    first = respond("delete me")
    results = outputs(first)
    client.responses.delete(first.id)
    error = refused(lambda: respond(results, previous_response_id=first.id))
    assert error.code == "previous_response_not_found", error


@part
def refusals():
    custom = [{"type": "custom", "custom": {"name": "f"}}]
    error = refused(lambda: client.chat.completions.create(
        model="palyra", messages=[{"role": "user", "content": "x"}], tools=custom))
    assert error.param == "tools[0].type", error


print(" ".join(said))
