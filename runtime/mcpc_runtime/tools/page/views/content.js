// Content blocks of results and messages: text, images, sounds, resources and links to them.

import { jsonBlock, textBlock } from "../bounded.js";
import { button, h } from "../dom.js";
import { sizeText, visible } from "../text.js";

const IMAGE = /^image\/(?:png|jpeg|gif|webp|avif|bmp|svg\+xml|x-icon)$/;
const SOUND = /^audio\/[a-z0-9.+-]{1,40}$/;
const BASE64 = /^[A-Za-z0-9+/\s]*={0,2}\s*$/;

const MAKERS = {
  text: (block) => (typeof block.text === "string" ? textBlock(block.text) : null),
  image: (block) => media(block, IMAGE, (src, label) => h("img", { src, alt: label, class: "picture" })),
  audio: (block) => media(block, SOUND, (src, label) => h("audio", { src, controls: true, "aria-label": label })),
  resource: (block, open) => contents(block.resource ?? {}, open),
  resource_link: (block, open) => h("p", { class: "link" }, open ? button(visible(block.uri, 500), () => open(String(block.uri)), { class: "as-link" }) : h("code", {}, visible(block.uri, 500)), " ", visible(block.description ?? block.name ?? "", 500)),
};

/** Return a content block; `open(uri)` opens a resource. */
export function contentBlock(block, open) {
  const made = block !== null && typeof block === "object" ? MAKERS[block.type]?.(block, open) : null;
  const kind = visible(block?.type ?? "unknown", 40);
  return h("section", { class: "content", "aria-label": `${kind} content` }, made ? null : h("p", { class: "note" }, `content of type ${kind}, as JSON`), made ?? jsonBlock(JSON.stringify(block) ?? "null"), annotations(block));
}

/** Return the contents of a resource. */
export function contents(found) {
  const type = String(found.mimeType ?? "");
  const head = h("p", { class: "note" }, h("code", {}, visible(found.uri ?? "", 500)), ` ${visible(type, 100)}`);
  if (typeof found.text === "string") return h("div", {}, head, type.includes("json") && isJson(found.text) ? jsonBlock(found.text) : textBlock(found.text));
  const block = { data: found.blob, mimeType: type };
  const shown = IMAGE.test(type) ? MAKERS.image(block) : SOUND.test(type) ? MAKERS.audio(block) : null;
  return h("div", {}, head, shown ?? binary(found));
}

function binary(found) {
  const data = String(found.blob ?? "");
  const save = () => h("a", { href: `data:application/octet-stream;base64,${data.replace(/[^A-Za-z0-9+/=]/g, "")}`, download: "resource.bin" }).click();
  return h("p", {}, `${sizeText(Math.floor((data.length * 3) / 4))} of data `, button("Save", save, { class: "small" }));
}

function media(block, allowed, make) {
  const { data, mimeType } = block;
  if (typeof data !== "string" || typeof mimeType !== "string" || !allowed.test(mimeType) || !BASE64.test(data)) return null;
  const label = `${mimeType}, ${sizeText(Math.floor((data.length * 3) / 4))}`;
  return h("figure", {}, make(`data:${mimeType};base64,${data.replace(/\s/g, "")}`, label), h("figcaption", { class: "note" }, label));
}

function annotations(block) {
  const given = block?.annotations;
  return given && typeof given === "object" ? h("p", { class: "note" }, visible(JSON.stringify(given), 300)) : null;
}

function isJson(text) {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
