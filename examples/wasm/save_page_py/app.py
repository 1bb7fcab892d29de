"""A tool in Python: asks a host for a page, and saves its text as a file of the workspace."""

import json
from html.parser import HTMLParser

import wit_world
from componentize_py_types import Err
from wit_world.imports import http
from wit_world.imports.description import (
    Capability_Http,
    Capability_WriteFiles,
    Contract,
    ToolDescription,
)

HOST = "example.com"
SCHEMA = {
    "type": "object",
    "properties": {
        "page": {"type": "string", "description": "Where on the host, such as `/`."},
        "file": {"type": "string", "description": "The file to write, below the workspace."},
    },
    "required": ["page", "file"],
    "additionalProperties": False,
}


class Words(HTMLParser):
    """Gathers what a reader of the page would see."""

    def __init__(self):
        super().__init__()
        self.words, self.hidden = [], 0

    def handle_starttag(self, tag, attributes):
        self.hidden += tag in ("script", "style")

    def handle_endtag(self, tag):
        self.hidden -= tag in ("script", "style")

    def handle_data(self, data):
        if not self.hidden and data.strip():
            self.words.append(data.strip())


class WitWorld(wit_world.WitWorld):
    def describe(self) -> ToolDescription:
        return ToolDescription(
            name="save_page",
            description=f"Asks {HOST} for a page and writes its text into a file of the workspace.",
            schema=json.dumps(SCHEMA),
            contract=Contract.KEYED,
            capabilities=[Capability_WriteFiles(), Capability_Http(HOST)],
        )

    def run(self, arguments: str) -> str:
        wanted = json.loads(arguments)
        request = http.Request("GET", f"https://{HOST}/{wanted['page'].lstrip('/')}", [], b"")
        try:
            answer = http.fetch(request)
        except Err as problem:
            raise Err(f"no answer: {problem.value}")
        if answer.status != 200:
            raise Err(f"the host answered {answer.status}")
        page = Words()
        page.feed(answer.body.decode("utf-8", "replace"))
        with open(f"/workspace/{wanted['file']}", "w", encoding="utf-8") as file:
            file.write("\n".join(page.words) + "\n")
        return f"wrote {len(page.words)} lines to {wanted['file']}"
