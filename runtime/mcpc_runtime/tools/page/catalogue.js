// Everything that a server offers as one list of items, and the filter over it.

import { firstLine } from "./text.js";

/** The kinds in the order of the list; `key`: the member that names an item. */
export const KINDS = {
  tool: { word: "Tools", sign: "T", key: "name", capability: "tools", method: "tools/list", member: "tools" },
  resource: { word: "Resources", sign: "R", key: "uri", capability: "resources", method: "resources/list", member: "resources" },
  template: { word: "Templates", sign: "{}", key: "uriTemplate", capability: "resources", method: "resources/templates/list", member: "resourceTemplates" },
  prompt: { word: "Prompts", sign: "P", key: "name", capability: "prompts", method: "prompts/list", member: "prompts" },
  skill: { word: "Skills", sign: "S", key: "uri" },
  task: { word: "Tasks", sign: "⧗", key: "taskId" },
};

const METHOD_NOT_FOUND = -32601;
const SKILL = /^skill:\/\/.*\/SKILL\.md$/;

/** Return an item of the list. */
export function itemOf(kind, entry) {
  const key = String(entry[KINDS[kind].key] ?? "");
  const title = typeof entry.title === "string" && entry.title !== key ? entry.title : kind === "resource" || kind === "template" || kind === "skill" ? String(entry.name ?? "") : "";
  const about = firstLine(entry.description);
  return { kind, key, title, about, entry, id: `${kind}:${key}`, text: `${key}\n${title}\n${about}\n${KINDS[kind].word}`.toLowerCase() };
}

/** Return all items of a server, read by a connection; a server may have resources without templates. */
export async function readCatalogue(connection) {
  const rows = Object.entries(KINDS).filter(([, row]) => row.method && connection.capabilities[row.capability]);
  const lists = await Promise.all(
    rows.map(([, row]) =>
      connection.list(row.method, row.member).catch((problem) => {
        if (problem.code === METHOD_NOT_FOUND) return [];
        throw problem;
      }),
    ),
  );
  return lists.flatMap((list, at) => list.map((entry) => itemOf(kindOf(rows[at][0], entry), entry)));
}

const kindOf = (kind, entry) => (kind === "resource" && SKILL.test(String(entry.uri)) ? "skill" : kind);

/** Return the items that have all words of a text and are of a kind (any if it is empty); names that begin with it first. */
export function filtered(items, text, kind) {
  const wanted = text.toLowerCase().trim();
  const words = wanted.split(/\s+/).filter(Boolean);
  if (!words.length && !kind) return items;
  const ranks = [[], [], [], []];
  for (const item of items) {
    if ((kind && item.kind !== kind) || !words.every((word) => item.text.includes(word))) continue;
    const name = item.text.slice(0, item.key.length);
    ranks[name === wanted ? 0 : name.startsWith(wanted) ? 1 : name.includes(wanted) ? 2 : 3].push(item);
  }
  return ranks.flat();
}
