// Opens pages that hold the texts of the corpus, and reports what each text did: where nothing defends, where only the policy
// of the console does, and on the screens of the console.

import { click, finish, on, open, otherPage, page, evaluate, scripts, watchAll } from "../devtools.mjs";
import { say, signIn } from "./cards.mjs";
import { corpus, press, settle, traces } from "./corpus.mjs";
import { hostileServer } from "./hostile_server.mjs";

const { PALYRA_TEST_PORT: port, PALYRA_TEST_LINK: link, PALYRA_TEST_PATHS: paths } = process.env;
const { PALYRA_TEST_LIVE: live, PALYRA_TEST_APPROVAL: approval } = process.env;
const origin = `http://localhost:${port}`;
const texts = corpus();

// What pages asked for outside of their origin, and what the policy said about them, since the last look.
const foreign = new Map();
let refused = [];
let asked = () => {};
const isForeign = (url) => /^(https?|wss?):/.test(url) && new URL(url).hostname !== "localhost";
watchAll((method, params) => {
  if (method === "Network.requestWillBeSent" && isForeign(params.request.url)) {
    foreign.set(params.requestId, `load: ${params.request.url}`);
    asked();
  }
  if (method === "Network.loadingFailed" && params.blockedReason === "csp") foreign.delete(params.requestId);
  const words = method === "Log.entryAdded" ? params.entry.text : "";
  if (/Content Security Policy|trusted ?types?/i.test(words)) refused.push(`policy: ${words}`);
  if (method === "Runtime.exceptionThrown") refused.push(`error: ${params.exceptionDetails.text}`);
});

// Opens an address in a page, presses what can be pressed there, and returns everything that the page did.
async function effects(tab, url) {
  foreign.clear();
  refused = [];
  const dialogs = [];
  tab.on("Page.javascriptDialogOpening", ({ message }) => {
    dialogs.push(`run: a dialog says ${message}`);
    tab.page("Page.handleJavaScriptDialog", { accept: true });
  });
  await tab.open(url);
  await tab.evaluate(`(${settle})()`);
  const pressed = await tab.evaluate(`(${press})()`);
  await tab.evaluate(`(${settle})()`);
  const found = await tab.evaluate(`(${traces})()`);
  return [...found, ...dialogs, ...foreign.values(), ...refused, ...(pressed ? ["mark: something to press"] : [])];
}

// Opens a page that leads the browser elsewhere, by itself or when it is pressed, and returns where to.
async function wayOut(tab, url) {
  foreign.clear();
  const left = new Promise((resolve) => (asked = resolve));
  await tab.page("Page.navigate", { url });
  tab.on("Page.domContentEventFired", () => tab.evaluate(`(${press})()`));
  await left;
  return [...foreign.values()];
}

// As a careless renderer of Markdown would have it, and in the places of a page where texts are.
function rawPage(text) {
  const marked = text
    .replace(/!\[([^\]]*)\]\(([^)]*)\)/g, '<img alt="$1" src="$2">')
    .replace(/\[([^\]]*)\]\(([^)]*)\)/g, '<a href="$2">$1</a>');
  return `<!doctype html><meta charset=utf-8><title>Raw</title><form id=main></form><p>${marked}</p>`;
}

await signIn({ click, on, open, page, scripts }, link);
// The policy as the console sends it.
const policy = (await fetch(`${origin}/console`)).headers.get("content-security-policy");
const server = await hostileServer((path) => {
  const [, kind, at] = path.split("/");
  if (!/^\d+$/.test(at ?? "")) return "";
  const headers = kind === "policy" ? { "content-security-policy": policy } : {};
  return { body: rawPage(texts[at].text), headers };
});

const tab = { page, on, open, evaluate };
for (const [at, { effect, text }] of texts.entries()) {
  const url = `${server.origin}/raw/${at}`;
  const isRefresh = text.includes("http-equiv");
  if (isRefresh || text.includes("<form action=\"http:")) {
    const leaving = await otherPage();
    say("control", { effect, text, found: await wayOut(leaving, url) });
    await leaving.close();
  } else {
    say("control", { effect, text, found: await effects(tab, url) });
  }
  // A policy does not stop a page that loads itself from elsewhere, and no policy forbids an element.
  if (isRefresh || effect === "mark") continue;
  const found = await effects(tab, `${server.origin}/policy/${at}`);
  say("policy", { text, found: found.filter((trace) => /^(run|load):/.test(trace)) });
}
say("controls_done");

// Marks that a page shows as text: in its words, or in the values of its fields.
const inPage = "document.body.textContent + [...document.querySelectorAll('input, textarea')].map((field) => field.value).join(' ')";
const shown = async (expression = inPage) => {
  const words = await evaluate(expression);
  return texts.map(({ mark }) => mark).filter((mark) => words.includes(mark));
};
async function visit(path) {
  const found = await effects(tab, `${origin}${path}`);
  say("screen", { path, found, shown: await shown() });
}
// Each text in one of the places where a page repeats what its address says.
const places = [
  (value) => `/console/sessions?search=${value}`,
  (value) => `/console/runs?only=${value}&after=${value}`,
  (value) => `/console/runs/${value}`,
  (value) => `/console/${value}`,
];
const reflected = texts.map(({ text }, at) => places[at % places.length](encodeURIComponent(text)));
for (const path of [...paths.split(","), ...reflected]) await visit(path);
say("screens_done");

// Rows that come later become markup by the script of the console.
await visit(live);
const loaded = await evaluate("document.querySelectorAll('ol.tape > li').length");
await evaluate("globalThis.over = new Promise((resolve) => document.addEventListener('tape-end', resolve)), 0");
say("following");
await evaluate("globalThis.over.then(() => 0)");
await evaluate(`(${settle})()`);
const later = await shown(`[...document.querySelectorAll("ol.tape > li")].slice(${loaded}).map((row) => row.textContent).join(" ")`);
say("live", { path: live, found: [...(await evaluate(`(${traces})()`)), ...foreign.values(), ...refused], shown: later });
await visit(`/console/approvals/${approval}`);
say("done");
finish();
