// The list of runs: loaded in chunks, filtered, sorted and paged here. The address keeps what is shown.
const PAGE = 100;
const element = globalThis.matproofElement;
const VERDICTS = [["unscored", "none"], ["1", "s1"], ["2", "s2"], ["3", "s3"], ["4", "s4"], ["5", "s5"], ["correct", "yes"], ["not correct", "no"]];
const spaced = (text) => text.replaceAll("_", " ");
const duration = (s) => s < 59.5 ? `${s < 9.95 ? s.toFixed(1) : s.toFixed(0)} s` : s < 5970 ? `${(s / 60).toFixed(1)} min` : `${(s / 3600).toFixed(1)} h`;
const money = (usd) => usd === null ? "?" : usd === 0 ? "$0" : usd < 0.095 ? `$${usd.toPrecision(2)}` : `$${usd.toFixed(2)}`;
const form = document.getElementById("find");
const table = document.getElementById("runs-table");
const told = form.querySelector("output");
const pager = document.getElementById("pager");
const rows = [];
let head = null, shown = [], page = 0, sort = "", down = false, loaded = false;

const strong = (row) => row[10 + head.judges.length];
const weak = (row) => row[11 + head.judges.length];
// Where no detector looked, that there is no flag says nothing: the data has null there, not zero.
const looked = (row) => strong(row) !== null;
const columns = () => [
  ["claim", "claim", (row) => head.claims[row[0]][0]],
  ["field", "field", (row) => head.claims[row[0]][2]],
  ["setting", "setting", (row) => head.settings[row[1]]],
  ["repeat", "repeat", (row) => row[2]],
  ["finished", "finished", (row) => head.outcomes[row[3]]],
  ["says", "agent says", (row) => row[5]],
  ["truth", "evidence says", (row) => head.claims[row[0]][5]],
  ...head.judges.map(([judge], index) => [`j${index}`, judge, (row) => row[10 + index]]),
  ["flags", "flags", (row) => looked(row) ? strong(row) * 1000 + weak(row) : -1],
  ["time", "time", (row) => row[6]],
  ["cost", "cost", (row) => row[7] ?? -1],
];
const options = () => ({
  setting: head.settings.map((name, index) => [name, (row) => row[1] === index]),
  ...Object.fromEntries([["field", 2], ["type", 3], ["verified", 4], ["truth", 5]].map(([name, at]) =>
    [name, [...new Set(head.claims.map((claim) => claim[at]))].sort().map((value) => [value, (row) => head.claims[row[0]][at] === value])])),
  finished: head.outcomes.map((name, index) => [name, (row) => row[3] === index]),
  says: [["reproduced", (row) => row[5] === 1], ["not reproduced", (row) => row[5] === 0], ["nothing", (row) => row[5] === -1]],
  label: head.labels.map((name, index) => [name, (row) => (row[9] & (1 << index)) !== 0]),
  flags: [["strong", (row) => strong(row) > 0], ["some", (row) => strong(row) + weak(row) > 0], ["none", (row) => looked(row) && strong(row) + weak(row) === 0], ["not_looked_at", (row) => !looked(row)]],
  ...Object.fromEntries(head.judges.map(([judge, kind], index) => [`judge ${judge}`,
    [...(kind === "checks" ? [6, 7, 0] : [5, 4, 3, 2, 1, 0])].map((code) => [VERDICTS[code][0], (row) => row[10 + index] === code])])),
});
let choices = {};

const build = () => {
  choices = options();
  const place = form.querySelector(".choices");
  for (const [name, values] of Object.entries(choices)) {
    if (!values.length) continue;
    const select = element("select", { name }, element("option", { value: "" }, "any"), ...values.map(([value]) => element("option", { value }, spaced(value))));
    place.append(element("label", {}, `${name} `, select));
  }
  const line = element("tr");
  for (const [key, label] of columns()) {
    const button = element("button", { type: "button", "data-key": key }, label);
    button.addEventListener("click", () => {
      if (sort === key) down = !down;
      else [sort, down] = [key, false];
      page = 0;
      find();
    });
    line.append(element("th", { scope: "col", class: key === "time" || key === "cost" || key === "repeat" ? "num" : null }, button));
  }
  table.tHead.replaceChildren(line);
};

const restore = () => {
  const state = globalThis.matproofState.read();
  form.elements.q.value = state.q ?? "";
  for (const select of form.querySelectorAll("select")) select.value = [...select.options].some((option) => option.value === state[select.name]) ? state[select.name] : "";
  page = Math.max(0, Number.parseInt(state.page ?? "1", 10) - 1 || 0);
  sort = columns().some(([key]) => key === state.sort) ? state.sort : "";
  down = state.order === "down";
};

const find = () => {
  const words = form.elements.q.value.toLowerCase().split(/\s+/).filter(Boolean);
  const tests = [...form.querySelectorAll("select")].filter((select) => select.value).map((select) => choices[select.name].find(([value]) => value === select.value)[1]);
  const text = (row) => `${head.claims[row[0]][0]} ${head.claims[row[0]][1]} ${head.settings[row[1]]} ${spaced(head.outcomes[row[3]])}`.toLowerCase();
  shown = rows.filter((row) => tests.every((test) => test(row)) && (!words.length || words.every((word) => text(row).includes(word))));
  const column = columns().find(([key]) => key === sort);
  if (column) {
    const value = column[2];
    shown.sort((a, b) => {
      const x = value(a), y = value(b);
      return (down ? -1 : 1) * (typeof x === "number" ? x - y : x < y ? -1 : x > y ? 1 : 0);
    });
  }
  draw();
};

const href = (row) => `runs/${[head.claims[row[0]][0], head.settings[row[1]], String(row[2])].map(encodeURIComponent).join("/")}.html`;
const line = (row) => {
  const claim = head.claims[row[0]], scripted = row[8] & 1;
  const name = claim[1] || claim[0];
  const verdict = (code) => code < 0 ? element("span", { class: "quiet" }, "–") : element("span", { class: `chip ${VERDICTS[code][1]}` }, VERDICTS[code][0]);
  return element("tr", {},
    element("th", { scope: "row" }, row[8] & 2 ? element("a", { href: href(row) }, name) : name, element("small", {}, claim[0])),
    element("td", {}, claim[2]),
    element("td", { class: "long" }, head.settings[row[1]], " ", scripted ? element("span", { class: "badge scripted" }, "scripted") : null),
    element("td", { class: "num" }, String(row[2])),
    element("td", {}, element("span", { class: `badge ${head.outcomes[row[3]] === "completed" ? "plain" : head.outcomes[row[3]] === "infrastructure" ? "bad" : "warn"}` }, spaced(head.outcomes[row[3]])), row[4] ? null : element("small", {}, "no valid result")),
    element("td", {}, ["nothing", "not reproduced", "reproduced"][row[5] + 1]),
    element("td", {}, claim[5]),
    ...head.judges.map((_, index) => element("td", { class: "mid" }, verdict(row[10 + index]))),
    element("td", {}, looked(row) ? null : element("small", {}, "not looked"), strong(row) ? element("span", { class: "badge bad" }, `${strong(row)} strong`) : null, " ", weak(row) ? element("span", { class: "badge warn" }, `${weak(row)} weak`) : null),
    element("td", { class: "num" }, duration(row[6])),
    element("td", { class: "num" }, scripted && row[7] === null ? "–" : money(row[7])));
};

const draw = () => {
  const pages = Math.max(1, Math.ceil(shown.length / PAGE));
  // Until every chunk is here, the page that was asked for may still come.
  if (loaded) page = Math.min(page, pages - 1);
  table.tBodies[0].replaceChildren(...shown.slice(page * PAGE, (page + 1) * PAGE).map(line));
  for (const cell of table.tHead.rows[0].cells) {
    if (cell.firstChild.dataset.key === sort) cell.setAttribute("aria-sort", down ? "descending" : "ascending");
    else cell.removeAttribute("aria-sort");
  }
  const number = (value) => value.toLocaleString("en");
  told.textContent = `${number(shown.length)} of ${number(rows.length)} runs${loaded ? "" : `, ${number(head.runs - rows.length)} still to load`}`;
  const button = (label, to, off) => {
    const made = element("button", { type: "button", disabled: off }, label);
    made.addEventListener("click", () => { page = to; draw(); table.scrollIntoView({ block: "start" }); });
    return made;
  };
  pager.replaceChildren(button("First", 0, page === 0), button("Previous", page - 1, page === 0), element("span", {}, ` page ${number(page + 1)} of ${number(pages)} `), button("Next", page + 1, page >= pages - 1), button("Last", pages - 1, page >= pages - 1));
  if (loaded) globalThis.matproofState.write({
    q: form.elements.q.value, ...Object.fromEntries([...form.querySelectorAll("select")].map((select) => [select.name, select.value])),
    page: page ? page + 1 : "", sort, order: sort && down ? "down" : "",
  });
};

const start = async () => {
  head = await globalThis.matproofLoad("runs");
  build();
  restore();
  form.hidden = false;
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", () => { page = 0; find(); });
  form.querySelector("[data-clear]").addEventListener("click", () => { form.reset(); page = 0; sort = ""; find(); });
  addEventListener("hashchange", () => { restore(); find(); });
  for (let number = 0; number < head.chunks; number += 1) {
    rows.push(...await globalThis.matproofLoad(`runs-${number}`));
    loaded = number === head.chunks - 1;
    if (number === 0 || loaded) find();
    else told.textContent = `${rows.length.toLocaleString("en")} of ${head.runs.toLocaleString("en")} runs loaded`;
  }
  loaded = true;
  if (!head.chunks) find();
  document.documentElement.dataset.ready = "yes";
};
start().catch((error) => { told.textContent = error.message; form.hidden = false; });
