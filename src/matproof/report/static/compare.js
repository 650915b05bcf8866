// Two settings side by side, on the claims that both have a score on. The tests are the program's, not computed here.
const element = globalThis.matproofElement;
const form = document.getElementById("pair");
const out = document.getElementById("compared");
const spaced = (text) => text.replaceAll("_", " ");
const SVG = "http://www.w3.org/2000/svg";
const draw = (tag, attributes, ...children) => {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
};
let data = null;

const fill = (select, values, chosen) => {
  select.replaceChildren(...values.map((value) => element("option", { value }, value)));
  select.value = values.includes(chosen) ? chosen : values[0] ?? "";
};
const restore = () => {
  const state = globalThis.matproofState.read();
  fill(form.elements.judge, data.judges.map(([judge]) => judge), state.judge);
  fill(form.elements.a, data.settings, state.a);
  fill(form.elements.b, data.settings, state.b ?? data.settings.find((name) => name !== form.elements.a.value));
};
const saved = (name, type, text) => {
  const link = element("a", { download: name, href: `data:${type};charset=utf-8,${encodeURIComponent(text)}` }, type === "text/csv" ? "CSV" : "SVG");
  return link;
};
const figureStyle = "text{font:500 12px Arial,sans-serif;fill:#1c1f23}.win{fill:#1c6798}.tie{fill:#c9c4b8}.loss{fill:#b5491f}.on-win,.on-loss{fill:#fff}";
const figure = (title, note, picture, name, csv) => {
  const alone = picture.cloneNode(true);
  alone.setAttribute("xmlns", SVG);
  alone.prepend(draw("style", {}, figureStyle), draw("rect", { width: "100%", height: "100%", fill: "#fff" }));
  return element("figure", { class: "chart" },
    element("figcaption", {}, element("b", {}, `${title}. `), `${note} `, element("span", { class: "save" }, "Save as ", saved(`${name}.svg`, "image/svg+xml", alone.outerHTML), " or ", saved(`${name}.csv`, "text/csv", csv))),
    element("div", { class: "wide" }, picture));
};
const cell = (text) => /[",\n]/.test(text) || /^[=+@-]/.test(text) ? `"${/^[=+@-]/.test(text) && Number.isNaN(Number(text)) ? "'" : ""}${text.replaceAll('"', '""')}"` : text;
const lines = (table) => table.map((row) => row.map((value) => cell(String(value ?? ""))).join(",")).join("\n");

const bars = (counts) => {
  const total = counts.win + counts.tie + counts.loss || 1;
  const svg = draw("svg", { viewBox: "0 0 720 40", width: 720, height: 40, role: "img", "aria-label": Object.entries(counts).map(([name, count]) => `${name} ${count}`).join(", ") });
  let x = 0;
  for (const [name, count] of Object.entries(counts)) {
    const width = count / total * 720;
    svg.append(draw("rect", { class: name, x, y: 4, width, height: 30 }));
    if (width > 60) svg.append(draw("text", { class: `on-${name}`, x: x + width / 2, y: 24, "text-anchor": "middle" }, `${name} ${count} (${(100 * count / total).toFixed(0)} %)`));
    x += width;
  }
  return svg;
};

const show = () => {
  const [judge, a, b] = [form.elements.judge.value, form.elements.a.value, form.elements.b.value];
  globalThis.matproofState.write({ judge, a, b });
  const kind = data.judges.find(([name]) => name === judge)?.[1];
  const [first, second] = [data.scores[judge]?.[a] ?? {}, data.scores[judge]?.[b] ?? {}];
  const both = Object.keys(first).filter((claim) => claim in second && first[claim][0] !== null && second[claim][0] !== null).map(Number);
  if (a === b || !both.length) {
    out.replaceChildren(element("p", { class: "note" }, a === b ? "Choose two different settings." : `No claim has a score of both from ${judge}.`));
    return;
  }
  const difference = (claim, at = 0) => first[claim][at] - second[claim][at];
  const counts = { win: 0, tie: 0, loss: 0 };
  for (const claim of both) counts[Math.abs(difference(claim)) < 1e-9 ? "tie" : difference(claim) > 0 ? "win" : "loss"] += 1;
  const name = `${a}-against-${b}`.replace(/[^A-Za-z0-9._-]/g, "-");
  const parts = [figure(`${a} against ${b}`, `Of ${both.length} claims that both have a score on, repeats averaged, the first is better on ${counts.win}, equal on ${counts.tie} and worse on ${counts.loss}.`, bars(counts), `${name}-wins`, lines([["result", "claims"], ...Object.entries(counts)]))];

  const measures = kind === "checks" ? ["success"] : ["overall", ...data.dimensions];
  const test = (one, other, measure, what) => data.tests.find((row) => row[0] === judge && row[1] === one && row[2] === other && (row[3] === measure || (measure === "overall" && row[3] === "score")) && row[4] === what);
  const number = (value, digits = 2) => value === null || value === undefined ? "–" : value.toFixed(digits);
  const p = (row) => !row || row[8] === null ? "–" : `${row[8] < 0.001 ? "< 0.001" : row[8].toFixed(3)}${row[9] !== null ? ` (Holm ${row[9] < 0.001 ? "< 0.001" : row[9].toFixed(3)})` : ""}`;
  const table = measures.map((measure, at) => {
    const pairs = both.filter((claim) => first[claim][at] !== null && second[claim][at] !== null);
    const mean = (scores) => pairs.length ? pairs.reduce((sum, claim) => sum + scores[claim][at], 0) / pairs.length : null;
    const gap = test(a, b, measure, "difference");
    return [measure, pairs.length, mean(first), mean(second), gap, test(a, b, measure, "signed_rank"), test(b, a, measure, "signed_rank"), test(a, b, measure, "detectable")];
  });
  const head = ["measure", "claims", a, b, "difference (95 %)", "p, first higher", "p, second higher", "smallest difference found at 80 % power"];
  const text = (row) => [spaced(row[0]), String(row[1]), number(row[2]), number(row[3]), row[4]?.[5] != null ? `${number(row[4][5])} (${number(row[4][6])} to ${number(row[4][7])})` : number(row[2] - row[3]), p(row[5]), p(row[6]), number(row[7]?.[5])];
  parts.push(element("h2", {}, "By dimension"), element("div", { class: "wide" }, element("table", {},
    element("caption", {}, data.tests.length ? "Means over the same claims; one-sided Wilcoxon signed-rank tests with Holm's adjustment over the dimensions." : "Means over the same claims. Tests appear once ", data.tests.length ? null : element("code", {}, "matproof statistics"), data.tests.length ? null : " has run."),
    element("thead", {}, element("tr", {}, ...head.map((label, index) => element("th", { scope: "col", class: index ? "num" : null }, label)))),
    element("tbody", {}, ...table.map((row) => element("tr", {}, ...text(row).map((value, index) => index ? element("td", { class: "num" }, value) : element("th", { scope: "row" }, value))))))),
  element("p", {}, "Save as ", saved(`${name}-dimensions.csv`, "text/csv", lines([head, ...table.map(text)]))));

  both.sort((x, y) => Math.abs(difference(y)) - Math.abs(difference(x)) || x - y);
  const MOST = 200;
  parts.push(element("h2", {}, "By claim"), element("div", { class: "wide" }, element("table", {},
    element("caption", {}, both.length > MOST ? `The ${MOST} claims that differ most, of ${both.length}; the CSV has all.` : "Claims that differ most come first."),
    element("thead", {}, element("tr", {}, ...["claim", "type", "evidence says", a, b, "difference"].map((label, index) => element("th", { scope: "col", class: index > 2 ? "num" : null }, label)))),
    element("tbody", {}, ...both.slice(0, MOST).map((claim) => {
      const known = data.claims[claim];
      return element("tr", {}, element("th", { scope: "row" }, element("a", { href: `claims/${encodeURIComponent(known[0])}.html` }, known[1] || known[0])), element("td", {}, spaced(known[3])), element("td", {}, known[5]),
        ...[first[claim][0], second[claim][0], difference(claim)].map((value) => element("td", { class: "num" }, number(value))));
    })))),
  element("p", {}, "Save as ", saved(`${name}-claims.csv`, "text/csv", lines([["claim", "type", "outcome", a, b, "difference"], ...both.map((claim) => [data.claims[claim][0], data.claims[claim][3], data.claims[claim][5], first[claim][0], second[claim][0], difference(claim)])]))));
  out.replaceChildren(...parts);
};

const start = async () => {
  data = await globalThis.matproofLoad("compare");
  restore();
  form.hidden = false;
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("change", show);
  form.querySelector("[data-swap]").addEventListener("click", () => {
    [form.elements.a.value, form.elements.b.value] = [form.elements.b.value, form.elements.a.value];
    show();
  });
  addEventListener("hashchange", () => { restore(); show(); });
  show();
  document.documentElement.dataset.ready = "yes";
};
start().catch((error) => out.replaceChildren(element("p", { class: "note bad" }, error.message)));
