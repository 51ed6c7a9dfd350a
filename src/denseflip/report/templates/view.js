"use strict";
/* Draws the interactive picture. Data come from a JSON element; plotly is unpacked on first use. */
async function denseflipView(root, dataId, plotlyId) {
  const data = JSON.parse(document.getElementById(dataId).textContent);
  const flat = data.kind === "circle";
  const shown = { removed: true, added: true, surface: true, quiet: true };
  const regionOn = data.regions.map(() => true);

  const element = (tag, attributes, ...children) => {
    const node = Object.assign(document.createElement(tag), attributes || {});
    node.append(...children);
    return node;
  };
  const message = element("div", { className: "df-message" }, "Loading the picture …");
  const plot = element("div", { className: "df-plot" }, message);
  plot.setAttribute("role", "img");
  plot.setAttribute("aria-label", data.label);
  const panel = element("div", { className: "df-panel" });
  root.replaceChildren(plot, panel);

  try {
    await unpack(plotlyId);
  } catch (error) {
    message.textContent = "This browser cannot unpack the interactive picture; a newer one can. The still pictures show the same.";
    return;
  }
  message.remove();

  async function unpack(id) {
    if (window.Plotly) return;
    const text = atob(document.getElementById(id).textContent);
    const bytes = Uint8Array.from(text, (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    const source = await new Response(stream).text();
    document.head.append(element("script", { textContent: source }));
  }

  const named = flat && !data.hasRegions && data.names.length <= 40;
  const visible = (u) => regionOn[data.region[u]];
  const type = flat ? "scatter" : "scatter3d";
  const axes = flat ? ["x", "y"] : ["x", "y", "z"];
  const blank = () => Object.fromEntries(axes.map((a) => [a, []]));
  /* Everything that can be shown stays in range: switching parts off never moves or rescales the rest. */
  const bounds = flat ? null : axes.map((axis, i) => {
    let low = Infinity, high = -Infinity;
    const take = (c) => { low = Math.min(low, c); high = Math.max(high, c); };
    data.points.forEach((point) => take(point[i]));
    if (data.surface) data.surface[axis].forEach(take);
    const room = Math.max((high - low) * 0.06, 1e-6);
    return [low - room, high + room];
  });
  const spans = flat ? [] : bounds.map(([low, high]) => high - low), unit = Math.cbrt(spans.reduce((a, b) => a * b, 1));
  const dash = flat ? 0 : Math.max(...spans) / 75;
  const push = (target, point) => axes.forEach((a, i) => target[a].push(point === null ? null : point[i]));

  function edgeTraces(kind) {
    const line = blank(), middle = blank(), text = [];
    data.edges[kind].forEach(([u, v], e) => {
      if (!visible(u) || !visible(v)) return;
      const path = flat ? data.curves[kind][e] : [data.points[u], data.points[v]];
      if (flat || kind === "added") {
        path.forEach((point) => push(line, point));
        push(line, null);
      } else {
        dashes(path[0], path[1]).forEach((point) => push(line, point));
      }
      push(middle, flat ? path[path.length >> 1] : path[0].map((c, i) => (c + path[1][i]) / 2));
      text.push(plain(data.names[u]) + " – " + plain(data.names[v]) + "<br>" + kind + regionText(u, v));
    });
    const many = data.edges.removed.length + data.edges.added.length;
    const width = Math.max(flat ? 0.8 : 2, Math.min(flat ? 2.5 : 5, (flat ? 16 : 50) / Math.sqrt(many + 40)));
    const style = { color: data.colours[kind], width, dash: flat && kind === "removed" ? "5px,3px" : "solid" };
    const common = { type, visible: shown[kind], showlegend: false };
    return [
      { ...common, ...line, name: kind, mode: "lines", line: style, hoverinfo: "skip", opacity: flat ? 0.75 : 0.85 },
      { ...common, ...middle, name: kind + " hover", mode: "markers", marker: { size: flat ? 8 : 5, opacity: 0.001, color: data.colours[kind] },
        text, hovertemplate: "%{text}<extra></extra>", hoverlabel: { bgcolor: data.colours[kind + "Ink"], font: { color: data.colours.paper } } },
    ];
  }

  function dashes(a, b) {  /* plotly's own dashes are so long in space that an edge cannot be followed */
    const pieces = Math.max(2, Math.round(Math.hypot(...a.map((c, i) => b[i] - c)) / dash));
    const at = (t) => a.map((c, i) => c + t * (b[i] - c)), points = [];
    for (let k = 0; k < pieces; k += 1) {  /* each edge begins and ends with a dash: gaps are 0.6 of one */
      const start = k / (pieces - 0.375);
      points.push(at(start), at(Math.min(1, start + 0.625 / (pieces - 0.375))), null);
    }
    return points;
  }

  function plain(text) {  /* plotly reads a little HTML in labels */
    return String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/_/g, " ");
  }

  function regionText(u, v) {
    if (!data.hasRegions) return "";
    const [a, b] = [u, v].map((n) => plain(data.regions[data.region[n]].name));
    return "<br>" + (a === b ? "within " + a : a + " – " + b);
  }

  function nodeTraces() {
    const top = data.changes.reduce((a, b) => Math.max(a, b), 1);
    const scale = flat ? Math.max(0.55, Math.min(1.2, 12 / Math.sqrt(data.names.length))) : 1;
    return data.regions.map((region, r) => {
      const place = blank(), text = [], size = [], labels = [];
      data.region.forEach((home, node) => {
        if (home !== r || !(data.changes[node] || shown.quiet)) return;
        push(place, data.points[node]);
        const n = data.changes[node];
        labels.push(" " + plain(data.names[node].slice(0, 24)) + " ");
        size.push((n ? 6 + 7 * Math.sqrt(n / top) : 4) * scale);
        text.push("<b>" + plain(data.names[node]) + "</b>" + (data.hasRegions ? "<br>" + plain(region.name) : "") +
          "<br>" + (n === 1 ? "1 changed edge" : n + " changed edges"));
      });
      const outside = (x, y) => (Math.abs(x) > 0.35 ? "middle " + (x > 0 ? "right" : "left") : (y > 0 ? "top" : "bottom") + " center");
      const beside = named ? { hovertext: text, text: labels, mode: "markers+text",
        textposition: place.x.map((x, i) => outside(x, place.y[i])), hovertemplate: "%{hovertext}<extra></extra>", cliponaxis: false } : {};
      return { type, mode: "markers", name: region.name, ...place, text, visible: regionOn[r], showlegend: false,
        hovertemplate: "%{text}<extra></extra>",
        marker: { size, color: region.colour, symbol: region.symbol, opacity: 1, line: { color: data.colours.ink, width: flat ? 0.5 : 1 } },
        ...beside };
    });
  }

  let near = "both";  /* from the side one letter would lie on the other: the nearer one is shown */
  function sideTrace() {
    const [x, y, z] = bounds, middle = (range, share) => range[0] + share * (range[1] - range[0]);
    const marks = [["L", x[0]], ["R", x[1]]].filter(([side]) => near === "both" || near === side);
    return { type, name: "sides", mode: "text", x: marks.map((m) => m[1]), y: marks.map(() => middle(y, 0.78)), z: marks.map(() => middle(z, 0.62)),
      text: marks.map((m) => m[0]), textfont: { size: 17, color: data.colours.quiet }, hoverinfo: "skip", showlegend: false };
  }
  function look(eye) {
    const share = eye.x / Math.hypot(eye.x, eye.y, eye.z), now = Math.abs(share) < 0.85 ? "both" : share < 0 ? "L" : "R";
    root.dataset.sides = now;
    if (now !== near) { near = now; draw(); }
  }

  function traces() {
    const list = [];
    if (data.surface) {
      list.push({ type: "mesh3d", name: "brain", ...data.surface, color: data.colours.surface, opacity: 0.16, hoverinfo: "skip",
        visible: shown.surface, flatshading: false, lighting: { ambient: 0.65, diffuse: 0.6, specular: 0.15, roughness: 0.9 } });
    }
    if (data.hasRegions) (data.arcs || []).forEach((arc) => list.push({ type, mode: "lines", x: arc.line.map((p) => p[0]), y: arc.line.map((p) => p[1]),
      name: data.regions[arc.region].name, text: plain(data.regions[arc.region].name), showlegend: false,
      hovertemplate: "%{text}<extra></extra>", line: { color: data.regions[arc.region].colour, width: 9 },
      opacity: regionOn[arc.region] ? 1 : 0.2 }));
    if (data.kind === "brain") list.push(sideTrace());
    return list.concat(edgeTraces("added"), edgeTraces("removed"), nodeTraces());
  }

  const none = { visible: false, showgrid: false, zeroline: false, showspikes: false };
  const camera = (x, y, z) => ({ eye: { x, y, z }, up: { x: 0, y: 0, z: 1 } });
  const axis = (i) => ({ ...none, range: bounds[i], autorange: false });
  const layout = {
    margin: { l: 0, r: 0, t: 0, b: 0 }, showlegend: false, hovermode: "closest", uirevision: "keep",
    paper_bgcolor: data.colours.paper, plot_bgcolor: data.colours.paper, autosize: true, dragmode: flat ? "pan" : "turntable",
    ...(flat
      ? { xaxis: { ...none, range: named ? [-1.5, 1.5] : [-1.15, 1.15] }, yaxis: { ...none, range: [-1.15, 1.15], scaleanchor: "x" } }
      : { scene: { xaxis: axis(0), yaxis: axis(1), zaxis: axis(2), aspectmode: "manual", aspectratio: { x: spans[0] / unit, y: spans[1] / unit, z: spans[2] / unit }, camera: camera(-1.15, 0.75, 0.7) } }),
  };
  const config = { displaylogo: false, responsive: true, scrollZoom: !flat,
    modeBarButtonsToRemove: ["select2d", "lasso2d", "resetCameraLastSave3d", "tableRotation"] };
  let queue = Promise.resolve();
  const draw = () => { queue = queue.then(() => Plotly.react(plot, traces(), layout, config)).then(publish); };
  function publish() {  /* what is on show, for tests and for assistive tools */
    const count = (kind) => (shown[kind] ? data.edges[kind].filter(([u, v]) => visible(u) && visible(v)).length : 0);
    root.dataset.removed = count("removed");
    root.dataset.added = count("added");
    ["removed", "added"].forEach((kind) => { if (countText[kind]) countText[kind].textContent = amount(kind, count(kind)); });
    if (!flat && !root.dataset.ready) {
      plot.on("plotly_relayout", () => look(plot.layout.scene.camera.eye));
    }
    root.dataset.ready = "true";
  }

  const countText = {};
  const amount = (kind, now) => kind + (now === data.counts[kind] ? " (" + now + ")" : " (" + now + " of " + data.counts[kind] + " shown)");
  function kindBox(kind) {
    countText[kind] = element("span", {}, amount(kind, data.edges[kind].length));
    return checkbox(countText[kind], () => shown[kind], (v) => { shown[kind] = v; }, rule(kind));
  }
  function checkbox(text, get, set, mark) {
    const box = element("input", { type: "checkbox", checked: get() });
    box.addEventListener("change", () => { set(box.checked); draw(); });
    return element("label", {}, box, ...(mark ? [mark] : []), text);
  }
  const swatch = (colour) => { const s = element("span", { className: "df-swatch" }); s.style.background = colour; return s; };
  const rule = (kind) => { const s = element("span", { className: "df-line " + kind }); s.style.color = data.colours[kind]; return s; };
  function group(title, ...children) {
    return element("fieldset", {}, element("legend", {}, title), ...children);
  }
  function controls() {
    panel.replaceChildren(group("Show",
      ...["removed", "added"].map(kindBox),
      ...(data.surface ? [checkbox("brain surface", () => shown.surface, (v) => { shown.surface = v; })] : []),
      checkbox("unchanged nodes", () => shown.quiet, (v) => { shown.quiet = v; })));
    if (data.hasRegions) {
      const every = (value) => () => { regionOn.fill(value); controls(); draw(); };
      const all = element("button", { type: "button" }, "all"), no = element("button", { type: "button" }, "none");
      all.addEventListener("click", every(true));
      no.addEventListener("click", every(false));
      panel.append(group("Regions", ...data.regions.map((region, r) =>
        checkbox(region.name, () => regionOn[r], (v) => { regionOn[r] = v; }, swatch(region.colour))),
      element("div", { className: "df-all" }, all, no)));
    }
    if (!flat) {
      const sides = { left: [-1.7, 0, 0], right: [1.7, 0, 0], front: [0, 1.7, 0], back: [0, -1.7, 0], top: [0, -0.002, 1.7] };
      const buttons = Object.entries(sides).map(([side, eye]) => {
        const button = element("button", { type: "button" }, side);
        button.addEventListener("click", () => { Plotly.relayout(plot, { "scene.camera": camera(...eye) }); });
        return button;
      });
      panel.append(group("Look from", element("div", { className: "df-all" }, ...buttons)));
    }
  }
  controls();
  draw();
}
