"""Asks once with the number of repetitions that an SDK would send; says the answer and how many runs there are."""

import sys

import openai

count = sys.argv[1]
client = openai.OpenAI(max_retries=0, timeout=60)
try:
    answer = client.chat.completions.create(
        model="faults/slow",
        messages=[{"role": "user", "content": "count to three"}],
        extra_headers={"x-stainless-retry-count": count},
    )
    print(answer.choices[0].message.content)
    again = client.chat.completions.create(
        model="faults/slow",
        messages=[{"role": "user", "content": "count to three"}],
        extra_headers={"x-stainless-retry-count": "2"},
    )
    print("1 run" if again.id == answer.id else "2 runs")
except openai.APIConnectionError:
    print("cut")
