// The AI SDK with its provider for compatible servers: chat completions, streamed and whole, and streams that do not
// come to their end.

import { answer, failed, left, load, turn, watchedFetch } from "./reports.mjs";

const { createOpenAICompatible } = await load("@ai-sdk/openai-compatible");
const { generateText, streamText } = await load("ai");

const palyra = createOpenAICompatible({
  name: "palyra",
  baseURL: process.env.OPENAI_BASE_URL,
  apiKey: process.env.OPENAI_API_KEY,
  fetch: watchedFetch,
});
const more = { model: palyra("palyra"), maxRetries: 0 };

await turn();
let joined = "";
const streamed = streamText({ ...more, prompt: "change it, as a stream of a chat" });
for await (const piece of streamed.textStream) joined += piece;
answer(joined);

await turn();
const messages = [{ role: "user", content: "change it, in a chat" }];
const first = await generateText({ ...more, messages });
answer(first.text);
await turn();
messages.push({ role: "assistant", content: first.text }, { role: "user", content: "is it done?" });
answer((await generateText({ ...more, messages })).text);

// Opens a stream, and reads to its first words.
const begin = async (prompt) => {
  await turn();
  const abort = new AbortController();
  const streamed = streamText({ ...more, prompt, abortSignal: abort.signal, onError() {} });
  const parts = streamed.fullStream[Symbol.asyncIterator]();
  while ((await parts.next()).value.type !== "text-delta");
  return { abort, parts };
};

const leaving = await begin("count, and I leave");
await turn();
leaving.abort.abort();
left();

const { parts } = await begin("count until you stop");
for (let part = await parts.next(); !part.done; part = await parts.next()) {
  if (part.value.type === "error") failed(part.value.error.message);
}

process.exit(0);
