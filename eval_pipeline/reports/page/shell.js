"use strict";
/* What every page can do: light and dark, copying commands, reading data, writing text that acts nowhere. */

/* The value of a data node: base64 of zlib of JSON. */
async function data(name) {
  const holder = document.getElementById(`data-${name}`);
  if (!holder) return null;
  const binary = atob(holder.textContent);
  const bytes = new Uint8Array(binary.length);
  for (let index = 0; index < binary.length; index += 1) bytes[index] = binary.charCodeAt(index);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

/* An element. Children are nodes or text; text stays text. */
function node(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.flat(Infinity).filter((each) => each !== null && each !== undefined && each !== ""));
  return made;
}

/* Everything in an element replaced. */
function fill(holder, ...children) {
  holder.replaceChildren(...children.flat(Infinity).filter((each) => each !== null && each !== undefined));
  return holder;
}

const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/u;
const NAMES = { "\u001b": "ESC", "\u0000": "NUL", "\r": "CR", "\u200b": "ZWSP", "\u200e": "LRM", "\u200f": "RLM",
  "\u202a": "LRE", "\u202b": "RLE", "\u202c": "PDF", "\u202d": "LRO", "\u202e": "RLO", "\u2066": "LRI",
  "\u2067": "RLI", "\u2068": "FSI", "\u2069": "PDI", "\u200d": "ZWJ", "\u200c": "ZWNJ", "\ufeff": "BOM" };

/* Text of anybody as nodes: characters that turn, hide or end text are shown by name and do nothing. */
function shown(text) {
  if (!UNSEEN.test(text)) return [document.createTextNode(text)];
  const nodes = [];
  for (const part of text.split(new RegExp(`(${UNSEEN.source})`, "u"))) {
    if (part === "") continue;
    if (part.length > 1 || !UNSEEN.test(part)) nodes.push(document.createTextNode(part));
    else {
      const code = part.codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
      nodes.push(node("span", { class: "unseen", title: `U+${code}` }, NAMES[part] || `U+${code}`));
    }
  }
  return nodes;
}

(function theme() {
  const button = document.getElementById("theme");
  if (!button) return;
  const system = matchMedia("(prefers-color-scheme: dark)");
  let chosen = null;
  try { chosen = localStorage.getItem("theme"); } catch { /* a page in a mail has no storage */ }
  function show() {
    const dark = chosen ? chosen === "dark" : system.matches;
    if (chosen) document.documentElement.dataset.theme = chosen;
    button.setAttribute("aria-pressed", String(dark));
    button.textContent = dark ? "light" : "dark";
    button.setAttribute("aria-label", dark ? "switch to light colours" : "switch to dark colours");
  }
  button.addEventListener("click", () => {
    chosen = button.getAttribute("aria-pressed") === "true" ? "light" : "dark";
    try { localStorage.setItem("theme", chosen); } catch { /* it lasts as long as the page */ }
    show();
  });
  system.addEventListener("change", show);
  show();
})();

document.addEventListener("click", async (event) => {
  const button = event.target.closest("button[data-copy]");
  if (!button) return;
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
    button.textContent = "copied";
  } catch {
    const range = document.createRange();
    range.selectNodeContents(button.parentElement.querySelector("code"));
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    button.textContent = "selected";
  }
  setTimeout(() => { button.textContent = "copy"; }, 2000);
});
