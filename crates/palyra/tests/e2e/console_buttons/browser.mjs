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
  // The form that checks an entry in the browser comes with a script, and loads no page.
  const button = [...document.querySelectorAll("main button:not([data-head] *)")].find(
    (known) => known.offsetParent && !tried.includes(nameOf(known)),
  );
  if (!button) return null;
  for (const field of button.form.querySelectorAll("textarea, input[type=text]")) {
    if (!field.value) field.value = field.inputMode === "numeric" ? "1" : "words";
  }
  globalThis.chosen = button;
  return nameOf(button);
}

const shown = "JSON.stringify([location.pathname + location.search, document.querySelector('main').innerText])";

// Inside of a page: presses the chosen button in the moment in which it is active, and returns what was shown before. A row that
// comes a moment later may move a card, and its button rests again.
const press = `new Promise((resolve) => {
  const look = () => {
    if (chosen.ariaDisabled === "true") return;
    watch.disconnect();
    const before = ${shown};
    chosen.click();
    resolve(before);
  };
  const watch = new MutationObserver(look);
  watch.observe(chosen, { attributes: true });
  look();
})`;

await signIn({ click, evaluate, on, open, page, scripts }, link);
await page("Emulation.setDeviceMetricsOverride", { width: 1_280, height: 4_000, deviceScaleFactor: 1, mobile: false });
for (const path of paths.split(",")) {
  const tried = [];
  for (;;) {
    await open(`http://localhost:${port}${path}`);
    const button = await evaluate(`(${choose})(${JSON.stringify(tried)})`);
    if (!button) break;
    tried.push(button);
    let before;
    await loads(async () => {
      before = await evaluate(press);
    });
    say("pressed", { path, button, changed: before !== (await evaluate(shown)) });
  }
}
say("end");
finish();
