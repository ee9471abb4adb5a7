"use strict";
/* A sheet of answers to rate. Rulings stay in this browser until the file is saved. All text is text nodes. */

const RULINGS = [["acceptable", "a", "acceptable"], ["unacceptable", "u", "unacceptable"], ["unsure", "s", "cannot say"]];

let sheet = null;
let place = 0;
let said = {};

const holder = document.getElementById("sheet");
const rater = document.getElementById("rater");
const memory = () => `ratings ${sheet.queue} ${sheet.sheet}`;
const current = () => sheet.items[place];

function remember() {
  try { localStorage.setItem(memory(), JSON.stringify({ rater: rater.value, said, place })); }
  catch { /* a page in a mail has no storage: then the file alone remembers */ }
}

function recall() {
  try {
    const known = JSON.parse(localStorage.getItem(memory()) || "{}");
    rater.value = known.rater || "";
    said = known.said || {};
    place = Math.min(known.place || 0, sheet.items.length - 1);
  } catch { /* nothing is remembered */ }
}

function progress() {
  const done = sheet.items.filter((each) => (said[each.item] || {}).ruling).length;
  const saved = done === sheet.items.length ? " All are rated: save the file." : "";
  fill(document.getElementById("progress"), `Answer ${place + 1} of ${sheet.items.length}; ${done} rated.${saved}`);
}

function grid(label, { names, rows, more }) {
  return node("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": label },
    node("table", {},
      node("thead", {}, node("tr", {}, names.map((name) => node("th", { scope: "col" }, shown(name.replaceAll("_", " ")))))),
      node("tbody", {}, rows.map((row) => node("tr", {}, row.map((cell) => node("td", {}, shown(cell))))))),
    more ? node("p", { class: "note" }, `${more} more rows are not shown.`) : null);
}

function texts(title, parts) {
  return node("section", { class: "rated" }, node("h3", {}, title),
    parts.map(([name, text]) => [
      name ? node("p", { class: "name" }, shown(name.replaceAll("_", " "))) : null,
      typeof text === "string"
        ? node("div", { class: "text", tabindex: "0", role: "group", "aria-label": name || title }, shown(text))
        : grid(name || title, text),
    ]));
}

function choices() {
  const ruling = (said[current().item] || {}).ruling;
  return node("div", { class: "rulings", role: "group", "aria-label": "your ruling" },
    RULINGS.map(([value, key, words]) => node("button", {
      type: "button", "data-ruling": value, "aria-pressed": String(ruling === value), "aria-keyshortcuts": key,
      onclick: () => rule(value),
    }, node("kbd", {}, key), ` ${words}`)));
}

function show() {
  const item = current();
  const note = node("textarea", { id: "note", rows: "2", maxlength: "2000", oninput: (event) => {
    said[item.item] = { ...said[item.item], note: event.target.value };
    remember();
  } });
  note.value = (said[item.item] || {}).note || "";
  fill(holder,
    node("h2", { id: "item", tabindex: "-1" }, `Answer ${place + 1}`),
    node("div", { class: "asked" },
      node("div", {}, texts("What was asked", item.input),
        item.passages.length ? node("details", {}, node("summary", {}, item.passages.length === 1 ? "1 retrieved passage" : `${item.passages.length} retrieved passages`),
          item.passages.map((text) => node("div", { class: "text" }, shown(text)))) : null),
      texts("What was answered", item.answer)),
    choices(),
    node("label", { class: "notes", for: "note" }, "Note (optional)", note),
    node("nav", { class: "pager", "aria-label": "answers" },
      node("button", { type: "button", onclick: () => go(-1), disabled: place === 0 }, node("kbd", {}, "k"), " previous"),
      node("button", { type: "button", onclick: () => go(1), disabled: place === sheet.items.length - 1 }, node("kbd", {}, "j"), " next")));
  progress();
}

function go(step) {
  const next = place + step;
  if (next < 0 || next >= sheet.items.length) return;
  place = next;
  remember();
  show();
  document.getElementById("item").focus({ preventScroll: true });
  scrollTo({ top: 0 });
}

/* A ruling, and on to the next answer. */
function rule(value) {
  said[current().item] = { ...said[current().item], ruling: value };
  remember();
  if (place < sheet.items.length - 1) go(1);
  else show();
}

function save() {
  if (!rater.value.trim()) {
    fill(document.getElementById("progress"), "Say who you are first: your name stands with your rulings.");
    rater.focus();
    return;
  }
  const lines = [{ queue: sheet.queue, rater: rater.value.trim() }];
  for (const { item } of sheet.items) {
    const { ruling, note } = said[item] || {};
    if (ruling) lines.push({ item, ruling, note: note || "" });
  }
  const content = lines.map((line) => JSON.stringify(line)).join("\n") + "\n";
  const address = URL.createObjectURL(new Blob([content], { type: "application/x-ndjson" }));
  const name = rater.value.trim().replace(/[^\p{L}\p{N}]+/gu, "-").slice(0, 40);
  const link = node("a", { href: address, download: `ratings-${sheet.queue}-${name}.jsonl` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
  fill(document.getElementById("progress"), `${lines.length - 1} rulings are in the file ${link.download}. Hand it back.`);
}

const KEYS = { j: () => go(1), k: () => go(-1), w: save, ArrowRight: () => go(1), ArrowLeft: () => go(-1),
  n: () => document.getElementById("note").focus(), a: () => rule("acceptable"), u: () => rule("unacceptable"),
  s: () => rule("unsure") };

document.addEventListener("keydown", (event) => {
  const writing = event.target.closest("input, textarea, select");
  if (writing) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(KEYS, event.key)) return;
  // Within a wide table arrows scroll it.
  if (event.key.startsWith("Arrow") && event.target.closest(".scroll")) return;
  event.preventDefault();
  KEYS[event.key]();
});

(async function start() {
  sheet = await data("sheet");
  recall();
  document.getElementById("save").addEventListener("click", save);
  rater.addEventListener("input", remember);
  show();
  document.documentElement.dataset.ready = "true";
})();
