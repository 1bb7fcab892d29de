// Live rows, cards of approvals, kept drafts, keys, and a moment of rest before an approval. Every page works without it.

const policy = globalThis.trustedTypes?.createPolicy("palyra-rows", { createHTML: (html) => html });
const ended = "This page is no longer live. Load it again.";
const rowsMax = 600;
const pill = document.getElementById("pill");
const bar = document.getElementById("bar");
let fresh = 0;

// Rows are rendered by the daemon with the same function as those of the page.
function rowsOf(html) {
  const holder = document.createElement("template");
  holder.innerHTML = policy ? policy.createHTML(html) : html;
  return holder.content;
}

function isAtEnd() {
  return innerHeight + scrollY >= document.documentElement.scrollHeight - 48;
}

function showEnd() {
  scrollTo({ top: document.documentElement.scrollHeight });
  fresh = 0;
  pill.hidden = true;
}

function noteNew(count) {
  fresh += count;
  pill.textContent = `${fresh} new`;
  pill.hidden = false;
}

function showBar(text) {
  bar.textContent = text;
  bar.hidden = !text;
}

// Keeps one stream open while the page is seen, so that many open pages do not use up the connections of a browser.
function follow(open) {
  let source = null;
  const close = () => {
    source?.close();
    source = null;
  };
  const start = () => {
    if (!source && !document.hidden) source = open(close);
  };
  document.addEventListener("visibilitychange", () => (document.hidden ? close() : start()));
  start();
}

// A yes needs a card that was seen for a moment where it is.
// It can be reached by keyboard before that, and does nothing.
const rests = new Map();
function rest(yes) {
  rests.get(yes)?.disconnect();
  yes.ariaDisabled = "true";
  let timer = 0;
  const seen = new IntersectionObserver(([entry]) => {
    clearTimeout(timer);
    if (!entry.isIntersecting) return;
    timer = setTimeout(() => {
      yes.ariaDisabled = null;
      seen.disconnect();
    }, 500);
  });
  rests.set(yes, seen);
  seen.observe(yes);
}

function restBefore(yes) {
  yes.addEventListener("click", (event) => yes.ariaDisabled && event.preventDefault());
  rest(yes);
}

// Changes the page; a yes that is somewhere else after that rests again, since a click may have been meant for what was there.
function moving(change) {
  const placeOf = (yes) => yes.getBoundingClientRect().top;
  for (const yes of rests.keys()) if (!yes.isConnected) rests.delete(yes);
  const before = new Map([...rests.keys()].map((yes) => [yes, placeOf(yes)]));
  change();
  for (const [yes, place] of before) if (yes.isConnected && Math.abs(placeOf(yes) - place) > 1) rest(yes);
}

// A form is sent once, until its page is shown again.
function sendOnce(form) {
  form.addEventListener("submit", (event) => {
    if (event.defaultPrevented) return;
    if (form.dataset.sent) event.preventDefault();
    form.dataset.sent = "yes";
  });
}

function prepare(part) {
  for (const yes of part.querySelectorAll("button[data-after-seen]")) restBefore(yes);
  for (const form of part.querySelectorAll("form")) sendOnce(form);
}

// Cards that are there stay where they are, with what was typed into them; those that are answered go, new ones come above, since
// the list grows upwards.
const asked = document.getElementById("asked");
function showAsked(cards) {
  const idOf = (card) => card.dataset.approval;
  const wanted = new Set(cards.map(idOf));
  const known = new Set([...asked.children].map(idOf));
  const added = cards.filter((card) => !known.has(idOf(card)));
  moving(() => {
    for (const card of [...asked.children]) if (!wanted.has(idOf(card))) card.remove();
    asked.prepend(...added);
  });
  added.forEach(prepare);
  if (added.length > 0) lookAt(added[0]);
}

// One answer is awaited at a time: an older one that came after a newer one would take its cards away.
let isReadingAsked = false;
let isAskedOld = false;
async function readAsked() {
  isAskedOld = true;
  if (isReadingAsked) return;
  isReadingAsked = true;
  while (isAskedOld) {
    isAskedOld = false;
    try {
      const answer = await fetch(asked.dataset.asked);
      if (answer.ok) showAsked([...rowsOf(await answer.text()).children]);
    } catch {
      // The daemon does not answer: they are read once the stream is open again.
      isAskedOld = true;
      break;
    }
  }
  isReadingAsked = false;
}

// Moves the focus to a card, so that it is announced, unless a person types.
function lookAt(card) {
  const isTyping = document.activeElement?.matches("textarea, input, select");
  if (!isTyping) card.querySelector("h2")?.focus({ preventScroll: !isAtEnd() });
}

// Keeps a page that stays open for long small: what leaves it is on the tape.
function dropOldRows(tape) {
  while (tape.children.length > rowsMax) tape.firstElementChild.remove();
}

const tape = document.querySelector("ol[data-events]");
if (tape) {
  let last = Number(tape.dataset.after);
  let isOver = false;
  follow((close) => {
    if (isOver) return null;
    const source = new EventSource(`${tape.dataset.events}?after=${last}`);
    source.onopen = () => {
      showBar("");
      if (isAskedOld) readAsked();
      document.dispatchEvent(new CustomEvent("daemon-answers"));
    };
    source.onerror = () => {
      if (source.readyState === EventSource.CLOSED) showBar(ended);
      else showBar(`Reconnecting. Shown up to ${last}.`);
    };
    source.onmessage = (event) => {
      const seq = Number(event.lastEventId);
      if (seq <= last) return;
      const wasAtEnd = isAtEnd();
      last = seq;
      const rows = rowsOf(JSON.parse(event.data).html);
      const changesCards = asked && rows.querySelector(".k-approvals");
      moving(() => {
        tape.append(rows);
        dropOldRows(tape);
        if (wasAtEnd) showEnd();
        else noteNew(1);
      });
      if (changesCards) readAsked();
    };
    const end = (text) => {
      isOver = true;
      close();
      showBar(text);
      document.dispatchEvent(new CustomEvent("tape-end"));
    };
    source.addEventListener("end", () => {
      for (const later of document.querySelectorAll("[data-when-over]")) later.hidden = false;
      end("");
    });
    source.addEventListener("refused", () => end(ended));
    return source;
  });
  pill.addEventListener("click", showEnd);
}

const waiting = document.querySelector("[data-attention]");
if (waiting) {
  const known = new Set(waiting.dataset.keys.split(" "));
  follow((close) => {
    const source = new EventSource(waiting.dataset.attention);
    source.onopen = () => showBar("");
    source.onerror = () => {
      if (source.readyState === EventSource.CLOSED) showBar(ended);
      else showBar("Reconnecting. The list may be out of date.");
    };
    source.onmessage = (event) => {
      const keys = JSON.parse(event.data).keys;
      const added = keys.filter((key) => !known.has(key)).length;
      const gone = keys.length - added < known.size - (known.has("") ? 1 : 0);
      pill.hidden = added === 0 && !gone;
      pill.textContent = added > 0 ? `${added} new: load the list` : "Changed: load the list";
    };
    source.addEventListener("refused", () => {
      close();
      showBar(ended);
    });
    return source;
  });
  pill.addEventListener("click", () => location.reload());
}

// A draft is { text, key }. It has the key of its form from the moment in which it was sent: whoever sends it again, after a
// reload or from another page, sends the same message and not a second one. It goes when the daemon has recorded the message,
// which the page after it says.
const draftOf = (name) => `draft ${name}`;
function keptDraft(name) {
  try {
    return JSON.parse(localStorage.getItem(draftOf(name))) ?? {};
  } catch {
    return {};
  }
}

const recorded = new URLSearchParams(location.search).get("sent");
if (recorded) {
  for (const name of Object.keys(localStorage).filter((name) => name.startsWith("draft "))) {
    if (keptDraft(name.slice("draft ".length)).key === recorded) localStorage.removeItem(name);
  }
  history.replaceState(null, "", location.pathname);
  if (asked?.firstElementChild) lookAt(asked.firstElementChild);
}

// What the page says of a message that is not recorded yet.
function sendDraft(form, textarea) {
  const name = textarea.dataset.draft;
  const freshKey = form.elements.key.value;
  const kept = keptDraft(name);
  if (kept.text && !textarea.value) {
    textarea.value = kept.text;
    if (kept.key) form.elements.key.value = kept.key;
  }
  const keep = (key) => localStorage.setItem(draftOf(name), JSON.stringify({ text: textarea.value, key }));
  textarea.addEventListener("input", () => {
    form.elements.key.value = freshKey;
    keep();
  });
  let isUnderWay = false;
  let isLate = false;
  const send = async () => {
    if (isUnderWay) return;
    isUnderWay = true;
    isLate = false;
    showBar("Sending.");
    keep(form.elements.key.value);
    try {
      const answer = await fetch(form.action, { method: "POST", body: new URLSearchParams(new FormData(form)) });
      if (answer.status === 401) showBar("You are signed out. Your words are kept in this browser: sign in and send them.");
      else if (answer.ok) location.assign(answer.url);
      else form.submit();
    } catch {
      isLate = true;
      showBar("Not sent yet: the daemon does not answer. Your words are kept in this browser and sent when it does.");
    }
    isUnderWay = false;
  };
  const again = () => isLate && send();
  document.addEventListener("daemon-answers", again);
  setInterval(again, 5_000);
  form.addEventListener("submit", (event) => {
    // What the references cost is another page.
    if (event.submitter?.hasAttribute("formaction")) return;
    event.preventDefault();
    send();
  });
  textarea.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  });
}

const draft = document.querySelector("textarea[data-draft]");
if (draft) sendDraft(draft.form, draft);
prepare(document);
addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form")) delete form.dataset.sent;
});

for (const choice of document.querySelectorAll("select[data-remember]")) {
  const name = `choice ${choice.dataset.remember}`;
  const kept = localStorage.getItem(name);
  if ([...choice.options].some((option) => option.value === kept)) choice.value = kept;
  choice.addEventListener("change", () => localStorage.setItem(name, choice.value));
}

const head = document.querySelector("[data-head]");
if (head) import("./proofs.js").then((proofs) => proofs.checkPage(head));

// Keys, where nobody types: j and k go through the rows, o opens one, c copies its link; a and d answer the card in focus.
function step(by) {
  const rows = [...document.querySelectorAll("ol.tape > li")].filter((row) => row.offsetParent);
  const at = rows.indexOf(document.activeElement?.closest("ol.tape > li"));
  const next = rows[Math.min(Math.max(at + by, 0), rows.length - 1)];
  next?.querySelector("a.seq")?.focus();
}

const keys = {
  j: () => step(1),
  k: () => step(-1),
  o: (focused) => focused.closest("li")?.querySelector("summary")?.click(),
  c: (focused) => {
    const link = focused.closest("li")?.querySelector("a.seq");
    if (link) navigator.clipboard?.writeText(link.href);
  },
  a: (focused) => focused.closest("[data-approval]")?.querySelector("button[value=approve]")?.click(),
  d: (focused) => focused.closest("[data-approval]")?.querySelector("textarea[name=note]")?.focus(),
};
document.addEventListener("keydown", (event) => {
  if (event.target.matches("textarea, input, select") || event.ctrlKey || event.metaKey || event.altKey) return;
  const act = keys[event.key];
  if (!act) return;
  event.preventDefault();
  act(event.target);
});
