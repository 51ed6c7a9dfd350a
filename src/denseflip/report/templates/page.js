"use strict";
/* Optional features of the page. It also works without this script. */
(() => {
  const find = (id) => document.getElementById(id);
  /** The data of an element; long ones are compressed. */
  const read = async (id) => {
    const element = find(id);
    if (!element.dataset.packed) return JSON.parse(element.textContent);
    const bytes = Uint8Array.from(atob(element.textContent), (letter) => letter.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
  };

  const table = find("edits");
  if (table) {
    const rows = [...table.tBodies[0].rows];
    const text = rows.map((row) => row.textContent.toLowerCase());
    const filter = find("edit-filter"), kind = find("edit-kind"), count = find("edit-count");
    filter.form.hidden = false;
    filter.form.addEventListener("submit", (event) => event.preventDefault());
    const apply = () => {
      const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      rows.forEach((row, i) => {
        const fits = words.every((w) => text[i].includes(w)) && (!kind.value || row.cells[0].textContent.includes(kind.value));
        row.hidden = !fits;
        shown += fits;
      });
      count.textContent = shown === rows.length ? rows.length.toLocaleString("en") + " edits"
        : shown.toLocaleString("en") + " of " + rows.length.toLocaleString("en") + " edits";
    };
    filter.addEventListener("input", apply);
    kind.addEventListener("input", apply);
    const order = new Map(rows.map((row, i) => [row, i]));
    [...table.tHead.rows[0].cells].forEach((head, column) => head.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      [...table.tHead.rows[0].cells].forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const key = (row) => row.cells[column].textContent;
      const sorted = [...rows].sort((a, b) => (down ? -1 : 1) * key(a).localeCompare(key(b), "en", { numeric: true }) || order.get(a) - order.get(b));
      table.tBodies[0].append(...sorted);
    }));
  }

  const view = find("view");
  if (view) new denseflipConnectome(view, JSON.parse(find("view-data").textContent), { folded: true });

  /* "What if?" starts when it is opened; paper shows what is folded. */
  const whatif = find("what-if");
  whatif?.addEventListener("toggle", async () => {
    if (!whatif.open || whatif.dataset.started) return;
    whatif.dataset.started = "yes";
    try { window.denseflipWhatIf.start(await read("whatif-data")); }
    catch { find("whatif").textContent = "This part needs a browser of 2023 or later."; }
  });
  let folded = [];
  addEventListener("beforeprint", () => { folded = [...document.querySelectorAll("details.fold:not([open])")]; for (const one of folded) one.open = true; });
  addEventListener("afterprint", () => { for (const one of folded) one.open = false; });
  const open = () => { const part = find(decodeURIComponent(location.hash.slice(1)))?.closest("details"); if (part) part.open = true; };
  addEventListener("hashchange", open);
  open();

  const save = find("save-json");
  if (save) {
    save.hidden = false;
    save.addEventListener("click", async () => {
      const data = JSON.stringify(await read("denseflip-data"), null, 1);
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([data], { type: "application/json" }));
      link.download = "denseflip-result.json";
      link.click();
      URL.revokeObjectURL(link.href);
    });
  }
})();
