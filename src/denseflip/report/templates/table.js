"use strict";
/** Search and sort a table; `fits` says which rows may be shown. The page also works without this script. */
window.denseflipTable = (table, field, output, what, fits = () => true) => {
  const { count, wordsOf } = window.denseflipElements;
  const rows = [...table.tBodies[0].rows], heads = [...table.tHead.rows[0].cells];
  const order = new Map(rows.map((row, i) => [row, i]));
  const text = rows.map((row) => row.textContent.toLowerCase());
  const filter = () => {
    const words = wordsOf(field);
    let shown = 0;
    rows.forEach((row, i) => {
      row.hidden = !(words.every((word) => text[i].includes(word)) && fits(row));
      shown += !row.hidden;
    });
    output.textContent = `${shown === rows.length ? "" : `${count(shown)} of `}${count(rows.length)} ${what}`;
  };
  field.form.hidden = false;
  field.form.addEventListener("submit", (event) => event.preventDefault());
  field.form.addEventListener("input", filter);
  filter();
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
  heads.forEach((head, column) => head.addEventListener("click", () => {
    const down = head.getAttribute("aria-sort") === "ascending";
    heads.forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const by = (a, b) => compare(a.cells[column], b.cells[column], down) || order.get(a) - order.get(b);
    table.tBodies[0].append(...[...rows].sort(by));
  }));
};
