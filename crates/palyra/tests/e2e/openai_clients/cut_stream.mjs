// The lines of a program whose daemon is killed while it reads: `cut_streams.rs` awaits them.

import { createInterface } from "node:readline";

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

// Each stream has its first words.
export const begun = () => console.log("begun");

// A stream ended with this error.
export const cut = (kind) => console.log(`cut ${kind}`);

// Waits until the daemon is there again.
export const goOn = async () => {
  if ((await lines.next()).done) throw new Error("the test has ended");
};

// An answer is whole.
export const said = (text) => console.log(`said ${text}`);
