// The AI SDK's provider for compatible servers against the daemon: text, streams, structured output, an image, and
// errors. It has chat completions alone. Prints what works.

import { check, dot, failure, load, works } from "./packages.mjs";

const { createOpenAICompatible } = await load("@ai-sdk/openai-compatible");
const { APICallError, Output, generateText, jsonSchema, streamText } = await load("ai");

const provider = (apiKey) =>
  createOpenAICompatible({
    name: "palyra",
    baseURL: process.env.OPENAI_BASE_URL,
    apiKey,
    includeUsage: true,
    supportsStructuredOutputs: true,
  });
const palyra = provider(process.env.OPENAI_API_KEY);
const more = { model: palyra("palyra"), maxRetries: 0 };

const generated = await generateText({ ...more, prompt: "hello sdk" });
check("text", generated.text === "You said: hello sdk" && generated.usage.totalTokens > 0, generated.text);

let joined = "";
const streamed = streamText({ ...more, prompt: "pieces of the sdk" });
for await (const piece of streamed.textStream) joined += piece;
check("stream", joined === "You said: pieces of the sdk" && (await streamed.usage).totalTokens > 0, joined);

const schema = jsonSchema({
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
  additionalProperties: false,
});
const output = Output.object({ schema, name: "place" });
const place = await generateText({ ...more, prompt: "where", output });
check("structured", typeof place.output.city === "string", place.text);
const located = streamText({ ...more, prompt: "where is it", output });
check("stream-structured", typeof (await located.output).city === "string", await located.text);

const image = { type: "image", image: dot, mediaType: "image/png" };
const content = [{ type: "text", text: "what is it" }, image];
const shown = await generateText({ ...more, messages: [{ role: "user", content }] });
check("image", shown.text.startsWith("You showed: image/png"), shown.text);

const ask = (name, options = {}) => generateText({ ...more, model: palyra(name), prompt: "fail", ...options });
const headers = { "idempotency-key": "a key of the sdk" };
const narrow = provider(process.env.PALYRA_NARROW_TOKEN);
await ask("palyra", { prompt: "once by the sdk", headers });
const failures = [
  [429, "insufficient_quota", () => ask("faults/quota")],
  [400, "context_length_exceeded", () => ask("faults/context")],
  [400, "invalid_value", () => ask("palyra", { temperature: 9 })],
  [404, "model_not_found", () => ask("gpt-4o")],
  [401, "invalid_api_key", () => ask("palyra", { model: provider("sk-wrong")("palyra") })],
  [403, "scope_missing", () => ask("palyra", { model: narrow("palyra") })],
  [409, "idempotency_conflict", () => ask("palyra", { prompt: "another by the sdk", headers })],
];
for (const [status, code, request] of failures) {
  const error = await failure(request);
  const holds = APICallError.isInstance(error) && error.statusCode === status && error.data.error.code === code;
  check(String(status), holds && error.responseHeaders["x-request-id"].startsWith("req_"), error);
}
const server = await failure(() => ask("faults/auth"));
check("5xx", APICallError.isInstance(server) && server.statusCode >= 500, server);

const errors = [];
const failing = streamText({ ...more, model: palyra("faults/quota"), prompt: "fail in a stream", onError() {} });
for await (const part of failing.fullStream) if (part.type === "error") errors.push(part.error);
check("stream-error", errors.length === 1 && errors[0].code === "insufficient_quota", errors);

console.log(works.join(" "));
