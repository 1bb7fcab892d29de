"""The official Python client against the daemon. Prints the name of each part that works."""

import base64
import json
import os
import sys

import httpx2
import openai

said = []
seen = []


def watch(response):
    """Keeps every byte of every answer, to look for what must not be in it."""
    original = response.iter_raw

    def iter_raw(*args, **kwargs):
        for chunk in original(*args, **kwargs):
            seen.append(chunk)
            yield chunk

    response.iter_raw = iter_raw


client = openai.OpenAI(
    max_retries=0, timeout=60, http_client=httpx2.Client(event_hooks={"response": [watch]})
)


def part(function):
    function()
    said.append(function.__name__)


def ask(text, model="palyra", **more):
    return client.chat.completions.create(
        model=model, messages=[{"role": "user", "content": text}], **more
    )


@part
def models():
    names = [model.id for model in client.models.list()]
    assert "palyra" in names and "eyes/assistant" in names, names
    assert "palyra/model-alone" not in names, names
    assert client.models.retrieve("eyes/assistant").id == "eyes/assistant"
    raw = client.get("/models/eyes/assistant", cast_to=httpx2.Response)
    assert raw.json()["id"] == "eyes/assistant", raw
    assert client.models.retrieve("palyra").owned_by == "palyra"


@part
def text():
    answer = ask("hello there")
    assert answer.choices[0].message.content == "You said: hello there", answer
    assert answer.choices[0].finish_reason == "stop"
    assert answer.usage.total_tokens > 0
    assert answer._request_id.startswith("req_")


@part
def stream():
    with client.chat.completions.stream(
        model="palyra", messages=[{"role": "user", "content": "a stream of words"}]
    ) as events:
        final = events.get_final_completion()
    assert final.choices[0].message.content == "You said: a stream of words", final
    assert final.choices[0].message.role == "assistant"


@part
def usage():
    chunks = list(ask("count tokens", stream=True, stream_options={"include_usage": True}))
    assert chunks[-1].choices == [] and chunks[-1].usage.total_tokens > 0
    assert all(chunk.usage is None for chunk in chunks[:-1])
    assert len({chunk.id for chunk in chunks}) == 1


@part
def embeddings():
    texts = ["We deploy on Fridays.", "the deployment is on a Friday", "a recipe for soup"]
    for model, dimensions in [("palyra-embedded", 128), ("eyes/embed", 8)]:
        packed = client.embeddings.create(model=model, input=texts)
        plain = client.embeddings.create(model=model, input=texts, encoding_format="float")
        assert [entry.index for entry in packed.data] == [0, 1, 2] and packed.model == model, packed
        for one, other in zip(packed.data, plain.data):
            assert len(one.embedding) == dimensions, one
            assert list(one.embedding) == list(other.embedding), (one, other)
        assert packed.usage.total_tokens == packed.usage.prompt_tokens > 0, packed.usage
        assert packed.model in [model.id for model in client.models.list()]
    words = client.embeddings.create(model="palyra-embedded", input=texts).data
    alike = lambda a, b: sum(x * y for x, y in zip(words[a].embedding, words[b].embedding))
    assert abs(alike(0, 0) - 1) < 1e-5 and alike(0, 1) > alike(0, 2), (alike(0, 1), alike(0, 2))
    assert len(client.embeddings.create(model="eyes/embed", input="x", dimensions=5).data[0].embedding) == 5
    client.embeddings.create(model="eyes/embed", input="the key is " + os.environ["OPENAI_API_KEY"])
    for wrong, field in [
        ({"input": [1, 2]}, "input"),
        ({"input": ["x", ""]}, "input[1]"),
        ({"input": "x", "dimensions": 7}, "dimensions"),
        ({"input": "x", "encoding_format": "int8"}, "encoding_format"),
    ]:
        try:
            client.embeddings.create(model="palyra-embedded", **wrong)
        except openai.BadRequestError as error:
            assert error.param == field and error.body["message"], error
        else:
            raise AssertionError(wrong)
    try:
        client.embeddings.create(model="text-embedding-3-small", input="x")
    except openai.NotFoundError as error:
        assert error.code == "model_not_found" and "palyra-embedded" in str(error), error
    else:
        raise AssertionError("a model that is not there")
    narrow = openai.OpenAI(api_key=os.environ["PALYRA_NARROW_TOKEN"], max_retries=0)
    try:
        narrow.embeddings.create(model="palyra-embedded", input="x")
    except openai.PermissionDeniedError:
        pass
    else:
        raise AssertionError("a token without the scope")


@part
def tools():
    answer = ask("Read secret-notes.md and tell me what it says")
    assert answer.choices[0].message.content.startswith("Let me read it. \n\nThe file says"), answer
    assert answer.choices[0].message.tool_calls is None
    events = list(
        client.responses.create(
            model="palyra", input="Read other-notes.md and tell me what it says", stream=True
        )
    )
    assert events[-1].type == "response.completed"
    assert [item.type for item in events[-1].response.output] == ["message", "message"]


@part
def structured():
    schema = {
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
        "additionalProperties": False,
    }
    form = {"type": "json_schema", "json_schema": {"name": "place", "strict": True, "schema": schema}}
    answer = ask("where", response_format=form)
    assert isinstance(json.loads(answer.choices[0].message.content)["city"], str), answer
    form = {"format": {"type": "json_schema", "name": "place", "strict": True, "schema": schema}}
    answer = client.responses.create(model="palyra", input="where is it", text=form)
    assert isinstance(json.loads(answer.output_text)["city"], str), answer


@part
def image():
    dot = base64.b64encode(
        bytes.fromhex(
            "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c49444154"
            "78da63f8cfc0000003010100f70341430000000049454e44ae426082"
        )
    ).decode()
    url = f"data:image/png;base64,{dot}"
    content = [{"type": "text", "text": "what is it"}, {"type": "image_url", "image_url": {"url": url}}]
    answer = client.chat.completions.create(model="palyra", messages=[{"role": "user", "content": content}])
    assert answer.choices[0].message.content.startswith("You showed: "), answer


@part
def settings():
    """What reached the model is looked at from outside."""
    answer = ask(
        "with settings",
        temperature=0.2,
        top_p=0.5,
        stop=["END"],
        seed=-7,
        reasoning_effort="low",
        verbosity="high",
        parallel_tool_calls=False,
        max_completion_tokens=900,
    )
    assert answer.choices[0].message.content == "You said: with settings", answer
    answer = client.responses.create(
        model="palyra",
        input="respond with settings",
        temperature=0.3,
        reasoning={"effort": "minimal"},
        text={"verbosity": "low"},
        max_output_tokens=800,
    )
    assert (answer.temperature, answer.reasoning.effort) == (0.3, "minimal"), answer


def missing(kind, call):
    try:
        call()
    except kind as error:
        assert type(error) is kind, error
        return error
    raise AssertionError("it can be used")


@part
def errors():
    def fails(kind, code=None, **more):
        try:
            ask("fail", **more)
        except kind as error:
            assert type(error) is kind, error
            assert code is None or error.code == code, error.code
            assert error.response.headers["x-should-retry"] == "false"
            assert error.request_id.startswith("req_"), error.request_id
            return
        raise AssertionError(f"no {kind}")

    fails(openai.RateLimitError, "insufficient_quota", model="faults/quota")
    fails(openai.BadRequestError, "context_length_exceeded", model="faults/context")
    fails(openai.InternalServerError, model="faults/auth")
    fails(openai.NotFoundError, "model_not_found", model="gpt-4o")
    fails(openai.NotFoundError, "model_not_found", model="nowhere/gpt-4o")
    fails(openai.BadRequestError, n=2)
    fails(openai.BadRequestError, temperature=9)
    fails(openai.BadRequestError, reasoning_effort="huge")
    key = {"Idempotency-Key": "a key of python"}
    ask("once", extra_headers=key)
    fails(openai.ConflictError, "idempotency_conflict", extra_headers=key)
    narrow = openai.OpenAI(api_key=os.environ["PALYRA_NARROW_TOKEN"], max_retries=0)
    missing(openai.PermissionDeniedError, narrow.models.list)
    try:
        openai.OpenAI(api_key="sk-wrong", max_retries=0).models.list()
        raise AssertionError("a wrong key is taken")
    except openai.AuthenticationError as error:
        assert error.code == "invalid_api_key", error.code
        assert error.request_id.startswith("req_"), error.request_id
    try:
        for _ in ask("fail in a stream", model="faults/quota", stream=True):
            pass
        raise AssertionError("no error in the stream")
    except openai.APIError as error:
        assert error.code == "insufficient_quota", error.code


@part
def failures():
    """A response that fails ends with `response.failed`, and says why when it is read again."""

    def create(text, **more):
        return client.responses.create(input=text, **more)

    events = list(create("fail in events", model="faults/quota", stream=True))
    kinds = [event.type for event in events]
    assert kinds[0] == "response.created" and kinds[-1] == "response.failed", kinds
    assert not {"error", "response.completed", "response.incomplete"} & set(kinds), kinds
    failed = events[-1].response
    assert (failed.status, failed.error.code) == ("failed", "insufficient_quota"), failed
    again = client.responses.retrieve(failed.id)
    assert (again.status, again.error) == ("failed", failed.error), again
    whole = missing(openai.RateLimitError, lambda: create("fail at once", model="faults/quota"))
    assert whole.code == "insufficient_quota", whole.code
    alone = create("fail alone", model="faults/context", background=True)
    last = list(client.responses.retrieve(alone.id, stream=True))[-1]
    assert (last.type, last.response.error.code) == ("response.failed", "context_length_exceeded"), last


@part
def session():
    """A stateless client sends everything again; the daemon knows the place and sends the model its own history."""
    messages = [{"role": "user", "content": "my name is Ada"}]
    first = client.chat.completions.create(model="palyra", messages=messages)
    messages.append({"role": "assistant", "content": first.choices[0].message.content})
    messages.append({"role": "user", "content": "and what is my name"})
    second = client.chat.completions.create(model="palyra", messages=messages)
    assert second.choices[0].message.content == "You said: and what is my name", second
    messages[1]["content"] = "something that was never said"
    third = client.chat.completions.create(model="palyra", messages=messages)
    assert "reported_by" in third.choices[0].message.content, third


@part
def responses():
    answer = client.responses.create(model="palyra", input="hello response", instructions="be brief")
    assert answer.status == "completed" and answer.output_text.endswith("hello response"), answer
    assert answer.instructions == "be brief"
    again = client.responses.retrieve(answer.id)
    assert (again.output_text, again.model) == (answer.output_text, "palyra"), again


@part
def response_stream():
    with client.responses.stream(model="palyra", input="a response in pieces") as events:
        numbers = [event.sequence_number for event in events if hasattr(event, "sequence_number")]
        final = events.get_final_response()
    assert numbers == sorted(set(numbers)), numbers
    assert final.output_text == "You said: a response in pieces", final
    later = list(client.responses.retrieve(final.id, stream=True, starting_after=2))
    assert [event.sequence_number for event in later][0] == 3
    assert later[-1].type == "response.completed"


@part
def background():
    queued = client.responses.create(model="palyra", input="work alone", background=True)
    assert queued.status in ("queued", "in_progress", "completed"), queued
    events = list(client.responses.retrieve(queued.id, stream=True))
    assert [event.sequence_number for event in events] == list(range(len(events)))
    joined = "".join(event.delta for event in events if event.type == "response.output_text.delta")
    assert joined == client.responses.retrieve(queued.id).output_text == "You said: work alone"
    slow = client.responses.create(model="faults/slow", input="count", background=True)
    cancelled = client.responses.cancel(slow.id)
    assert cancelled.status == "cancelled", cancelled
    waited_for = client.responses.create(model="palyra", input="work with me")
    missing(openai.BadRequestError, lambda: client.responses.cancel(waited_for.id))


@part
def previous():
    first = client.responses.create(model="palyra", input="first", instructions="be brief")
    second = client.responses.create(model="palyra", input="second", previous_response_id=first.id)
    branch = client.responses.create(model="palyra", input="a branch", previous_response_id=first.id)
    assert (second.output_text, branch.output_text) == ("You said: second", "You said: a branch")
    assert second.previous_response_id == first.id
    assert "be brief" in first.output_text and second.instructions is None, "instructions are not carried over"


@part
def unstored():
    answer = client.responses.create(model="palyra", input="forget me", store=False)
    for call in (
        lambda: client.responses.retrieve(answer.id),
        lambda: client.responses.create(model="palyra", input="x", previous_response_id=answer.id),
    ):
        try:
            call()
            raise AssertionError("it can be used")
        except openai.NotFoundError:
            pass
        except openai.BadRequestError as error:
            assert error.code == "previous_response_not_found", error.code


@part
def deleted():
    stored = client.responses.create(model="palyra", input="delete me")
    alone = client.responses.create(model="palyra", input="delete me, alone", background=True)
    list(client.responses.retrieve(alone.id, stream=True))
    unstored = client.responses.create(model="palyra", input="not stored", store=False)
    answer = client.delete(f"/responses/{stored.id}", cast_to=httpx2.Response).json()
    assert answer == {"id": stored.id, "object": "response", "deleted": True}, answer
    client.responses.delete(alone.id)
    for gone in (stored.id, alone.id, unstored.id):
        missing(openai.NotFoundError, lambda: client.responses.retrieve(gone))
        missing(openai.NotFoundError, lambda: list(client.responses.retrieve(gone, stream=True)))
        missing(openai.NotFoundError, lambda: client.responses.cancel(gone))
        missing(openai.NotFoundError, lambda: client.responses.input_items.list(gone))
        missing(openai.NotFoundError, lambda: client.responses.delete(gone))
        again = lambda: client.responses.create(model="palyra", input="x", previous_response_id=gone)
        assert missing(openai.BadRequestError, again).code == "previous_response_not_found"
    print(stored.id, alone.id, file=sys.stderr)


@part
def input_items():
    answer = client.responses.create(model="palyra", input="what was asked")
    items = client.responses.input_items.list(answer.id)
    assert [item.content[0].text for item in items] == ["what was asked"], items


@part
def disconnect():
    """A client that leaves takes its run with it: the same words, sent later, are another run."""
    stream = ask("leave me", model="faults/slow", stream=True)
    first = next(iter(stream))
    stream.close()
    chunks = ask("leave me", model="faults/slow", stream=True)
    assert next(iter(chunks)).id == first.id, "a client that comes back at once finds its run"
    chunks.close()


everything = b"".join(seen).decode()
for inside in ("read_file", "fs.read", "tool_proposed", "tool_finished", "ToolProposed", "/home/", "/tmp/", "approval"):
    assert inside not in everything, inside
print(" ".join(said))
