"use strict";
// Nodes with coordinates, seen in a mild perspective, and the brain around them.
(() => {
  const { clamp, cut, plain, TAU } = window.denseflipDrawing;
  const VIEWS = { left: [TAU / 4, 0], right: [-TAU / 4, 0], front: [TAU / 2, 0], back: [0, 0], top: [0, TAU / 4] };
  const START = [2.1, 0.3]; // from the left, a little from the front and above
  const DISTANCE = 5; // distance of the viewer, in radii of the scene
  const ACROSS = 0.8; // share of an axis that lies across the view, for its ends to be marked
  const NAMED = 20; // maximum number of changed nodes with names

  const dot = (row, x, y, z) => row[0] * x + row[1] * y + row[2] * z;

  class Space {
    constructor(picture) {
      this.picture = picture;
      this.surface = null;
      const surface = picture.data.surface ?? (picture.data.kind === "brain" ? window.denseflipBrain : null); // shared by pages of many graphs
      if (surface) this.wrap(surface); else this.measure();
      this.reset();
    }

    wrap(packed) {
      this.surface = new window.denseflipSurface(packed);
      this.measure();
    }

    /** Centre and radius of everything, visible or not, so that hiding parts does not move the rest. */
    measure() {
      const { points } = this.picture.data, { surface } = this;
      const middle = (axis) => { const all = points.map((p) => p[axis]); return (Math.min(...all) + Math.max(...all)) / 2; };
      this.centre = surface ? surface.centre : [0, 1, 2].map(middle);
      const farthest = Math.max(1e-9, ...points.map((p) => Math.hypot(...p.map((x, i) => x - this.centre[i]))));
      this.reach = surface ? Math.max(surface.reach, farthest) : 1.08 * farthest;
    }

    reset() { [this.turn, this.tilt] = START; }

    look(side) { [this.turn, this.tilt] = VIEWS[side]; }

    rotate(right, up) {
      this.turn += right;
      this.tilt = clamp(this.tilt + up, -TAU / 4, TAU / 4);
    }

    /** Right, up and away on the screen, as directions in space. */
    directions() {
      const [ct, st, cp, sp] = [Math.cos(this.turn), Math.sin(this.turn), Math.cos(this.tilt), Math.sin(this.tilt)];
      return [[ct, -st, 0], [st * sp, ct * sp, cp], [st * cp, ct * cp, -sp]];
    }

    /** The projection to the screen: x, y, depth, and the scale by distance. */
    projection() {
      const { picture, reach } = this, [right, up, away] = this.directions(), [cx, cy, cz] = this.centre;
      const unit = (Math.min(picture.width, picture.height) / 2 / reach) * 0.93 * picture.zoom, far = DISTANCE * reach;
      const left = picture.width / 2 + picture.shift[0], top = picture.height / 2 + picture.shift[1];
      return (x, y, z) => {
        const [a, b, c] = [x - cx, y - cy, z - cz], depth = dot(away, a, b, c), nearness = far / (far + depth);
        return [left + unit * nearness * dot(right, a, b, c), top - unit * nearness * dot(up, a, b, c), depth, nearness];
      };
    }

    render(drawing, colours) {
      const { picture, reach } = this, { data, shown } = picture, project = this.projection();
      const at = data.points.map((p) => project(...p));
      picture.positions = at;
      const line = (u, v) => [at[u][0], at[u][1], at[v][0], at[v][1]];
      if (this.surface && shown.surface) drawing.image(this.glass(project, colours), picture.width, picture.height);
      if (shown.all && data.edges) {
        const n = data.names.length;
        const lines = data.edges.map((code) => [Math.floor(code / n), code % n]).filter(([u, v]) => picture.visible(u) && picture.visible(v)).map(([u, v]) => line(u, v));
        drawing.lines(lines, { colour: colours.quiet, width: 0.6, alpha: clamp(12 / Math.sqrt(lines.length + 1), 0.08, 0.5) });
      }
      picture.renderEdges(drawing, colours, (u, v) => ({ path: line(u, v), depth: (at[u][2] + at[v][2]) / 2 / reach }));
      const size = clamp(Math.min(picture.width, picture.height) / 480, 0.75, 1) * clamp(picture.zoom, 1, 1.6) * clamp(Math.sqrt(180 / data.names.length), 0.6, 1);
      picture.renderNodes(drawing, colours, at.map((p) => size * p[3]));
      const taken = data.axis ? this.renderSides(drawing, colours, project) : [];
      picture.labels = shown.names ? this.renderNames(drawing, colours, taken) : [];
    }

    /** The brain as an image, redrawn only when the view changes. */
    glass(project, colours) {
      const { picture } = this, { width, height } = picture;
      const density = (window.devicePixelRatio || 1) * (picture.rough ? 0.6 : 1.5), ratio = Math.min(density, 1800 / Math.max(width, height));
      const seen = [this.turn, this.tilt, picture.zoom, ...picture.shift, width, height, ratio, colours.glass].join();
      if (seen === this.seen) return this.image;
      this.seen = seen;
      this.image ??= document.createElement("canvas");
      const place = (points, x, y, z) => {
        for (let i = 0; i < x.length; i += 1) { const p = project(points[3 * i], points[3 * i + 1], points[3 * i + 2]); x[i] = ratio * p[0]; y[i] = ratio * p[1]; z[i] = p[2]; }
      };
      const [right, up, away] = this.directions();
      const turn = (x, y, z) => [dot(right, x, y, z), dot(up, x, y, z), -dot(away, x, y, z)];
      this.surface.draw(this.image, Math.round(width * ratio), Math.round(height * ratio), place, turn, colours);
      return this.image;
    }

    /**
     * Draw the ends of each axis that lies across the view (left and right; in a brain also front and back),
     * and say from where it is seen. Returns their boxes.
     */
    renderSides(drawing, colours, project) {
      const { picture } = this, { axis, kind } = picture.data, [right, up, away] = this.directions();
      const axes = [["L", "R", axis], ...(kind === "brain" ? [["back", "front", [0, 1, 0]]] : [])];
      const middle = project(...this.centre), outline = this.outline(project), boxes = [];
      picture.sides = dot(away, ...axis) > 0 ? "L" : "R"; // the nearer side
      for (const [low, high, way] of axes) {
        const across = [dot(right, ...way), -dot(up, ...way)], length = Math.hypot(...across);
        if (length < ACROSS) continue;
        if (way === axis) picture.sides = "both";
        for (const [text, sign] of [[low, -1], [high, 1]]) {
          const to = across.map((c) => (sign * c) / length), half = Math.max(10, picture.textWidth(text, 600, 14) / 2 + 3);
          const reach = Math.max(...outline.map((p) => (p[0] - middle[0]) * to[0] + (p[1] - middle[1]) * to[1])) + 6 + half * Math.abs(to[0]) + 8 * Math.abs(to[1]);
          const x = clamp(middle[0] + reach * to[0], half, picture.width - half), y = clamp(middle[1] + reach * to[1], 12, picture.height - 12);
          drawing.text(x, y, text, { colour: colours.quiet, size: 14, align: "center", weight: 600, halo: colours.paper });
          boxes.push({ text, box: [x - half, y - 10, x + half, y + 10] });
        }
      }
      const seen = this.seenFrom(away);
      drawing.text(10, 16, seen, { colour: colours.quiet, size: 13, weight: 400, halo: colours.paper });
      boxes.push({ text: seen, box: [8, 6, 14 + picture.textWidth(seen, 400, 13), 26] });
      return boxes;
    }

    /** The view in words, the main direction first: "seen from the left and front". */
    seenFrom(away) {
      const { axis, kind } = this.picture.data, names = [["left", "right", axis], ...(kind === "brain" ? [["back", "front", [0, 1, 0]], ["below", "above", [0, 0, 1]]] : [])];
      const ways = names.map(([low, high, way]) => { const near = -dot(away, ...way); return [Math.abs(near), near < 0 ? low : high]; }).filter(([near]) => near > 0.4).sort((a, b) => b[0] - a[0]);
      const said = ways.slice(0, 2).map(([, name]) => (["above", "below"].includes(name) ? name : `the ${name}`));
      return said.length ? `seen from ${said.join(" and ")}` : "";
    }

    outline(project) {
      if (!this.surface) return this.picture.positions;
      const { points } = this.surface, out = [];
      for (let i = 0; i < points.length; i += 9) out.push(project(points[i], points[i + 1], points[i + 2]));
      return out;
    }

    /** Draw names of changed nodes where there is space, those with most changes first. Returns all boxes. */
    renderNames(drawing, colours, taken) {
      const { picture } = this, { positions: at, radii, width, height } = picture, size = 12, placed = [...taken];
      const nodes = picture.order.filter((i) => picture.visible(i)).slice(0, NAMED);
      const discs = nodes.map((i) => ({ box: [at[i][0] - radii[i], at[i][1] - radii[i], at[i][0] + radii[i], at[i][1] + radii[i]] }));
      const fits = ({ box }) => box[0] >= 2 && box[2] <= width - 2 && box[1] >= 2 && box[3] <= height - 2
        && [...placed, ...discs].every(({ box: b }) => box[2] <= b[0] || box[0] >= b[2] || box[3] <= b[1] || box[1] >= b[3]);
      for (const i of nodes) {
        const text = cut(plain(picture.data.names[i]), 26), long = picture.textWidth(text, 500, size), [x, y] = at[i], gap = radii[i] + 4;
        const beside = [[x + gap, y, "left"], [x - gap, y, "right"]];
        if (x < width / 2 + picture.shift[0]) beside.reverse();
        const free = [...beside, [x, y - gap - 6, "center"], [x, y + gap + 7, "center"]].map(([tx, ty, align]) => {
          const left = { left: tx, right: tx - long, center: tx - long / 2 }[align];
          return { text, tx, ty, align, box: [left - 2, ty - 8, left + long + 2, ty + 8] };
        }).find(fits);
        if (!free) continue;
        placed.push(free);
        drawing.text(free.tx, free.ty, text, { colour: colours.ink, size, align: free.align, weight: 500, halo: colours.paper });
      }
      return placed;
    }
  }

  window.denseflipSpace = { Space, VIEWS, NAMED };
})();
