// The first minute of a newcomer in Chromium, by keyboard alone: sign in, ask, look, approve, and take it back.
//
// Reports a line of JSON for each step. Every stop of the focus has to be seen.

import { evaluate, fail, finish, loads, open, page } from "../devtools.mjs";

const { PALYRA_TEST_LINK: link } = process.env;
const stopsMax = 60;

const say = (kind, data = null) => console.log(JSON.stringify({ kind, data }));
const codes = { Tab: 9, Enter: 13 };

async function press(key) {
  const text = { Enter: "\r" }[key];
  const named = { key, code: key, windowsVirtualKeyCode: codes[key] };
  await page("Input.dispatchKeyEvent", { type: text ? "keyDown" : "rawKeyDown", text, ...named });
  await page("Input.dispatchKeyEvent", { type: "keyUp", ...named });
}

// Waits until an expression is true inside of the page.
const until = (expression) =>
  evaluate(`new Promise((resolve) => { const look = () => ((${expression}) ? resolve(0) : requestAnimationFrame(look)); look(); })`);

const focused = () =>
  evaluate(`(() => {
    const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement);
    return { what: document.activeElement.outerHTML.slice(0, 120), outlineStyle, width: parseFloat(outlineWidth) };
  })()`);

async function tabTo(selector) {
  for (let stop = 0; stop < stopsMax; stop++) {
    await press("Tab");
    const { what, outlineStyle, width } = await focused();
    if (outlineStyle === "none" || width < 2) fail(`the focus is not seen at ${what}`);
    if (await evaluate(`document.activeElement.matches(${JSON.stringify(selector)})`)) return;
  }
  fail(`${selector} is not reached by Tab`);
}

const text = () => evaluate("document.querySelector('main').innerText");
const enter = () => loads(() => press("Enter"));

await open(link);
// A page has its focus with its first frame, which may come after it was loaded.
await until("document.activeElement.matches('button.primary')");
await enter();
say("home", await text());
await tabTo("button.primary");
await enter();
await until("document.activeElement.closest('[data-approval]')");
say("asked", await text());
// The button takes the key once it was seen for a moment; a row that arrives in that time may move the focus.
do {
  await tabTo("button[value=approve]");
  await until("!document.activeElement.ariaDisabled");
} while (!(await evaluate("document.activeElement.matches('button[value=approve]')")));
await enter();
await until("document.querySelector('main').innerText.includes('The run is done')");
// What a person can do after it comes with the end of the live rows, which is behind the last of them.
await until("document.querySelector('main').innerText.includes('undo its changes')");
say("done", await text());
await tabTo("a[href$='/undo']");
await enter();
say("undo", await text());
await tabTo("main button.danger");
await enter();
say("undone", await text());
finish();
