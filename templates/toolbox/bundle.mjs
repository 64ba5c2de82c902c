// Makes modules that need no others of a project's tools: one an entry, and what several share once, with esbuild.
// A tool that cannot be bundled is reported and left out; the others are bundled without it.

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { entries, external, esbuild: place } = JSON.parse(readFileSync(0, "utf8"));
const { build } = await import(pathToFileURL(place));

function bundle(chosen) {
  return build({
    absWorkingDir: process.cwd(),
    bundle: true,
    charset: "utf8",
    entryPoints: chosen,
    external: ["*.node"],
    format: "esm",
    legalComments: "inline",
    logLevel: "silent",
    metafile: true,
    outbase: "src",
    outdir: "out",
    outExtension: { ".js": ".mjs" },
    packages: external ? "external" : "bundle",
    platform: "node",
    sourcemap: "external",
    splitting: true,
    target: "node20",
    write: false,
  });
}

async function tried(chosen) {
  try {
    return { made: await bundle(chosen) };
  } catch (problem) {
    if (!Array.isArray(problem.errors)) throw problem;
    return { errors: problem.errors.map(({ text, location }) => ({ text, location })) };
  }
}

const failed = {};
let whole = await tried(entries);
if (whole.errors) {
  for (const entry of entries) {
    const alone = await tried([entry]);
    if (alone.errors) failed[entry] = alone.errors;
  }
  whole = await tried(entries.filter((entry) => !(entry in failed)));
}
const made = whole.made ?? { outputFiles: [], metafile: { inputs: {}, outputs: {} } };
const start = process.cwd().length + "/out/".length;
const outputs = made.outputFiles.map(({ path, text }) => [path.slice(start), text]);
process.stdout.write(JSON.stringify({ failed, errors: whole.errors ?? [], outputs, metafile: made.metafile }));
