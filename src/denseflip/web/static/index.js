"use strict";
// The index of many subjects: a table that can be sorted and filtered, with a link to each subject.
(() => {
  const { make, count, wordsOf } = window.denseflipElements;
  const { parsed } = window.denseflipPictures;

  const percent = (share) => `${(100 * share).toFixed(1)} %`;
  const decision = (row) => (row.status === "failed" ? "–" : row.after ? `${row.before} → ${row.after}` : row.before);
  /** The short sentence without the parts that other columns show. */
  const short = (row) => {
    const head = `${row.id}: ${decision(row)} with `, at = row.short.indexOf(head);
    const said = at < 0 ? row.short : row.short.slice(at + head.length); // before it, there is at most the noun: "Mouse "
    return said.replace(/; [^()]*usually[^()]*\)/g, ")"); // the strip shows what the group usually has
  };
  // name and sort key; missing values always come last
  const COLUMNS = [
    ["subject", (row) => row.id],
    ["class", (row) => row.class],
    ["decision", decision],
    ["what would change it", short],
    ["places named", (row) => row.cells],
    ["edits", (row) => row.edits],
    ["share of edges before or after", (row) => row.relative_distance],
    ["queries", (row) => row.calls],
    [document.documentElement.dataset.holds, (row) => (row.true_as_read === null ? null : row.as_read ?? Number(row.true_as_read))],
  ];
  const KINDS = {
    "": ["all answers", () => true],
    true: ["any such connections", (row) => row.true_as_read === true],
    listed: ["listed connections only", (row) => row.status === "found" && row.true_as_read !== true],
    none: ["none found, or failed", (row) => row.status !== "found"],
    wrong: ["misclassified", (row) => row.wrong === true],
  };

  class Index {
    constructor(root) {
      this.find = make("input", { type: "search", id: "index-find", placeholder: "subject, class, region", autocomplete: "off", oninput: () => this.filter() });
      this.classes = make("select", { id: "index-class", onchange: () => this.filter() });
      this.kinds = make("select", { id: "index-kind", onchange: () => this.filter() }, ...Object.entries(KINDS).map(([value, [text]]) => make("option", { value, text })));
      this.said = make("output", { class: "quiet", id: "index-count", "aria-live": "polite" });
      this.heads = COLUMNS.map(([name], i) => make("th", { scope: "col" }, make("button", { type: "button", text: name, onclick: () => this.sort(i, this.column === i && !this.down) })));
      this.body = make("tbody");
      root.replaceChildren(
        make("div", { class: "line" }, make("label", {}, "Find ", this.find), make("label", {}, "Class ", this.classes), make("label", {}, "Answers ", this.kinds), this.said),
        make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "table of subjects" },
          make("table", { class: "index" }, make("thead", {}, make("tr", {}, ...this.heads)), this.body)));
    }

    show(id, rows, state = {}) {
      this.rows = rows.map((row, order) => ({ row, order, line: this.line(id, row), text: [row.id, row.class, decision(row), row.short, row.sentence, row.failure].join(" ").toLowerCase() }));
      this.classes.replaceChildren(make("option", { value: "", text: "all classes" }), ...[...new Set(rows.map((row) => row.class))].map((name) => make("option", { value: name, text: name })));
      this.find.value = state.find ?? "";
      this.classes.value = state.class ?? "";
      if (this.classes.selectedIndex < 0) this.classes.value = "";
      this.kinds.value = Object.hasOwn(KINDS, state.kind ?? "") ? state.kind ?? "" : "";
      const column = COLUMNS.findIndex(([name]) => name === state.sort);
      this.column = -1;
      this.down = false;
      this.sort(column, state.down === "1", { quiet: true });
      this.filter({ quiet: true });
    }

    line(id, row) {
      const link = `#${new URLSearchParams({ job: id, subject: row.id })}`;
      const cell = (i, text, more = {}) => make("td", { "data-label": COLUMNS[i][0], ...more }, text);
      const number = (i, value, words = count) => cell(i, value === null || value === undefined ? "–" : words(value), { class: "number" });
      return make("tr", {},
        make("th", { scope: "row" }, row.status === "failed" ? row.id : make("a", { href: link, text: row.id })),
        cell(1, row.class),
        make("td", { "data-label": "decision" }, decision(row), ...(row.wrong ? [make("span", { class: "quiet below", text: "misclassified" })] : [])),
        make("td", { class: "said" }, short(row), ...parsed(row.strip)),
        number(4, row.cells), number(5, row.edits), number(6, row.relative_distance, percent), number(7, row.calls),
        make("td", { "data-label": COLUMNS[8][0] }, ...(row.status === "found"
          ? [make("span", { class: `chip ${row.chip.kind}`, text: row.read }), make("span", { class: "quiet below", text: row.chip.text })]
          : [make("span", { class: `chip ${row.chip.kind}`, text: row.chip.text })])));
    }

    sort(column, down, { quiet = false } = {}) {
      Object.assign(this, { column, down });
      this.heads.forEach((head, i) => { if (i === column) head.setAttribute("aria-sort", down ? "descending" : "ascending"); else head.removeAttribute("aria-sort"); });
      const by = COLUMNS[column]?.[1];
      const order = (a, b) => {
        if (!by) return a.order - b.order;
        const [x, y] = [by(a.row), by(b.row)];
        const [no, nor] = [x === null || x === undefined || x === "–", y === null || y === undefined || y === "–"];
        if (no || nor) return no - nor || a.order - b.order;
        const way = typeof x === "number" ? x - y : String(x).localeCompare(String(y), "en", { numeric: true });
        return (down ? -way : way) || a.order - b.order;
      };
      this.body.replaceChildren(...[...this.rows].sort(order).map((one) => one.line));
      if (!quiet) this.onState(this.state());
    }

    filter({ quiet = false } = {}) {
      const words = wordsOf(this.find);
      const fits = KINDS[this.kinds.value][1];
      let shown = 0;
      for (const { row, line, text } of this.rows) {
        line.hidden = !(words.every((word) => text.includes(word)) && (!this.classes.value || row.class === this.classes.value) && fits(row));
        shown += !line.hidden;
      }
      this.said.textContent = `${count(shown)} of ${count(this.rows.length)} subjects`;
      if (!quiet) this.onState(this.state());
    }

    /** Filter and order of the table, for a link. */
    state() {
      const all = { find: this.find.value, class: this.classes.value, kind: this.kinds.value, sort: COLUMNS[this.column]?.[0] ?? "", down: this.down ? "1" : "" };
      return Object.fromEntries(Object.entries(all).filter(([, value]) => value));
    }
  }

  window.denseflipIndex = Index;
})();
