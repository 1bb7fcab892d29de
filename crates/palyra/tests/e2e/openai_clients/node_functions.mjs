// The official Node client and the AI SDK with functions of their own. Prints what works.

import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(`${process.env.PALYRA_TEST_NODE_MODULES}/`);
const load = async (name) => import(pathToFileURL(require.resolve(name)));

const { default: OpenAI } = await load("openai");
const { createOpenAICompatible } = await load("@ai-sdk/openai-compatible");
const { generateText, streamText, tool, jsonSchema, stepCountIs } = await load("ai");

const said = [];
const check = (name, holds, found) => {
  if (!holds) throw new Error(`${name}: ${JSON.stringify(found)}`);
  said.push(name);
};

const answer = "Results: rain; noon";
const results = { get_weather: "rain", get_time: "noon" };
const names = Object.keys(results);
const parameters = { type: "object", properties: { city: { type: "string" } } };
const client = new OpenAI({ maxRetries: 0 });

const tools = names.map((name) => ({ type: "function", function: { name, parameters } }));
const messages = [{ role: "user", content: "hello node" }];
const stream = client.chat.completions.stream({ model: "palyra", messages, tools });
const { message, finish_reason } = (await stream.finalChatCompletion()).choices[0];
check("calls", finish_reason === "tool_calls" && message.tool_calls.length === 2, message);
messages.push(message);
for (const call of message.tool_calls) {
  messages.push({ role: "tool", tool_call_id: call.id, content: results[call.function.name] });
}
const second = await client.chat.completions.create({ model: "palyra", messages, tools });
check("results", second.choices[0].message.content === answer, second);

const flat = names.map((name) => ({ type: "function", name, parameters, strict: false }));
const first = await client.responses
  .stream({ model: "palyra", input: "respond node", tools: flat })
  .finalResponse();
const calls = first.output.filter((item) => item.type === "function_call");
check("response-calls", calls.length === 2, first);
const input = calls.map(({ call_id, name }) => ({
  type: "function_call_output",
  call_id,
  output: results[name],
}));
const next = { model: "palyra", input, previous_response_id: first.id, tools: flat };
const whole = await client.responses.stream(next).finalResponse();
check("response-results", whole.output_text === answer, whole);

const palyra = createOpenAICompatible({
  name: "palyra",
  baseURL: process.env.OPENAI_BASE_URL,
  apiKey: process.env.OPENAI_API_KEY,
});
const sdkTools = Object.fromEntries(
  names.map((name) => [
    name,
    tool({ description: name, inputSchema: jsonSchema(parameters), execute: async () => results[name] }),
  ]),
);
const more = { model: palyra("palyra"), tools: sdkTools, stopWhen: stepCountIs(3), maxRetries: 0 };
const generated = await generateText({ ...more, prompt: "hello sdk" });
check("ai-text", generated.text === answer && generated.steps.length === 2, generated.text);
const streamed = streamText({ ...more, prompt: "stream sdk" });
let joined = "";
for await (const piece of streamed.textStream) joined += piece;
check("ai-stream", joined === answer, joined);

console.log(said.join(" "));
