// The official Node client while the daemon is killed. `cut_streams.rs` has its lines.

import { begun, cut, goOn, said } from "./cut_stream.mjs";
import { failure, load } from "./packages.mjs";

const { default: OpenAI } = await load("openai");
const repeating = new OpenAI({ maxRetries: 50 });
const client = new OpenAI({ maxRetries: 0 });
const model = "palyra";
const messages = (content) => [{ role: "user", content }];

// The id and the pieces of a chat.
async function* chat() {
  const request = { model, messages: messages("node, a chat"), stream: true };
  for await (const { id, choices } of await client.chat.completions.create(request)) {
    if (choices[0]?.delta.content) yield [id, choices[0].delta.content];
  }
}

// The id and the pieces of a response.
async function* response() {
  let id;
  const request = { model, input: "node, a response", stream: true };
  for await (const event of await client.responses.create(request)) {
    if (event.type === "response.created") id = event.response.id;
    if (event.type === "response.output_text.delta") yield [id, event.delta];
  }
}

const first = async (stream) => (await stream.next()).value;
const rest = async (stream) => {
  let text = "";
  for await (const [, piece] of stream) text += piece;
  return text;
};

const whole = repeating.chat.completions.create({ model, messages: messages("node, whole") });
const shapes = [chat, response];
const streams = shapes.map((shape) => shape());
const heads = await Promise.all(streams.map(first));
begun();
for (const stream of streams) cut((await failure(() => rest(stream))).constructor.name);
await goOn();
const again = shapes.map((shape) => shape());
const repeated = await Promise.all(again.map(first));
if (JSON.stringify(repeated) !== JSON.stringify(heads)) throw new Error(`${repeated} is not ${heads}`);
begun();
for (const [index, stream] of again.entries()) said(heads[index][1] + (await rest(stream)));
said((await whole).choices[0].message.content);
process.exit(0);
