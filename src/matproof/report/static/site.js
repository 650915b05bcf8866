// Sorting and filtering of tables; without it every table is complete, in the order of the results directory.
for (const table of document.querySelectorAll("table[data-sortable]")) {
  const body = table.tBodies[0];
  const value = (row, index) => {
    const cell = row.cells[index];
    return cell.dataset.sort ?? cell.textContent.trim();
  };
  const compare = (a, b) => {
    const x = Number(a), y = Number(b);
    return a !== "" && b !== "" && !Number.isNaN(x) && !Number.isNaN(y) ? x - y : a.localeCompare(b, "en", { numeric: true });
  };
  [...table.tHead.rows[0].cells].forEach((head, index) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const rows = [...body.rows].sort((a, b) => (down ? -1 : 1) * compare(value(a, index), value(b, index)));
      body.replaceChildren(...rows);
    });
  });
}
for (const input of document.querySelectorAll("input[data-filter]")) {
  const rows = [...document.getElementById(input.dataset.filter).tBodies[0].rows];
  const told = input.closest("p").querySelector("output");
  input.closest("p").hidden = false;
  input.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
      if (!row.hidden) shown += 1;
    }
    told.textContent = words.length ? `${shown} of ${rows.length}` : "";
  });
}
// Events of a transcript: searched, chosen by kind, folded. The search goes along to the next part.
for (const form of document.querySelectorAll("form[data-events]")) {
  const events = [...document.querySelectorAll(".events > li")].map((item) => [item, item.textContent.toLowerCase()]);
  form.hidden = false;
  form.elements.q.value = new URLSearchParams(location.hash.slice(1)).get("q") ?? "";
  const find = () => {
    const words = form.elements.q.value.toLowerCase().split(/\s+/).filter(Boolean);
    const kinds = new Set([...form.querySelectorAll("[name=kind]:checked")].map((box) => box.value));
    let shown = 0;
    for (const [item, text] of events) {
      item.hidden = !kinds.has(item.dataset.kind) || !words.every((word) => text.includes(word));
      if (!item.hidden) shown += 1;
      if (!item.hidden && words.length && words.every((word) => item.querySelector("pre").textContent.toLowerCase().includes(word))) item.firstElementChild.open = true;
    }
    form.querySelector("output").textContent = shown === events.length ? "" : `${shown} of ${events.length}`;
    for (const link of document.querySelectorAll('a[href^="transcript"]')) link.hash = words.length ? `q=${encodeURIComponent(form.elements.q.value)}` : "";
  };
  form.addEventListener("input", find);
  form.addEventListener("submit", (event) => event.preventDefault());
  for (const button of form.querySelectorAll("[data-fold]")) {
    button.addEventListener("click", () => {
      for (const [item] of events) item.firstElementChild.open = button.dataset.fold === "open";
    });
  }
  if (form.elements.q.value) find();
}
// What a link leads to is unfolded.
const unfold = () => {
  let part = location.hash.startsWith("#") && document.getElementById(location.hash.slice(1));
  for (; part; part = part.parentElement) {
    if (part instanceof HTMLDetailsElement) part.open = true;
    else if (part.firstElementChild instanceof HTMLDetailsElement && part.matches(".events > li")) part.firstElementChild.open = true;
  }
};
window.addEventListener("hashchange", unfold);
unfold();
window.addEventListener("beforeprint", () => {
  for (const part of document.querySelectorAll("details")) part.open = true;
});
