// The official Node client: both endpoints, streamed and whole, and streams that do not come to their end.

import { answer, failed, left, load, turn, watchedFetch } from "./reports.mjs";

const { default: OpenAI } = await load("openai");
const client = new OpenAI({ maxRetries: 0, fetch: watchedFetch });
const model = "palyra";

await turn();
const words = [{ role: "user", content: "change it, as a stream of a chat" }];
answer(await client.chat.completions.stream({ model, messages: words }).finalContent());

await turn();
const messages = [{ role: "user", content: "change it, in a chat" }];
const sentence = (await client.chat.completions.create({ model, messages })).choices[0].message.content;
answer(sentence);
await turn();
messages.push({ role: "assistant", content: sentence }, { role: "user", content: "is it done?" });
answer((await client.chat.completions.create({ model, messages })).choices[0].message.content);

await turn();
const streamed = client.responses.stream({ model, input: "change it, as a stream of a response" });
answer((await streamed.finalResponse()).output_text);

await turn();
const first = await client.responses.create({ model, input: "change it, in a response" });
answer(first.output_text);
await turn();
const next = { model, input: "is it done?", previous_response_id: first.id };
answer((await client.responses.create(next)).output_text);

// Opens a stream, and reads to its first words.
const begin = async (content) => {
  await turn();
  const request = { model, messages: [{ role: "user", content }], stream: true };
  const stream = await client.chat.completions.create(request);
  const chunks = stream[Symbol.asyncIterator]();
  while (!(await chunks.next()).value.choices[0].delta.content);
  return { stream, chunks };
};

const leaving = await begin("count, and I leave");
await turn();
leaving.stream.controller.abort();
left();

const { chunks } = await begin("count until you stop");
try {
  while (!(await chunks.next()).done);
} catch (error) {
  if (error instanceof OpenAI.APIError) failed(error.message);
}

process.exit(0);
