"""Makes a response in the background and reads its events to the end, however often the daemon is killed meanwhile.

Prints each event as a line of JSON, then what is stored and the events as they are read once more.
"""

import json
import os
import sys
import threading
import time

import httpx2
import openai

TERMINAL = ("response.completed", "response.failed", "response.incomplete")

client = openai.OpenAI(max_retries=0, timeout=60)


def report(kind, data):
    print(json.dumps({"kind": kind, "data": data}), flush=True)


def facts(event):
    return [event.sequence_number, event.type, getattr(event, "delta", "")]


def end_with_the_test():
    sys.stdin.read()
    os._exit(0)


threading.Thread(target=end_with_the_test, daemon=True).start()
name = None
last = None
is_over = False
while not is_over:
    stream = None
    try:
        if name is None:
            stream = client.responses.create(
                model="palyra", input="say all of it", background=True, stream=True
            )
        else:
            stream = client.responses.retrieve(name, stream=True, starting_after=last)
        for event in stream:
            if name is None:
                name = event.response.id
            last = event.sequence_number
            is_over = event.type in TERMINAL
            report("event", facts(event))
    except (openai.APIConnectionError, httpx2.HTTPError):
        pass
    if stream is None:
        # The daemon is down.
        time.sleep(0.05)
    elif not is_over:
        report("cut", last)

stored = client.responses.retrieve(name)
report("stored", [stored.id, stored.status, stored.output_text])
report("again", [facts(event) for event in client.responses.retrieve(name, stream=True)])
