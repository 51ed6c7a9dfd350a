"use strict";
// The comparison of methods, and what all subjects of a data set have in common.
(() => {
  const { make, count } = window.denseflipElements;
  const { parsed } = window.denseflipPictures;
  const find = (id) => document.getElementById(id);

  /** The accuracy of a classifier, shown before its explanations. */
  function worth(place, judged, known = true) {
    place.className = judged ? (judged.level === "better" ? "good" : "warning") : "quiet";
    place.textContent = judged ? [judged.verdict, judged.warning].filter(Boolean).join(" ")
      : known ? "Its accuracy on held-out graphs is measured before the first explanation."
        : "The accuracy of this classifier on held-out graphs is not known. Read its explanations with that in mind.";
  }

  /** A mark of trust: its name and its figure. */
  function marked(chip) {
    const at = chip.text.indexOf(": ");
    return make("li", { class: `chip ${chip.kind}`, title: chip.meaning }, ...(at < 0 ? [chip.text] : [chip.text.slice(0, at + 2), make("b", { text: chip.text.slice(at + 2) })]));
  }

  /** What the marks that warn mean for the reader. */
  const meanings = (chips) => chips.filter(({ kind, meaning }) => kind === "listed" && meaning).map(({ meaning }) => make("p", { class: "meaning", text: meaning }));

  /** A table; each row begins with its heading. */
  const table = (label, heads, rows, look = "scroll") => make("div", { class: look, tabindex: 0, role: "region", "aria-label": label }, make("table", { class: "index" },
    make("thead", {}, make("tr", {}, ...heads.map((text) => make("th", { scope: "col", text })))),
    make("tbody", {}, ...rows.map(([head, ...cells]) => make("tr", {}, head, ...cells.map((text, i) => make("td", { text, "data-label": heads[i + 1] })))))));

  /** Links to the files of a job. */
  const links = (job, files) => files.map(([name, text]) => make("a", { href: `/api/jobs/${job.id}/files/${name}`, download: name, text }));

  // ---- comparison of methods --------------------------------------------------------------------

  function showComparison(job, result) {
    find("comparison-title").textContent = job.summary?.title ?? "Comparison of methods";
    find("comparison-classified").textContent = result.classified ?? "";
    const retrained = result.rows.some((row) => row.retrained); // whether it was tested
    const heads = ["method", document.documentElement.dataset.holds, "in range", ...(retrained ? ["after retraining"] : []), "edits", "share of edges before or after", "queries", "region pairs with 80 % of the edits"];
    const cells = (row) => [row.cell ?? "–", { true: "yes", false: "no" }[row.inRange] ?? "–", ...(retrained ? [row.retrained ?? "–"] : []), row.distance === null || !row.applies ? (row.status ?? "does not apply") : count(row.distance), row.relative ? `${(100 * row.relative).toFixed(1)} %` : "–", row.calls ? count(row.calls) : "–", row.regions ?? "–"];
    const head = (row) => make("th", { scope: "row" }, row.method, make("small", { class: "quiet below", text: row.summary }));
    find("comparison-rows").replaceChildren(table("comparison of methods", heads, result.rows.map((row) => [head(row), ...cells(row)])), ...result.rows.map((row) => make("section", { class: "method" }, make("h3", { text: row.method }), make("ul", { class: "chips" }, ...(row.chips ?? []).map(marked)), make("p", { text: row.sentence }), ...parsed(row.strip))));
  }

  // ---- what all have in common ------------------------------------------------------------------

  function showCohort(job, cohort) {
    const p = (value) => (value === null ? "–" : value < 0.001 ? "< 0.001" : value.toFixed(3));
    find("together-title").textContent = job.summary?.title ?? "Group summary";
    find("together-worth").className = cohort.halves ? "warning" : "";
    find("together-worth").textContent = cohort.halves;
    find("together-said").replaceChildren(make("p", { text: cohort.headline }));
    find("together-chips").replaceChildren(...cohort.chips.map(marked));
    find("together-lines").replaceChildren(...cohort.lines.map((text) => make("p", { class: "quiet", text })));
    find("together-pictures").replaceChildren(...cohort.figures.map((one) => make("figure", {}, make("picture", {}, ...(one.narrow ? [make("source", { media: "(max-width: 600px)", srcset: one.narrow })] : []), make("img", { src: one.source, alt: one.alt })), make("figcaption", { class: "quiet", text: one.caption }))));
    find("together-notes").replaceChildren(...[...cohort.sentences, ...cohort.notes].map((text) => make("li", { text })));
    const heads = ["region pair", "direction", "subjects", "in range", "connections (median)", "p", "effect size (g)", "group difference (t)", "p (group difference)"];
    find("together-rows").replaceChildren(
      make("p", { class: "quiet", text: `The table lists ${count(cohort.rows.length)} of ${count(cohort.of)} region pairs, those used in the most subjects. ✓ marks pairs used more often than expected by chance.` }),
      table("region pairs by subjects", heads, cohort.rows.map((row) => [make("th", { scope: "row", text: row.named ? `✓ ${row.name}` : row.name }), row.direction, `${row.patients} (${(100 * row.share).toFixed(0)} %)`, `${row.in_range} of ${row.patients}`, count(row.amount), p(row.p), row.effect === null ? "–" : row.effect.toFixed(2), row.difference.toFixed(2), p(row.p_difference)]), "scroll tall"));
    find("together-files").replaceChildren(...links(job, [["cohort.html", "page with pictures"], ["cohort.tsv", "TSV"], ["result.json", "JSON"]]));
  }

  window.denseflipSides = { worth, marked, meanings, links, showComparison, showCohort };
})();
