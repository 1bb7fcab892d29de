// Opens files that came with an input, as they are sent and with single headers taken away, and reports what each did.

import { call, evaluate, finish, on, open, page } from "../devtools.mjs";
import { say } from "./cards.mjs";

const { PALYRA_TEST_PORT: port, PALYRA_TEST_TOKEN: token, PALYRA_TEST_FILES: files } = process.env;
const { PALYRA_TEST_PROFILE: profile } = process.env;
const origin = `http://localhost:${port}`;
await call("Browser.setDownloadBehavior", { behavior: "allowAndName", downloadPath: profile });
// The strongest case: a browser that shows the token by itself.
await page("Network.setExtraHTTPHeaders", { headers: { authorization: `Bearer ${token}` } });

// Which headers an answer has in the place of its own; `null` for an answer that passes as it is.
let change = null;
let ownBody = "";
await page("Fetch.enable", { patterns: [{ urlPattern: "*/content*" }, { urlPattern: "*/own-page" }] });
const fulfil = (requestId, responseHeaders, bytes) =>
  page("Fetch.fulfillRequest", { requestId, responseCode: 200, responseHeaders, body: bytes.toString("base64") });
on("Fetch.requestPaused", async ({ requestId, request: { url } }) => {
  if (url.endsWith("/own-page")) {
    const body = Buffer.from(`<!doctype html><title>Own</title>${ownBody}`);
    return fulfil(requestId, [{ name: "content-type", value: "text/html" }], body);
  }
  if (!change) return page("Fetch.continueRequest", { requestId });
  const answer = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
  const headers = [...answer.headers].map(([name, value]) => ({ name, value }));
  return fulfil(requestId, change(headers), Buffer.from(await answer.arrayBuffer()));
});

const without = (headers, names) => headers.filter(({ name }) => !names.includes(name));
const typed = (headers, value) => [...without(headers, ["content-type"]), { name: "content-type", value }];
const protections = ["content-security-policy", "content-disposition", "x-content-type-options", "x-frame-options", "cross-origin-resource-policy"];
const layers = {
  "as it is sent": () => null,
  "without its disposition": () => (headers) => without(headers, ["content-disposition"]),
  "as its own type, sandboxed": ({ type }) => (headers) => typed(without(headers, ["content-disposition"]), type),
  "control": ({ type }) => (headers) => typed(without(headers, protections), type),
};

// Opens a file; a file that is saved loads nothing.
async function opened(url) {
  await open("about:blank");
  const loaded = new Promise((resolve) => on("Page.loadEventFired", () => resolve("opened")));
  const { isDownload, errorText } = await page("Page.navigate", { url });
  const became = isDownload || errorText ? "saved" : await loaded;
  return { became, ran: await evaluate("'canary' in globalThis") };
}

for (const file of JSON.parse(files)) {
  for (const [layer, changing] of Object.entries(layers)) {
    change = changing(file);
    for (const query of ["", "?inline=true"]) {
      say("opened", { name: file.name, layer, query, ...(await opened(`${origin}${file.path}${query}`)) });
    }
  }
  // Loaded by a page of this very origin: as a script, in a frame, as an object.
  for (const layer of ["as it is sent", "control"]) {
    change = layer === "control" ? layers[layer]({ type: file.script ?? file.type }) : layers[layer](file);
    const url = `${file.path}?inline=true`;
    ownBody = file.script
      ? `<script src="${url}"></script>`
      : `<iframe src="${url}"></iframe><object data="${url}"></object><embed src="${url}">`;
    await open(`${origin}/own-page`);
    const ran = await evaluate("'canary' in globalThis || Array.from(frames).some((frame) => { try { return 'canary' in frame; } catch { return false; } })");
    say("loaded", { name: file.name, layer, ran });
  }
}
say("done");
finish();
