// How far a conversation moves while entries and approvals arrive, whether a card that moved rests, and an eleventh tab.
//
// Reports a line of JSON for each step, and waits for what the test does between them.

import { click, evaluate, finish, loads, on, open, otherPage, page, scripts } from "../devtools.mjs";
import { say, signIn } from "../console_attacks/cards.mjs";

const { PALYRA_TEST_PORT: port, PALYRA_TEST_LINK: link } = process.env;
const origin = `http://localhost:${port}`;
const tabs = 10;

// Waits until an expression is true inside of a page.
const until = (tab, expression) =>
  tab.evaluate(`new Promise((resolve) => {
    const look = () => ((${expression}) ? resolve(0) : setTimeout(look, 20));
    look();
  })`);
const cards = "document.querySelectorAll('#asked [data-approval]').length";
const rows = "Number([...document.querySelectorAll('ol.tape[data-events] a.seq')].at(-1)?.innerText ?? 0)";

// Inside of the page: adds up how far its parts move from now on. The browser counts what is at the bottom of the window as moved
// when the page scrolls behind it: that is left out where it is still at the same distance from the bottom.
const watchShifts = `(async () => {
  for (let frame = 0; frame < 3; frame++) await new Promise((resolve) => requestAnimationFrame(resolve));
  globalThis.shift = 0;
  const composer = document.querySelector(".composer");
  const distance = () => Math.round(innerHeight - composer.getBoundingClientRect().top);
  const before = distance();
  const stays = ({ node }) => node?.parentElement?.closest?.(".dock") && distance() === before;
  new PerformanceObserver((list) => {
    for (const { value, sources } of list.getEntries()) if (!sources.every(stays)) globalThis.shift += value;
  }).observe({
    type: "layout-shift",
  });
})()`;
// Inside of the page: what was added up, once the last frames were counted.
const shifted = `(async () => {
  for (let frame = 0; frame < 10; frame++) await new Promise((resolve) => requestAnimationFrame(resolve));
  return globalThis.shift;
})()`;

const submit = (selector, text) =>
  loads(() =>
    evaluate(`(() => {
      const textarea = document.querySelector(${JSON.stringify(selector)});
      textarea.value = ${JSON.stringify(text)};
      textarea.form.requestSubmit();
    })()`),
  );

const places = { short: "0", end: "scrollTo(0, document.documentElement.scrollHeight)", above: "scrollTo(0, 0)" };

async function measure(place) {
  await until({ evaluate }, `${cards} === 2`);
  await evaluate(places[place]);
  await evaluate(watchShifts);
  const before = await evaluate(rows);
  say("waits", place);
  await until({ evaluate }, `${cards} === 3`);
  const shift = await evaluate(shifted);
  say("moved", { place, entries: (await evaluate(rows)) - before, cards: await evaluate(cards), shift });
  await until({ evaluate }, "document.querySelector('[data-when-over]:not([hidden])')");
}

await signIn({ click, evaluate, on, open, page, scripts }, link);
await page("Emulation.setDeviceMetricsOverride", { width: 1_280, height: 800, deviceScaleFactor: 1, mobile: false });
await open(`${origin}/console/chat`);
await submit("textarea[name=input]", "begin");
for (const place of ["short", "end", "above"]) {
  await measure(place);
  await submit(".composer textarea", `after ${place}`);
}

await until({ evaluate }, `${cards} === 2`);
await evaluate(watchShifts);
await evaluate("(() => { const gap = document.createElement('p'); gap.style.height = '200px'; document.querySelector('main').prepend(gap); })()");
say("control", { shift: await evaluate(shifted) });

// A window in which the cards follow the rows, which move them: all are seen, and the end of the page is not.
await page("Emulation.setDeviceMetricsOverride", { width: 1_280, height: 2_000, deviceScaleFactor: 1, mobile: false });
await evaluate(`(() => {
  const sheet = document.styleSheets[0];
  for (const rule of ["main:has(.dock) { display: block }", ".dock { position: static !important }", "#asked { max-height: none !important }"]) {
    sheet.insertRule(rule, sheet.cssRules.length);
  }
  scrollTo(0, document.documentElement.scrollHeight - innerHeight - 100);
})()`);
await until({ evaluate }, "[...document.querySelectorAll('button[value=approve]')].every((yes) => !yes.ariaDisabled)");
await evaluate(`(() => {
  globalThis.rested = [];
  for (const yes of document.querySelectorAll("button[value=approve]")) {
    new MutationObserver(() => globalThis.rested.push(yes.ariaDisabled)).observe(yes, { attributes: true });
  }
})()`);
say("active", true);
await until({ evaluate }, `${cards} === 1 && !document.querySelector("button[value=approve]").ariaDisabled && globalThis.rested.includes("true")`);
say("rested", true);

const conversation = await evaluate("location.href");
const others = [];
for (let opened = 0; opened < tabs; opened++) {
  const tab = await otherPage();
  await tab.open(conversation);
  others.push(tab);
}
const last = await otherPage();
const began = performance.now();
await last.open(conversation);
const known = await last.evaluate(rows);
say("tabs", { open: others.length, millis: Math.round(performance.now() - began) });
await until(last, `${rows} > ${known}`);
say("live", true);
finish();
