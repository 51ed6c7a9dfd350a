"use strict";
// Helpers of the interactive connectome, and two renderers for the same shapes: canvas and SVG text.
// A path is a list of numbers: 4 for a line, 6 for a quadratic curve with its control point in the
// middle.
(() => {
  const { svg } = window.denseflipElements;
  const TAU = 2 * Math.PI;
  const clamp = (value, low, high) => Math.max(low, Math.min(high, value));
  /** The point of a quadratic curve at a share `t` of its way. */
  const onCurve = (path, t) => [0, 1].map((k) => (1 - t) ** 2 * path[k] + 2 * t * (1 - t) * path[2 + k] + t * t * path[4 + k]);
  const plain = (name) => String(name).replace(/_/g, " ");
  // Cut in the middle, because names of regions often differ only at the end.
  const cut = (text, most) => (text.length > most ? `${text.slice(0, Math.ceil((most - 1) / 2))}…${text.slice(text.length - Math.floor((most - 1) / 2))}` : text);

  /** Names without the words that all of them begin with, if these are long: "… Temporal Lobe". */
  function apart(names) {
    let shared = names.length > 1 ? names[0] : "";
    for (const name of names) while (!name.startsWith(shared)) shared = shared.slice(0, -1);
    shared = shared.slice(0, shared.lastIndexOf(" ") + 1);
    if (names.some((name) => name.length < shared.length + 4)) shared = shared.slice(0, shared.trimEnd().lastIndexOf(" ") + 1); // "… Area 7", not "… 7"
    return shared.length < 12 ? names : names.map((name) => `… ${name.slice(shared.length)}`);
  }

  const plus = [[-0.4, -1.15], [0.4, -1.15], [0.4, -0.4], [1.15, -0.4], [1.15, 0.4], [0.4, 0.4], [0.4, 1.15], [-0.4, 1.15], [-0.4, 0.4], [-1.15, 0.4], [-1.15, -0.4], [-0.4, -0.4]];
  const ring = (corners, radius, first) => Array.from({ length: corners }, (_, i) => [radius * Math.sin(first + (TAU * i) / corners), -radius * Math.cos(first + (TAU * i) / corners)]);
  // The markers of the static figures, by matplotlib's names; a circle has no corners.
  const MARKERS = { o: null, s: ring(4, 1.25, TAU / 8), "^": ring(3, 1.3, 0), D: ring(4, 1.25, 0), v: ring(3, 1.3, TAU / 2), P: plus, h: ring(6, 1.1, 0), X: plus.map(([x, y]) => [(x - y) * Math.SQRT1_2, (x + y) * Math.SQRT1_2]) };

  class CanvasDrawing {
    constructor(pen) { this.pen = pen; }

    ground(width, height, colour) {
      this.pen.globalAlpha = 1;
      this.pen.fillStyle = colour;
      this.pen.fillRect(0, 0, width, height);
    }

    image(canvas, width, height) {
      this.pen.globalAlpha = 1;
      this.pen.imageSmoothingQuality = "high";
      this.pen.drawImage(canvas, 0, 0, width, height);
    }

    stroke(trace, { colour, width, alpha = 1, dash = [] }) {
      const { pen } = this;
      Object.assign(pen, { globalAlpha: alpha, strokeStyle: colour, lineWidth: width });
      pen.setLineDash(dash);
      pen.beginPath();
      trace(pen);
      pen.stroke();
      pen.setLineDash([]);
    }

    lines(paths, style) {
      this.stroke((pen) => {
        for (const p of paths) {
          pen.moveTo(p[0], p[1]);
          if (p.length === 4) pen.lineTo(p[2], p[3]); else pen.quadraticCurveTo(p[2], p[3], p[4], p[5]);
        }
      }, style);
    }

    /** An arc of a circle; angles are clockwise from the top. */
    arc(x, y, radius, start, end, style) {
      this.stroke((pen) => pen.arc(x, y, radius, start - TAU / 4, end - TAU / 4), style);
    }

    marker(x, y, radius, shape, { fill, line, width, alpha = 1 }) {
      const { pen } = this, corners = MARKERS[shape];
      Object.assign(pen, { globalAlpha: alpha, fillStyle: fill });
      pen.beginPath();
      if (corners) corners.forEach(([dx, dy], i) => (i ? pen.lineTo(x + radius * dx, y + radius * dy) : pen.moveTo(x + radius * dx, y + radius * dy)));
      else pen.arc(x, y, radius, 0, TAU);
      pen.closePath();
      pen.fill();
      if (line) { Object.assign(pen, { strokeStyle: line, lineWidth: width }); pen.stroke(); }
    }

    text(x, y, words, { colour, size, align = "left", weight = 400, halo = null }) {
      const { pen } = this;
      Object.assign(pen, { globalAlpha: 1, font: `${weight} ${size}px system-ui, sans-serif`, textAlign: align, textBaseline: "middle", lineJoin: "round" });
      if (halo) { Object.assign(pen, { strokeStyle: halo, lineWidth: 3.5 }); pen.strokeText(words, x, y); }
      pen.fillStyle = colour;
      pen.fillText(words, x, y);
    }
  }

  const f = (x) => Number(x.toFixed(1));
  const escape = (text) => text.replace(/[&<>"]/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[sign]);
  const corners = (shape, x, y, radius) => MARKERS[shape].map(([dx, dy]) => `${f(x + radius * dx)},${f(y + radius * dy)}`).join(" ");
  const stroke = ({ colour, width, alpha = 1, dash = [] }) => `fill="none" stroke="${colour}" stroke-width="${f(width)}" stroke-opacity="${alpha.toFixed(2)}"${dash.length ? ` stroke-dasharray="${dash.join(" ")}"` : ""}`;

  class SvgDrawing {
    constructor() { this.parts = []; }

    ground(width, height, colour) {
      this.size = [f(width), f(height)];
      this.parts = [`<rect width="${f(width)}" height="${f(height)}" fill="${colour}"/>`];
    }

    image(canvas, width, height) {
      this.parts.push(`<image width="${f(width)}" height="${f(height)}" href="${canvas.toDataURL()}"/>`);
    }

    lines(paths, style) {
      const d = paths.map((p) => (p.length === 4 ? `M${f(p[0])} ${f(p[1])}L${f(p[2])} ${f(p[3])}` : `M${f(p[0])} ${f(p[1])}Q${f(p[2])} ${f(p[3])} ${f(p[4])} ${f(p[5])}`)).join("");
      if (d) this.parts.push(`<path d="${d}" ${stroke(style)}/>`);
    }

    arc(x, y, radius, start, end, style) {
      const at = (angle) => `${f(x + radius * Math.sin(angle))} ${f(y - radius * Math.cos(angle))}`;
      this.parts.push(`<path d="M${at(start)}A${f(radius)} ${f(radius)} 0 ${end - start > TAU / 2 ? 1 : 0} 1 ${at(end)}" ${stroke(style)}/>`);
    }

    marker(x, y, radius, shape, { fill, line, width, alpha = 1 }) {
      const look = `fill="${fill}" opacity="${alpha.toFixed(2)}"${line ? ` stroke="${line}" stroke-width="${f(width)}"` : ""}`;
      this.parts.push(MARKERS[shape] ? `<polygon points="${corners(shape, x, y, radius)}" ${look}/>` : `<circle cx="${f(x)}" cy="${f(y)}" r="${f(radius)}" ${look}/>`);
    }

    text(x, y, words, { colour, size, align = "left", weight = 400, halo = null }) {
      const anchor = { left: "start", center: "middle", right: "end" }[align];
      this.parts.push(`<text x="${f(x)}" y="${f(y + 0.35 * size)}" font-family="system-ui, sans-serif" font-size="${f(size)}" font-weight="${weight}" text-anchor="${anchor}" fill="${colour}"${halo ? ` stroke="${halo}" stroke-width="3.5" stroke-linejoin="round" paint-order="stroke"` : ""}>${escape(words)}</text>`);
    }

    toString() {
      const [width, height] = this.size;
      return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">${this.parts.join("")}</svg>`;
    }
  }

  /** A marker as an SVG element, for legends. */
  function swatch(shape, colour) {
    const mark = MARKERS[shape] ? svg("polygon", { points: MARKERS[shape].map((p) => p.join()).join(" "), fill: colour }) : svg("circle", { r: 1.1, fill: colour });
    return svg("svg", { viewBox: "-1.5 -1.5 3 3", class: "df-swatch", "aria-hidden": "true" }, mark);
  }

  window.denseflipDrawing = { CanvasDrawing, SvgDrawing, swatch, clamp, onCurve, plain, cut, apart, TAU };
})();
