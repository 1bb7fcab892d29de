"""LangChain's chat model against the daemon: text, stream, structured output, and a wrong key."""

import openai
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_openai import ChatOpenAI
from pydantic import BaseModel


class Place(BaseModel):
    """A place."""

    city: str


model = ChatOpenAI(model="palyra", max_retries=0)
said = []

assert model.invoke("hello there").content == "You said: hello there"
said.append("text")

pieces = [chunk.text for chunk in model.stream("a stream of words")]
assert "".join(pieces) == "You said: a stream of words" and len(pieces) > 2, pieces
said.append("stream")

talk = [SystemMessage("be brief"), HumanMessage("my name is Ada")]
answer = model.invoke(talk)
assert "my name is Ada" in answer.content, answer
again = model.invoke([*talk, AIMessage(answer.content), HumanMessage("and now")])
assert again.content == "You said: and now", again
said.append("session")

place = model.with_structured_output(Place, method="json_schema").invoke("where is it")
assert isinstance(place.city, str)
said.append("structured")

try:
    ChatOpenAI(model="palyra", api_key="sk-wrong", max_retries=0).invoke("hello")
    raise AssertionError("a wrong key is taken")
except openai.AuthenticationError:
    said.append("key")

print(" ".join(said))
