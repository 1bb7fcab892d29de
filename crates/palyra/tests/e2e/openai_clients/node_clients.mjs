// The official Node client and the AI SDK's provider for compatible servers against the daemon. Prints what works.

import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(`${process.env.PALYRA_TEST_NODE_MODULES}/`);
const load = async (name) => import(pathToFileURL(require.resolve(name)));

const { default: OpenAI } = await load("openai");
const { createOpenAICompatible } = await load("@ai-sdk/openai-compatible");
const { generateText, streamText } = await load("ai");

const said = [];
const check = (name, holds, found) => {
  if (!holds) throw new Error(`${name}: ${JSON.stringify(found)}`);
  said.push(name);
};

const client = new OpenAI({ maxRetries: 0 });
const ask = (content, more = {}) =>
  client.chat.completions.create({ model: "palyra", messages: [{ role: "user", content }], ...more });

const answer = await ask("hello node");
check("text", answer.choices[0].message.content === "You said: hello node", answer);

const stream = client.chat.completions.stream({
  model: "palyra",
  messages: [{ role: "user", content: "a stream of words" }],
});
const final = await stream.finalContent();
check("stream", final === "You said: a stream of words", final);

const response = client.responses.stream({ model: "palyra", input: "a response in pieces" });
const whole = await response.finalResponse();
check("responses", whole.output_text === "You said: a response in pieces", whole);

try {
  await ask("x", { n: 2 });
  check("errors", false, "no error");
} catch (error) {
  check("errors", error instanceof OpenAI.BadRequestError && error.param === "n", error);
}

const palyra = createOpenAICompatible({
  name: "palyra",
  baseURL: process.env.OPENAI_BASE_URL,
  apiKey: process.env.OPENAI_API_KEY,
  includeUsage: true,
});
const generated = await generateText({ model: palyra("palyra"), prompt: "hello sdk", maxRetries: 0 });
check("ai-text", generated.text === "You said: hello sdk" && generated.usage.totalTokens > 0, generated.text);

let joined = "";
for await (const piece of streamText({ model: palyra("palyra"), prompt: "pieces of the sdk" }).textStream) {
  joined += piece;
}
check("ai-stream", joined === "You said: pieces of the sdk", joined);

console.log(said.join(" "));
