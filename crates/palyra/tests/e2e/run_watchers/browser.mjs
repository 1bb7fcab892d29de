// Opens the events of a run in Chromium with an EventSource and reports what that says, a line of JSON each.
//
// The browser is driven over two pipes. Its developer protocol adds the token to the requests of the page, which an
// EventSource cannot, and lifts the page's own policy, which lets it connect to nothing.

import { evaluate, fail, finish, on, open, page, standAlone } from "../devtools.mjs";

const { PALYRA_TEST_ORIGIN: origin, PALYRA_TEST_PATH: path, PALYRA_TOKEN: token } = process.env;

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

await page("Network.setExtraHTTPHeaders", { headers: { authorization: `Bearer ${token}` } });
await page("Page.setBypassCSP", { enabled: true });
await page("Runtime.addBinding", { name: "report" });
await open(`${origin}/`);
const place = await evaluate("`${location.origin} ${document.title}`");
if (!place.startsWith(`${origin} `)) fail(`another page was opened: ${place}`);

const over = new Promise((resolve) => {
  on("Runtime.bindingCalled", ({ payload }) => {
    const isClosed = JSON.parse(payload).kind === "closed";
    if (isClosed) standAlone();
    console.log(payload);
    if (isClosed) resolve();
  });
});
await evaluate(`(${watch})(${JSON.stringify(path)})`);
await over;
finish();
