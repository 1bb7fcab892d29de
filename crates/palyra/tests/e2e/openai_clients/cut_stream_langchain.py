"""LangChain while the daemon is killed. `cut_streams.rs` has its lines."""

import threading

import openai
from cut_stream import begun, cut, go_on, said
from langchain_openai import ChatOpenAI

repeating = ChatOpenAI(model="palyra", max_retries=50)
model = ChatOpenAI(model="palyra", max_retries=0)


def pieces():
    """The id and the pieces of a chat."""
    for chunk in model.stream("langchain, a chat"):
        if chunk.text:
            yield chunk.id, chunk.text


whole = threading.Thread(target=lambda: said(repeating.invoke("langchain, whole").text))
whole.start()
stream = pieces()
_, first = next(stream)
begun()
try:
    list(stream)
    raise AssertionError("the stream is whole")
except openai.APIConnectionError as error:
    cut(type(error).__name__)
go_on()
again = pieces()
_, piece = next(again)
assert piece == first, piece
begun()
said(piece + "".join(piece for _, piece in again))
whole.join()
