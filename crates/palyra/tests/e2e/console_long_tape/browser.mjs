// A tape of more than 10,000 entries in Chromium: how many rows a page has, where a link to an entry lands, and how it scrolls.
//
// Reports a line of JSON for each step. Times are reported and not judged here.

import { click, evaluate, finish, open, page } from "../devtools.mjs";

const { PALYRA_TEST_PORT: port, PALYRA_TEST_LINK: link, PALYRA_TEST_RUN: run } = process.env;
const origin = `http://localhost:${port}`;
const say = (kind, data = null) => console.log(JSON.stringify({ kind, data }));

// Runs inside of the page: from the request to the first row, in milliseconds.
const loadMillis = () => evaluate("Math.round(performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd)");
const rowCount = () => evaluate("document.querySelectorAll('ol.tape > li').length");

// Runs inside of the page: presses of PageDown to the end, with the longest pause between two frames of each.
async function framesOfPresses() {
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  const pauses = [];
  for (let press = 0; press < 400; press++) {
    const before = scrollY;
    scrollBy({ top: innerHeight * 0.9, behavior: "instant" });
    let last = await frame();
    let longest = 0;
    for (let shown = 0; shown < 3; shown++) {
      const now = await frame();
      longest = Math.max(longest, now - last);
      last = now;
    }
    if (scrollY === before) break;
    pauses.push(longest);
  }
  return pauses;
}

await open(link);
await click("form button");
await page("Emulation.setDeviceMetricsOverride", { width: 1280, height: 800, deviceScaleFactor: 1, mobile: false });
await open(`${origin}/console/runs/${run}`);
say("first", { rows: await rowCount(), millis: await loadMillis() });
const pauses = (await evaluate(`(${framesOfPresses})()`)).sort((one, other) => one - other);
say("scrolled", { presses: pauses.length, p95: Math.round(pauses[Math.floor(pauses.length * 0.95)] ?? 0) });
await open(`${origin}/console/runs/${run}?at=7213#seq-7213`);
const place = await evaluate("document.getElementById('seq-7213').getBoundingClientRect().top");
say("at", { rows: await rowCount(), isSeen: place >= 0 && place < 800, millis: await loadMillis() });
finish();
