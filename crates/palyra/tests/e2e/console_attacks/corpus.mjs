// The texts of `corpus.txt`, and what counts as one of them having run, loaded or become markup.

import { readFileSync } from "node:fs";

// Returns each text with what it does where nothing defends, and the word by which it is found in a page.
export function corpus() {
  const lines = readFileSync(new URL("corpus.txt", import.meta.url), "utf8").trim().split("\n");
  return lines.map((line, at) => {
    const mark = `mark${String(at).padStart(2, "0")}x`;
    const [, effect, text] = /^(\w+) (.*)$/.exec(line.replaceAll("MARK", mark));
    return { effect, text, mark };
  });
}

// Runs inside of a page: presses what the text offers to press, if it became something that can be pressed.
export function press() {
  const offered = [...document.querySelectorAll("a[href], #press")];
  const target = offered.find((element) => element.id === "press" || /^\s*javascript:/i.test(element.getAttribute("href")));
  target?.click();
  return Boolean(target);
}

// Runs inside of a page: waits until what can run at once has run.
export function settle() {
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  return frame().then(frame).then(frame).then(() => new Promise((resolve) => setTimeout(resolve, 0)));
}

// Runs inside of a page: the traces of a foreign text that is more than text.
export function traces() {
  const found = [];
  const isOurs = (element, name, value) =>
    (element.localName === "link" && value === "data:,") || (element.localName === "script" && name === "src");
  if ("canary" in globalThis) found.push("run: the canary");
  for (const element of document.querySelectorAll("*")) {
    const place = element.localName;
    const foreign = ["iframe", "object", "embed", "svg", "math", "base", "video", "audio", "img", "image", "style", "marquee", "template"];
    // The page of usage has drawings of its own, which are made of these elements alone.
    const parts = element.localName === "svg" ? [...element.querySelectorAll("*")].map((part) => part.localName) : [];
    const isDrawing =
      location.pathname === "/console/usage" &&
      element.matches("figure > svg.chart[role=img]") &&
      parts.every((part) => ["title", "desc", "g", "rect"].includes(part));
    if ((foreign.includes(place) && !isDrawing) || place.includes("-")) found.push(`mark: the element ${place}`);
    for (const { name, value } of element.attributes) {
      const isForeign = /^(on|hx-|data-hx-)/.test(name) || /^(style|ping|form|formaction|srcdoc|is|slot|contenteditable)$/.test(name);
      // The form of an input has a second button of its own.
      const isPreview = name === "formaction" && place === "button" && value === `${element.form?.getAttribute("action")}/preview`;
      if (isForeign && !isPreview) found.push(`mark: ${name} of ${place}`);
      if (/^(id|name)$/.test(name) && /^(canary|press|action$)/.test(value)) found.push(`mark: ${name}=${value}`);
      const leads = /^(href|src|action|data|poster|content)$/.test(name) && !isOurs(element, name, value);
      if (leads && /^\s*(javascript|data|vbscript):/i.test(value)) found.push(`mark: ${name} of ${place} runs`);
      if (leads && place !== "a" && value.includes("foreign.invalid")) found.push(`mark: ${name} of ${place} loads`);
    }
  }
  const foreignScripts = [...document.scripts].filter((script) => script.getAttribute("src") !== "/console/assets/console.js");
  if (foreignScripts.length > 0) found.push("mark: a script");
  return found;
}
