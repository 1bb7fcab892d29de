"""The lines of a program whose daemon is killed while it reads: `cut_streams.rs` awaits them."""

import sys


def begun():
    """Each stream has its first words."""
    print("begun", flush=True)


def cut(kind):
    """A stream ended with an error of this class."""
    print("cut", kind, flush=True)


def go_on():
    """Waits until the daemon is there again."""
    assert sys.stdin.readline(), "the test has ended"


def said(text):
    """An answer is whole. The line is one write: threads say answers at the same time."""
    print(f"said {text}\n", end="", flush=True)
