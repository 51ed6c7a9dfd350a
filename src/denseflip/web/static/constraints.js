"use strict";
// Frozen regions and nodes: chosen by name, or by a click on a picture. "lobe: Frontal" is a region,
// "node: Frontal" a node, "Frontal x Temporal" a pair of regions.
(() => {
  const { make } = window.denseflipElements;
  const { Names } = window.denseflipOptions;
  const low = (text) => text.trim().toLowerCase();
  const CROSSES = [" x ", " – ", " × ", " & "];

  class Freeze extends Names {
    body() {
      const set = this.set, taxonomies = set?.taxonomies ?? [];
      this.which = make("select", { id: `${this.id}-taxonomy` }, ...taxonomies.map((value) => make("option", { value, text: value })));
      this.which.addEventListener("change", () => this.draw());
      return [make("details", { id: `${this.id}-choose`, open: this.element.querySelector(`#${this.id}-choose`)?.open },
        make("summary", { text: "Choose regions and nodes" }),
        ...(taxonomies.length > 1 ? [make("label", {}, "Regions of ", this.which)] : []),
        this.buttons,
        ...this.typing("Node, or a pair of regions (A x B)", set?.nodes))];
    }

    /** Load another data set; nothing is frozen in it yet. */
    open(set) {
      this.set = set;
      this.values = [];
      this.build();
    }

    items() {
      const taxonomy = this.which.value;
      return (this.set?.regions[taxonomy] ?? []).map((name) => [`${taxonomy}: ${name}`, name]);
    }

    draw() {
      super.draw();
      if (this.set && !this.items().length) this.buttons.textContent = "This data set has no regions.";
    }

    parse(text) {
      const node = this.set.nodes.find((name) => low(name) === low(text));
      if (node !== undefined) return `node: ${node}`;
      const region = this.region(text);
      if (region) return region;
      if (CROSSES.some((cross) => { const ends = text.split(cross); return ends.length === 2 && ends.every((end) => this.region(end)); })) return text;
      throw new Error(`This data set has no node, region or pair of regions “${text}”.`);
    }

    /** The full name of a region that is typed with or without its taxonomy. */
    region(text) {
      for (const [taxonomy, names] of Object.entries(this.set.regions)) {
        const found = names.find((name) => [low(name), low(`${taxonomy}: ${name}`)].includes(low(text)));
        if (found !== undefined) return `${taxonomy}: ${found}`;
      }
      return undefined;
    }

    /** The text of a chip: the short name if it is unambiguous. */
    text(value) {
      const [which, ...rest] = value.split(": "), name = rest.join(": ");
      if (!name) return `❄ ${value}`;
      if (which === "node") return `❄ node ${name}`;
      const others = Object.values(this.set?.regions ?? {}).filter((names) => names.includes(name)).length;
      return others === 1 && !this.set.nodes.includes(name) ? `❄ ${name}` : `❄ ${value}`;
    }

    // ---- by click -----------------------------------------------------------------------------

    toggleRegion(name, taxonomy) { this.toggleOne([`${taxonomy}: ${name}`, name]); }

    toggleNode(name) { this.toggleOne([`node: ${name}`, name]); }

    /** Toggle what is frozen under one of these names; the first is the full one. */
    toggleOne(names) {
      this.toggle(this.values.find((value) => names.some((name) => low(name) === low(value))) ?? names[0]);
    }

    has(name) { return this.values.some((value) => low(value) === low(name)); }

    /** Names of the regions of a view that are frozen. */
    regionsIn(view) {
      const frozen = view.hasRegions ? view.regions.filter(({ name }) => this.has(`${view.taxonomy}: ${name}`) || this.has(name)) : [];
      return new Set(frozen.map(({ name }) => name));
    }

    /** Names of the nodes of a view that are frozen by name. */
    nodesIn(view) { return new Set(view.names.filter((name) => this.has(`node: ${name}`) || this.has(name))); }

    /** Numbers of the nodes of a view that are frozen, by name or with their region. */
    frozenIn(view) {
      const regions = this.regionsIn(view), nodes = this.nodesIn(view);
      return new Set(view.names.map((_, i) => i).filter((i) => nodes.has(view.names[i]) || (view.hasRegions && regions.has(view.regions[view.index[i]].name))));
    }
  }

  window.denseflipFreeze = Freeze;
})();
