// What a program reports to its test: when a stream begins, each event without content, how it ends, and answers.

import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const require = createRequire(`${process.env.PALYRA_TEST_NODE_MODULES}/`);
const turns = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

// Loads a package that the tests installed.
export const load = async (name) => import(pathToFileURL(require.resolve(name)));

// Waits until the test wants the next request.
export const turn = async () => {
  if ((await turns.next()).done) throw new Error("the test has ended");
};

// Reports an answer.
export const answer = (text) => console.log(`answer ${JSON.stringify(text)}`);

// Reports that it closed a stream.
export const left = () => console.log("left");

// Reports the error that ended a stream.
export const failed = (sentence) => console.log(`error ${JSON.stringify(sentence)}`);

// A delta of a chat without content, or an event of a response with the number of the one before.
const isEmpty = (data, last) => {
  if (data.error) return false;
  if (!data.choices) return data.sequence_number === last.sequence_number;
  const [choice] = data.choices;
  return choice && Object.keys(choice.delta).length === 0 && choice.finish_reason === null;
};

const reporter = () => {
  const decoder = new TextDecoder();
  let rest = "";
  let last = null;
  return (chunk) => {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop();
    for (const line of lines.filter((line) => line.startsWith("data: {"))) {
      const data = JSON.parse(line.slice("data: ".length));
      if (last === null) console.log("begun");
      else if (isEmpty(data, last)) console.log("beat");
      last = data;
    }
  };
};

// The `fetch` of a library, with reports of what it receives.
export const watchedFetch = async (input, init) => {
  const response = await fetch(input, init);
  if (!response.headers.get("content-type")?.startsWith("text/event-stream")) return response;
  const report = reporter();
  const transform = (chunk, controller) => {
    report(chunk);
    controller.enqueue(chunk);
  };
  const body = response.body.pipeThrough(new TransformStream({ transform }));
  return new Response(body, { status: response.status, headers: response.headers });
};
