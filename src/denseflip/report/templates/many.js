"use strict";
/* Sort and search the table of explanations. The page also works without this script. */
(() => {
  const table = document.getElementById("explanations");
  const filter = document.getElementById("many-filter"), count = document.getElementById("many-count");
  const rows = [...table.tBodies[0].rows];
  const order = new Map(rows.map((row, i) => [row, i]));
  const text = rows.map((row) => row.textContent.toLowerCase());
  const apply = () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    rows.forEach((row, i) => {
      row.hidden = !words.every((word) => text[i].includes(word));
      shown += !row.hidden;
    });
    count.textContent = shown === rows.length ? rows.length.toLocaleString("en") + " graphs"
      : shown.toLocaleString("en") + " of " + rows.length.toLocaleString("en") + " graphs";
  };
  filter.form.hidden = false;
  filter.form.addEventListener("submit", (event) => event.preventDefault());
  filter.addEventListener("input", apply);
  apply();
  /* Sort numbers by value and words alphabetically; missing values always come last. */
  const number = (cell) => {
    const plain = cell.textContent.replace(/,/g, "");
    return cell.classList.contains("number") && plain !== "–" ? parseFloat(plain) : NaN;
  };
  const compare = (a, b, down) => {
    const missing = (cell) => cell.textContent.trim() === "–";
    if (missing(a) || missing(b)) return missing(a) - missing(b);
    const x = number(a), y = number(b);
    const by = Number.isNaN(x) || Number.isNaN(y) ? a.textContent.localeCompare(b.textContent, "en", { numeric: true }) : x - y;
    return down ? -by : by;
  };
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => head.addEventListener("click", () => {
    const down = head.getAttribute("aria-sort") === "ascending";
    heads.forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const by = (a, b) => compare(a.cells[column], b.cells[column], down) || order.get(a) - order.get(b);
    table.tBodies[0].append(...[...rows].sort(by));
  }));
})();
