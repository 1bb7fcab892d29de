"""Looks for responses by their ids, which were deleted before the daemon was started."""

import sys

import openai

client = openai.OpenAI(max_retries=0, timeout=60)
for name in sys.argv[1:]:
    try:
        client.responses.retrieve(name)
        print("found")
    except openai.NotFoundError:
        print("gone")
