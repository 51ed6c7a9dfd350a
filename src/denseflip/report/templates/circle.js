"use strict";
// Nodes on a circle, sorted by region as in circle.py; edits are curves inside it, or ribbons as in ribbons.py.
(() => {
  const { count } = window.denseflipElements;
  const { clamp, onCurve, cut, plain, TAU } = window.denseflipDrawing;
  const ALL_NAMED = 40; // nodes without regions are all named up to this many
  const ONE = 15; // pixels between the names of two regions, in one line each
  const WRAPPED = 16; // regions up to which names may have two lines
  const SIZE = 12;
  const LETTERS = [26, 20, 15]; // maximum length of a name; fewer letters if the circle would become too small

  class Circle {
    constructor(picture) { this.picture = picture; }

    reset() {}

    /** Names next to the circle: regions, or nodes if there are no regions and few nodes. */
    names(letters) {
      const { data, frozenRegions, short } = this.picture;
      if (data.hasRegions) return short.map((name, i) => `${frozenRegions.has(i) ? "❄ " : ""}${cut(name, letters)}`);
      return data.names.length <= ALL_NAMED ? data.names.map((name) => cut(plain(name), letters)) : [];
    }

    /** A name in one line, or in two if the regions are few. */
    linesOf(name) {
      const words = name.split(" ");
      if (words.length < 2 || !this.picture.data.hasRegions || this.picture.data.regions.length > WRAPPED) return [name];
      const cuts = words.slice(1).map((_, i) => [words.slice(0, i + 1).join(" "), words.slice(i + 1).join(" ")]);
      return cuts.reduce((best, two) => (Math.max(...two.map((line) => line.length)) < Math.max(...best.map((line) => line.length)) ? two : best));
    }

    /** The names, and the remaining radius of the circle. */
    measure() {
      const { data, width, height } = this.picture;
      for (const letters of LETTERS) {
        const names = this.names(letters);
        const beside = names.length ? Math.max(...names.flatMap((name) => this.linesOf(name)).map((line) => this.picture.textWidth(line, 600, SIZE))) + (data.hasRegions ? 42 : 18) : 12;
        const radius = Math.min(height / 2 - (data.hasRegions ? 30 : 34), width / 2 - beside);
        if (radius >= 0.24 * height || letters === LETTERS.at(-1)) return [names, radius];
      }
      return [[], 0];
    }

    render(drawing, colours) {
      const { picture } = this, { data, width, height } = picture, { circle } = data, [names, full] = this.measure();
      this.numbered = data.hasRegions && data.regions.length > 1 && full < 0.22 * height;
      const base = this.numbered ? Math.min(width, height) / 2 - 38 : Math.max(full, 60);
      this.radius = base * picture.zoom;
      this.centre = [width / 2 + picture.shift[0], height / 2 + picture.shift[1]];
      const [cx, cy] = this.centre, at = circle.points.map(([x, y]) => [cx + this.radius * x, cy - this.radius * y, 0]);
      picture.positions = at;
      picture.labels = [];
      this.bundled = this.mayBundle() && !picture.shown.single && picture.focused() < 0;
      if (this.bundled) this.renderRibbons(drawing, colours);
      else picture.renderEdges(drawing, colours, (u, v) => ({ path: this.chord(circle.points[u], circle.points[v]), depth: 0 }));
      const size = clamp((TAU * this.radius) / data.names.length / 9, 0.4, 0.85);
      picture.renderNodes(drawing, colours, at.map(() => size));
      if (data.hasRegions) this.renderRegions(drawing, colours, names); else names.forEach((name, i) => this.renderName(drawing, colours, at[i], name));
      if (this.bundled) this.renderCounts(drawing, colours);
      picture.sides = circle.sided ? "both" : "";
      if (circle.sided) for (const [side, x] of [["L", 20], ["R", width - 20]]) drawing.text(x, 20, side, { colour: colours.quiet, size: 16, align: "center", weight: 600, halo: colours.paper });
    }

    /** A curve that bends towards the centre, as in the static figures. */
    chord([x1, y1], [x2, y2]) {
      const [cx, cy] = this.centre, R = this.radius, [mx, my] = [(x1 + x2) / 2, (y1 + y2) / 2], depth = clamp(Math.hypot(mx, my), 1e-9, 1);
      const pull = (this.picture.data.circle.bend * (1 - (4 * Math.acos(depth)) / TAU)) / depth;
      return [cx + R * x1, cy - R * y1, cx + R * mx * pull, cy - R * my * pull, cx + R * x2, cy - R * y2];
    }

    /** Whether single edits would only make a tangle. */
    mayBundle() {
      const { data, pairs } = this.picture;
      return data.circle.arcs.length > 1 && data.hasRegions && pairs.removed.length + pairs.added.length > data.circle.ribbons.from;
    }

    /** The edits between two arcs in one direction, the most first. */
    tally() {
      const { picture } = this, { arcs, points } = picture.data.circle, found = new Map();
      this.arcOf ??= points.map(([x, y]) => { const angle = (Math.atan2(x, y) + TAU) % TAU; return arcs.findIndex(({ start, end }) => angle >= start - 1e-3 && angle <= end + 1e-3); });
      for (const kind of picture.shownKinds()) {
        for (const [u, v] of picture.pairs[kind]) {
          if (!picture.visible(u) || !picture.visible(v)) continue;
          const [a, b] = [this.arcOf[u], this.arcOf[v]].sort((one, other) => one - other), key = `${kind}-${a}-${b}`;
          if (!found.has(key)) found.set(key, { kind, u, v, a, b, n: 0 });
          found.get(key).n += 1;
        }
      }
      return [...found.values()].sort((one, other) => other.n - one.n);
    }

    /** Ribbons from arc to arc; their width is the number of edits, on one scale for all. */
    renderRibbons(drawing, colours) {
      const { picture } = this, { arcs, ribbons: { full, widest, inward, deep } } = picture.data.circle, ribbons = this.tally(), ends = arcs.map(() => []);
      ribbons.forEach((ribbon) => { ends[ribbon.a].push([ribbon, 0]); ends[ribbon.b].push([ribbon, 1]); });
      // Room for all ends on their arcs, and none too wide to be straight at its end.
      const room = arcs.map(({ start, end }, i) => (full * this.radius * (end - start)) / Math.max(1, ends[i].reduce((sum, [{ n }]) => sum + n, 0)));
      const scale = Math.min(...room, (widest * this.radius) / Math.max(1, ribbons[0]?.n ?? 1));
      ends.forEach((here, i) => {
        const { start, end } = arcs[i], middle = (start + end) / 2;
        // Those to the next arc leave at the near end, so that ribbons cross as little as possible.
        const turn = ([ribbon, side]) => { const other = arcs[side ? ribbon.a : ribbon.b]; return ribbon.a === ribbon.b ? (side ? -1 : TAU + 1) : ((other.start + other.end) / 2 - middle + 2 * TAU) % TAU; };
        here.sort((x, y) => turn(y) - turn(x) || (x[1] ? -1 : 1) * x[0].kind.localeCompare(y[0].kind));
        const wide = here.reduce((sum, [{ n }]) => sum + n * scale, 0), gap = (end - start - wide / this.radius) / (here.length + 1);
        let at = start;
        for (const [ribbon, side] of here) {
          const half = (ribbon.n * scale) / this.radius / 2, angle = at + gap + half;
          (ribbon.angles ??= [])[side] = angle;
          at = angle + half;
        }
      });
      const { edge } = picture.hovered, unit = (angle) => [Math.sin(angle), Math.cos(angle)];
      picture.drawn = ribbons.map((ribbon) => {
        const path = this.chord(...ribbon.angles.map(unit));
        if (ribbon.a === ribbon.b) { const [x, y] = this.place((ribbon.angles[0] + ribbon.angles[1]) / 2, inward * this.radius); [path[2], path[3]] = [x, y]; }
        else { const [cx, cy] = this.centre, far = Math.hypot(path[2] - cx, path[3] - cy), pull = Math.min(1, (this.radius - deep * ribbon.n * scale) / Math.max(far, 1e-9)); [path[2], path[3]] = [cx + (path[2] - cx) * pull, cy + (path[3] - cy) * pull]; }
        return { ...ribbon, path, width: Math.max(1.2, ribbon.n * scale) };
      });
      for (const { kind, u, v, path, width } of picture.drawn) {
        const same = edge && edge.kind === kind && edge.u === u && edge.v === v;
        drawing.lines([path], { colour: colours[kind], width: same ? width + 2 : width, alpha: same ? 1 : edge ? 0.35 : 0.78, dash: kind === "removed" ? [clamp(0.4 * width, 3, 6), clamp(0.25 * width, 2, 3)] : [] });
      }
    }

    /** The numbers of the widest ribbons, where they do not meet. */
    renderCounts(drawing, colours) {
      const taken = [];
      for (const { kind, a, b, n, path } of this.picture.drawn.slice(0, this.picture.data.circle.ribbons.numbered)) {
        const text = `${kind === "removed" ? "−" : "+"}${count(n)}`, long = this.picture.textWidth(text, 600, SIZE);
        const spots = (a === b ? [0.2, 0.8, 0.5] : [0.5, 0.35, 0.65]).map((t) => onCurve(path, t));
        const free = spots.find(([x, y]) => taken.every(([a, b, wide]) => Math.abs(a - x) > (wide + long) / 2 + 6 || Math.abs(b - y) > SIZE + 5));
        if (!free) continue;
        taken.push([...free, long]);
        this.text(drawing, colours, ...free, text, "center");
      }
    }

    place(angle, radius) { return [this.centre[0] + radius * Math.sin(angle), this.centre[1] - radius * Math.cos(angle)]; }

    text(drawing, colours, x, y, text, align, strong = true) {
      const weight = strong ? 600 : 400, long = this.picture.textWidth(text, weight, SIZE), left = { left: x, right: x - long, center: x - long / 2 }[align];
      drawing.text(x, y, text, { colour: strong ? colours.ink : colours.quiet, size: SIZE, weight, align, halo: colours.paper });
      this.picture.labels.push({ text, box: [left, y - 7, left + long, y + 7] });
    }

    renderName(drawing, colours, [x, y], name) {
      const [dx, dy] = [(x - this.centre[0]) / this.radius, (y - this.centre[1]) / this.radius];
      const align = Math.abs(dx) < 0.3 ? "center" : dx > 0 ? "left" : "right";
      this.text(drawing, colours, x + 12 * dx, y + (align === "center" ? 18 : 12) * dy, name, align, false);
    }

    /** A band for each region with its name; a small figure shows numbers, and the list has the names. */
    renderRegions(drawing, colours, names) {
      const { picture } = this, { data, width, height } = picture, ends = data.regions.map(() => 0);
      for (const [node, n] of picture.changes) ends[data.index[node]] += n;
      this.band = clamp(0.045 * this.radius, 6, 10);
      this.out = this.radius + 8 + this.band / 2;
      const arcs = [];
      for (const { region, start, end } of data.circle.arcs) {
        const width = picture.hovered.region === region ? this.band + 4 : this.band;
        drawing.arc(...this.centre, this.out, start, end, { colour: colours.regions[region], width, alpha: picture.hidden.has(region) ? 0.2 : 1, dash: picture.frozenRegions.has(region) ? [3, 3] : [] });
        const middle = (start + end) / 2, [x, y] = this.place(middle, this.out + this.band / 2 + 3);
        arcs.push({ region, middle, x, y, right: Math.sin(middle) >= 0, strong: ends[region] > 0 && !picture.hidden.has(region) });
      }
      const seen = arcs.filter(({ x, y }) => x > -20 && x < width + 20 && y > -20 && y < height + 20).sort((a, b) => ends[b.region] - ends[a.region] || a.y - b.y);
      if (this.numbered) this.renderNumbers(drawing, colours, seen);
      else for (const right of [false, true]) this.renderColumn(drawing, colours, names, seen.filter((arc) => arc.right === right), right);
    }

    renderNumbers(drawing, colours, arcs) {
      const taken = [], width = this.picture.textWidth("00", 600, SIZE);
      for (const { region, middle, strong } of arcs) {
        const [x, y] = this.place(middle, this.out + this.band / 2 + 11);
        if (taken.some(([a, b]) => Math.abs(a - x) < width + 1 && Math.abs(b - y) < 13)) continue;
        taken.push([x, y]);
        this.text(drawing, colours, x, y, String(region + 1), "center", strong);
      }
    }

    /** Names in a column at one side, each as close to the height of its band as possible. */
    renderColumn(drawing, colours, names, arcs, right) {
      const { height, width, data } = this.picture, GAP = arcs.some(({ region }) => this.linesOf(names[region]).length > 1) ? 2 * ONE : ONE, top = data.circle.sided ? 38 : 10, bottom = height - 10;
      const chosen = arcs.slice(0, Math.max(1, Math.floor((bottom - top) / GAP))).sort((a, b) => a.y - b.y);
      // The lowest and the highest positions that keep order and distance; their mean keeps both, too.
      const down = [], up = [];
      chosen.forEach((arc, i) => { down[i] = Math.max(i ? down[i - 1] + GAP : top, Math.min(arc.y, bottom)); });
      for (let i = chosen.length - 1; i >= 0; i -= 1) { up[i] = Math.min(i < chosen.length - 1 ? up[i + 1] - GAP : bottom, Math.max(chosen[i].y, top)); }
      const over = Math.max(0, ...down.slice(-1).map((last) => last - bottom)), under = Math.max(0, ...up.slice(0, 1).map((first) => top - first));
      const levels = chosen.map((_, i) => clamp((down[i] - over + up[i] + under) / 2, top + i * GAP, bottom - (chosen.length - 1 - i) * GAP));
      const sign = right ? 1 : -1, column = right ? Math.min(this.centre[0] + this.out + 18, width - 40) : Math.max(this.centre[0] - this.out - 18, 40);
      chosen.forEach(({ region, x, y, strong }, i) => {
        drawing.lines([[x, y, column - sign * 4, levels[i]]], { colour: colours.axis, width: 0.8 });
        const lines = this.linesOf(names[region]);
        lines.forEach((line, k) => this.text(drawing, colours, column, levels[i] + (k - (lines.length - 1) / 2) * SIZE * 1.15, line, right ? "left" : "right", strong));
      });
    }

    /** The region whose band is at a point, or undefined. */
    regionAt(x, y) {
      if (!this.picture.data.hasRegions || !this.out) return undefined;
      const [dx, dy] = [x - this.centre[0], y - this.centre[1]], angle = (Math.atan2(dx, -dy) + TAU) % TAU;
      if (Math.abs(Math.hypot(dx, dy) - this.out) > this.band / 2 + 4) return undefined;
      return this.picture.data.circle.arcs.find(({ start, end }) => angle >= start && angle <= end)?.region;
    }
  }

  window.denseflipCircle = Circle;
})();
