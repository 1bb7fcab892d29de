// Visits screens of the console in Chromium, in both themes and two widths, and reports every fault of each.
//
// A line of JSON for each screen: its path, the views that were measured, and the faults. An empty list is a good screen.

import { readFileSync, writeFileSync } from "node:fs";

import { click, evaluate, fail, finish, open, page, scripts, watchAll } from "../devtools.mjs";

const { PALYRA_TEST_PORT: port, PALYRA_TEST_LINK: link } = process.env;
const { PALYRA_TEST_PATHS: paths, PALYRA_TEST_NODE_MODULES: modules } = process.env;
// The status that every path answers with; a browser logs one that is no success.
const { PALYRA_TEST_STATUS: status = "200" } = process.env;
// For people who look at a screen: a folder for pictures, and a style sheet in the place of the program's own.
const { PALYRA_TEST_SHOTS: shots, PALYRA_TEST_STYLE: styleFile } = process.env;
const origin = `http://localhost:${port}`;
const fontSizes = ["12px", "13px", "15px", "18px", "24px"];

let axe;
try {
  axe = readFileSync(`${modules}/axe-core/axe.min.js`, "utf8");
} catch (error) {
  fail(`axe-core is not in PALYRA_TEST_NODE_MODULES; \`cargo xtask test\` installs it: ${error.message}`);
}

let faults = [];
watchAll((method, params) => {
  if (method === "Runtime.exceptionThrown") faults.push(`exception: ${params.exceptionDetails.text}`);
  if (method === "Runtime.consoleAPICalled" && params.type === "error") faults.push("console.error was called");
  const isWanted = status !== "200" && params?.entry?.text.includes(`status of ${status}`);
  if (method === "Log.entryAdded" && params.entry.level === "error" && !isWanted) faults.push(`log: ${params.entry.text}`);
  if (method === "Network.responseReceived" && params.type === "Document" && String(params.response.status) !== status) {
    faults.push(`${params.response.url}: ${params.response.status}`);
  }
  if (method === "Network.requestWillBeSent") {
    const { url } = params.request;
    if (!url.startsWith(`${origin}/`) && !url.startsWith("data:")) faults.push(`foreign request: ${url}`);
  }
});

// Runs inside of the page: everything but axe-core that can be measured at once.
function measure(fontSizes) {
  const sizes = new Set();
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    if (texts.currentNode.data.trim()) sizes.add(getComputedStyle(texts.currentNode.parentElement).fontSize);
  }
  return {
    wrongSizes: [...sizes].filter((size) => !fontSizes.includes(size)),
    headings: document.querySelectorAll("h1").length,
    width: document.documentElement.scrollWidth,
    room: document.documentElement.clientWidth,
  };
}

// Runs inside of the page: what axe-core objects to.
async function violations() {
  const { violations, passes } = await globalThis.axe.run(document, { resultTypes: ["violations"] });
  if (passes.length === 0) throw new Error("axe-core checked nothing");
  return violations.map(({ id, nodes }) => `${id}: ${nodes.length} times, first ${nodes[0].target}: ${nodes[0].failureSummary}`);
}

// Runs inside of the page: how many charts have no bar that is seen.
function undrawnCharts() {
  const isSeen = (bar) => bar.getBoundingClientRect().height > 0;
  const isDrawn = (chart) => [...chart.querySelectorAll("rect")].some(isSeen);
  return [...document.querySelectorAll("svg.chart")].filter((chart) => !isDrawn(chart)).length;
}

// Runs inside of the page: links of this origin that do not answer 200.
async function deadLinks() {
  // A link that is not shown yet leads nowhere yet, and one within the page leads to what is there.
  const shown = [...document.querySelectorAll("a[href]")].filter((a) => a.offsetParent);
  const links = shown.map((a) => new URL(a.href)).filter((url) => url.origin === location.origin);
  const here = location.pathname + location.search;
  const urls = [...new Set(links.map((url) => url.pathname + url.search))].filter((url) => url !== here);
  const states = await Promise.all(urls.map(async (url) => `${(await fetch(url, { credentials: "same-origin" })).status} ${url}`));
  return states.filter((state) => !state.startsWith("200 "));
}

async function replaceStyle() {
  const text = JSON.stringify(readFileSync(styleFile, "utf8"));
  await evaluate(
    `(async () => { const s = new CSSStyleSheet(); await s.replace(${text}); document.adoptedStyleSheets = [s];
      document.querySelector("link[rel=stylesheet]").disabled = true; })()`,
  );
}

async function picture(name) {
  const { data } = await page("Page.captureScreenshot", { format: "png", captureBeyondViewport: true });
  writeFileSync(`${shots}/${name}.png`, Buffer.from(data, "base64"));
}

async function view(path, theme, width) {
  const found = (text) => faults.push(`${theme} ${width}: ${text}`);
  await page("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: theme }] });
  await page("Emulation.setDeviceMetricsOverride", { width, height: 800, deviceScaleFactor: 1, mobile: false });
  await open(`${origin}${path}`);
  if (styleFile) await replaceStyle();
  const undrawn = await evaluate(`(${undrawnCharts})()`);
  if (undrawn > 0) found(`${undrawn} charts are not drawn`);
  const { wrongSizes, headings, width: used, room } = await evaluate(`(${measure})(${JSON.stringify(fontSizes)})`);
  if (wrongSizes.length > 0) found(`sizes of type: ${wrongSizes}`);
  if (headings !== 1) found(`${headings} headings h1`);
  // A scroll bar takes some of the width, so the room is smaller than the window.
  if (used > room || used > width) found(`${used} pixels wide in ${room}`);
  await evaluate(`${axe}; 0`);
  for (const violation of await evaluate(`(${violations})()`)) found(violation);
  if (shots) await picture(`${path.slice(1).replaceAll("/", "_")}-${width}-${theme}`);
}

const parts = () => evaluate("[document.querySelector('h1')?.textContent, document.forms.length]");

async function visit(path) {
  faults = [];
  const views = [];
  for (const theme of ["light", "dark"]) {
    for (const width of [320, 1280]) {
      await view(path, theme, width);
      views.push(`${theme} ${width}`);
    }
  }
  for (const dead of await evaluate(`(${deadLinks})()`)) faults.push(`link: ${dead}`);
  const [heading, forms] = await parts();
  await scripts(false);
  await open(`${origin}${path}`);
  const [plainHeading, plainForms] = await parts();
  if (!heading || heading !== plainHeading) faults.push(`without scripts: the heading is ${plainHeading}`);
  if (forms === 0 || forms !== plainForms) faults.push(`without scripts: ${plainForms} forms of ${forms}`);
  await scripts(true);
  console.log(JSON.stringify({ kind: "screen", data: { path, heading, views, faults } }));
}

await scripts(false);
await open(link);
await click("form button");
await scripts(true);
faults = [];
for (const path of paths.split(",")) await visit(path);
console.log(JSON.stringify({ kind: "end" }));
finish();
