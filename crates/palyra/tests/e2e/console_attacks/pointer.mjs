// Clicks where *Approve* is, before and after the card was there for half a second, and reports what came of each click.
//
// The page's timers are the test's, so that a slow machine does not decide what comes first.

import { click, evaluate, finish, loads, on, open, page, scripts } from "../devtools.mjs";
import { ACTIVE, CARD, PLACE, YES, pressAt, resize, say, signIn } from "./cards.mjs";

const { PALYRA_TEST_PORT: port, PALYRA_TEST_LINK: link, PALYRA_TEST_APPROVAL: approval } = process.env;
const card = `http://localhost:${port}/console/approvals/${approval}`;
const tab = { click, evaluate, on, open, page, scripts };

// Inside of the page, before any script of it: a clock that moves when the test says so.
const ownClock = `
  globalThis.clock = { now: 0, timers: new Map(), next: 1, began: null };
  globalThis.began = new Promise((resolve) => (clock.began = resolve));
  globalThis.setTimeout = (callback, span) => {
    clock.timers.set(clock.next, { callback, due: clock.now + span });
    clock.began(span);
    return clock.next++;
  };
  globalThis.clearTimeout = (id) => clock.timers.delete(id);
  globalThis.advance = (span) => {
    clock.now += span;
    for (const [id, { callback, due }] of [...clock.timers]) if (due <= clock.now && clock.timers.delete(id)) callback();
  };`;

// Inside of the page: waits until what is seen was looked at.
const looked = "new Promise((resolve) => new IntersectionObserver(resolve).observe(document.body))";

const button = ({ x, y }) =>
  evaluate(`({ aimed: document.elementFromPoint(${x}, ${y}) === ${YES}, active: ${YES}.ariaDisabled !== "true", waits: Boolean(${YES}) })`);

await signIn(tab, link);
await resize(tab);
await open(card);
const place = await evaluate(PLACE);

const { identifier } = await page("Page.addScriptToEvaluateOnNewDocument", { source: ownClock });
await open(card);
say("timer", await evaluate("began"));
await pressAt(tab, place);
await evaluate("advance(499)");
await pressAt(tab, place);
say("before", await button(place));
await evaluate("advance(1)");
say("after", await button(place));

// A button that is out of view does not become active, however long the page is there.
await resize(tab, 150);
await open(card);
await evaluate(looked);
const out = await evaluate(`(advance(60_000), ${YES}.ariaDisabled !== "true")`);
await evaluate(`(${YES}.scrollIntoView(), began)`);
const into = await evaluate(`(advance(499), ${YES}.ariaDisabled !== "true")`);
say("out_of_view", { out, into, later: await evaluate(`(advance(1), ${YES}.ariaDisabled !== "true")`) });
await page("Page.removeScriptToEvaluateOnNewDocument", { identifier });

// The card is there and its script is not. On a slow machine half a second may be over: the form says that it is not.
await resize(tab);
await page("Fetch.enable", { patterns: [{ urlPattern: "*/console.js" }] });
let isStalled = false;
const stalled = new Promise((resolve) => {
  on("Fetch.requestPaused", ({ requestId }) => {
    // The script of the page after this one arrives.
    if (isStalled) page("Fetch.continueRequest", { requestId });
    isStalled = true;
    resolve();
  });
});
await page("Page.navigate", { url: card });
await stalled;
const isThere = `${YES} && document.elementFromPoint(${place.x}, ${place.y}) === ${YES}`;
await evaluate(`new Promise((resolve) => {
  const look = () => (${isThere} ? resolve(0) : setTimeout(look, 1));
  look();
})`);
const bare = await button(place);
await evaluate(`(document.querySelector("[name=shown]").value = Number.MAX_SAFE_INTEGER, 0)`);
await loads(() => pressAt(tab, place));
await page("Fetch.disable");
say("without_the_script", { ...bare, ...(await evaluate(CARD)) });

await open(card);
await evaluate(ACTIVE);
await loads(() => pressAt(tab, place));
say("control", await evaluate(CARD));
finish();
