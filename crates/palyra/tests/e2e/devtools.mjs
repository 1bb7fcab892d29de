// Chromium over the pipes of its developer protocol, for scripts of tests: one page, and further ones in contexts of their own.
//
// The script ends with code 1, and the browser with it, when the browser ends, the page crashes, a command is refused, the time
// is up, or the test that started the script is gone.

import { spawn } from "node:child_process";

const { PALYRA_TEST_PROFILE: profile, PALYRA_TEST_BROWSER: program = "chromium" } = process.env;
const { PALYRA_TEST_SPAN_MS: span, PALYRA_TEST_RESOLVER_RULES: resolverRules } = process.env;

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
  // In the locale of POSIX the browser would name no valid language.
  "--lang=en-US",
  "--remote-debugging-pipe",
  `--user-data-dir=${profile}`,
  // Where names are led to this machine, what the browser does against it is off: the server has to refuse.
  ...(resolverRules ? [`--host-resolver-rules=${resolverRules}`, "--disable-features=LocalNetworkAccessChecks"] : []),
  "about:blank",
];
const browser = spawn(program, options, { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
const [, , , commands, answers] = browser.stdio;

export function fail(why) {
  console.error(why);
  browser.kill("SIGKILL");
  process.exit(1);
}

browser.on("error", (error) => fail(`chromium does not start; \`cargo xtask setup\` installs it: ${error.message}`));
browser.on("exit", (code) => fail(`the browser ended with ${code}`));
process.stdin.on("end", () => fail("the test has ended"));
process.stdin.resume();
if (span) setTimeout(() => fail("the visit took too long"), Number(span)).unref();

const waiting = new Map();
const listeners = new Map();
const watchers = [];

// Sends a command to the browser, or to the page of a session.
export function call(method, params = {}, sessionId = undefined) {
  const id = waiting.size + 1;
  commands.write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
  return new Promise((resolve) => waiting.set(id, resolve));
}

function receive({ id, result, error, method, params, sessionId }) {
  if (error) fail(JSON.stringify(error));
  if (method === "Inspector.targetCrashed") fail("the page crashed");
  if (id) return waiting.get(id)(result);
  for (const watcher of watchers) watcher(method, params);
  listeners.get(`${sessionId} ${method}`)?.(params);
}

let rest = "";
answers.setEncoding("utf8");
answers.on("data", (text) => {
  const messages = (rest + text).split("\0");
  rest = messages.pop();
  for (const message of messages) receive(JSON.parse(message));
});

// Has a function called with the method and the parameters of every event of every page.
export const watchAll = (watcher) => watchers.push(watcher);

// Opens a page. A browser context is a browser of its own as far as cookies and storage go.
async function newPage(browserContextId = undefined) {
  const { targetId } = await call("Target.createTarget", { url: "about:blank", browserContextId });
  const { sessionId } = await call("Target.attachToTarget", { targetId, flatten: true });

  // Sends a command to the page.
  const page = (method, params) => call(method, params, sessionId);
  // Has a function called with each event of a method; the one before is replaced.
  const on = (method, listener) => listeners.set(`${sessionId} ${method}`, listener);
  // Waits for the next event of a method.
  const seen = (method) => new Promise((resolve) => on(method, resolve));

  // Returns the value of an expression inside of the page.
  async function evaluate(expression) {
    const answer = await page("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
    if (answer.exceptionDetails) fail(`${expression.slice(0, 200)}: ${JSON.stringify(answer.exceptionDetails)}`);
    return answer.result.value;
  }

  // Waits until what `begin` starts has loaded a page.
  async function loads(begin) {
    const loaded = seen("Page.loadEventFired");
    await begin();
    await loaded;
  }

  // Opens an address.
  const open = (url) => loads(() => page("Page.navigate", { url }));
  // Clicks what a selector finds, which loads a page.
  const click = (selector) => loads(() => evaluate(`document.querySelector(${JSON.stringify(selector)}).click()`));
  // Lets the page run scripts, or not.
  const scripts = (on) => page("Emulation.setScriptExecutionDisabled", { value: !on });

  const close = () => call("Target.closeTarget", { targetId });

  for (const domain of ["Page", "Runtime", "Network", "Log"]) await page(`${domain}.enable`);
  return { page, on, seen, evaluate, loads, open, click, scripts, close };
}

export const { page, on, seen, evaluate, loads, open, click, scripts } = await newPage();

// Opens a further page of the same browser.
export const otherPage = () => newPage();

// Opens a page as another browser would: with cookies and storage of its own.
export async function otherBrowser() {
  const { browserContextId } = await call("Target.createBrowserContext");
  return newPage(browserContextId);
}

// From now on the test may end first.
export const standAlone = () => process.stdin.removeAllListeners("end");

// Ends the browser and the script.
export function finish() {
  standAlone();
  browser.removeAllListeners("exit");
  browser.kill("SIGKILL");
  process.exit(0);
}
