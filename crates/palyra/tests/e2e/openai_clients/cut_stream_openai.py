"""The official Python client while the daemon is killed. `cut_streams.rs` has its lines."""

import threading

import openai
from cut_stream import begun, cut, go_on, said

repeating = openai.OpenAI(max_retries=50, timeout=60)
client = openai.OpenAI(max_retries=0, timeout=60)


def messages(words):
    return [{"role": "user", "content": words}]


def ask():
    answer = repeating.chat.completions.create(model="palyra", messages=messages("python, whole"))
    said(answer.choices[0].message.content)


def chat():
    """The id and the pieces of a chat."""
    stream = client.chat.completions.create(model="palyra", messages=messages("python, a chat"), stream=True)
    for chunk in stream:
        if chunk.choices and chunk.choices[0].delta.content:
            yield chunk.id, chunk.choices[0].delta.content


def response():
    """The id and the pieces of a response."""
    name = None
    for event in client.responses.create(model="palyra", input="python, a response", stream=True):
        name = event.response.id if event.type == "response.created" else name
        if event.type == "response.output_text.delta":
            yield name, event.delta


whole = threading.Thread(target=ask)
whole.start()
streams = [chat, response]
open_streams = [stream() for stream in streams]
first = [next(stream) for stream in open_streams]
begun()
for stream in open_streams:
    try:
        list(stream)
        raise AssertionError("the stream is whole")
    except openai.APIConnectionError as error:
        cut(type(error).__name__)
go_on()
again = [stream() for stream in streams]
assert [next(stream) for stream in again] == first, "a repetition has the ids and words of the first request"
begun()
for (_, piece), stream in zip(first, again):
    said(piece + "".join(piece for _, piece in stream))
whole.join()
