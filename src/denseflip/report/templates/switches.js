"use strict";
// The controls of the interactive connectome: what is shown, the viewpoint, and saving the figure.
(() => {
  const { make, count, save } = window.denseflipElements;
  const { swatch } = window.denseflipDrawing;
  const { VIEWS } = window.denseflipSpace;
  const AXES = { left: "−x", right: "+x", front: "+y", back: "−y", top: "+z" }; // outside MNI space
  const FOLDED = 16; // with more regions than this, their list is collapsed

  function checkbox(text, checked, set, ...marks) {
    const box = make("input", { type: "checkbox" });
    box.checked = checked;
    box.addEventListener("change", () => set(box.checked));
    return make("label", {}, box, ...marks, text);
  }

  const press = (text, action) => make("button", { type: "button", onclick: action }, text);
  const group = (title, ...children) => make("fieldset", {}, make("legend", {}, title), ...children);

  window.denseflipSwitches = (picture, panel) => {
    const { data, shown, hidden } = picture;
    const toggle = (name) => (on) => { shown[name] = on; picture.draw(); };
    const numbers = {};
    const kind = (name) => {
      numbers[name] = make("span");
      return checkbox(numbers[name], shown[name], toggle(name), make("span", { class: `df-line ${name}`, "aria-hidden": "true" }));
    };
    const list = [kind("removed"), kind("added")];
    if (data.kind === "brain") list.push(checkbox("brain surface", shown.surface, toggle("surface")));
    if (data.edges && !picture.flat) list.push(checkbox("all connections", shown.all, toggle("all")));
    list.push(checkbox("unchanged nodes", shown.quiet, toggle("quiet")));
    if (!picture.flat) list.push(checkbox("names of changed nodes", shown.names, toggle("names")));
    panel.append(group("Show", ...list));
    if (!picture.flat) panel.append(group("View from", make("div", { class: "df-buttons" }, ...Object.keys(VIEWS).map((side) => press(data.kind === "brain" ? side : AXES[side], () => picture.look(side))))));
    const marks = [];
    if (data.hasRegions) {
      const boxes = data.regions.map((region, i) => {
        const number = make("span", { class: "df-number" }), mark = swatch(region.marker, region.colour);
        marks.push([mark, number, i]);
        return checkbox(make("span", { title: region.label }, picture.short[i]), !hidden.has(i), (on) => { if (on) hidden.delete(i); else hidden.add(i); picture.draw(); }, mark, number);
      });
      const every = (on) => () => {
        hidden.clear();
        if (!on) data.regions.forEach((_, i) => hidden.add(i));
        for (const box of boxes) box.querySelector("input").checked = on;
        picture.draw();
      };
      const inside = [make("div", { class: "df-buttons" }, press("all", every(true)), press("none", every(false))), make("div", { class: "df-regions" }, ...boxes)];
      if (data.regions.length > FOLDED) panel.append(make("details", {}, make("summary", {}, `Regions (${data.regions.length})`), ...inside));
      else panel.append(group("Regions", ...inside));
    }
    if (picture.options.save !== false) {
      panel.append(group("Save the figure", make("div", { class: "df-buttons" },
        press("PNG", () => picture.canvas.toBlob((blob) => save("connectome.png", blob))),
        press("SVG", () => save("connectome.svg", picture.svg(), "image/svg+xml")))));
    }
    /** Update counts, colours and numbers after each drawing. */
    picture.onDraw = (colours) => {
      for (const [name, span] of Object.entries(numbers)) {
        const now = picture.number(name), all = picture.counts[name];
        span.textContent = `${name} (${now === all ? count(now) : `${count(now)} of ${count(all)} shown`})`;
      }
      for (const [mark, number, i] of marks) {
        mark.firstChild.setAttribute("fill", colours.regions[i]);
        number.textContent = picture.layout.numbered ? `${i + 1}` : "";
      }
    };
  };
})();
