"use strict";
/* Every case of a report: filters, a list, one case in full, versions side by side. All text is text nodes. */

const PAGE = 50;
const LONGEST = 20000;
const MOST_MARKS = 400;
const DIFF_MILLISECONDS = 1500;

let index = null;
let position = new Map();
let matches = { text: "", found: null };
const parts = new Map();

const state = () => new URLSearchParams(location.hash.slice(1));
const explorer = document.getElementById("explorer");

/* A link that changes some of what is chosen, and keeps the rest. */
function link(changes, from = state()) {
  const next = new URLSearchParams(from);
  for (const [key, value] of Object.entries(changes)) {
    if (value === null || value === "") next.delete(key);
    else next.set(key, value);
  }
  return `#${next}`;
}

function go(changes) {
  const next = link(changes);
  if (next !== location.hash) location.hash = next;
}

async function part(number) {
  if (!parts.has(number)) {
    parts.set(number, data(`part-${number}`));
    if (parts.size > 16) parts.delete(parts.keys().next().value);
  }
  return parts.get(number);
}

async function textsOf(place) {
  return (await part(Math.floor(place / index.part)))[place % index.part];
}

const words = (kind) => kind.replaceAll("_", " ");

/* ---- choosing ---- */

const SHOWS = {
  all: ["all cases", () => true],
  failed: ["failed", (place) => index.failed[place]],
  worse: ["got worse", (place, against) => index.moved[against].way[place] < 0],
  better: ["got better", (place, against) => index.moved[against].way[place] > 0],
  differs: ["differ over trials", (place) => index.differs[place]],
};

function against(chosen) {
  const number = Number(chosen.get("against") || 0);
  return index.comparisons[number] === undefined ? 0 : number;
}

function chosenCases() {
  const chosen = state();
  const [, test] = SHOWS[chosen.get("show")] || SHOWS.all;
  const kind = index.kinds.indexOf(chosen.get("kind"));
  const cell = chosen.get("cell");
  const inCell = cell === null ? null : new Set(cellCases(cell));
  const groups = Object.entries(index.groups)
    .map(([axis, group]) => [group.of, group.values.indexOf(chosen.get(`by ${axis}`))])
    .filter(([, value]) => value >= 0);
  const text = chosen.get("text");
  const found = text && matches.text === text ? matches.found : null;
  const compared = against(chosen);
  const counted = chosen.get("part") === "numbers";
  const cases = [];
  for (let place = 0; place < index.id.length; place += 1) {
    if (!test(place, compared)) continue;
    if (kind >= 0 && !index.wrong[place].includes(kind)) continue;
    if (inCell && !inCell.has(place)) continue;
    if (counted && index.outside[place]) continue;
    if (groups.some(([of, value]) => of[place] !== value)) continue;
    if (found && !found.has(place)) continue;
    cases.push(place);
  }
  return sorted(cases, chosen);
}

function cellCases(cell) {
  const [table, name] = splitOnce(cell, ": ");
  return (index.cells[table] || {})[name] || [];
}

function splitOnce(text, sign) {
  const at = text.indexOf(sign);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + sign.length)];
}

function shownMetric(chosen) {
  return index.values[chosen.get("metric")] ? chosen.get("metric") : index.headline;
}

function sorted(cases, chosen) {
  const metric = shownMetric(chosen);
  const sign = index.metrics.find((each) => each.name === metric).better === "higher" ? 1 : -1;
  const value = index.values[metric];
  const compared = index.moved[against(chosen)];
  const keys = {
    worst: metric === index.headline ? (place) => index.rank[place] : (place) => last(value[place], sign),
    best: (place) => last(value[place], -sign),
    fell: (place) => (compared ? compared.way[place] * 1e6 + sign * (compared.by[place] || 0) : 0),
    rose: (place) => (compared ? -compared.way[place] * 1e6 - sign * (compared.by[place] || 0) : 0),
    golden: (place) => place,
  };
  const wanted = chosen.get("sort") || "worst";
  if (wanted === "name") return cases.sort((one, two) => (index.id[one] < index.id[two] ? -1 : 1));
  const key = keys[wanted] || keys.worst;
  return cases.sort((one, two) => key(one) - key(two) || one - two);
}

/* What is undefined comes last, whichever way. */
function last(value, sign) {
  return value === null || value === undefined ? Number.MAX_VALUE : sign * value;
}

/* Look for a text in everything that belongs to a case but its rendered prompt. */
async function search(text) {
  const wanted = text.toLowerCase();
  const found = new Set();
  const count = Math.ceil(index.id.length / index.part);
  for (let number = 0; number < count; number += 1) {
    if ((state().get("text") || "") !== text) return;
    const records = await data(`part-${number}`);
    records.forEach((record, offset) => {
      const place = number * index.part + offset;
      if (index.id[place].toLowerCase().includes(wanted) || textsIn(record).some((each) => each.toLowerCase().includes(wanted))) found.add(place);
    });
    say(`Searching: ${Math.round((100 * (number + 1)) / count)} %`);
  }
  matches = { text, found };
  render();
}

function textsIn(record) {
  const answers = record.sides.flatMap((side) => (side.trials || []).map((trial) => trial.text || ""));
  return [...(record.input || []), ...(record.expected || [])].map((each) => each[1]).concat(answers);
}

/* ---- tools and list ---- */

function option(value, text, chosen) {
  return node("option", { value, selected: value === chosen }, text);
}

function select(name, label, options, chosen) {
  const change = (event) => go({ [name]: event.target.value, page: null, case: null });
  return node("label", {}, node("span", {}, label), node("select", { onchange: change, "data-name": name, "aria-label": label },
    options.map(([value, text]) => option(value, text, chosen || options[0][0]))));
}

function tools(chosen) {
  const shows = Object.entries(SHOWS).filter(([name]) => index.moved.length || !["worse", "better"].includes(name));
  const sorts = [["worst", "worst first"], ["best", "best first"], ["name", "by name"], ["golden", "as in the golden set"]];
  if (index.moved.length) sorts.splice(1, 0, ["fell", "fell the most"], ["rose", "rose the most"]);
  const kinds = index.kinds.filter((kind) => kind !== "");
  const metrics = Object.keys(index.values);
  const find = node("input", { type: "search", "aria-label": "find", value: chosen.get("text") || "", "data-name": "text",
    placeholder: index.texts ? "in any text" : "in names", oninput: later((event) => go({ text: event.target.value.trim(), page: null, case: null })) });
  return node("div", { class: "tools screen" },
    select("show", "show", shows.map(([name, [text]]) => [name === "all" ? "" : name, text]), chosen.get("show") || ""),
    index.comparisons.length > 1 ? select("against", "against", index.comparisons.map((each, number) => [String(number), each.label]), chosen.get("against") || "0") : null,
    index.outside.some(Boolean) ? select("part", "of", [["", "everything"], ["numbers", "what the numbers rest on"]], chosen.get("part") || "") : null,
    kinds.length ? select("kind", "kind of error", [["", "any"], ...kinds.map((kind) => [kind, words(kind)])], chosen.get("kind") || "") : null,
    Object.entries(index.groups).map(([axis, group]) => select(`by ${axis}`, words(axis), [["", "any"], ...group.values.map((each) => [each, each])], chosen.get(`by ${axis}`) || "")),
    metrics.length > 1 ? select("metric", "metric", metrics.map((each) => [each === index.headline ? "" : each, each]), chosen.get("metric") || "") : null,
    select("sort", "sort", sorts.map(([name, text]) => [name === "worst" ? "" : name, text]), chosen.get("sort") || ""),
    node("label", {}, node("span", {}, "find"), find));
}

function later(action) {
  let waiting = 0;
  return (event) => { clearTimeout(waiting); waiting = setTimeout(() => action(event), 300); };
}

function say(text) {
  const status = document.getElementById("count");
  if (status) status.textContent = text;
}

function filters(chosen) {
  const named = [...chosen].filter(([key]) => ["cell", "metric"].includes(key));
  const others = [...chosen].filter(([key]) => !["case", "view", "page", "trial", "from"].includes(key));
  return [
    named.map(([key, value]) => node("a", { class: "chip", href: link({ [key]: null, page: null }) }, `${key} ${value} ×`)),
    others.length ? node("a", { class: "chip", href: "#cases" }, "show all cases") : null,
  ];
}

function list(cases, chosen) {
  const metric = shownMetric(chosen);
  const pages = Math.max(1, Math.ceil(cases.length / PAGE));
  const current = cases.indexOf(position.get(chosen.get("case")));
  const asked = chosen.has("page") ? Number(chosen.get("page")) - 1 : Math.max(0, Math.floor(current / PAGE));
  const page = Math.min(Math.max(0, asked || 0), pages - 1);
  const rows = cases.slice(page * PAGE, (page + 1) * PAGE);
  const compared = index.moved.map((moved, number) => [moved, index.comparisons[number]]);
  const head = node("tr", {}, ["case", metric, "passed"].map((each, number) => node("th", { scope: "col", class: number ? "number" : null }, each)),
    compared.map(([, side]) => node("th", { scope: "col", class: "number", title: `against ${side.label}` }, `Δ ${side.role}`)));
  const body = rows.map((place) => node("tr", { "aria-current": index.id[place] === chosen.get("case") ? "true" : null, class: index.outside[place] ? "outside" : null },
    node("td", {}, node("a", { href: link({ case: index.id[place], page: null }) }, shown(index.id[place])), index.outside[place] ? " *" : null),
    node("td", { class: "number" }, index.shown[metric][place]),
    node("td", { class: `number ${index.failed[place] ? "red" : "green"}` }, index.passed[place]),
    compared.map(([moved]) => node("td", { class: `number ${["red", "", "green"][moved.way[place] + 1]}` }, moved.shown[place] || (moved.way[place] < 0 ? "worse" : moved.way[place] > 0 ? "better" : "")))));
  const pager = pages > 1 ? node("nav", { class: "pager screen", "aria-label": "pages of cases" },
    page > 0 ? node("a", { href: link({ page: String(page), case: null }) }, "‹ before") : null,
    node("span", {}, `${(page * PAGE + 1).toLocaleString("en")}–${Math.min(cases.length, (page + 1) * PAGE).toLocaleString("en")} of ${cases.length.toLocaleString("en")}`),
    page + 1 < pages ? node("a", { href: link({ page: String(page + 2), case: null }) }, "after ›") : null) : null;
  return node("div", { class: "list" },
    node("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "cases" },
      cases.length ? node("table", {}, node("thead", {}, head), node("tbody", {}, body)) : node("p", {}, "No case is like that.")),
    rows.some((place) => index.outside[place]) ? node("p", { class: "note" }, "* no part of the numbers: the engine learned from it") : null,
    pager);
}

/* ---- texts ---- */

/* JSON over several lines. Only white space is added: every other character is the model's own. */
function laidOut(text) {
  const start = text.trimStart()[0];
  if ((start !== "{" && start !== "[") || text.length > 500000 || text.includes("\n")) return text;
  try { JSON.parse(text); } catch { return text; }
  let out = "";
  let depth = 0;
  let inside = false;
  for (let at = 0; at < text.length; at += 1) {
    const sign = text[at];
    if (inside) {
      out += sign;
      if (sign === "\\") { at += 1; out += text[at]; } else if (sign === '"') inside = false;
    } else if (sign === '"') { inside = true; out += sign; }
    else if (sign === "{" || sign === "[") {
      const empty = /^\s*[}\]]/.exec(text.slice(at + 1, at + 50));
      if (empty) { out += sign + empty[0].trim(); at += empty[0].length; }
      else { depth += 1; out += `${sign}\n${"  ".repeat(depth)}`; }
    } else if (sign === "}" || sign === "]") { depth -= 1; out += `\n${"  ".repeat(depth)}${sign}`; }
    else if (sign === ",") out += `,\n${"  ".repeat(depth)}`;
    else if (sign === ":") out += ": ";
    else if (!/\s/.test(sign)) out += sign;
  }
  return out;
}

const LETTER = "[\\p{L}\\p{N}]";

/* Where words stand in a text: as they are or as JSON writes them, in any case, over any white space. */
function* places(text, named) {
  if (!named.trim()) return;
  for (const form of new Set([named, JSON.stringify(named).slice(1, -1)])) {
    if (form.length > 1000) {
      for (let at = text.indexOf(form); at >= 0; at = text.indexOf(form, at + form.length)) yield [at, at + form.length];
      continue;
    }
    const pattern = form.trim().split(/\s+/u).map((word) => word.replace(/[\\^$.*+?()[\]{}|]/gu, "\\$&")).join("\\s+");
    const before = new RegExp(`^${LETTER}`, "u").test(form.trim()) ? `(?<!${LETTER})` : "";
    const after = new RegExp(`${LETTER}$`, "u").test(form.trim()) ? `(?!${LETTER})` : "";
    for (const match of text.matchAll(new RegExp(before + pattern + after, "giu"))) yield [match.index, match.index + match[0].length];
  }
}

function sort(diagnosis) {
  if (diagnosis.expected && diagnosis.got) return "wrong";
  return diagnosis.expected ? "missed" : "invented";
}

/* The objects of JSON that hold all these values. */
function* objects(text, values) {
  const wanted = values.map((each) => JSON.stringify(each).toLowerCase());
  for (const match of text.matchAll(/\{[^{}]*\}/gu)) {
    const own = match[0].toLowerCase();
    if (wanted.every((each) => own.includes(each))) yield [match.index, match.index + match[0].length];
  }
}

/* Where a pointer points in a text: at its place in that field, at an object, or at words; where JSON has the
   words as a value, at that value alone. */
function found(text, field, pointer) {
  if (typeof pointer === "string") {
    const values = /^\s*[[{]/.test(text) ? [...places(text, JSON.stringify(pointer))] : [];
    return values.length ? values : [...places(text, pointer)];
  }
  if (pointer.beside) return [...objects(text, [pointer.words, ...pointer.beside])];
  if (!field) return found(text, field, pointer.words);
  return pointer.field === field ? [pointer.at] : [];
}

/* What diagnoses point at in a text: [start, end, class, title]. */
function marksIn(text, field, diagnoses, names) {
  const marks = [];
  for (const diagnosis of diagnoses) {
    for (const name of names) {
      for (const pointer of diagnosis[`${name}_at`] || []) {
        if (marks.length >= MOST_MARKS) return marks;
        const title = words(index.kinds[diagnosis.kind]);
        for (const [start, end] of found(text, field, pointer)) marks.push([start, end, sort(diagnosis), title]);
      }
    }
  }
  return marks;
}

/* A text with its marks; what lies in several marks has the names of all of them. */
function marked(text, marks) {
  if (!marks.length) return shown(text);
  const ends = [...new Set([0, text.length, ...marks.flatMap(([start, end]) => [start, end])])].filter((each) => each >= 0 && each <= text.length).sort((one, two) => one - two);
  return ends.slice(0, -1).flatMap((start, number) => {
    const over = marks.filter(([from, to]) => from <= start && to >= ends[number + 1]);
    const piece = shown(text.slice(start, ends[number + 1]));
    if (!over.length) return piece;
    const names = [...new Set(over.map((each) => each[3]))].join(", ");
    return node("mark", { class: over[over.length - 1][2], title: names }, piece);
  });
}

/* A text in full; a very long one after a click. */
function block(text, marks = []) {
  const holder = node("pre", { class: "text", dir: "auto", tabindex: "0" });
  if (text.length <= LONGEST) return fill(holder, marked(text, marks));
  const more = node("button", { type: "button", class: "more" }, `show all ${text.length.toLocaleString("en")} characters`);
  more.addEventListener("click", () => { fill(holder, marked(text, marks)); more.remove(); });
  return [fill(holder, marked(text.slice(0, LONGEST), marks.filter(([, end]) => end <= LONGEST)), "…"), more];
}

function fields(title, texts, diagnoses, names) {
  if (!texts) return null;
  return node("section", { class: "field" }, node("h4", {}, title), texts.map(([name, text]) => {
    const short = text.length < 60 && !text.includes("\n");
    const marks = marksIn(text, title === "Input" ? name : "", diagnoses, names);
    if (short && name) return node("p", { class: "short" }, node("b", {}, words(name)), " ", node("bdi", {}, marked(text, marks)));
    return [name ? node("p", { class: "name" }, words(name)) : null, block(text, marks)];
  }));
}

/* ---- one case ---- */

function diagnosisList(diagnoses, base) {
  if (!diagnoses.length) return null;
  const byKind = new Map();
  for (const each of diagnoses) byKind.set(each.kind, [...(byKind.get(each.kind) || []), each]);
  return node("dl", { class: "diagnoses" }, [...byKind].map(([kind, some]) => [
    node("dt", {}, node("a", { href: link({ kind: index.kinds[kind] }, base), title: "cases with this kind of error" }, words(index.kinds[kind])), ` (${some.length})`),
    some.map((each) => node("dd", {},
      each.expected ? node("span", { class: "expected" }, node("bdi", {}, shown(each.expected))) : null,
      each.expected && each.got ? " — got " : null,
      each.got ? node("span", { class: "got" }, node("bdi", {}, shown(each.got))) : null)),
  ]));
}

function measures(trial) {
  const known = ["latency", "cost", "tokens"].filter((name) => trial[name]).map((name) => (name === "tokens" ? `${trial[name]} tokens` : trial[name]));
  return known.length ? node("span", { class: "muted" }, ` ${known.join(" · ")}`) : null;
}

function verdict(trial) {
  if (trial.error) return node("span", { class: "badge red" }, `error: ${trial.error}`);
  if (trial.passed === null || trial.passed === undefined) return null;
  return trial.passed ? node("span", { class: "badge green" }, "✓ passes") : node("span", { class: "badge red" }, "✗ fails");
}

function answer(trial, count) {
  const diagnoses = trial.diagnoses || [];
  const text = trial.text === undefined ? null : laidOut(trial.text);
  return node("section", { class: "answer" },
    node("h4", {}, count > 1 ? `Answer, trial ${trial.trial}` : "Answer", " ", verdict(trial), measures(trial)),
    trial.detail ? block(trial.detail) : null,
    text !== null ? block(text, marksIn(text, "", diagnoses, ["got"])) : index.texts && !trial.error ? node("p", { class: "muted" }, "There is no answer.") : null,
    diagnosisList(diagnoses, new URLSearchParams()));
}

function answersView(record) {
  const own = record.sides[0];
  const trials = own.trials || [];
  const all = trials.flatMap((trial) => trial.diagnoses || []);
  const unique = [...new Map(all.map((each) => [JSON.stringify(each), each])).values()];
  const prompt = record.prompt === undefined ? null : record.prompt === null
    ? node("p", { class: "muted" }, "The prompt is not there any more as it was asked, or cannot be rendered.")
    : node("details", {}, node("summary", {}, "Rendered prompt"), block(record.prompt));
  const question = node("div", {}, fields("Input", record.input, unique, ["expected", "got"]), prompt,
    fields("Expected", record.expected, unique, ["expected"]));
  const replies = node("div", {}, trials.map((trial) => answer(trial, trials.length)), scores(record));
  return [unique.length && index.texts ? legend() : null, node("div", { class: index.texts ? "columns" : "" }, index.texts ? question : null, replies)];
}

function legend() {
  return node("p", { class: "legend" }, node("mark", { class: "missed" }, "missed"), " ", node("mark", { class: "wrong" }, "wrong, reversed or misquoted"),
    " ", node("mark", { class: "invented" }, "invented"));
}

function scores(record) {
  const sides = record.sides;
  const trials = sides[0].trials || [];
  const several = trials.length > 1;
  const head = ["metric", "this version", ...(several ? trials.map((trial) => `trial ${trial.trial}`) : []),
    ...sides.slice(1).flatMap((_, number) => [index.exhibits[number + 1].label, "difference"])];
  const rows = index.metrics.map((metric, number) => [metric.name, (sides[0].values || [])[number],
    ...(several ? trials.map((trial) => (trial.values || [])[number]) : []),
    ...sides.slice(1).flatMap((side) => [(side.values || [])[number], (side.changes || [])[number]])]);
  const known = rows.filter((row) => row.slice(1).some((each) => each && each !== "–"));
  return node("section", { class: "scores" }, node("h4", {}, "Scores"),
    node("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "scores of this case" },
      node("table", {}, node("thead", {}, node("tr", {}, head.map((each) => node("th", { scope: "col" }, each)))),
        node("tbody", {}, known.map(([name, ...values]) => node("tr", {},
          node("th", { scope: "row" }, document.getElementById(`metric-${name}`) ? node("a", { href: `#metric-${name}`, title: description(name) }, name) : node("span", { title: description(name) }, name)),
          values.map((each) => node("td", { class: "number" }, each || ""))))))));
}

function description(name) {
  const metric = index.metrics.find((each) => each.name === name);
  return metric ? metric.description : "";
}

/* Words that differ between two texts; lines where that takes too long; null where even that does. */
function difference(before, after) {
  const options = { timeout: DIFF_MILLISECONDS };
  return Diff.diffWordsWithSpace(before, after, options) || Diff.diffLines(before, after, options) || null;
}

function compared(before, after) {
  if (before === after) return node("pre", { class: "text", dir: "auto", tabindex: "0" }, shown(after));
  const pieces = before.length + after.length > 400000 ? null : difference(before, after);
  if (!pieces) return [node("p", { class: "muted" }, "Too long to compare word by word."), block(after)];
  return node("pre", { class: "text", dir: "auto", tabindex: "0" }, pieces.map((piece) => {
    if (piece.added) return node("ins", {}, shown(piece.value));
    return piece.removed ? node("del", {}, shown(piece.value)) : shown(piece.value);
  }));
}

function sideView(record, chosen) {
  const most = Math.max(...record.sides.map((side) => (side.trials || []).length));
  const trial = Math.min(Math.max(1, Number(chosen.get("trial") || 1)), most);
  const expected = (record.expected || []).map(([name, text]) => (name ? `${name}: ${text}` : text)).join("\n");
  const columns = [...record.sides.keys()].slice(1).concat(0).map((number) => ({ name: String(number), label: number ? index.exhibits[number].label : `${index.exhibits[0].label} (this version)`, side: record.sides[number] }));
  const sources = [...columns.map((each) => [each.name, each.label]), ["expected", "expected"]];
  const from = sources.some(([name]) => name === chosen.get("from")) ? chosen.get("from") : sources[0][0];
  const textOf = (column) => {
    const own = (column.side.trials || [])[Math.min(trial, (column.side.trials || []).length) - 1];
    return own && own.text !== undefined ? laidOut(own.text) : null;
  };
  const reference = from === "expected" ? expected : textOf(columns.find((each) => each.name === from));
  const shownColumns = columns.map((column) => {
    const own = (column.side.trials || [])[Math.min(trial, (column.side.trials || []).length) - 1];
    const text = textOf(column);
    let body = null;
    if (column.side.absent) body = node("p", { class: "muted" }, column.side.absent);
    else if (text === null) body = node("p", { class: "muted" }, own && own.error ? `error: ${own.error} ${own.detail || ""}` : "There is no answer.");
    else body = column.name === from || reference === null ? block(text) : compared(reference, text);
    return node("div", {}, node("h4", {}, column.label, " ", own ? verdict(own) : null), body, own ? diagnosisList(own.diagnoses || [], new URLSearchParams()) : null);
  });
  const first = from === "expected" ? node("div", {}, node("h4", {}, "expected"), block(expected)) : null;
  const choices = node("div", { class: "tools screen" }, pick("from", "differences from", sources, from),
    most > 1 ? pick("trial", "trial", [...Array(most).keys()].map((each) => [String(each + 1), String(each + 1)]), String(trial)) : null);
  return [choices, node("p", { class: "legend" }, node("ins", {}, "only here"), " ", node("del", {}, "only in what it is compared with")),
    node("div", { class: "columns many" }, first, shownColumns), scores(record)];
}

function pick(name, label, options, chosen) {
  return node("label", {}, node("span", {}, label), node("select", { "data-name": name, "aria-label": label, onchange: (event) => go({ [name]: event.target.value }) },
    options.map(([value, text]) => option(value, text, chosen))));
}

async function detail(cases, chosen) {
  const id = chosen.get("case");
  const holder = document.getElementById("case");
  if (!id) { fill(holder, node("p", { class: "muted" }, "Choose a case to see its question, expectation and answers. ", node("kbd", {}, "j"), " and ", node("kbd", {}, "k"), " go to the next and the previous one.")); return; }
  const place = position.get(id);
  if (place === undefined) { fill(holder, node("p", { class: "red" }, "There is no case ", shown(id), ".")); return; }
  const record = await textsOf(place);
  if (state().get("case") !== id) return;
  const at = cases.indexOf(place);
  const previous = at > 0 ? cases[at - 1] : null;
  const next = at + 1 < cases.length ? cases[at + 1] : null;
  const beside = chosen.get("view") === "side" && record.sides.length > 1;
  const badges = index.moved.map((moved, number) => (moved.way[place] ? node("span", { class: `badge ${moved.way[place] < 0 ? "red" : "green"}` }, `${moved.way[place] < 0 ? "worse" : "better"} than ${index.comparisons[number].label} ${moved.shown[place]}`) : null));
  fill(holder,
    node("div", { class: "bar screen" },
      previous === null ? node("span", { class: "muted" }, "‹ previous") : node("a", { href: link({ case: index.id[previous], page: null }), rel: "prev" }, "‹ previous"),
      next === null ? node("span", { class: "muted" }, "next ›") : node("a", { href: link({ case: index.id[next], page: null }), rel: "next" }, "next ›"),
      at >= 0 ? node("span", { class: "muted" }, `${(at + 1).toLocaleString("en")} of ${cases.length.toLocaleString("en")}`) : node("span", { class: "muted" }, "not among those chosen"),
      record.sides.length > 1 && index.texts ? node("span", { class: "views" },
        node("a", { href: link({ view: null }), "aria-current": beside ? null : "true" }, "answers"),
        node("a", { href: link({ view: "side" }), "aria-current": beside ? "true" : null }, "side by side")) : null),
    node("h3", {}, node("bdi", {}, shown(id)), " ", node("span", { class: `badge ${index.failed[place] ? "red" : "green"}` }, index.passed[place] ? `passed ${index.passed[place]}` : "neither passes nor fails"),
      index.differs[place] ? node("span", { class: "badge yellow" }, "differs over trials") : null, badges),
    node("p", { class: "muted where" }, record.where, Object.entries(index.groups).map(([axis, group]) => ` · ${words(axis)}: ${group.values[group.of[place]]}`)),
    beside ? sideView(record, chosen) : answersView(record));
}

/* ---- the prompts of the versions, word by word ---- */

async function prompts() {
  const texts = await data("prompts");
  if (!texts) return;
  for (const holder of document.querySelectorAll("[data-prompts]")) {
    const before = texts[Number(holder.dataset.prompts)];
    if (before !== null && texts[0] !== null) fill(holder, compared(before, texts[0]));
  }
}

/* ---- everything together ---- */

let scrolled = "";

async function render() {
  if (!index) return;
  const chosen = state();
  const text = chosen.get("text") || "";
  if (text && matches.text !== text) { search(text); }
  const cases = chosenCases();
  const focused = document.activeElement && document.activeElement.dataset ? document.activeElement.dataset.name : null;
  const caret = focused === "text" ? document.activeElement.selectionStart : null;
  fill(document.getElementById("tools"), tools(chosen), node("p", { class: "bar" }, node("span", { id: "count", role: "status" },
    `${cases.length.toLocaleString("en")} of ${index.id.length.toLocaleString("en")} cases`), filters(chosen)));
  if (focused) {
    const again = document.querySelector(`#tools [data-name="${CSS.escape(focused)}"], #case [data-name="${CSS.escape(focused)}"]`);
    if (again) again.focus();
    if (again && caret !== null) again.setSelectionRange(caret, caret);
  }
  fill(document.getElementById("list"), list(cases, chosen));
  document.querySelector(".split").classList.toggle("alone", chosen.get("view") === "side" && chosen.has("case"));
  await detail(cases, chosen);
  const aim = chosen.get("case") || chosen.get("cell") || chosen.get("metric");
  if (aim && aim !== scrolled) {
    const target = document.getElementById(chosen.get("case") ? "case" : "cases");
    const box = target.getBoundingClientRect();
    if (box.top < 0 || box.top > innerHeight * 0.6) target.scrollIntoView();
  }
  scrolled = aim;
  document.documentElement.dataset.rendered = location.hash;
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
  const name = { j: "next", k: "prev" }[event.key];
  const there = name && document.querySelector(`#case a[rel="${name}"]`);
  if (there) { event.preventDefault(); location.hash = there.getAttribute("href"); }
  else if (event.key === "j" && index && !state().get("case")) { const [first] = chosenCases(); if (first !== undefined) go({ case: index.id[first] }); }
});

function isTarget() {
  return location.hash.length > 1 && !location.hash.includes("=");
}

addEventListener("hashchange", () => { if (!isTarget() || location.hash === "#cases") render(); });

(async function begin() {
  if (!explorer) return;
  index = await data("index");
  position = new Map(index.id.map((id, place) => [id, place]));
  fill(explorer, node("div", { id: "tools" }), node("div", { class: "split" }, node("div", { id: "list" }), node("article", { id: "case", "aria-label": "the chosen case", tabindex: "-1" })));
  await render();
  await prompts();
  document.documentElement.dataset.ready = "true";
})();
