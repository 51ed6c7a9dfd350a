"use strict";
// A glass brain on a plain canvas: turn it with the pointer or the arrow keys, hover for names.
// The projection is a few lines, so the same picture can be written as SVG.
(() => {
  const TAU = Math.PI * 2;

  class Brain {
    constructor(canvas, tip, options = {}) {
      Object.assign(this, { canvas, tip, options });
      this.turn = 0.6;
      this.tilt = 0.35;
      this.zoom = 1;
      this.data = null;
      this.surface = null;
      this.hidden = new Set();
      this.picked = -1; // under the pointer
      this.marked = -1; // clicked
      this.frozen = new Set();
      this.all = false;
      canvas.tabIndex = 0;
      canvas.addEventListener("pointerdown", (event) => this.grab(event));
      canvas.addEventListener("pointermove", (event) => this.move(event));
      canvas.addEventListener("pointerup", (event) => this.drop(event));
      canvas.addEventListener("pointerleave", () => this.hover(-1));
      canvas.addEventListener("wheel", (event) => {
        if (!event.ctrlKey && !event.altKey) return; // the page scrolls as ever
        event.preventDefault();
        this.scale(event.deltaY < 0 ? 1.1 : 0.9);
      }, { passive: false });
      canvas.addEventListener("keydown", (event) => this.key(event));
      new ResizeObserver(() => this.draw()).observe(canvas);
    }

    /** What is drawn: nodes, regions, edits; `surface` is the brain round them, if it is one. */
    show(data) {
      this.data = data;
      const points = data.points;
      const middle = [0, 1, 2].map((i) => points.reduce((sum, p) => sum + p[i], 0) / points.length);
      this.middle = middle;
      this.reach = Math.max(...points.map((p) => Math.hypot(...p.map((x, i) => x - middle[i])))) * (this.surface ? 1.12 : 1.08);
      this.draw();
    }

    edits(removed, added) {
      Object.assign(this.data, { removed, added });
      this.draw();
    }

    project([x, y, z]) {
      const [mx, my, mz] = this.middle;
      const a = x - mx, b = y - my, c = z - mz;
      const cos = Math.cos(this.turn), sin = Math.sin(this.turn);
      const right = a * cos - b * sin;
      const away = a * sin + b * cos;
      const ct = Math.cos(this.tilt), st = Math.sin(this.tilt);
      const depth = away * ct - c * st;
      const up = away * st + c * ct;
      const scale = (Math.min(this.width, this.height) / 2 / this.reach) * 0.95 * this.zoom;
      return [this.width / 2 + right * scale, this.height / 2 - up * scale, depth];
    }

    colours() {
      const style = getComputedStyle(this.canvas);
      const of = (name) => style.getPropertyValue(name).trim();
      return { paper: of("--paper"), ink: of("--ink"), quiet: of("--quiet"), removed: of("--removed"), added: of("--added"), glass: of("--glass"), edge: of("--axis") };
    }

    draw() {
      if (!this.data || this.waiting) return;
      this.waiting = true;
      requestAnimationFrame(() => { this.waiting = false; this.paint(); });
    }

    paint() {
      const box = this.canvas.getBoundingClientRect();
      if (!box.width) return;
      const dense = window.devicePixelRatio || 1;
      this.width = box.width;
      this.height = box.height;
      if (this.canvas.width !== Math.round(box.width * dense) || this.canvas.height !== Math.round(box.height * dense)) {
        this.canvas.width = Math.round(box.width * dense);
        this.canvas.height = Math.round(box.height * dense);
      }
      const pen = this.canvas.getContext("2d");
      pen.setTransform(dense, 0, 0, dense, 0, 0);
      const colours = this.colours();
      pen.fillStyle = colours.paper;
      pen.fillRect(0, 0, this.width, this.height);
      for (const shape of this.shapes(colours)) {
        pen.globalAlpha = shape.alpha;
        if (shape.kind === "faces") {
          pen.fillStyle = shape.colour;
          pen.beginPath();
          for (const [p, q, r] of shape.faces) { pen.moveTo(p[0], p[1]); pen.lineTo(q[0], q[1]); pen.lineTo(r[0], r[1]); pen.closePath(); }
          pen.fill();
        } else if (shape.kind === "lines") {
          pen.strokeStyle = shape.colour;
          pen.lineWidth = shape.width;
          pen.setLineDash(shape.dash);
          pen.beginPath();
          for (const [p, q] of shape.lines) { pen.moveTo(p[0], p[1]); pen.lineTo(q[0], q[1]); }
          pen.stroke();
          pen.setLineDash([]);
        } else if (shape.kind === "dot") {
          pen.fillStyle = shape.colour;
          pen.beginPath();
          pen.arc(shape.at[0], shape.at[1], shape.radius, 0, TAU);
          pen.fill();
          if (shape.ring) { pen.strokeStyle = shape.ring; pen.lineWidth = 2; pen.stroke(); }
        } else {
          pen.fillStyle = shape.colour;
          pen.font = "12px system-ui, sans-serif";
          pen.fillText(shape.text, shape.at[0] + 7, shape.at[1] - 6);
        }
      }
      pen.globalAlpha = 1;
      this.canvas.dataset.ready = "true";
    }

    seen(u, v) {
      const index = this.data.index;
      return !this.hidden.has(index[u]) && !this.hidden.has(index[v]);
    }

    /** Everything in the picture, back to front, as plain shapes: for the canvas and for SVG. */
    shapes(colours) {
      const data = this.data;
      const at = data.points.map((point) => this.project(point));
      this.at = at;
      const out = [];
      if (this.surface) {
        const corners = this.surface.vertices.map((vertex) => this.project(vertex));
        const rims = [[], [], []];
        for (const face of this.surface.faces) {
          const [p, q, r] = face.map((i) => corners[i]);
          // The more a face is seen from the side, the more of the glass one looks through.
          const cross = (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0]);
          const flat = Math.abs(cross);
          const e1 = Math.hypot(q[0] - p[0], q[1] - p[1], q[2] - p[2]) * Math.hypot(r[0] - p[0], r[1] - p[1], r[2] - p[2]);
          const facing = flat / (e1 || 1);
          // All wound one way, or front and back would cut holes into one another.
          rims[facing < 0.25 ? 0 : facing < 0.6 ? 1 : 2].push(cross < 0 ? [p, r, q] : [p, q, r]);
        }
        rims.forEach((faces, i) => out.push({ kind: "faces", faces, colour: colours.glass, alpha: [0.14, 0.08, 0.06][i] }));
      }
      if (this.all) {
        const lines = [];
        const n = data.points.length;
        for (const code of data.edges) {
          const [u, v] = [Math.floor(code / n), code % n];
          if (this.seen(u, v)) lines.push([at[u], at[v]]);
        }
        out.push({ kind: "lines", lines, colour: colours.edge, width: 0.6, dash: [], alpha: 0.35 });
      }
      const many = data.removed.length + data.added.length;
      const alpha = many > 600 ? 0.35 : many > 150 ? 0.55 : 0.85;
      const width = many > 600 ? 1 : 1.6;
      for (const [pairs, colour, dash] of [[data.removed, colours.removed, [5, 3]], [data.added, colours.added, []]]) {
        const lines = pairs.filter(([u, v]) => this.seen(u, v)).map(([u, v]) => [at[u], at[v]]);
        out.push({ kind: "lines", lines, colour, width, dash, alpha });
      }
      const touched = new Set([...data.removed, ...data.added].flat());
      const order = at.map((_, i) => i).filter((i) => !this.hidden.has(data.index[i])).sort((a, b) => at[b][2] - at[a][2]);
      for (const i of order) {
        const own = data.regions[data.index[i]].colour, named = i === this.picked || i === this.marked, stays = this.frozen.has(i);
        out.push({ kind: "dot", at: at[i], radius: named ? 7 : touched.has(i) ? 4.5 : stays ? 3.5 : 2.2, colour: stays ? colours.paper : own, alpha: touched.has(i) || named || stays ? 1 : 0.55, ring: named ? colours.ink : stays ? own : null });
      }
      for (const i of new Set([this.picked, this.marked])) if (i >= 0) out.push({ kind: "text", at: at[i], text: data.names[i], colour: colours.ink, alpha: 1 });
      return out;
    }

    // ---- hands ----

    grab(event) {
      this.held = { x: event.clientX, y: event.clientY, moved: 0 };
      this.canvas.setPointerCapture(event.pointerId);
    }

    move(event) {
      if (!this.data) return;
      if (this.held) {
        const dx = event.clientX - this.held.x, dy = event.clientY - this.held.y;
        this.held.moved += Math.abs(dx) + Math.abs(dy);
        this.held.x = event.clientX;
        this.held.y = event.clientY;
        this.turn += dx * 0.01;
        this.tilt = Math.max(-1.57, Math.min(1.57, this.tilt + dy * 0.01));
        this.draw();
        return;
      }
      this.hover(this.near(event));
    }

    near(event) {
      const box = this.canvas.getBoundingClientRect();
      const x = event.clientX - box.left, y = event.clientY - box.top;
      let best = -1, least = 14;
      (this.at || []).forEach((p, i) => {
        const gap = Math.hypot(p[0] - x, p[1] - y);
        if (gap < least && !this.hidden.has(this.data.index[i])) { least = gap; best = i; }
      });
      return best;
    }

    drop(event) {
      const still = this.held && this.held.moved < 5;
      this.held = null;
      if (!still || !this.data) return;
      const node = this.near(event);
      if (node >= 0 && this.options.onPick) this.options.onPick(node);
    }

    hover(node) {
      if (node === this.picked || !this.data) return;
      this.picked = node;
      this.tip.textContent = node < 0 ? "" : `${this.data.names[node]} · ${this.data.regions[this.data.index[node]].name}`;
      this.draw();
    }

    key(event) {
      const steps = { ArrowLeft: [-0.15, 0], ArrowRight: [0.15, 0], ArrowUp: [0, -0.15], ArrowDown: [0, 0.15] };
      if (steps[event.key]) {
        this.turn += steps[event.key][0];
        this.tilt = Math.max(-1.57, Math.min(1.57, this.tilt + steps[event.key][1]));
      } else if (event.key === "+") this.scale(1.15);
      else if (event.key === "-") this.scale(0.87);
      else return;
      event.preventDefault();
      this.draw();
    }

    scale(factor) {
      this.zoom = Math.max(0.5, Math.min(6, this.zoom * factor));
      this.draw();
    }

    view(turn, tilt) {
      Object.assign(this, { turn, tilt });
      this.draw();
    }

    // ---- taking away ----

    svg() {
      const f = (x) => x.toFixed(1);
      const escape = (text) => text.replace(/[&<>"]/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[sign]);
      const colours = this.colours();
      const parts = this.shapes(colours).map((shape) => {
        if (shape.kind === "faces") return `<path fill="${shape.colour}" fill-opacity="${shape.alpha}" d="${shape.faces.map(([p, q, r]) => `M${f(p[0])} ${f(p[1])}L${f(q[0])} ${f(q[1])}L${f(r[0])} ${f(r[1])}Z`).join("")}"/>`;
        if (shape.kind === "lines") return `<path fill="none" stroke="${shape.colour}" stroke-opacity="${shape.alpha}" stroke-width="${shape.width}" stroke-dasharray="${shape.dash.join(" ")}" d="${shape.lines.map(([p, q]) => `M${f(p[0])} ${f(p[1])}L${f(q[0])} ${f(q[1])}`).join("")}"/>`;
        if (shape.kind === "dot") return `<circle cx="${f(shape.at[0])}" cy="${f(shape.at[1])}" r="${shape.radius}" fill="${shape.colour}" fill-opacity="${shape.alpha}"${shape.ring ? ` stroke="${shape.ring}" stroke-width="2"` : ""}/>`;
        return `<text x="${f(shape.at[0] + 7)}" y="${f(shape.at[1] - 6)}" font-size="12" fill="${shape.colour}">${escape(shape.text)}</text>`;
      });
      return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${f(this.width)} ${f(this.height)}"><rect width="100%" height="100%" fill="${colours.paper}"/>${parts.join("")}</svg>`;
    }
  }

  window.denseflipBrain = Brain;
})();
