// What happens to a message in Chromium when its answer is lost, and when the daemon ends while somebody types.
//
// Reports a line of JSON for each step, and reads a line from its input where the test has to do something first.

import { createInterface } from "node:readline";

import { click, evaluate, finish, loads, on, open, page } from "../devtools.mjs";

const { PALYRA_TEST_PORT: port, PALYRA_TEST_LINK: link } = process.env;
const origin = `http://localhost:${port}`;
const say = (kind, data = null) => console.log(JSON.stringify({ kind, data }));

const input = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const nextLine = async () => (await input.next()).value;

const until = (expression) =>
  evaluate(`new Promise((resolve) => { const look = () => ((${expression}) ? resolve(0) : setTimeout(look, 20)); look(); })`);
const barSays = (words) => until(`document.getElementById('bar').textContent.includes(${JSON.stringify(words)})`);
const typed = () => evaluate("document.querySelector('textarea[data-draft]').value");
const drafts = () => evaluate("Object.keys(localStorage).filter((name) => name.startsWith('draft ')).length");

async function type(words) {
  await evaluate("document.querySelector('textarea[data-draft]').focus()");
  await page("Input.insertText", { text: words });
}

const send = () => evaluate("document.querySelector('.composer form, main > form').requestSubmit(), 0");

await open(link);
await click("form button");

// The daemon records the message, and its answer does not arrive.
await open(`${origin}/console/chat`);
await type("one.txt a");
let losses = 0;
on("Fetch.requestPaused", ({ requestId }) => {
  losses += 1;
  if (losses === 1) page("Fetch.failRequest", { requestId, errorReason: "ConnectionReset" });
  else page("Fetch.continueRequest", { requestId });
});
await page("Fetch.enable", { patterns: [{ urlPattern: "*/console/chat/start", requestStage: "Response" }] });
const answered = loads(() => send());
await barSays("Not sent yet");
say("lost", await drafts());
await answered;
await page("Fetch.disable", {});
say("recorded", { path: await evaluate("location.pathname"), drafts: await drafts(), losses });

// The daemon ends while somebody types; it comes back and knows no session.
await open(`${origin}/console/chat`);
await type("two.txt b");
say("typed");
await nextLine();
await send();
await barSays("Not sent yet");
say("not_sent", await typed());
await nextLine();
await barSays("You are signed out");
say("signed_out", await typed());
await open(await nextLine());
await click("form button");
await open(`${origin}/console/chat`);
say("kept", await typed());
await loads(() => send());
say("sent", { path: await evaluate("location.pathname"), drafts: await drafts() });
finish();
