"""Asks with functions, or brings their results: the daemon is killed in between. The conversation is in a file."""

import json
import sys

import openai

stage, path = sys.argv[1:3]
client = openai.OpenAI(max_retries=0, timeout=60)
tools = [
    {"type": "function", "function": {"name": name, "parameters": {"type": "object"}}}
    for name in ("get_weather", "get_time")
]


def ask(messages):
    return client.chat.completions.create(model="palyra", messages=messages, tools=tools)


if stage == "call":
    messages = [{"role": "user", "content": "before the kill"}]
    answer = ask(messages)
    message = answer.choices[0].message
    messages.append(message.model_dump(exclude_none=True))
    messages += [{"role": "tool", "tool_call_id": c.id, "content": c.function.name} for c in message.tool_calls]
    with open(path, "w") as file:
        json.dump(messages, file)
    print(answer.choices[0].finish_reason)
else:
    with open(path) as file:
        messages = json.load(file)
    answer = ask(messages)
    print(answer.choices[0].message.content, answer.id)
