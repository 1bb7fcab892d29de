"""Sums what models used from the entries of a journal, by SQL and by the formats of docs/journal-format.md alone."""

import json
import sqlite3
import struct
import sys

HEADER = struct.Struct(">BBHIQq16s16s16s16sII32s32sH")
STARTED, REQUESTED, MESSAGE, ABANDONED = 0x0040, 0x0050, 0x0052, 0x0053
SURFACES = {1: "SURFACE_LOCAL_SOCKET", 3: "SURFACE_HTTP"}
FAILURE = 2
TOKENS_PER_TEXT_ENTRY = 6
DAY_MICROS = 24 * 60 * 60 * 1_000_000


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return value, at


def fields(data):
    """Returns the last value of each field of a message."""
    found, at = {}, 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            found[key >> 3], at = varint(data, at)
        else:
            assert key & 7 == 2, key
            length, at = varint(data, at)
            found[key >> 3] = data[at : at + length]
            at += length
    return found


def add(totals, requests, tokens_in, tokens_out):
    for name, more in zip(("requests", "input_tokens", "output_tokens"), (requests, tokens_in, tokens_out)):
        totals[name] = totals.get(name, 0) + more


days, surfaces, everything, runs = {}, {}, {}, {}
journal = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
wanted = "SELECT envelope FROM entry WHERE kind IN (?, ?, ?, ?) ORDER BY seq"
for (envelope,) in journal.execute(wanted, (STARTED, REQUESTED, MESSAGE, ABANDONED)):
    header = HEADER.unpack_from(envelope)
    kind, time, run = header[2], header[5], header[9]
    facts = fields(envelope[HEADER.size :])
    if kind == STARTED:
        runs[run] = {"surface": SURFACES[facts[3]], "context": 0}
        continue
    used = (0, 0, 0)
    if kind == REQUESTED:
        runs[run]["context"] = facts.get(8, 0)
        used = (1, 0, 0)
    elif kind == MESSAGE:
        usage = fields(facts.get(7, b""))
        used = (0, usage.get(1, 0), usage.get(3, 0))
    elif 3 in facts or facts[5] != FAILURE:
        texts = facts[4] - facts[3] + 1 if 3 in facts else 0
        used = (0, runs[run]["context"], texts * TOKENS_PER_TEXT_ENTRY)
    add(days.setdefault(str(time // DAY_MICROS), {}), *used)
    add(surfaces.setdefault(runs[run]["surface"], {}), *used)
    add(everything, *used)
print(json.dumps({"all": everything, "days": days, "surfaces": surfaces}))
