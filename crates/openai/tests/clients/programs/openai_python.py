"""The official Python client: both endpoints, streamed and whole, and streams that do not come to their end."""

import openai
from reports import answer, failed, left, turn, watched_client

client = openai.OpenAI(max_retries=0, http_client=watched_client())

turn()
messages = [{"role": "user", "content": "change it, as a stream of a chat"}]
with client.chat.completions.stream(model="palyra", messages=messages) as stream:
    answer(stream.get_final_completion().choices[0].message.content)

turn()
messages = [{"role": "user", "content": "change it, in a chat"}]
first = client.chat.completions.create(model="palyra", messages=messages).choices[0].message.content
answer(first)
turn()
messages += [{"role": "assistant", "content": first}, {"role": "user", "content": "is it done?"}]
answer(client.chat.completions.create(model="palyra", messages=messages).choices[0].message.content)

turn()
with client.responses.stream(model="palyra", input="change it, as a stream of a response") as stream:
    answer(stream.get_final_response().output_text)

turn()
first = client.responses.create(model="palyra", input="change it, in a response")
answer(first.output_text)
turn()
second = client.responses.create(model="palyra", input="is it done?", previous_response_id=first.id)
answer(second.output_text)


def begin(words):
    """Opens a stream, and reads to its first words."""
    turn()
    words = [{"role": "user", "content": words}]
    stream = client.chat.completions.create(model="palyra", messages=words, stream=True)
    assert next(chunk for chunk in stream if chunk.choices[0].delta.content)
    return stream


stream = begin("count, and I leave")
turn()
stream.close()
left()

stream = begin("count until you stop")
try:
    list(stream)
except openai.APIError as error:
    failed(error.message)
