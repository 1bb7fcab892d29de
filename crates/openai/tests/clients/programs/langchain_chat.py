"""LangChain's chat model: both endpoints, streamed and whole, and streams that do not come to their end."""

import openai
from langchain_core.messages import HumanMessage
from langchain_openai import ChatOpenAI
from reports import answer, failed, left, turn, watched_client

more = {"model": "palyra", "max_retries": 0, "http_client": watched_client()}
chat = ChatOpenAI(**more)
responses = ChatOpenAI(use_responses_api=True, use_previous_response_id=True, **more)

for model, name in [(chat, "chat"), (responses, "response")]:
    turn()
    answer("".join(chunk.text for chunk in model.stream(f"change it, as a stream of a {name}")))

    turn()
    messages = [HumanMessage(f"change it, in a {name}")]
    first = model.invoke(messages)
    answer(first.text)
    turn()
    answer(model.invoke([*messages, first, HumanMessage("is it done?")]).text)


def begin(words):
    """Opens a stream, and reads to its first words."""
    turn()
    stream = chat.stream(words)
    assert next(chunk for chunk in stream if chunk.text)
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
