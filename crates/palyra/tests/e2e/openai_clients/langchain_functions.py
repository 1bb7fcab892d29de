"""LangChain with functions of the client: whole and as a stream."""

from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI


@tool
def get_weather(city: str) -> str:
    """The weather."""
    return "rain"


@tool
def get_time(city: str) -> str:
    """The time."""
    return "noon"


functions = {"get_weather": get_weather, "get_time": get_time}
model = ChatOpenAI(model="palyra", max_retries=0).bind_tools(list(functions.values()))
said = []


def results(message):
    assert [call["name"] for call in message.tool_calls] == list(functions), message
    return [
        ToolMessage(functions[call["name"]].invoke(call["args"]), tool_call_id=call["id"])
        for call in message.tool_calls
    ]


talk = [HumanMessage("hello chain")]
talk.append(model.invoke(talk))
answer = model.invoke(talk + results(talk[-1]))
assert answer.content == "Results: rain; noon", answer
said.append("whole")

talk = [HumanMessage("stream chain")]
whole = None
for chunk in model.stream(talk):
    whole = chunk if whole is None else whole + chunk
pieces = [piece.text for piece in model.stream([*talk, whole, *results(whole)])]
assert "".join(pieces) == "Results: rain; noon", pieces
said.append("stream")

print(" ".join(said))
