// A page of a name that led to its own server first and leads to this machine now, as its script sees it.

import { click, evaluate, finish, on, open, page, scripts } from "../devtools.mjs";
import { say, signIn } from "./cards.mjs";
import { hostileServer } from "./hostile_server.mjs";

const { PALYRA_TEST_PORT: port, PALYRA_TEST_LINK: link, PALYRA_TEST_APPROVAL: approval } = process.env;
// A server that answers to each name, as most do.
const careless = await hostileServer((path) => `${path} answers`);
const places = { attack: `evil.test:${port}`, careless: `evil.test:${careless.port}`, control: `localhost:${port}` };

// The first answer of the name, from the server that it led to then.
await page("Fetch.enable", { patterns: [{ urlPattern: "*/first-answer" }] });
on("Fetch.requestPaused", ({ requestId }) => {
  const body = Buffer.from("<!doctype html><title>First</title>").toString("base64");
  page("Fetch.fulfillRequest", { requestId, responseCode: 200, responseHeaders: [{ name: "content-type", value: "text/html" }], body });
});

// Inside of the page: what its script gets of the server behind its own name.
async function reach(approval, token) {
  const outcome = async (asked) => {
    try {
      const answer = await asked();
      return { status: answer.status, isOurs: new URL(answer.url).origin === location.origin, text: (await answer.text()).slice(0, 20_000) };
    } catch (error) {
      return { failed: String(error) };
    }
  };
  const body = new URLSearchParams({ token, decision: "deny", note: "rebound" });
  const stream = new Promise((resolve) => {
    const source = new EventSource("/console/events");
    source.onmessage = ({ data }) => (source.close(), resolve({ data }));
    source.onerror = () => (source.close(), resolve({ failed: "the stream" }));
  });
  return {
    page: await outcome(() => fetch(`/console/approvals/${approval}`)),
    api: await outcome(() => fetch("/api/v1/status")),
    probe: await outcome(() => fetch("/healthz")),
    stream: await stream,
    form: await outcome(() => fetch(`/console/approvals/${approval}/decide`, { method: "POST", body })),
  };
}

await signIn({ click, evaluate, on, open, page, scripts }, link);
await open(`http://localhost:${port}/console/approvals/${approval}`);
const token = await evaluate("document.querySelector('main form [name=token]').value");
for (const [kind, place] of Object.entries(places)) {
  await open(`http://${place}/first-answer`);
  say(kind, await evaluate(`(${reach})(${JSON.stringify(approval)}, ${JSON.stringify(token)})`));
}
// A person who follows a link to the other name arrives at the canonical one.
await open(`http://${places.attack}/console/runs`);
say("followed", await evaluate("location.href"));
finish();
