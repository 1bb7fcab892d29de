// Opens the events of a run in Chromium with an EventSource and reports what that says, a line of JSON each.
//
// The browser is driven over two pipes. Its developer protocol adds the token to the requests of the page, which an
// EventSource cannot, and lifts the page's own policy, which lets it connect to nothing.

import { spawn } from "node:child_process";

const { PALYRA_TEST_ORIGIN: origin, PALYRA_TEST_PATH: path, PALYRA_TOKEN: token } = process.env;
const { PALYRA_TEST_PROFILE: profile, PALYRA_TEST_BROWSER: program = "chromium" } = process.env;

const options = [
  "--headless",
  "--no-sandbox",
  "--no-proxy-server",
  "--no-first-run",
  "--disable-gpu",
  "--disable-dev-shm-usage",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--remote-debugging-pipe",
  `--user-data-dir=${profile}`,
  "about:blank",
];
const browser = spawn(program, options, { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
const [, , , commands, answers] = browser.stdio;

function fail(why) {
  console.error(why);
  browser.kill("SIGKILL");
  process.exit(1);
}

browser.on("error", fail);
browser.on("exit", (code) => fail(`the browser ended with ${code}`));
// The test that started this is gone.
process.stdin.on("end", () => fail("nobody listens"));
process.stdin.resume();

const waiting = new Map();
const events = new Map();

function call(method, params = {}, sessionId = undefined) {
  const id = waiting.size + 1;
  commands.write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
  return new Promise((resolve) => waiting.set(id, resolve));
}

function receive({ id, result, error, method, params }) {
  if (error) fail(JSON.stringify(error));
  if (method === "Inspector.targetCrashed") fail("the page crashed");
  if (id) waiting.get(id)(result);
  else events.get(method)?.(params);
}

let rest = "";
answers.setEncoding("utf8");
answers.on("data", (text) => {
  const messages = (rest + text).split("\0");
  rest = messages.pop();
  for (const message of messages) receive(JSON.parse(message));
});

// Runs inside of the page.
function watch(path) {
  const say = (kind, data = null) => globalThis.report(JSON.stringify({ kind, data }));
  const source = new EventSource(path);
  let isOpen = false;
  source.onopen = () => {
    isOpen = true;
  };
  source.onmessage = (event) => say("entry", { id: event.lastEventId, entry: JSON.parse(event.data) });
  source.addEventListener("caught_up", () => say("caught_up"));
  source.addEventListener("end", () => say("end"));
  source.onerror = (event) => {
    if (event.data !== undefined) return say("refused", event.data);
    if (isOpen) say("cut");
    isOpen = false;
    if (source.readyState === EventSource.CLOSED) say("closed");
  };
}

const { targetId } = await call("Target.createTarget", { url: "about:blank" });
const { sessionId } = await call("Target.attachToTarget", { targetId, flatten: true });
const page = (method, params) => call(method, params, sessionId);
const seen = (method) => new Promise((resolve) => events.set(method, resolve));

await page("Page.enable");
await page("Runtime.enable");
await page("Network.enable");
await page("Network.setExtraHTTPHeaders", { headers: { authorization: `Bearer ${token}` } });
await page("Page.setBypassCSP", { enabled: true });
await page("Runtime.addBinding", { name: "report" });
const loaded = seen("Page.loadEventFired");
await page("Page.navigate", { url: `${origin}/` });
await loaded;
const { result } = await page("Runtime.evaluate", { expression: "`${location.origin} ${document.title}`" });
if (!result.value.startsWith(`${origin} `)) fail(`another page was opened: ${result.value}`);

const over = new Promise((resolve) => {
  events.set("Runtime.bindingCalled", ({ payload }) => {
    const isClosed = JSON.parse(payload).kind === "closed";
    if (isClosed) process.stdin.removeAllListeners("end");
    console.log(payload);
    if (isClosed) resolve();
  });
});
await page("Runtime.evaluate", { expression: `(${watch})(${JSON.stringify(path)})` });
await over;
browser.removeAllListeners("exit");
browser.kill("SIGKILL");
process.exit(0);
