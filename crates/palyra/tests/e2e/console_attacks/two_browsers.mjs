// Two people in two browsers decide the same approvals at once: one approves, the other denies.

import { click, evaluate, finish, on, open, otherBrowser, page, scripts, watchAll } from "../devtools.mjs";
import { ACTIVE, CARD, resize, say, signIn } from "./cards.mjs";

const { PALYRA_TEST_PORT: port, PALYRA_TEST_LINK: link, PALYRA_TEST_MEMBER_LINK: memberLink } = process.env;
const { PALYRA_TEST_ROUNDS: rounds } = process.env;
const origin = `http://localhost:${port}`;
const owner = { click, evaluate, on, open, page, scripts };
const member = await otherBrowser();
const statuses = [];
watchAll((method, params) => {
  if (method === "Network.responseReceived" && params.type === "Document") statuses.push(params.response.status);
});

await signIn(owner, link);
await signIn(member, memberLink);

// A page in the background follows nothing, and its cards are not seen.
const inFront = (person) => person.page("Page.bringToFront");

// Asks for a call that needs an approval; returns the path of the approval.
async function waiting(round) {
  await inFront(member);
  await member.open(`${origin}/console/chat`);
  await member.evaluate(`(document.querySelector("textarea[name=input]").value = "round${round}.txt hello", 0)`);
  await member.click("main form button[type=submit]");
  return member.evaluate(`new Promise((resolve) => {
    const look = () => {
      const link = document.querySelector('main a[href^="/console/approvals/"]');
      if (link) resolve(link.getAttribute("href"));
    };
    new MutationObserver(look).observe(document.body, { childList: true, subtree: true });
    look();
  })`);
}

for (let round = 0; round < Number(rounds); round += 1) {
  const path = await waiting(round);
  for (const person of [owner, member]) {
    await inFront(person);
    await resize(person);
    await person.open(`${origin}${path}`);
    await person.evaluate(ACTIVE);
  }
  statuses.length = 0;
  const words = round % 2 === 0 ? ["approve", "deny"] : ["deny", "approve"];
  await Promise.all([owner.click(`button[value=${words[0]}]`), member.click(`button[value=${words[1]}]`)]);
  const cards = [await owner.evaluate(CARD), await member.evaluate(CARD)];
  say("round", { path, words, cards, statuses: [...statuses] });
}
finish();
