// Presses each button of each page once, and reports whether the page after it is another one.
//
// Every button sends a form, so a button that does nothing ends the visit by its limit of time.

import { click, evaluate, finish, loads, on, open, page, scripts } from "../devtools.mjs";
import { say, signIn } from "../console_attacks/cards.mjs";

const { PALYRA_TEST_PORT: port, PALYRA_TEST_LINK: link, PALYRA_TEST_PATHS: paths } = process.env;

// Inside of a page: chooses a button that was not pressed yet, fills its form, and returns what it is.
function choose(tried) {
  const nameOf = (button) => {
    const action = new URL(button.form.action).pathname.replaceAll(/[0-9A-HJKMNP-TV-Z]{26}/g, "ID");
    return `${button.innerText} ${action}`;
  };
  const button = [...document.querySelectorAll("main button")].find(
    (known) => known.offsetParent && !tried.includes(nameOf(known)),
  );
  if (!button) return null;
  for (const field of button.form.querySelectorAll("textarea, input[type=text]")) {
    if (!field.value) field.value = field.inputMode === "numeric" ? "1" : "words";
  }
  globalThis.chosen = button;
  return nameOf(button);
}

// Inside of a page: waits until the chosen button is active.
const active = `new Promise((resolve) => {
  const look = () => chosen.ariaDisabled !== "true" && resolve(0);
  new MutationObserver(look).observe(chosen, { attributes: true });
  look();
})`;
const shown = "JSON.stringify([location.pathname + location.search, document.querySelector('main').innerText])";

await signIn({ click, evaluate, on, open, page, scripts }, link);
await page("Emulation.setDeviceMetricsOverride", { width: 1_280, height: 4_000, deviceScaleFactor: 1, mobile: false });
for (const path of paths.split(",")) {
  const tried = [];
  for (;;) {
    await open(`http://localhost:${port}${path}`);
    const button = await evaluate(`(${choose})(${JSON.stringify(tried)})`);
    if (!button) break;
    tried.push(button);
    await evaluate(active);
    const before = await evaluate(shown);
    await loads(() => evaluate("chosen.click(), 0"));
    say("pressed", { path, button, changed: before !== (await evaluate(shown)) });
  }
}
say("end");
finish();
