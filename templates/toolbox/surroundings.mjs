// What a tool finds around it, here and when it is described at the build: its places, its log, what CommonJS expects.
// Modules of the project reach all of it through one symbol, so that nothing of it has to be bundled with them.

import { appendFileSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

// What tools do to what all of them share is not to be felt here.
const { stringify } = JSON;
const { console, process } = globalThis;

const KEY = Symbol.for("mcpc.toolbox");

export function surround(base, home, log, more) {
  const places = placesOf(base, home, log);
  prepare(places);
  // A package that was written for CommonJS and is part of a module now asks for these as if they were there.
  globalThis.require ??= createRequire(base);
  globalThis.__filename ??= fileURLToPath(base);
  globalThis.__dirname ??= dirname(fileURLToPath(base));
  const logging = log === "" ? { now() {}, later: async () => {} } : logTo(places.logFile);
  globalThis[KEY] = { places, log: logging, ...more };
  return globalThis[KEY];
}

function placesOf(base, home, log) {
  const at = process.env.NODE_ENV === "test" ? join(home, "test") : home;
  const [logDirectory, jsonDirectory, dataDirectory] = ["log", "json", "data"].map((name) => join(at, name));
  return {
    toolsDir: join(dirname(fileURLToPath(base)), "tools"),
    logDirectory,
    logFile: log || join(logDirectory, "ToolBox.log"),
    jsonDirectory,
    tasksFilePath: join(jsonDirectory, "scheduled_tasks.json"),
    dataDirectory,
    sqlitePath: join(dataDirectory, "sqlite"),
    cliLogFile: join(logDirectory, "cli_tool.log"),
  };
}

function prepare(places) {
  for (const folder of [places.logDirectory, places.jsonDirectory, places.sqlitePath, dirname(places.logFile)]) {
    tried(() => mkdirSync(folder, { recursive: true, mode: 0o700 }));
  }
  const files = [[places.logFile, ""], [places.tasksFilePath, "[]"], [places.cliLogFile, ""]];
  for (const [file, text] of files) {
    tried(() => existsSync(file) || writeFileSync(file, text, { mode: 0o600 }));
  }
}

// A place that cannot be had is missed by the tools that want it, and by no other.
function tried(make) {
  try {
    make();
  } catch (problem) {
    console.error(`a place of the tools cannot be made: ${problem.message}`);
  }
}

// A line that cannot be written is no reason for a tool to fail; it is reported to the operator.
function logTo(file) {
  const now = (entry) => {
    try {
      appendFileSync(file, `${stringify(entry)}\n`, { mode: 0o600 });
    } catch (problem) {
      console.error(`a line of the log is lost: ${problem.message}`);
    }
  };
  return { now, later: async (entry) => now(entry) };
}
