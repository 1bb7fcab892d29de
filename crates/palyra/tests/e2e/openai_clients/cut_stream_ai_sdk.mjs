// The AI SDK while the daemon is killed. It says with no header that it repeats a request, so that one has a key.
// `cut_streams.rs` has its lines.

import { begun, cut, goOn, said } from "./cut_stream.mjs";
import { failure, load } from "./packages.mjs";

const { createOpenAICompatible } = await load("@ai-sdk/openai-compatible");
const { generateText, streamText } = await load("ai");

const palyra = createOpenAICompatible({
  name: "palyra",
  baseURL: process.env.OPENAI_BASE_URL,
  apiKey: process.env.OPENAI_API_KEY,
});
const model = palyra("palyra");

// The pieces of a chat.
const chat = () => streamText({ model, prompt: "the sdk, a chat", maxRetries: 0, onError() {} }).textStream;
const first = async (pieces) => (await pieces.next()).value;
const rest = async (pieces) => {
  let text = "";
  for (let piece = await pieces.next(); !piece.done; piece = await pieces.next()) text += piece.value;
  return text;
};

const headers = { "idempotency-key": "the sdk, whole" };
const whole = generateText({ model, prompt: "the sdk, whole", maxRetries: 8, headers });
const stream = chat()[Symbol.asyncIterator]();
const head = await first(stream);
begun();
cut((await failure(() => rest(stream))).name);
await goOn();
const again = chat()[Symbol.asyncIterator]();
if ((await first(again)) !== head) throw new Error(`the words do not begin with ${head}`);
begun();
said(head + (await rest(again)));
said((await whole).text);
process.exit(0);
