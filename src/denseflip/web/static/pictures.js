"use strict";
// The flat pictures: bars, matrix of region pairs, table of edits. SVG and plain elements.
(() => {
  const { make, svg, count, wordsOf, save } = window.denseflipElements;
  const { apart, cut } = window.denseflipDrawing;
  const BARS = 16; // regions
  const LISTED = 300; // edits of the table
  const CROWDED = 24; // changed regions; with more, the matrix shows at first those with the most edits
  /** A fragment of HTML that the server made: its names are escaped, and its scripts never run. */
  const parsed = (html) => [...new DOMParser().parseFromString(html ?? "", "text/html").body.childNodes];

  const titled = (text) => svg("title", { text });

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

  /** Ends of edits by region, the most changed region first. */
  function bars(root, view, removed, added) {
    const rows = view.regions.map((region, i) => ({ ...region, i, removed: 0, added: 0 }));
    for (const [u, v] of removed) { rows[view.index[u]].removed += 1; rows[view.index[v]].removed += 1; }
    for (const [u, v] of added) { rows[view.index[u]].added += 1; rows[view.index[v]].added += 1; }
    const shown = rows.filter((row) => row.removed + row.added).sort((a, b) => b.removed + b.added - a.removed - a.added);
    if (!shown.length) { root.replaceChildren(make("p", { class: "quiet", text: "No changes." })); return; }
    const top = Math.max(...shown.map((row) => Math.max(row.removed, row.added)));
    const bar = (way, value) => {
      const fill = make("span", { class: `bar ${way}` });
      fill.style.width = `${(100 * value) / top}%`;
      return make("div", { class: "bar-line" }, fill, make("span", { class: "bar-count", text: value ? `${way === "removed" ? "−" : "+"}${count(value)}` : "" }));
    };
    root.replaceChildren(...shown.slice(0, BARS).map((row) => {
      const swatch = make("span", { class: "swatch", "aria-hidden": "true" });
      swatch.style.background = row.colour;
      return make("div", { class: "bar-row" }, make("div", { class: "bar-name" }, swatch, row.name), make("div", {}, ...["removed", "added"].filter((way) => row[way]).map((way) => bar(way, row[way]))));
    }), ...(shown.length > BARS ? [make("p", { class: "quiet", text: `… and ${shown.length - BARS} regions with fewer edits.` })] : []));
  }

  /** Matrix of region pairs: net change as colour and number; a click selects the cell. */
  function matrix(root, view, removed, added, { onPick, onRegion, onHover, frozen, every }) {
    const cells = tally(view, removed, added);
    const net = (cell) => (cell.added >= cell.removed ? "added" : "removed");
    const most = (way) => Math.max(0, ...[...cells.values()].filter((c) => net(c) === way).map((c) => c[way]));
    const top = Math.max(1, most("added"), most("removed")); // one scale, so that equal numbers are equally dark
    const letters = lettering();
    const regionsOf = (least) => new Set([...cells.values()].filter((c) => Math.max(c.added, c.removed) >= least).flatMap((cell) => [cell.a, cell.b]));
    let changed = regionsOf(1);
    if (changed.size > CROWDED) changed = regionsOf(Math.max(2, top / 10)); // single edits all over would hide the few pairs that matter
    const order = view.regions.map((_, i) => i).filter((i) => every || changed.has(i) || frozen.has(view.regions[i].name));
    const k = order.length;
    const size = Math.max(13, Math.min(34, 560 / k)); // so that names of one line do not meet
    const longestName = k > 24 ? 34 : 24;
    const font = Math.min(12, size - 2);
    const names = new Map(apart(order.map((i) => view.regions[i].label)).map((name, x) => [order[x], name]));
    const longest = 0.56 * Math.max(...order.map((i) => Math.min(names.get(i).length + 2, longestName)));
    const label = 14 + font * longest;
    const parts = [];
    order.forEach((a, x) => {
      for (let y = x; y < k; y += 1) {
        const b = order[y];
        const cell = cells.get(`${a}-${b}`) || { added: 0, removed: 0 };
        const way = net(cell), value = cell[way], shade = 0.25 + (0.75 * value) / top;
        const name = a === b ? `within ${view.regions[a].label}` : `${view.regions[a].label} – ${view.regions[b].label}`;
        const words = `${name}: ${count(cell.added)} added, ${count(cell.removed)} removed`;
        const rect = svg("rect", { onclick: () => onPick(a, b), onpointerenter: () => onHover(words), x: label + x * size, y: y * size, width: size - 1, height: size - 1, class: value ? `cell ${way}` : "cell none", "fill-opacity": value ? shade : 1, "data-cell": `${a}-${b}` }, titled(words));
        parts.push(rect);
        if (value && size >= 22) {
          parts.push(svg("text", { x: label + x * size + size / 2, y: y * size + size / 2 + 4, class: `on-cell ${letters(way, shade)}`, "text-anchor": "middle", text: count(value) }));
        }
      }
    });
    order.forEach((i, y) => {
      const region = view.regions[i], stays = frozen.has(region.name);
      const look = { "text-anchor": "end", class: stays ? "region frozen pick" : "region pick", style: `font-size: ${font.toFixed(1)}px` };
      const text = cut(stays ? `❄ ${names.get(i)}` : names.get(i), longestName);
      parts.push(svg("text", { x: label - 6, y: y * size + size / 2 + font * 0.35, ...look, "data-region": i, onclick: () => onRegion(i), text }, titled(`${region.label}; click to ${stays ? "unfreeze" : "freeze"} it`)));
    });
    order.forEach((i, x) => { // the same names below the columns
      const [left, under] = [label + x * size + size / 2, k * size + 8];
      parts.push(svg("text", { x: left, y: under, "text-anchor": "end", transform: `rotate(-50 ${left.toFixed(1)} ${under.toFixed(1)})`, class: "region column", style: `font-size: ${font.toFixed(1)}px`, text: cut(names.get(i), longestName) }));
    });
    const foot = 14 + 0.8 * font * longest;
    const [width, height] = [label + k * size, Math.max(1, k * size) + foot];
    const picture = svg("svg", { viewBox: `0 0 ${width.toFixed(1)} ${height.toFixed(1)}`, role: "img", "aria-label": `changes by region pair, ${k} regions; the table of edits lists the same changes` }, ...parts);
    // Large enough for its labels; it scrolls on a small screen.
    Object.assign(picture.style, { width: `${width}px`, maxWidth: k > 24 ? "none" : "100%", maxHeight: "none", margin: "0" });
    root.replaceChildren(picture, colourKey(top, ["added", "removed"].filter(most)), ...leftOut(view, cells, order));
  }

  /** How many regions are shown, and how many edits lie in the others; nothing if all are shown. */
  function leftOut(view, cells, order) {
    if (order.length === view.regions.length) return [];
    const shown = new Set(order), others = [...cells.values()].filter(({ a, b }) => !shown.has(a) || !shown.has(b));
    const parts = [["removed", "removal"], ["added", "addition"]].map(([way, word]) => [others.reduce((sum, cell) => sum + cell[way], 0), word]).filter(([n]) => n);
    const lie = parts.length === 1 && parts[0][0] === 1 ? "lies" : "lie";
    const rest = parts.length ? `${parts.map(([n, word]) => `${count(n)} ${word}${n === 1 ? "" : "s"}`).join(" and ")} ${lie} in others` : "no edits lie in others";
    return [make("p", { class: "quiet left-out", text: `${count(order.length)} of ${count(view.regions.length)} regions shown; ${rest}.` })];
  }

  /** What the colours of the matrix mean: both scales end at the largest number. */
  function colourKey(top, ways) {
    return make("p", { class: "quiet colour-key" }, ...ways.map((name) => {
      const shades = [0.25, 0.5, 0.75, 1].map((shade) => { const one = make("span", { class: `shade ${name}` }); one.style.opacity = shade; return one; });
      return make("span", {}, `mostly ${name}: 1 `, ...shades, ` ${count(top)}`);
    }));
  }

  /** Which letters can be read on a shade of a colour of the page: dark or light ones. */
  function lettering() {
    const style = getComputedStyle(document.documentElement);
    const levels = (name) => [1, 3, 5].map((i) => Number.parseInt(style.getPropertyValue(`--${name}`).trim().slice(i, i + 2), 16) / 255);
    const paper = levels("paper"), linear = (c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return (name, shade) => {
      const [r, g, b] = levels(name).map((c, i) => linear(shade * c + (1 - shade) * paper[i]));
      return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? "dark-letters" : "light-letters"; // equal contrast with black and white
    };
  }

  /** Every edit, in pages, with a filter. */
  class EditTable {
    constructor(root) {
      this.find = make("input", { type: "search", placeholder: "node or region", "aria-label": "search the edits", oninput: () => this.draw() });
      this.said = make("output", { class: "quiet" });
      this.body = make("tbody");
      root.replaceChildren(
        make("div", { class: "line" }, this.find, this.said),
        make("div", { class: "scroll tall", tabindex: 0, role: "region", "aria-label": "table of edits" }, make("table", {},
          make("thead", {}, make("tr", {}, ...["change", "node", "node", "in the sentence"].map((text, i) => make("th", { scope: "col", "data-narrow": i === 1 ? "connection" : null }, make("span", { text }))))),
          this.body)));
    }

    show(view, answer) {
      const said = new Set(answer.said.map((p) => p.join("-")));
      const region = (i) => (view.hasRegions ? view.regions[view.index[i]].name : "");
      this.rows = [["removed", answer.removed], ["added", answer.added]].flatMap(([way, pairs]) =>
        pairs.map(([u, v]) => ({ way, cells: [view.names[u], region(u), view.names[v], region(v)], said: said.has(`${u}-${v}`) })));
      this.draw();
    }

    draw() {
      const words = wordsOf(this.find);
      const fit = this.rows.filter((row) => { const text = `${row.way} ${row.cells.join(" ")}`.toLowerCase(); return words.every((w) => text.includes(w)); });
      this.said.textContent = `${count(fit.length)} of ${count(this.rows.length)} edits${fit.length > LISTED ? `; showing the first ${LISTED} (the CSV file contains all)` : ""}`;
      this.body.replaceChildren(...fit.slice(0, LISTED).map((row) => make("tr", {},
        make("td", {}, make("span", { class: `mark ${row.way}`, text: row.way === "removed" ? "− removed" : "+ added" })),
        ...[0, 2].map((i) => make("td", { "data-other": i ? null : row.cells[2] }, row.cells[i], ...(row.cells[i + 1] ? [make("small", { class: "quiet below", text: row.cells[i + 1] })] : []))),
        make("td", { text: row.said ? "yes" : "no" }))));
    }
  }

  // ---- saving -----------------------------------------------------------------------------------

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

  window.denseflipPictures = { bars, matrix, EditTable, parsed, saveAsPng, svgText };
})();
