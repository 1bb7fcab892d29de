"""What a program reports to its test: when a stream begins, each event without content, how it ends, and answers."""

import json
import sys

import httpx2


def turn():
    """Waits until the test wants the next request."""
    assert sys.stdin.readline(), "the test has ended"


def answer(text):
    """Reports an answer."""
    print("answer", json.dumps(text), flush=True)


def left():
    """Reports that it closed a stream."""
    print("left", flush=True)


def failed(sentence):
    """Reports the error that ended a stream."""
    print("error", json.dumps(sentence), flush=True)


class EventReports:
    """Reads the bytes of one stream of events."""

    def __init__(self):
        self.rest = b""
        self.last = None

    def read(self, chunk):
        *lines, self.rest = (self.rest + chunk).split(b"\n")
        for line in lines:
            if line.startswith(b"data: {"):
                self.event(json.loads(line[len(b"data: ") :]))

    def event(self, data):
        if self.last is None:
            print("begun", flush=True)
        elif self.is_empty(data):
            print("beat", flush=True)
        self.last = data

    def is_empty(self, data):
        """A delta of a chat without content, or an event of a response with the number of the one before."""
        if "choices" in data:
            choices = data["choices"]
            return bool(choices) and not choices[0]["delta"] and choices[0]["finish_reason"] is None
        return "sequence_number" in data and data["sequence_number"] == self.last["sequence_number"]


def watch(response):
    if not response.headers.get("content-type", "").startswith("text/event-stream"):
        return
    original, reports = response.iter_raw, EventReports()

    def iter_raw(*args, **kwargs):
        for chunk in original(*args, **kwargs):
            reports.read(chunk)
            yield chunk

    response.iter_raw = iter_raw


def watched_client():
    """Returns the HTTP client of a library, with reports of what it receives."""
    return httpx2.Client(timeout=600, event_hooks={"response": [watch]})
