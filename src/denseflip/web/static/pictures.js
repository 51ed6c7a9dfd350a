"use strict";
// The flat pictures: circle, bars, cell matrix, table of edits. SVG and plain elements.
(() => {
  const NS = "http://www.w3.org/2000/svg";

  function svg(tag, attributes = {}, ...children) {
    const element = document.createElementNS(NS, tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
      else element.setAttribute(name, value);
    }
    element.append(...children);
    return element;
  }

  function make(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name === "text") element.textContent = value;
      else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
      else if (value === true) element.setAttribute(name, "");
      else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
    }
    element.append(...children);
    return element;
  }

  const count = (n) => n.toLocaleString("en");
  const titled = (text) => { const t = svg("title"); t.textContent = text; return t; };
  const cut = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

  /** Nodes on a circle, by region; edits as curves through the inside. */
  function circle(root, view, removed, added) {
    const n = view.names.length;
    const order = view.index.map((_, i) => i).sort((a, b) => view.index[a] - view.index[b] || a - b);
    const R = 200, gap = view.regions.length > 1 ? 0.02 : 0;
    const step = (Math.PI * 2 - gap * view.regions.length) / n;
    const angle = new Array(n);
    const spans = view.regions.map(() => null);
    let at = -Math.PI / 2, last = -1;
    for (const node of order) {
      const region = view.index[node];
      if (region !== last) { at += gap; last = region; }
      angle[node] = at + step / 2;
      spans[region] = spans[region] ? [spans[region][0], at + step] : [at, at + step];
      at += step;
    }
    const point = (a, r) => [r * Math.cos(a), r * Math.sin(a)];
    const f = (x) => x.toFixed(1);
    const curve = ([u, v]) => {
      const [p, q] = [point(angle[u], R), point(angle[v], R)];
      return `M${f(p[0])} ${f(p[1])}Q${f((p[0] + q[0]) * 0.12)} ${f((p[1] + q[1]) * 0.12)} ${f(q[0])} ${f(q[1])}`;
    };
    const many = removed.length + added.length;
    const fade = many > 800 ? 0.18 : many > 200 ? 0.35 : 0.7;
    const parts = [];
    if (many) {
      parts.push(svg("path", { class: "line-removed", "stroke-opacity": fade, d: removed.map(curve).join("") || "M0 0" }));
      parts.push(svg("path", { class: "line-added", "stroke-opacity": fade, d: added.map(curve).join("") || "M0 0" }));
    }
    const touched = new Map();
    for (const pair of [...removed, ...added]) for (const node of pair) touched.set(node, (touched.get(node) || 0) + 1);
    spans.forEach((span, region) => {
      if (!span) return;
      const [a, b] = span;
      const [p, q] = [point(a, R + 8), point(b, R + 8)];
      const arc = svg("path", { d: `M${f(p[0])} ${f(p[1])}A${R + 8} ${R + 8} 0 ${b - a > Math.PI ? 1 : 0} 1 ${f(q[0])} ${f(q[1])}`, stroke: view.regions[region].colour, "stroke-width": 9, fill: "none" });
      arc.append(titled(view.regions[region].name));
      parts.push(arc);
      const share = view.index.reduce((sum, r, i) => sum + (r === region ? touched.get(i) || 0 : 0), 0);
      if (view.regions.length <= 24 || share) {
        const mid = (a + b) / 2;
        const [x, y] = point(mid, R + 18);
        const left = Math.cos(mid) < 0;
        const turn = (mid * 180) / Math.PI + (left ? 180 : 0);
        const text = svg("text", { transform: `translate(${f(x)} ${f(y)}) rotate(${f(turn)})`, "text-anchor": left ? "end" : "start", dy: "4", class: share ? "region strong" : "region" });
        text.textContent = cut(view.regions[region].name, 22);
        if (b - a > 0.035) parts.push(text);
      }
    });
    for (const [node, ends] of touched) {
      const [x, y] = point(angle[node], R);
      const dot = svg("circle", { cx: f(x), cy: f(y), r: Math.min(6, 1.6 + Math.sqrt(ends) * 0.6), fill: view.regions[view.index[node]].colour, class: "node" });
      dot.append(titled(`${view.names[node]} · ${view.regions[view.index[node]].name} · ${count(ends)} edits`));
      parts.push(dot);
    }
    const picture = svg("svg", { viewBox: "-350 -330 700 660", role: "img", "aria-label": `${count(removed.length)} removed and ${count(added.length)} added connections among ${count(n)} nodes on a circle, by region` }, ...parts);
    root.replaceChildren(picture);
  }

  function tally(view, removed, added) {
    const cells = new Map();
    for (const [pairs, way] of [[removed, "removed"], [added, "added"]]) {
      for (const [u, v] of pairs) {
        const a = Math.min(view.index[u], view.index[v]), b = Math.max(view.index[u], view.index[v]);
        const key = `${a}-${b}`;
        if (!cells.has(key)) cells.set(key, { a, b, removed: 0, added: 0 });
        cells.get(key)[way] += 1;
      }
    }
    return cells;
  }

  /** Ends of edits by region, the fullest first. */
  function bars(root, view, removed, added, most = 16) {
    const rows = view.regions.map((region, i) => ({ ...region, i, removed: 0, added: 0 }));
    for (const [u, v] of removed) { rows[view.index[u]].removed += 1; rows[view.index[v]].removed += 1; }
    for (const [u, v] of added) { rows[view.index[u]].added += 1; rows[view.index[v]].added += 1; }
    const shown = rows.filter((row) => row.removed + row.added).sort((a, b) => b.removed + b.added - a.removed - a.added);
    if (!shown.length) { root.replaceChildren(make("p", { class: "quiet", text: "Nothing is changed." })); return; }
    const top = Math.max(...shown.map((row) => Math.max(row.removed, row.added)));
    const bar = (way, value) => {
      const fill = make("span", { class: `bar ${way}` });
      fill.style.width = `${(100 * value) / top}%`;
      return make("div", { class: "bar-line" }, fill, make("span", { class: "bar-count", text: value ? `${way === "removed" ? "−" : "+"}${count(value)}` : "" }));
    };
    root.replaceChildren(...shown.slice(0, most).map((row) => {
      const swatch = make("span", { class: "swatch", "aria-hidden": "true" });
      swatch.style.background = row.colour;
      return make("div", { class: "bar-row" }, make("div", { class: "bar-name" }, swatch, row.name), make("div", {}, bar("removed", row.removed), bar("added", row.added)));
    }), ...(shown.length > most ? [make("p", { class: "quiet", text: `… and ${shown.length - most} regions with fewer.` })] : []));
  }

  /** Regions by regions: net change, told by colour and by a number; a click picks the cell. */
  function matrix(root, view, removed, added, { onPick, frozen = new Set() } = {}) {
    const cells = tally(view, removed, added);
    const k = view.regions.length;
    const size = Math.max(9, Math.min(34, 560 / k));
    const label = Math.min(170, 20 + 6.2 * Math.max(...view.regions.map((r) => Math.min(r.name.length, 24))));
    const top = Math.max(1, ...[...cells.values()].map((c) => Math.max(c.added, c.removed)));
    const parts = [];
    for (let a = 0; a < k; a += 1) {
      for (let b = a; b < k; b += 1) {
        const cell = cells.get(`${a}-${b}`) || { added: 0, removed: 0 };
        const net = cell.added >= cell.removed ? "added" : "removed";
        const value = Math.max(cell.added, cell.removed);
        const name = a === b ? `within ${view.regions[a].name}` : `${view.regions[a].name} – ${view.regions[b].name}`;
        const words = `${name}: ${count(cell.added)} added, ${count(cell.removed)} removed`;
        const rect = svg("rect", { x: label + a * size, y: b * size, width: size - 1, height: size - 1, class: value ? `cell ${net}` : "cell none", "fill-opacity": value ? 0.25 + (0.75 * value) / top : 1, "data-cell": `${a}-${b}` });
        if (onPick) rect.addEventListener("click", () => onPick(a, b));
        rect.append(titled(words));
        parts.push(rect);
        if (value && size >= 22) {
          const text = svg("text", { x: label + a * size + size / 2, y: b * size + size / 2 + 4, class: 0.25 + (0.75 * value) / top > 0.6 ? "on-cell light" : "on-cell", "text-anchor": "middle" });
          text.textContent = count(value);
          parts.push(text);
        }
      }
    }
    view.regions.forEach((region, i) => {
      if (size < 8) return;
      const text = svg("text", { x: label - 6, y: i * size + size / 2 + 4, "text-anchor": "end", class: frozen.has(region.name) ? "region frozen" : "region", "font-size": Math.min(12, size + 1) });
      text.textContent = cut(region.name, 24);
      text.append(titled(region.name));
      parts.push(text);
    });
    const height = k * size;
    const picture = svg("svg", { viewBox: `0 0 ${label + k * size} ${height}`, role: "img", "aria-label": `changes by pairs of ${k} regions; the table of edits has the same in words` }, ...parts);
    picture.style.maxWidth = `${label + k * size}px`;
    root.replaceChildren(picture);
  }

  /** Every edit, in pages, with a filter. */
  class EditTable {
    constructor(root, onPick) {
      this.find = make("input", { type: "search", placeholder: "node or region", "aria-label": "find in the edits", oninput: () => this.draw() });
      this.said = make("output", { class: "quiet" });
      this.body = make("tbody");
      this.onPick = onPick;
      root.replaceChildren(
        make("div", { class: "line" }, this.find, this.said),
        make("div", { class: "scroll tall", tabindex: 0, role: "region", "aria-label": "table of edits" }, make("table", {},
          make("thead", {}, make("tr", {}, ...["change", "node", "region", "node", "region", "in the sentence"].map((text) => make("th", { scope: "col", text })))),
          this.body)));
    }

    show(view, answer) {
      const said = new Set(answer.said.map((p) => p.join("-")));
      const region = (i) => (view.hasRegions ? view.regions[view.index[i]].name : "");
      this.rows = [["removed", answer.removed], ["added", answer.added]].flatMap(([way, pairs]) =>
        pairs.map(([u, v]) => ({ way, u, v, cells: [view.names[u], region(u), view.names[v], region(v)], said: said.has(`${u}-${v}`) })));
      this.draw();
    }

    draw(most = 300) {
      const words = this.find.value.toLowerCase().split(/\s+/).filter(Boolean);
      const fit = this.rows.filter((row) => { const text = `${row.way} ${row.cells.join(" ")}`.toLowerCase(); return words.every((w) => text.includes(w)); });
      this.said.textContent = `${count(fit.length)} of ${count(this.rows.length)} edits${fit.length > most ? `; the first ${most} are shown, the CSV file has all` : ""}`;
      this.body.replaceChildren(...fit.slice(0, most).map((row) => make("tr", {},
        make("td", {}, make("span", { class: `mark ${row.way}`, text: row.way === "removed" ? "− removed" : "+ added" })),
        ...row.cells.map((text) => make("td", { text })),
        make("td", { text: row.said ? "yes" : "no" }))));
    }
  }

  window.denseflipPictures = { circle, bars, matrix, EditTable, make, svg, count };
})();
