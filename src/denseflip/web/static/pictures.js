"use strict";
// The flat pictures: circle, bars, cell matrix, table of edits. SVG and plain elements.
(() => {
  const NS = "http://www.w3.org/2000/svg";

  function svg(tag, attributes = {}, ...children) {
    const element = document.createElementNS(NS, tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
      else if (name === "style") element.style.cssText = value; // as an attribute the page's own policy forbids it
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
  // In the middle: names of regions often differ at their ends only.
  const cut = (text, most) => (text.length > most ? `${text.slice(0, Math.ceil((most - 1) / 2))}…${text.slice(text.length - Math.floor((most - 1) / 2))}` : text);

  /** Nodes on a circle, by region; edits as curves through the inside. */
  function circle(root, view, removed, added, { frozen = new Set(), frozenNodes = new Set(), onRegion, onNode, first } = {}) {
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
      const name = view.regions[region].name, stays = frozen.has(name);
      arc.append(titled(onRegion ? `${name}; click to ${stays ? "unfreeze" : "freeze"} it` : name));
      if (stays) arc.setAttribute("stroke-dasharray", "2 3");
      if (onRegion) { arc.setAttribute("class", "pick"); arc.dataset.region = region; arc.addEventListener("click", () => onRegion(region)); }
      parts.push(arc);
    });
    // Names where there is room, the regions with most edits first; on a small screen numbers, and the names below.
    const small = root.clientWidth > 0 && root.clientWidth < 560;
    const size = small ? 22 : view.regions.length > 24 ? 11 : 12;
    const shares = view.regions.map(() => 0);
    for (const [node, ends] of touched) shares[view.index[node]] += ends;
    const placed = [];
    const keys = [];
    const ranked = view.regions.map((_, i) => i).filter((i) => spans[i] && (view.regions.length <= 24 || shares[i] || frozen.has(view.regions[i].name))).sort((p, q) => shares[q] - shares[p] || p - q);
    for (const region of ranked) {
      const mid = (spans[region][0] + spans[region][1]) / 2;
      const room = (size * 1.05) / (R + 20);
      const apart = placed.every((other) => Math.abs(Math.atan2(Math.sin(mid - other), Math.cos(mid - other))) >= room);
      const name = frozen.has(view.regions[region].name) ? `❄ ${view.regions[region].name}` : view.regions[region].name;
      keys.push([region, name]);
      if (!apart) continue;
      placed.push(mid);
      const left = Math.cos(mid) < 0;
      const [x, y] = point(mid, R + (small ? 32 : 18));
      const turn = small ? 0 : (mid * 180) / Math.PI + (left ? 180 : 0);
      const text = svg("text", { transform: `translate(${f(x)} ${f(y)}) rotate(${f(turn)})`, "text-anchor": small ? "middle" : left ? "end" : "start", dy: small ? "8" : "4", class: shares[region] ? "region strong" : "region", style: `font-size: ${size}px` });
      text.textContent = small ? String(keys.length) : cut(name, 23);
      text.append(titled(name));
      parts.push(text);
    }
    if (onNode) {
      // One ring takes the clicks of all nodes: single dots of 400 are too small to be hit.
      const nearest = (event) => {
        const to = new DOMPoint(event.clientX, event.clientY).matrixTransform(picture.getScreenCTM().inverse());
        const at = Math.atan2(to.y, to.x);
        const gap = (node) => Math.abs(Math.atan2(Math.sin(at - angle[node]), Math.cos(at - angle[node])));
        return order.reduce((best, node) => (gap(node) < gap(best) ? node : best), order[0]);
      };
      const ring = svg("circle", { r: R - 2, fill: "none", stroke: "transparent", "stroke-width": 10, class: "pick ring", "pointer-events": "stroke", onclick: (event) => onNode(nearest(event)) });
      const words = titled("");
      ring.append(words);
      ring.addEventListener("pointermove", (event) => { const node = nearest(event); words.textContent = `${view.names[node]} · ${view.regions[view.index[node]].name}`; });
      parts.push(ring);
      for (const node of order) {
        if (touched.has(node) && !frozenNodes.has(view.names[node]) && node !== first) continue;
        const [x, y] = point(angle[node], R);
        const mark = node === first ? "node-mark" : frozenNodes.has(view.names[node]) ? "node-frozen" : "node-rest";
        parts.push(svg("circle", { cx: f(x), cy: f(y), r: mark === "node-rest" ? 1 : 4.5, class: mark, fill: view.regions[view.index[node]].colour }));
      }
    }
    for (const [node, ends] of touched) {
      if (node === first || frozenNodes.has(view.names[node])) continue;
      const [x, y] = point(angle[node], R);
      const dot = svg("circle", { cx: f(x), cy: f(y), r: Math.min(6, 1.6 + Math.sqrt(ends) * 0.6), fill: view.regions[view.index[node]].colour, class: onNode ? "node pick" : "node" });
      if (onNode) dot.addEventListener("click", () => onNode(node));
      dot.append(titled(`${view.names[node]} · ${view.regions[view.index[node]].name} · ${count(ends)} edits`));
      parts.push(dot);
    }
    const picture = svg("svg", { viewBox: small ? "-262 -262 524 524" : "-400 -390 800 780", role: "img", "aria-label": `${count(removed.length)} removed and ${count(added.length)} added connections among ${count(n)} nodes on a circle, by region` }, ...parts);
    const key = ([region, name], i) => {
      const swatch = make("span", { class: "swatch", "aria-hidden": "true" });
      swatch.style.background = view.regions[region].colour;
      const inside = [swatch, `${i + 1} ${name}`];
      return make("li", {}, ...(onRegion ? [make("button", { type: "button", "data-key": region, "aria-pressed": String(frozen.has(view.regions[region].name)), onclick: () => onRegion(region) }, ...inside)] : inside));
    };
    root.replaceChildren(picture, ...(small && view.regions.length > 1 ? [make("ol", { class: "chips keys" }, ...keys.map(key))] : []));
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
      return make("div", { class: "bar-row" }, make("div", { class: "bar-name" }, swatch, row.name), make("div", {}, ...["removed", "added"].filter((way) => row[way]).map((way) => bar(way, row[way]))));
    }), ...(shown.length > most ? [make("p", { class: "quiet", text: `… and ${shown.length - most} regions with fewer.` })] : []));
  }

  /** Regions by regions: net change, told by colour and by a number; a click picks the cell. */
  function matrix(root, view, removed, added, { onPick, onRegion, onHover, frozen = new Set(), every = true } = {}) {
    const cells = tally(view, removed, added);
    const changed = new Set([...cells.values()].flatMap((cell) => [cell.a, cell.b]));
    const order = view.regions.map((_, i) => i).filter((i) => every || changed.has(i) || frozen.has(view.regions[i].name));
    const k = order.length;
    const size = Math.max(13, Math.min(34, 560 / k)); // so that names of one line do not meet
    const most = k > 24 ? 34 : 24;
    const font = Math.min(12, size - 2);
    const label = 14 + font * 0.56 * Math.max(...view.regions.map((r) => Math.min(r.name.length + 2, most)));
    const top = Math.max(1, ...[...cells.values()].map((c) => Math.max(c.added, c.removed)));
    const parts = [];
    order.forEach((a, x) => {
      for (let y = x; y < k; y += 1) {
        const b = order[y];
        const cell = cells.get(`${a}-${b}`) || { added: 0, removed: 0 };
        const net = cell.added >= cell.removed ? "added" : "removed";
        const value = Math.max(cell.added, cell.removed);
        const name = a === b ? `within ${view.regions[a].name}` : `${view.regions[a].name} – ${view.regions[b].name}`;
        const words = `${name}: ${count(cell.added)} added, ${count(cell.removed)} removed`;
        const rect = svg("rect", { x: label + x * size, y: y * size, width: size - 1, height: size - 1, class: value ? `cell ${net}` : "cell none", "fill-opacity": value ? 0.25 + (0.75 * value) / top : 1, "data-cell": `${a}-${b}` });
        if (onPick) rect.addEventListener("click", () => onPick(a, b));
        if (onHover) rect.addEventListener("pointerenter", () => onHover(words));
        rect.append(titled(words));
        parts.push(rect);
        if (value && size >= 22) {
          const text = svg("text", { x: label + x * size + size / 2, y: y * size + size / 2 + 4, class: 0.25 + (0.75 * value) / top > 0.6 ? "on-cell light" : "on-cell", "text-anchor": "middle" });
          text.textContent = count(value);
          parts.push(text);
        }
      }
    });
    order.forEach((i, y) => {
      const region = view.regions[i], stays = frozen.has(region.name);
      const text = svg("text", { x: label - 6, y: y * size + size / 2 + font * 0.35, "text-anchor": "end", class: stays ? "region frozen" : "region", style: `font-size: ${font.toFixed(1)}px` });
      text.textContent = cut(stays ? `❄ ${region.name}` : region.name, most);
      text.append(titled(onRegion ? `${region.name}; click to ${stays ? "unfreeze" : "freeze"} it` : region.name));
      if (onRegion) { text.classList.add("pick"); text.dataset.region = i; text.addEventListener("click", () => onRegion(i)); }
      parts.push(text);
    });
    const [width, height] = [label + k * size, Math.max(1, k * size)];
    const picture = svg("svg", { viewBox: `0 0 ${width.toFixed(1)} ${height.toFixed(1)}`, role: "img", "aria-label": `changes by pairs of ${k} regions; the table of edits has the same in words` }, ...parts);
    // It is as large as its names need; on a small screen one moves about in it.
    Object.assign(picture.style, { width: `${width}px`, maxWidth: k > 24 ? "none" : "100%", maxHeight: "none", margin: "0" });
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

  // ---- taking away ------------------------------------------------------------------------------

  function save(name, content, kind) {
    const link = make("a", { download: name, href: URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type: kind })) });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  }

  /** A picture as text, with its colours written out. */
  function svgText(drawn) {
    const twin = drawn.cloneNode(true);
    const from = [drawn, ...drawn.querySelectorAll("*")], to = [twin, ...twin.querySelectorAll("*")];
    from.forEach((element, i) => {
      const style = getComputedStyle(element);
      for (const name of ["fill", "stroke", "stroke-width", "stroke-dasharray", "font-size", "font-weight", "font-family"]) to[i].setAttribute(name, style.getPropertyValue(name));
    });
    const [x, y, width, height] = drawn.getAttribute("viewBox").split(" ");
    twin.prepend(svg("rect", { x, y, width, height, fill: getComputedStyle(document.body).backgroundColor }));
    twin.removeAttribute("style");
    twin.setAttribute("width", width);
    twin.setAttribute("height", height);
    return new XMLSerializer().serializeToString(twin);
  }

  function saveAsPng(name, text) {
    const image = new Image();
    image.onload = () => {
      const canvas = make("canvas");
      canvas.width = 2 * image.width;
      canvas.height = 2 * image.height;
      canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
      canvas.toBlob((blob) => save(name, blob));
    };
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  }

  window.denseflipPictures = { circle, bars, matrix, EditTable, make, svg, count, save, saveAsPng, svgText };
})();
