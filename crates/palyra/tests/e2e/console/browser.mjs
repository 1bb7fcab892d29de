// Visits the console in Chromium: signs in and decides an approval without scripts, then follows a run with them.
//
// Reports a line of JSON for each step. Everything that the browser complains about is a problem: an error of a script, a
// refused load, a request to another origin.

import { setTimeout } from "node:timers/promises";

import { click, evaluate, finish, on, open, page, scripts, watchAll } from "../devtools.mjs";

const { PALYRA_TEST_PORT: port, PALYRA_TEST_LINK: link, PALYRA_TEST_APPROVAL: approval } = process.env;
const { PALYRA_TEST_RUN: run } = process.env;
const origin = `http://localhost:${port}`;

const problems = [];
watchAll((method, params) => {
  if (method === "Runtime.exceptionThrown") problems.push(params.exceptionDetails.text);
  // A probe has no icon, and the browser asks for one.
  const isIcon = params?.entry?.url?.endsWith("/favicon.ico");
  if (method === "Log.entryAdded" && params.entry.level === "error" && !isIcon) problems.push(params.entry.text);
  if (method === "Network.requestWillBeSent") {
    const { url } = params.request;
    const isOurs = url.startsWith(`${origin}/`) || url.startsWith(`http://127.0.0.1:${port}/`);
    if (!isOurs && !url.startsWith("data:")) problems.push(url);
  }
});

const say = (kind, data = null) => console.log(JSON.stringify({ kind, data }));
const heading = () => evaluate("document.querySelector('h1')?.textContent ?? document.body.innerText");

await scripts(false);
await open(link);
await click("form button");
say("signed_in", await heading());
await click(`a[href="/console/approvals/${approval}"]`);
// Without scripts as well, a yes counts half a second after its card was sent.
await setTimeout(600);
await click("button[value=approve]");
say("decided", await evaluate("document.querySelector('.notice').innerText"));

await scripts(true);
await open(`${origin}/console/runs/${run}`);
const loaded = Number(await evaluate("document.querySelector('ol.tape').dataset.after"));
await evaluate("globalThis.over = new Promise((resolve) => document.addEventListener('tape-end', resolve)), 0");
say("following");
await evaluate("globalThis.over.then(() => 0)");
const rows = await evaluate(
  "JSON.stringify([...document.querySelectorAll('ol.tape > li')].map((row) => Number(row.id.slice(4))))",
);
say("live", { loaded, rows: JSON.parse(rows), text: await evaluate("document.querySelector('ol.tape').innerText") });

// Another site leads to the console: the first answer has no cookie, and loads itself again with it.
await open(`http://127.0.0.1:${port}/healthz`);
let loadsLeft = 2;
const arrived = new Promise((resolve) => {
  on("Page.loadEventFired", () => --loadsLeft === 0 && resolve());
});
await evaluate(`location.href = "${origin}/console", 0`);
await arrived;
say("from_another_site", await heading());

await page("Emulation.setDeviceMetricsOverride", { width: 320, height: 640, deviceScaleFactor: 1, mobile: false });
let isWide = false;
for (const path of ["", "/runs", "/sessions", "/chat", "/status", `/runs/${run}`, `/approvals/${approval}`]) {
  await open(`${origin}/console${path}`);
  isWide ||= await evaluate("document.documentElement.scrollWidth > innerWidth");
}
say("narrow", isWide);
say("problems", problems);
finish();
