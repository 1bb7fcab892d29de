// A browser that remembers a head of the journal, and checks later ones and single entries against it.
//
// Reports a line of JSON for each visit of the page, and reads a link from its input before each further one.

import { createInterface } from "node:readline";

import { click, evaluate, finish, open } from "../devtools.mjs";

const { PALYRA_TEST_PORT: port, PALYRA_TEST_LINK: link } = process.env;
const input = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

// Runs inside of the page: resolves with a verdict when there is one.
function verdict(selector) {
  const place = document.querySelector(selector);
  return new Promise((resolve) => {
    const look = () => (/^[✓✕]/.test(place.textContent) ? resolve(place.textContent) : setTimeout(look, 20));
    look();
  });
}

async function visit(link, entry) {
  await open(link);
  await click("form button");
  await open(`http://localhost:${port}/console/proofs`);
  const head = await evaluate(`(${verdict})("[data-head] > [data-verdict]")`);
  await evaluate(`document.getElementById("seq").value = ${entry}, document.getElementById("seq").form.requestSubmit()`);
  const ofEntry = await evaluate(`(${verdict})("[data-head] form [data-verdict]")`);
  console.log(JSON.stringify({ kind: "visit", data: { head, ofEntry } }));
}

await visit(link, 1);
for (;;) {
  const { value, done } = await input.next();
  if (done || value === "end") break;
  const [next, entry] = value.split(" ");
  await visit(next, entry);
}
finish();
