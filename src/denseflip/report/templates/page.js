"use strict";
/* Optional features of the page. It also works without this script. */
(() => {
  const { bytes, save } = window.denseflipElements;
  const find = (id) => document.getElementById(id);
  /** The data of an element; long ones are compressed. */
  const read = async (id) => {
    const element = find(id);
    if (!element.dataset.packed) return JSON.parse(element.textContent);
    return new Response(new Blob([bytes(element.textContent)]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
  };

  const table = find("edits"), kind = find("edit-kind");
  if (table) window.denseflipTable(table, find("edit-filter"), find("edit-count"), "edits", (row) => row.cells[0].textContent.includes(kind.value));

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

  const button = find("save-json");
  button.hidden = false;
  button.addEventListener("click", async () => save("denseflip-result.json", JSON.stringify(await read("denseflip-data"), null, 1), "application/json"));
})();
