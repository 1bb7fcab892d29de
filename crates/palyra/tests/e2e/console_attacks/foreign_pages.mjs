// Pages of another port of this machine, with the cookie of the console, against a person who is signed in.

import { click, evaluate, finish, on, open, otherBrowser, otherPage, page, scripts, watchAll } from "../devtools.mjs";
import { ACTIVE, CARD, PLACE, pressAt, resize, say, signIn } from "./cards.mjs";
import { hostileServer } from "./hostile_server.mjs";

const { PALYRA_TEST_PORT: port, PALYRA_TEST_LINK: link, PALYRA_TEST_OTHER_LINK: otherLink } = process.env;
const { PALYRA_TEST_APPROVAL: approval, PALYRA_TEST_RUN: run } = process.env;
const origin = `http://localhost:${port}`;
const card = `${origin}/console/approvals/${approval}`;
const decide = `${card}/decide`;
const victim = { click, evaluate, on, open, page, scripts };
const documents = new Map();
watchAll((method, params) => {
  if (method === "Network.responseReceived" && params.type === "Document") documents.set(params.response.url, params.response.status);
});

await signIn(victim, link);
await resize(victim);
await open(card);
const token = await evaluate("document.querySelector('main form [name=token]').value");
const place = await evaluate(PLACE);
const copied = (await evaluate("document.documentElement.outerHTML")).replaceAll(/<(script|link)\b[^>]*>(<\/script>)?/g, "");

const fields = (pairs) => Object.entries(pairs).map(([name, value]) => `<input type=hidden name="${name}" value="${value}">`).join("");
const form = (action, pairs) =>
  `<form method=post action="${action}">${fields(pairs)}</form><script>document.forms[0].submit()</script>`;
const yes = { run_id: run, decision: "approve", note: "foreign", shown: 0 };
const frame = (url) => `<style>body { margin: 0 }</style><iframe src="${url}" width=1280 height=1900 style="border: 0; opacity: 0.01"></iframe>`;
const server = await hostileServer((path) => {
  const pages = {
    "/blank": "<!doctype html><title>Blank</title>",
    "/form": form(decide, yes),
    "/form-with-token": form(decide, { ...yes, token }),
    "/sign-out": form(`${origin}/console/sign-out`, {}),
    "/use-link": form(otherLink, {}),
    "/link": `<script>location = "${otherLink}"</script>`,
    "/get": `<script>location = "${decide}?${new URLSearchParams({ ...yes, token })}"</script>`,
    "/frame": frame(card),
    "/frame-of-copy": frame("/copy"),
    // The card as the console sends it, without its headers: a frame shows it, and what is pressed there is counted.
    "/copy": copied.replaceAll(/action="[^"]*\/decide"/g, 'action="/counted"').replaceAll(" disabled=\"\"", ""),
  };
  return pages[path] ?? "";
});

// A server that lets pages of the attacker read, as one that reflects their origin does.
const careless = await hostileServer((path) => ({
  type: path === "/console/events" ? "text/event-stream" : "text/html",
  body: path === "/console/events" ? "data: careless\n\n" : "careless",
  headers: { "access-control-allow-origin": server.origin, "access-control-allow-credentials": "true" },
}));

const isComplete = `new Promise((resolve) => (document.readyState === "complete" ? resolve(0) : addEventListener("load", () => resolve(0))))`;

// Opens a page of the attacker that leads the browser to the console, and returns what it gets there.
async function led(path, loads = 1) {
  documents.clear();
  const tab = await otherPage();
  let left = loads;
  const arrived = new Promise((resolve) => {
    tab.on("Page.frameNavigated", ({ frame }) => {
      if (!frame.parentId && frame.url.startsWith(`${origin}/`) && --left === 0) resolve();
    });
  });
  await tab.page("Page.navigate", { url: `${server.origin}${path}` });
  await arrived;
  await tab.evaluate(isComplete);
  const text = await tab.evaluate("document.body.innerText");
  const [status] = [...documents].filter(([url]) => url.startsWith(`${origin}/`)).map(([, status]) => status);
  await tab.close();
  return { status, text };
}

// What the person sees: whether the approval waits, and who is signed in.
async function state() {
  await open(card);
  return evaluate(CARD);
}

async function attack(name, path, loads) {
  const answer = await led(path, loads);
  say("attack", { name, ...answer, ...(await state()) });
}

await attack("a form without the token", "/form");
await attack("a form with the token of the page", "/form-with-token");
await attack("a request that reads", "/get");
await attack("a form that signs out", "/sign-out");
await attack("a form that uses the link of another person", "/use-link");
await attack("a way to the link of another person", "/link", 2);

// Inside of a page: everything that a script tries with the person's cookie.
async function tryAll(origin, card, decide, pairs) {
  const outcome = async (url, options) => {
    try {
      const answer = await fetch(url, { credentials: "include", ...options });
      return { status: answer.status, text: (await answer.text()).slice(0, 2_000) };
    } catch (error) {
      return { failed: String(error) };
    }
  };
  const loaded = (tag, address) =>
    new Promise((resolve) => {
      const element = document.createElement(tag);
      element.onload = () => resolve("loaded");
      element.onerror = () => resolve("failed");
      Object.assign(element, tag === "link" ? { rel: "stylesheet", href: address } : { src: address });
      document.head.append(element);
    });
  const streamed = (path) =>
    new Promise((resolve) => {
      const source = new EventSource(`${origin}${path}`, { withCredentials: true });
      source.onmessage = ({ data }) => (source.close(), resolve({ data }));
      source.onerror = () => (source.close(), resolve({ failed: "the stream" }));
    });
  const body = () => new URLSearchParams(pairs);
  return {
    "read a page": await outcome(card),
    "read without a permission": await outcome(card, { mode: "no-cors" }),
    "read the API": await outcome(`${origin}/api/v1/status`),
    "a stream": await streamed("/console/events"),
    "post": await outcome(decide, { method: "POST", body: body() }),
    "post without a permission": await outcome(decide, { method: "POST", body: body(), mode: "no-cors" }),
    "post JSON": await outcome(decide, { method: "POST", body: JSON.stringify(pairs), headers: { "content-type": "application/json" } }),
    "a beacon": { queued: navigator.sendBeacon(decide, body()) },
    "a script": { loaded: await loaded("script", `${origin}/console/assets/console.js`) },
    "a style sheet": { loaded: await loaded("link", `${origin}/console/assets/console.css`) },
    "a picture": { loaded: await loaded("img", card) },
  };
}
const pairs = JSON.stringify({ ...yes, token });
const call = (...addresses) => `(${tryAll})(${addresses.map((address) => JSON.stringify(address)).join()}, ${pairs})`;
const hostile = await otherPage();
await hostile.open(`${server.origin}/blank`);
say("scripts", { outcomes: await hostile.evaluate(call(origin, card, decide)), ...(await state()) });
const outcomes = await hostile.evaluate(call(careless.origin, `${careless.origin}/card`, `${careless.origin}/decide`));
const posts = careless.requests.filter(({ method, cookie, body }) => method === "POST" && cookie.includes("palyra_console=") && body.includes(token));
say("careless", { outcomes, posts: posts.length });

// A frame under the pointer.
await resize(hostile);
const shownIn = async (path) => {
  await hostile.open(`${server.origin}${path}`);
  const { frameTree } = await hostile.page("Page.getFrameTree");
  return frameTree.childFrames[0].frame.url;
};
const shown = await shownIn("/frame");
await pressAt(hostile, place);
say("frame", { shown, ...(await state()) });
await hostile.open(`${server.origin}/copy`);
const placeInCopy = await hostile.evaluate(PLACE);
const counted = () => server.requests.filter(({ method, path }) => method === "POST" && path === "/counted").length;
const before = counted();
const shownCopy = await shownIn("/frame-of-copy");
const isSent = new Promise((resolve) => hostile.on("Page.frameNavigated", ({ frame }) => frame.url.endsWith("/counted") && resolve()));
await pressAt(hostile, placeInCopy);
await isSent;
say("frame_control", { shown: shownCopy, counted: counted() - before });
say("cookies", server.requests.some(({ cookie }) => cookie.includes("palyra_console=")));
await hostile.close();

// The same from the origin of the console, in a page without its policy, which forbids some of it as well.
await page("Fetch.enable", { patterns: [{ urlPattern: "*/own-page" }] });
on("Fetch.requestPaused", ({ requestId }) => {
  const responseHeaders = [{ name: "content-type", value: "text/html" }];
  page("Fetch.fulfillRequest", { requestId, responseCode: 200, responseHeaders, body: "" });
});
await open(`${origin}/own-page`);
say("scripts_control", { outcomes: await evaluate(call(origin, card, `${card}/none`)), ...(await state()) });

// The form of the card, and the same link where the person presses its button.
await evaluate(ACTIVE);
await evaluate("(document.querySelector('[name=note]').value = 'own', 0)");
await click("button[value=approve]");
say("form_control", await evaluate(CARD));
const other = await otherBrowser();
await signIn(other, otherLink);
say("link_control", await other.evaluate("document.querySelector('header .muted').innerText"));
finish();
