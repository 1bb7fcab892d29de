// The card of an approval in a page: waiting for its answers, pressing where they are, and reading what became of it.

// The button that approves, as an expression inside of the page.
export const YES = "document.querySelector('button[value=approve]')";

// Inside of the page: waits until *Approve* is active.
export const ACTIVE = `new Promise((resolve) => {
  const look = () => ${YES}.ariaDisabled !== "true" && resolve(true);
  new MutationObserver(look).observe(${YES}, { attributes: true });
  look();
})`;

// Inside of the page: the center of *Approve* in the window.
export const PLACE = `(() => {
  const { x, y, width, height } = ${YES}.getBoundingClientRect();
  return { x: x + width / 2, y: y + height / 2 };
})()`;

// Inside of the page: what a card says of itself.
export const CARD = `(() => ({
  waits: Boolean(${YES}),
  notice: document.querySelector(".notice[role=status]")?.innerText ?? "",
  time: document.querySelector(".notice[role=status] time")?.dateTime ?? "",
  alert: document.querySelector("[role=alert]")?.innerText ?? "",
  person: document.querySelector("header .muted")?.innerText ?? "",
}))()`;

// Makes a window in which the whole card is seen.
export const resize = (tab, height = 2_000) =>
  tab.page("Emulation.setDeviceMetricsOverride", { width: 1_280, height, deviceScaleFactor: 1, mobile: false });

// Presses the main button of the pointer at a place of the window.
export async function pressAt(tab, { x, y }) {
  for (const type of ["mousePressed", "mouseReleased"]) {
    await tab.page("Input.dispatchMouseEvent", { type, x, y, button: "left", clickCount: 1 });
  }
}

// Opens a link of the console and presses its button, without scripts.
export async function signIn(tab, link) {
  await tab.scripts(false);
  await tab.open(link);
  await tab.click("form button");
  await tab.scripts(true);
}

// Prints a line for the test.
export const say = (kind, data = null) => console.log(JSON.stringify({ kind, data }));
