// What the programs of Node share: packages that the tests installed, and the list of what works.

import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(`${process.env.PALYRA_TEST_NODE_MODULES}/`);

// Loads a package by its name.
export const load = async (name) => import(pathToFileURL(require.resolve(name)));

// The smallest image: one pixel.
export const dot =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mP4z8AAAAMBAQD3A0FDAAAAAElFTkSuQmCC";

// Names of what works, in order. `check` adds one, or ends the program with what was found instead.
export const works = [];
export const check = (name, holds, found) => {
  if (!holds) throw new Error(`${name}: ${found instanceof Error ? found.stack : JSON.stringify(found)}`);
  works.push(name);
};

// Returns the error of a request that has to fail.
export const failure = async (request) => {
  try {
    await request();
  } catch (error) {
    return error;
  }
  throw new Error("the request succeeded");
};
