// The page of incidents in a browser: its open incidents, and the table of those that are over.
//
// Reports a line of JSON for each visit of the page, and reads a word from its input before each further one.

import { createInterface } from "node:readline";

import { click, evaluate, finish, open } from "../devtools.mjs";

const { PALYRA_TEST_PORT: port, PALYRA_TEST_LINK: link } = process.env;
const input = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

// Runs inside of the page: the text of each card above the table, and of the table.
function incidents() {
  const cards = [...document.querySelectorAll("section.card")].filter((card) => card.querySelector("dl.facts"));
  const heading = [...document.querySelectorAll("h2")].find((one) => one.textContent === "Over");
  const after = heading?.nextElementSibling;
  return { open: cards.map((card) => card.innerText), over: after?.innerText ?? "" };
}

async function visit() {
  await open(`http://localhost:${port}/console/incidents`);
  const data = await evaluate(`(${incidents})()`);
  console.log(JSON.stringify({ kind: "page", data }));
}

await open(link);
await click("form button");
await visit();
for (;;) {
  const { value, done } = await input.next();
  if (done || value === "end") break;
  await visit();
}
finish();
