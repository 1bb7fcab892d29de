// Checks in the browser, with its own SHA-256, that a journal continues the head that this browser saw before, and that an entry
// is in it. The algorithms are those of RFC 9162, 2.1.3.2 and 2.1.4.2; leaves and nodes are hashed as in RFC 6962.

const remembered = "journal head";
const half = (number) => Math.floor(number / 2);
const isOdd = (number) => number % 2 === 1;
const bytesOf = (hex) => Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16));
const hexOf = (bytes) => [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");

async function sha256(...parts) {
  const joined = Uint8Array.from(parts.flatMap((part) => [...part]));
  return new Uint8Array(await crypto.subtle.digest("SHA-256", joined));
}

const leafOf = (envelope) => sha256([0], envelope);
const nodeOf = (left, right) => sha256([1], left, right);
const areEqual = (one, other) => hexOf(one) === hexOf(other);

// Whether an entry with this leaf is at `seq` in a tree of `size` entries with this root.
export async function includes({ seq, size, leaf, root, hashes }) {
  if (seq >= size) return false;
  let [at, end, hash] = [seq, size - 1, leaf];
  for (const other of hashes) {
    if (end === 0) return false;
    if (isOdd(at) || at === end) {
      hash = await nodeOf(other, hash);
      while (!isOdd(at) && at !== 0) [at, end] = [half(at), half(end)];
    } else {
      hash = await nodeOf(hash, other);
    }
    [at, end] = [half(at), half(end)];
  }
  return end === 0 && areEqual(hash, root);
}

// Whether the tree of `size` entries begins with the tree of `oldSize` entries.
export async function continues({ oldSize, oldRoot, size, root, hashes }) {
  if (oldSize === size) return hashes.length === 0 && areEqual(oldRoot, root);
  if (oldSize === 0 || oldSize > size) return false;
  const isPower = Number.isInteger(Math.log2(oldSize));
  const path = isPower ? [oldRoot, ...hashes] : [...hashes];
  let [at, end] = [oldSize - 1, size - 1];
  while (isOdd(at)) [at, end] = [half(at), half(end)];
  let old = path.shift();
  if (!old) return false;
  let all = old;
  for (const other of path) {
    if (end === 0) return false;
    if (isOdd(at) || at === end) {
      old = await nodeOf(other, old);
      all = await nodeOf(other, all);
      while (!isOdd(at) && at !== 0) [at, end] = [half(at), half(end)];
    } else {
      all = await nodeOf(all, other);
    }
    [at, end] = [half(at), half(end)];
  }
  return end === 0 && areEqual(old, oldRoot) && areEqual(all, root);
}

async function read(path) {
  const answer = await fetch(path);
  return answer.ok ? answer.json() : null;
}

// The head that this page shows.
function headOf({ log, size, root }) {
  return { log, size: Number(size), root };
}

function recall() {
  try {
    return JSON.parse(localStorage.getItem(remembered));
  } catch {
    return null;
  }
}

const remember = (head) => localStorage.setItem(remembered, JSON.stringify({ ...head, when: new Date().toISOString() }));

async function judge(head, path) {
  const seen = recall();
  if (!seen) {
    remember(head);
    return [true, `This browser remembers this head of ${head.size} entries from now on, and checks later ones against it.`];
  }
  const since = `the head of ${seen.size} entries that this browser saw at ${seen.when}`;
  if (seen.log !== head.log) return [false, `This is another log than that of ${since}.`];
  if (seen.size > head.size) return [false, `The journal is shorter than ${since}: it was cut, or replaced by an older one.`];
  const proof = await read(`${path}?from=${seen.size}&to=${head.size}`);
  const hashes = proof?.hashes.map(bytesOf);
  const claim = { oldSize: seen.size, oldRoot: bytesOf(seen.root), size: head.size, root: bytesOf(head.root), hashes };
  if (!proof || !(await continues(claim))) return [false, `The journal does not continue ${since}: it was changed or replaced.`];
  remember(head);
  return [true, `The journal continues ${since}. Checked here, with ${hashes.length} hashes.`];
}

function show(place, holds, words) {
  place.className = holds ? "notice" : "notice danger";
  place.textContent = `${holds ? "✓" : "✕"} ${words}`;
}

// Checks the head of a page, and offers to check an entry.
export async function checkPage(page) {
  const head = headOf(page.dataset);
  const place = page.querySelector("[data-verdict]");
  if (!globalThis.crypto?.subtle) {
    show(place, false, "This browser cannot check anything on a page that is neither on this machine nor protected by TLS.");
    return;
  }
  const [holds, words] = await judge(head, page.dataset.consistency);
  show(place, holds, words);
  const again = page.querySelector("button[data-forget]");
  again.hidden = holds;
  again.addEventListener("click", () => {
    remember(head);
    show(place, true, `This browser remembers this head of ${head.size} entries instead.`);
    again.hidden = true;
  });
  const form = page.querySelector("form");
  form.hidden = false;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const seq = Number(form.elements.seq.value);
    const proof = await read(`${page.dataset.entry}?seq=${seq}`);
    const verdict = form.querySelector("[data-verdict]");
    if (!proof) {
      show(verdict, false, `There is no proof for entry ${seq}: it is newer than the signed head, or does not exist.`);
      return;
    }
    const [leaf, hashes] = [await leafOf(bytesOf(proof.envelope)), proof.hashes.map(bytesOf)];
    const claim = { seq, size: proof.size, leaf, root: bytesOf(proof.root), hashes };
    const isIn = await includes(claim);
    const kind = proof.kind.replaceAll("_", " ");
    if (isIn) show(verdict, true, `Entry ${seq} (${kind}) is in the tree of ${proof.size} entries. Checked here, with ${hashes.length} hashes.`);
    else show(verdict, false, `Entry ${seq} does not verify.`);
  });
}
