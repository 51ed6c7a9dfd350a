"use strict";
// The interactive connectome: edits in a brain, in space or on a circle, on a plain canvas. One script
// for the report, for `view_connectome` and for the app. Colours come from the style of the page.
(() => {
  const { make, count } = window.denseflipElements;
  const { CanvasDrawing, SvgDrawing, swatch, clamp, onCurve, plain, apart } = window.denseflipDrawing;
  const { Space, NAMED } = window.denseflipSpace;
  const COLOURS = ["paper", "ink", "quiet", "axis", "removed", "added", "glass"];
  const SORTED = 700; // up to this many edges are drawn one by one, from far to near; more are drawn together
  const HALO = 200; // up to this many edges get a halo
  const KINDS = ["removed", "added"];
  const KEYED = 12; // regions in the key

  class Connectome {
    /**
     * `data` is the result of `view_data` in Python. `options`: `onPick(node)` and `onRegion(region)` for
     * clicks; `panel: false` omits the controls, `folded: true` folds them, `save: false` omits the buttons that save.
     */
    constructor(root, data, options = {}) {
      Object.assign(this, { root, options, pointers: new Map(), frozen: new Set(), frozenRegions: new Set() });
      root.connectome = this;
      this.build();
      this.listen();
      this.show(data);
    }

    build() {
      const press = (text, words, action) => make("button", { type: "button", "aria-label": words, title: words, onclick: action }, text);
      this.canvas = make("canvas", { tabindex: 0, role: "application" });
      this.tip = make("div", { class: "df-tip", "aria-hidden": "true", hidden: "" });
      this.hint = make("p", { class: "df-hint" });
      this.said = make("output", { class: "df-said" });
      this.words = make("p", { class: "df-hidden" });
      this.panel = make("div", { class: "df-panel" });
      this.legend = make("ul", { class: "df-key", "aria-hidden": "true" });
      this.single = make("input", { type: "checkbox", onchange: () => { this.shown.single = this.single.checked; this.draw(); } });
      this.bundling = make("div", { class: "df-single", hidden: "" }, make("label", {}, this.single, "Show single connections"), "Width: number of connections.");
      const tools = make("div", { class: "df-tools" }, press("+", "zoom in", () => this.scale(1.25)), press("−", "zoom out", () => this.scale(0.8)), press("↺", "reset the view", () => this.reset()));
      const main = make("div", { class: "df-main" }, make("div", { class: "df-plot" }, this.canvas, this.tip), this.legend, this.bundling, make("div", { class: "df-bar" }, this.hint, tools), this.said, this.words);
      this.root.classList.add("df-view");
      const alone = this.options.panel === false, { folded } = this.options;
      const controls = alone ? [] : [folded ? make("details", { class: "df-folded" }, make("summary", {}, "Show, hide and save"), this.panel) : this.panel];
      this.root.replaceChildren(make("div", { class: alone || folded ? "df-layout df-alone" : "df-layout" }, main, ...controls));
      this.context = this.canvas.getContext("2d");
    }

    listen() {
      const on = (name, handle, how) => this.canvas.addEventListener(name, handle, how);
      on("pointerdown", (event) => this.press(event));
      on("pointermove", (event) => this.move(event));
      on("pointerup", (event) => this.release(event));
      on("pointercancel", (event) => this.pointers.delete(event.pointerId));
      on("pointerleave", () => this.hover({}));
      on("contextmenu", (event) => { if (this.moved > 4) event.preventDefault(); });
      on("keydown", (event) => { if (this.key(event)) event.preventDefault(); });
      on("blur", () => this.hover({}));
      on("wheel", (event) => {
        if (!event.ctrlKey && !event.altKey) return; // the page scrolls
        event.preventDefault();
        this.scale(event.deltaY < 0 ? 1.12 : 0.89, this.at(event));
      }, { passive: false });
      new ResizeObserver(() => this.draw()).observe(this.canvas);
      new MutationObserver(() => this.draw()).observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
      matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
    }

    // ---- content ----

    /** Show another connectome: everything is visible, the view is reset. */
    show(data) {
      Object.assign(this, { data, flat: data.kind === "circle", hidden: new Set(), hovered: {}, marked: -1, sides: "", labels: [] });
      this.tip.hidden = true;
      this.short = apart(data.regions.map((region) => region.label)); // for keys and labels; tooltips have the whole name
      this.layout = this.flat ? new window.denseflipCircle(this) : new Space(this);
      this.shown = { removed: true, added: true, surface: true, quiet: true, all: false, names: true, single: false };
      this.single.checked = false;
      this.edits(data.removed, data.added, data.counts);
      this.shown.names = this.changes.size <= NAMED;
      const touch = matchMedia("(pointer: coarse), (max-width: 600px)").matches;
      this.hint.textContent = touch ? `${this.flat ? "Drag to move" : "Swipe sideways to rotate"}, pinch to zoom, tap for names.` : `Drag to ${this.flat ? "move" : "rotate"}, Ctrl + scroll to zoom, hover for names.`;
      const keys = `Arrow keys ${this.flat ? "move" : "rotate"} it, plus and minus zoom, N and P read the changed nodes one by one.`;
      this.canvas.setAttribute("aria-label", `${data.label || "Connectome"}: interactive figure. ${keys}`);
      this.panel.replaceChildren();
      if (this.options.panel !== false) window.denseflipSwitches(this, this.panel);
      this.reset();
    }

    /** Add the brain surface if it is loaded after the nodes. */
    wrap(packed) {
      this.layout.wrap(packed);
      this.draw();
    }

    /** Show other edits of the same nodes; `counts` if only a part of them is drawn. */
    edits(removed, added, counts) {
      this.pairs = { removed, added };
      this.counts = counts ?? { removed: removed.length, added: added.length };
      this.changes = new Map();
      for (const pair of [...removed, ...added]) for (const node of pair) this.changes.set(node, (this.changes.get(node) ?? 0) + 1);
      this.order = [...this.changes.keys()].sort((a, b) => this.changes.get(b) - this.changes.get(a) || a - b);
      this.words.textContent = this.describe();
      this.drawKey();
      this.draw();
    }

    /** What the lines and, inside a brain, the colours of the changed nodes mean. On a circle the ring names or numbers the regions. */
    drawKey() {
      const { data, counts } = this, lines = KINDS.filter((kind) => counts[kind]).map((kind) => make("li", {}, make("span", { class: `df-line ${kind}` }), `${count(counts[kind])} ${kind}`));
      const numbered = Boolean(this.layout.numbered), unnamed = this.flat && !numbered;
      this.wasNumbered = numbered;
      const touched = unnamed || !data.hasRegions ? [] : [...new Set(this.order.map((node) => data.index[node]))];
      this.keyed = touched.slice(0, numbered ? touched.length : KEYED).sort((a, b) => (numbered ? a - b : 0)).map((i) => [swatch(data.regions[i].marker, data.regions[i].colour), i]);
      const more = touched.length - this.keyed.length;
      this.legend.replaceChildren(...lines, ...this.keyed.map(([mark, i]) => make("li", { title: data.regions[i].label }, mark, `${numbered ? `${i + 1} ` : ""}${this.short[i]}`)), ...(more > 0 ? [make("li", {}, `and ${more} more regions`)] : []));
    }

    /** The directions that are not switched off. */
    shownKinds() { return KINDS.filter((kind) => this.shown[kind]); }

    visible(node) { return !this.hidden.has(this.data.index[node]); }

    /** Number of visible edits of a kind. */
    number(kind) { return this.shown[kind] ? this.pairs[kind].filter(([u, v]) => this.visible(u) && this.visible(v)).length : 0; }

    region(node) { return this.data.hasRegions ? this.data.regions[this.data.index[node]].label : ""; }

    between(u, v) {
      const [a, b] = [u, v].sort((one, other) => this.data.index[one] - this.data.index[other]).map((node) => this.region(node));
      return a === b ? a && `within ${a}` : `${a} – ${b}`;
    }

    /** Description of the figure for screen readers. */
    describe() {
      const parts = [];
      for (const kind of this.data.hasRegions ? KINDS : []) {
        const tally = new Map();
        for (const [u, v] of this.pairs[kind]) tally.set(this.between(u, v), (tally.get(this.between(u, v)) ?? 0) + 1);
        const most = [...tally].sort((a, b) => b[1] - a[1]).slice(0, 3).map(([name, n]) => `${name} ${count(n)}`);
        if (most.length) parts.push(`Most ${kind}: ${most.join(", ")}.`);
      }
      const place = { brain: "in a brain", space: "in space", circle: "on a circle" }[this.data.kind];
      return `${count(this.counts.removed)} removed and ${count(this.counts.added)} added edges among ${count(this.data.names.length)} nodes ${place}. ${parts.join(" ")}`.trim();
    }

    // ---- the view ----

    reset() {
      this.zoom = 1;
      this.shift = [0, 0];
      this.layout.reset();
      this.draw();
    }

    look(side) {
      this.shift = [0, 0];
      this.layout.look(side);
      this.draw();
    }

    rotate(right, up) {
      this.layout.rotate(right, up);
      this.soon();
    }

    pan(x, y) {
      const most = 0.5 * Math.max(this.width, this.height) * this.zoom;
      this.shift = [clamp(this.shift[0] + x, -most, most), clamp(this.shift[1] + y, -most, most)];
      this.soon();
    }

    /** Zoom around the pointer. */
    scale(factor, at) {
      const before = this.zoom;
      this.zoom = clamp(this.zoom * factor, 0.5, 8);
      if (at) this.shift = [this.width, this.height].map((size, i) => { const from = at[i] - size / 2; return from - (from - this.shift[i]) * (this.zoom / before); });
      this.soon();
    }

    /** Draw coarsely now, and finely when the view stops moving. */
    soon() {
      this.rough = true;
      clearTimeout(this.resting);
      this.resting = setTimeout(() => { this.rough = false; this.draw(); }, 160);
      this.draw();
    }

    // ---- drawing ----

    colours() {
      const style = getComputedStyle(this.root);
      const found = Object.fromEntries(COLOURS.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
      found.dark = style.colorScheme === "dark";
      found.regions = this.data.regions.map((region) => (found.dark ? region.dark : region.colour));
      return found;
    }

    draw() {
      if (this.waiting) return;
      this.waiting = true;
      requestAnimationFrame(() => { this.waiting = false; this.paint(); });
    }

    paint() {
      const box = this.canvas.getBoundingClientRect(), density = window.devicePixelRatio || 1;
      if (!box.width || !box.height) return;
      [this.width, this.height] = [box.width, box.height];
      const [width, height] = [Math.round(box.width * density), Math.round(box.height * density)];
      if (this.canvas.width !== width || this.canvas.height !== height) Object.assign(this.canvas, { width, height });
      this.context.setTransform(density, 0, 0, density, 0, 0);
      const start = performance.now(), colours = this.render(new CanvasDrawing(this.context));
      // For tests and assistive tools: what is visible, and the drawing time in milliseconds.
      Object.assign(this.root.dataset, { removed: this.number("removed"), added: this.number("added"), sides: this.sides, bundled: Boolean(this.layout.bundled), ready: "true", drawn: (performance.now() - start).toFixed(1) });
      this.bundling.hidden = !this.layout.mayBundle?.();
      if (this.wasNumbered !== Boolean(this.layout.numbered)) this.drawKey();
      for (const [mark, i] of this.keyed) mark.firstChild.setAttribute("fill", colours.regions[i]);
      this.onDraw?.(colours);
    }

    render(drawing) {
      const colours = this.colours();
      drawing.ground(this.width, this.height, colours.paper);
      this.layout.render(drawing, colours);
      return colours;
    }

    /** The current figure as SVG text; in a default size if it is not on screen. */
    svg() {
      const drawing = new SvgDrawing();
      this.rough = false;
      if (!this.width) [this.width, this.height] = [900, 640];
      this.render(drawing);
      return String(drawing);
    }

    textWidth(text, weight, size) {
      this.context.font = `${weight} ${size}px system-ui, sans-serif`;
      return this.context.measureText(text).width;
    }

    /** The hovered or marked node, or -1; what is not connected to it is drawn faint. */
    focused() { return this.hovered.node ?? this.marked; }

    /** All visible edits; `place(u, v)` returns the path of an edge and its depth, from -1 (near) to 1. */
    renderEdges(drawing, colours, place) {
      const items = this.shownKinds().flatMap((kind) => this.pairs[kind].filter(([u, v]) => this.visible(u) && this.visible(v)).map(([u, v]) => ({ kind, u, v, ...place(u, v) })));
      this.drawn = items;
      const many = items.length, size = clamp(Math.min(this.width, this.height) / 500, 0.65, 1) * clamp(this.zoom, 1, 1.5);
      const width = clamp(26 / Math.sqrt(many + 60), 0.9, 2.2) * size, solid = clamp(1.22 - 0.12 * Math.log(many + 1), 0.2, 0.9);
      const focus = this.focused(), { edge } = this.hovered, faint = (item) => focus >= 0 && item.u !== focus && item.v !== focus;
      const look = (kind) => ({ colour: colours[kind], width, dash: kind === "removed" ? [2.6 * width + 1.5, 1.3 * width + 1] : [] });
      if (many > SORTED) {
        for (const kind of KINDS) {
          for (const dim of [true, false]) drawing.lines(items.filter((item) => item.kind === kind && faint(item) === dim).map((item) => item.path), { ...look(kind), alpha: dim ? 0.06 : focus >= 0 ? 0.9 : solid });
        }
      } else {
        items.sort((a, b) => b.depth - a.depth);
        for (const item of items) {
          const same = edge && edge.kind === item.kind && edge.u === item.u && edge.v === item.v;
          const alpha = faint(item) ? 0.1 : same || focus >= 0 ? 1 : clamp(solid - 0.25 * item.depth, 0.15, 1);
          if (many <= HALO && alpha > 0.15) drawing.lines([item.path], { colour: colours.paper, width: width + 2, alpha: 0.5 });
          drawing.lines([item.path], { ...look(item.kind), alpha, width: same ? width + 1.5 : width });
        }
      }
    }

    /** Nodes by region; larger with more changes, small and faint without any. */
    renderNodes(drawing, colours, scales) {
      const { data, positions: at, changes } = this, focus = this.focused();
      const top = this.order.length ? changes.get(this.order[0]) : 1;
      const joined = new Set(focus >= 0 ? this.drawn.filter((item) => item.u === focus || item.v === focus).flatMap((item) => [item.u, item.v]) : []);
      this.radii = data.names.map((_, i) => scales[i] * (changes.has(i) ? 3.2 + 4 * Math.sqrt(changes.get(i) / top) : this.frozen.has(i) ? 3.4 : 2.3) + (i === focus ? 2 : 0));
      const listed = at.map((_, i) => i).filter((i) => this.visible(i) && (changes.has(i) || this.shown.quiet || this.frozen.has(i) || i === focus));
      listed.sort((a, b) => changes.has(a) - changes.has(b) || at[b][2] - at[a][2]);
      for (const i of listed) {
        const colour = colours.regions[data.index[i]], stays = this.frozen.has(i), bold = changes.has(i) || stays || i === focus;
        const alpha = focus >= 0 && i !== focus && !joined.has(i) ? 0.3 : bold ? 1 : 0.6;
        drawing.marker(at[i][0], at[i][1], this.radii[i], data.regions[data.index[i]].marker, { fill: stays ? colours.paper : colour, line: stays ? colour : bold ? colours.ink : null, width: i === focus ? 2 : stays ? 1.6 : 0.8 * Math.min(1, scales[i]), alpha });
      }
      if (this.marked >= 0) drawing.marker(at[this.marked][0], at[this.marked][1], this.radii[this.marked] + 4, "o", { fill: "transparent", line: colours.ink, width: 1.5 });
    }

    // ---- pointers and keys ----

    at(event) {
      const box = this.canvas.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    }

    /** What is at a point: the band of a region, else a node, else an edge. */
    under([x, y]) {
      const region = this.flat ? this.layout.regionAt(x, y) : undefined;
      if (region !== undefined) return { region };
      let node, edge, least = 12;
      (this.positions ?? []).forEach((p, i) => {
        const gap = Math.hypot(p[0] - x, p[1] - y) - (this.changes.has(i) ? 2 : 0);
        if (gap < least && this.visible(i) && (this.shown.quiet || this.changes.has(i))) { least = gap; node = i; }
      });
      if (node !== undefined) return { node };
      least = 5;
      for (const item of this.drawn ?? []) { const gap = distance(item.path, x, y) - (item.n ? item.width / 2 : 0); if (gap < least) { least = gap; edge = item; } }
      return edge ? { edge } : {};
    }

    press(event) {
      this.pointers.set(event.pointerId, this.at(event));
      if (this.pointers.size === 1) this.moved = 0;
      this.canvas.setPointerCapture(event.pointerId);
      this.hover({});
    }

    move(event) {
      const now = this.at(event), last = this.pointers.get(event.pointerId);
      if (!last) { this.hover(this.under(now), now); return; }
      const [dx, dy] = [now[0] - last[0], now[1] - last[1]];
      this.moved += Math.abs(dx) + Math.abs(dy);
      this.pointers.set(event.pointerId, now);
      if (this.pointers.size === 2) {
        const other = [...this.pointers].find(([id]) => id !== event.pointerId)[1];
        const [before, after] = [last, now].map((p) => Math.hypot(p[0] - other[0], p[1] - other[1]));
        if (before > 10) this.scale(after / before, [(now[0] + other[0]) / 2, (now[1] + other[1]) / 2]);
        if (this.flat) this.pan(dx / 2, dy / 2); else this.rotate(0, 0.005 * dy);
      } else if (this.flat || event.shiftKey || event.buttons > 1) this.pan(dx, dy);
      else this.rotate(0.01 * dx, 0.01 * dy);
    }

    release(event) {
      const held = this.pointers.delete(event.pointerId);
      if (!held || this.moved > 5 || event.button > 0) return;
      const now = this.at(event), found = this.under(now);
      if (found.region !== undefined) this.options.onRegion?.(found.region);
      else if (!this.options.onPick) this.mark(found.node === this.marked ? -1 : found.node ?? -1);
      else if (found.node !== undefined) this.options.onPick(found.node);
      if (event.pointerType !== "mouse") this.hover(found, now);
    }

    /** Highlight one node and its edges; -1 for none. */
    mark(node) {
      this.marked = node;
      this.draw();
    }

    hover(found, point) {
      const { node, region, edge } = found, last = this.hovered;
      this.hovered = found;
      this.tip.hidden = node === undefined && region === undefined && !edge;
      if (!this.tip.hidden) {
        const [head, ...rest] = this.lines(found), [x, y] = point ?? this.positions[node];
        this.tip.replaceChildren(make("b", {}, head), ...rest.filter(Boolean).map((text) => make("div", {}, text)));
        const [w, h] = [this.tip.offsetWidth, this.tip.offsetHeight];
        this.tip.style.left = `${clamp(x + 14 + w > this.width ? x - w - 12 : x + 14, 0, Math.max(0, this.width - w))}px`;
        this.tip.style.top = `${clamp(y + 14 + h > this.height ? y - h - 10 : y + 14, 0, Math.max(0, this.height - h))}px`;
      }
      this.canvas.style.cursor = node !== undefined || (region !== undefined && this.options.onRegion) ? "pointer" : "";
      if (last.node !== node || last.region !== region || last.edge?.u !== edge?.u || last.edge?.v !== edge?.v) this.draw();
    }

    /** The lines of the tooltip. */
    lines({ node, region, edge }) {
      const number = (n, what) => `${count(n)} ${what}${n === 1 ? "" : "s"}`;
      if (node !== undefined) return [plain(this.data.names[node]), this.region(node), number(this.changes.get(node) ?? 0, "changed edge")];
      if (edge?.n) return [`${count(edge.n)} ${edge.kind}`, this.between(edge.u, edge.v)];
      if (edge) return [`${plain(this.data.names[edge.u])} – ${plain(this.data.names[edge.v])}`, edge.kind, this.between(edge.u, edge.v)];
      return [this.data.regions[region].label, number(this.data.index.filter((i) => i === region).length, "node")];
    }

    /** Show a message below the figure; screen readers announce it. */
    say(text) { this.said.textContent = text; }

    /** Handle a key; return whether it had an effect. */
    key(event) {
      if (event.ctrlKey || event.metaKey || event.altKey) return false;
      const arrow = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
      if (arrow && (this.flat || event.shiftKey)) this.pan(-24 * arrow[0], -24 * arrow[1]);
      else if (arrow) this.rotate(0.15 * arrow[0], 0.15 * arrow[1]);
      else if (event.key === "+" || event.key === "=") this.scale(1.15);
      else if (event.key === "-") this.scale(0.87);
      else if (event.key === "0" || event.key === "Home") this.reset();
      else if (event.key === "n" || event.key === "p") this.step(event.key === "n" ? 1 : -1);
      else if (event.key === "Enter" && this.hovered.node !== undefined) { if (this.options.onPick) this.options.onPick(this.hovered.node); else this.mark(this.hovered.node); } else if (event.key === "Escape" && this.focused() >= 0) {
        this.hover({});
        if (!this.options.onPick) this.mark(-1);
      } else return false;
      return true;
    }

    /** Move to the next or previous changed node, and announce it with its edges. */
    step(way) {
      const nodes = this.order.filter((i) => this.visible(i)), last = nodes.indexOf(this.hovered.node);
      if (!nodes.length) return;
      const node = nodes[last < 0 ? (way > 0 ? 0 : nodes.length - 1) : (last + way + nodes.length) % nodes.length];
      this.hover({ node });
      const ends = KINDS.flatMap((kind) => this.pairs[kind].filter((pair) => pair.includes(node)).map(([u, v]) => `${kind} to ${plain(this.data.names[u === node ? v : u])}`));
      this.say(`${this.lines({ node }).filter(Boolean).join(", ")}: ${ends.slice(0, 6).join(", ")}${ends.length > 6 ? ` and ${count(ends.length - 6)} more` : ""}.`);
    }
  }

  /** Distance of a point from a line or a curve. */
  function distance(path, x, y) {
    const points = path.length === 4 ? [path.slice(0, 2), path.slice(2)] : Array.from({ length: 17 }, (_, i) => onCurve(path, i / 16));
    let least = Infinity;
    for (let i = 1; i < points.length; i += 1) {
      const [[ax, ay], [bx, by]] = [points[i - 1], points[i]], [dx, dy] = [bx - ax, by - ay];
      const t = clamp(((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy || 1), 0, 1);
      least = Math.min(least, Math.hypot(ax + t * dx - x, ay + t * dy - y));
    }
    return least;
  }

  window.denseflipConnectome = Connectome;
})();
