// Codex, whose own tools are disabled: the agent's tools run. It streams responses.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

import { answer, left, turn } from "./reports.mjs";

const program = `${process.env.PALYRA_TEST_NODE_MODULES}/@openai/codex/bin/codex.js`;

const codex = (task) => {
  const options = ["exec", "--json", "--skip-git-repo-check", task];
  return spawn(process.execPath, [program, ...options], { stdio: ["ignore", "pipe", "inherit"] });
};

await turn();
const answering = codex("change it");
for await (const line of createInterface({ input: answering.stdout })) {
  const { item } = JSON.parse(line);
  if (item?.type === "agent_message") answer(item.text);
}

await turn();
const leaving = codex("count, and I leave");
leaving.stdout.resume();
const exit = once(leaving, "exit");
await turn();
leaving.kill("SIGTERM");
await exit;
left();

process.exit(0);
