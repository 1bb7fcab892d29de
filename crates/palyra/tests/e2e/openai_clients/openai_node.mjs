// The official Node client against the daemon: text, streams, structured output, an image, and errors. Prints what works.

import { check, dot, failure, load, works } from "./packages.mjs";

const { default: OpenAI } = await load("openai");
const { zodResponseFormat, zodTextFormat } = await load("openai/helpers/zod");
const { z } = await load("zod");

const client = new OpenAI({ maxRetries: 0 });
const model = "palyra";
const user = (content) => [{ role: "user", content }];
const ask = (content, more = {}, options = {}) =>
  client.chat.completions.create({ model, messages: user(content), ...more }, options);

const answer = await ask("hello node");
check("text", answer.choices[0].message.content === "You said: hello node", answer);

const stream = client.chat.completions.stream({ model, messages: user("a stream of words") });
const final = await stream.finalContent();
check("stream", final === "You said: a stream of words", final);

const response = client.responses.stream({ model, input: "a response in pieces" });
const whole = await response.finalResponse();
check("responses", whole.output_text === "You said: a response in pieces", whole);

const Place = z.object({ city: z.string() });
const place = await client.chat.completions.parse({
  model,
  messages: user("where"),
  response_format: zodResponseFormat(Place, "place"),
});
check("structured", typeof place.choices[0].message.parsed.city === "string", place);
const format = zodTextFormat(Place, "place");
const found = await client.responses.parse({ model, input: "where is it", text: { format } });
check("response-structured", typeof found.output_parsed.city === "string", found);

const url = `data:image/png;base64,${dot}`;
const shown = await ask([
  { type: "text", text: "what is it" },
  { type: "image_url", image_url: { url } },
]);
check("image", shown.choices[0].message.content.startsWith("You showed: image/png"), shown);
const content = [
  { type: "input_text", text: "what is that" },
  { type: "input_image", image_url: url, detail: "auto" },
];
const seen = await client.responses.create({ model, input: user(content) });
check("response-image", seen.output_text.startsWith("You showed: image/png"), seen);

const refused = new OpenAI({ apiKey: "sk-wrong", maxRetries: 0 });
const narrow = new OpenAI({ apiKey: process.env.PALYRA_NARROW_TOKEN, maxRetries: 0 });
const headers = { "Idempotency-Key": "a key of the client" };
await ask("once", {}, { headers });
const classes = [
  [OpenAI.RateLimitError, "insufficient_quota", () => ask("fail", { model: "faults/quota" })],
  [OpenAI.BadRequestError, "context_length_exceeded", () => ask("fail", { model: "faults/context" })],
  [OpenAI.BadRequestError, "unsupported_parameter", () => ask("fail", { n: 2 })],
  [OpenAI.NotFoundError, "model_not_found", () => ask("fail", { model: "gpt-4o" })],
  [OpenAI.AuthenticationError, "invalid_api_key", () => refused.models.list()],
  [OpenAI.PermissionDeniedError, "scope_missing", () => narrow.models.list()],
  [OpenAI.ConflictError, "idempotency_conflict", () => ask("another", {}, { headers })],
  [OpenAI.InternalServerError, "model_auth", () => ask("fail", { model: "faults/auth" })],
];
for (const [kind, code, request] of classes) {
  const error = await failure(request);
  const holds = error.constructor === kind && error.code === code && error.requestID.startsWith("req_");
  check(kind.name, holds && error.headers.get("x-should-retry") === "false", error);
}

const streamed = await failure(async () => {
  for await (const _ of await ask("fail in a stream", { model: "faults/quota", stream: true }));
});
check("stream-error", streamed instanceof OpenAI.APIError && streamed.code === "insufficient_quota", streamed);
const kinds = [];
const failed = { model: "faults/quota", input: "fail in events", stream: true };
for await (const event of await client.responses.create(failed)) kinds.push(event);
const last = kinds.at(-1);
check("response-error", last.type === "response.failed" && last.response.error.code === "insufficient_quota", last);

console.log(works.join(" "));
