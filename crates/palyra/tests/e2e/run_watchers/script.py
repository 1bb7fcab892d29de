"""Follows the events of a run, comes back by itself with the last number, and reports what it reads, a line of JSON each."""

import http.client
import json
import os
import sys
import threading
import time


def report(kind, data=None):
    print(json.dumps({"kind": kind, "data": data}), flush=True)


def connect(last):
    """Returns an answer, or nothing while the daemon is down."""
    headers = {"authorization": "Bearer " + os.environ["PALYRA_TOKEN"], "accept": "text/event-stream"}
    if last is not None:
        headers["last-event-id"] = last
    connection = http.client.HTTPConnection("127.0.0.1", int(os.environ["PALYRA_TEST_PORT"]), timeout=60)
    try:
        connection.request("GET", os.environ["PALYRA_TEST_PATH"], headers=headers)
        return connection.getresponse()
    except (OSError, http.client.HTTPException):
        return None


def blocks(answer):
    """Yields the fields of each whole event."""
    fields = {}
    while True:
        try:
            line = answer.readline()
        except (OSError, http.client.HTTPException):
            return
        if not line.endswith(b"\n"):
            return
        name, _, value = line.decode().rstrip("\n").partition(": ")
        if name:
            fields[name] = value
        elif fields:
            yield fields
            fields = {}


def end_with_the_test():
    sys.stdin.read()
    os._exit(0)


threading.Thread(target=end_with_the_test, daemon=True).start()
last = None
while True:
    answer = connect(last)
    if answer is None:
        time.sleep(0.05)
        continue
    if answer.status == 204:
        report("closed")
        break
    if answer.status != 200:
        sys.exit(f"{answer.status}: {answer.read()}")
    for event in blocks(answer):
        if "id" in event:
            last = event["id"]
            report("entry", {"id": last, "entry": json.loads(event["data"])})
        elif event.get("event") in ("caught_up", "end"):
            report(event["event"])
        elif event.get("event") == "error":
            sys.exit(event["data"])
    report("cut")
