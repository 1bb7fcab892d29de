// Sends the form of an approval more than once: by two clicks with scripts and without, and by many requests at once.

import { click, evaluate, finish, loads, on, open, page, scripts, watchAll } from "../devtools.mjs";
import { ACTIVE, CARD, PLACE, YES, pressAt, resize, say, signIn } from "./cards.mjs";

const { PALYRA_TEST_PORT: port, PALYRA_TEST_LINK: link, PALYRA_TEST_APPROVALS: approvals } = process.env;
const [withScripts, withoutScripts, atOnce] = approvals.split(",").map((id) => `http://localhost:${port}/console/approvals/${id}`);
const tab = { click, evaluate, on, open, page, scripts };
let sent = 0;
watchAll((method, params) => {
  if (method === "Network.requestWillBeSent" && params.request.method === "POST") sent += 1;
});

await signIn(tab, link);
await resize(tab);

await open(withScripts);
await evaluate(ACTIVE);
sent = 0;
await loads(() => evaluate(`(${YES}.click(), ${YES}.click(), 0)`));
const sentWithScripts = sent;
await open(withScripts);
say("with_scripts", { sent: sentWithScripts, ...(await evaluate(CARD)) });

await open(atOnce);
await evaluate(ACTIVE);
const statuses = await evaluate(`(async () => {
  const form = ${YES}.form;
  const body = new URLSearchParams(new FormData(form, ${YES}));
  const send = () => fetch(form.action, { method: "POST", body });
  return (await Promise.all(Array.from({ length: 12 }, send))).map((answer) => answer.status);
})()`);
await open(atOnce);
say("at_once", { statuses, ...(await evaluate(CARD)) });

await open(withoutScripts);
await evaluate(ACTIVE);
const place = await evaluate(PLACE);
await scripts(false);
const loaded = new Promise((resolve) => on("Page.loadEventFired", resolve));
sent = 0;
await Promise.all([pressAt(tab, place), pressAt(tab, place)]);
await loaded;
const clicks = sent;
await open(withoutScripts);
say("without_scripts", { sent: clicks, ...(await evaluate(CARD)) });
finish();
