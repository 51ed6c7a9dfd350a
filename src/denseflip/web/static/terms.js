"use strict";
// What may change: regions and nodes that are frozen, by click or by name, and the rest of the
// constraints; all that is chosen stands in chips that take it back.
(() => {
  const { make } = window.denseflipPictures;
  const find = (id) => document.getElementById(id);
  const FIELDS = {
    target: (value) => `towards ${value}`,
    only: (value) => (value === "add" ? "only add" : "only remove"),
    "max-edits": (value) => `at most ${value} edits`,
    "max-cells": (value) => `at most ${value} region pairs`,
    confidence: (value) => `confidence at least ${value}`,
  };

  class Terms {
    constructor(onChange) {
      this.onChange = onChange;
      this.regions = new Set();
      this.nodes = new Set();
      this.set = null;
      for (const id of Object.keys(FIELDS)) find(id).addEventListener("change", () => this.draw());
      find("regions").addEventListener("change", () => { this.regions.clear(); this.changed(); });
      find("freeze-node-add").addEventListener("click", () => this.byName());
      find("freeze-node").addEventListener("keydown", (event) => { if (event.key === "Enter") { event.preventDefault(); this.byName(); } });
    }

    /** Another data set: nothing of the last one is frozen in it. */
    open(set) {
      this.set = set;
      this.regions.clear();
      this.nodes.clear();
      find("node-names").replaceChildren(...set.nodes.map((value) => make("option", { value })));
      find("freeze-node").value = "";
      this.draw();
    }

    /** As they were asked for before. */
    fill(asked) {
      this.regions = new Set(asked.frozen_regions);
      this.nodes = new Set(asked.frozen_nodes);
      for (const [id, name] of [["only", "only"], ["max-edits", "max_edits"], ["max-cells", "max_cells"]]) find(id).value = asked[name] ?? "";
      this.changed();
    }

    /** The regions that names of frozen ones are of. */
    get taxonomy() {
      return find("regions").value || this.set?.taxonomies[0] || null;
    }

    toggleRegion(name, taxonomy = this.taxonomy) {
      if (taxonomy !== this.taxonomy) { // names of other regions would be looked for among these
        if (![...find("regions").options].some((option) => option.value === taxonomy)) find("regions").append(make("option", { value: taxonomy, text: taxonomy }));
        find("regions").value = taxonomy;
        this.regions.clear();
      }
      if (!this.regions.delete(name)) this.regions.add(name);
      this.changed();
    }

    toggleNode(name) {
      if (!this.nodes.delete(name)) this.nodes.add(name);
      this.changed();
    }

    byName() {
      const name = find("freeze-node").value.trim();
      const known = this.set.nodes.includes(name);
      find("freeze-said").textContent = known ? "" : name ? `There is no node ${name} here.` : "Name a node first.";
      if (!known) return;
      find("freeze-node").value = "";
      if (!this.nodes.has(name)) this.toggleNode(name);
    }

    changed() {
      this.draw();
      this.onChange();
    }

    draw() {
      const names = this.set?.regions[this.taxonomy] ?? [];
      find("frozen").replaceChildren(...names.map((name) => make("button", { type: "button", text: name, "aria-pressed": String(this.regions.has(name)), onclick: () => this.toggleRegion(name) })));
      if (!names.length) find("frozen").textContent = "This data set has no regions.";
      const chips = [
        ...[...this.regions].map((name) => [`❄ ${name}`, () => this.toggleRegion(name)]),
        ...[...this.nodes].map((name) => [`❄ node ${name}`, () => this.toggleNode(name)]),
        ...Object.entries(FIELDS).filter(([id]) => find(id).value !== "").map(([id, words]) => [words(find(id).value), () => { find(id).value = ""; this.changed(); }]),
      ];
      const list = find("chosen");
      list.replaceChildren(...chips.map(([text, drop], i) => make("li", {}, make("button", { type: "button", "aria-label": `take back: ${text}`, onclick: () => { drop(); this.focus(i); } }, `${text} `, make("span", { "aria-hidden": "true", text: "×" })))));
      find("chosen-part").hidden = !chips.length;
    }

    /** The keyboard stays where it was when a chip is gone. */
    focus(i) {
      const left = find("chosen").querySelectorAll("button");
      (left[Math.min(i, left.length - 1)] ?? find("explain")).focus();
    }

    /** As the API takes them. */
    request(number) {
      return { only: find("only").value || null, frozen_regions: [...this.regions], frozen_nodes: [...this.nodes], max_edits: number("max-edits"), max_cells: number("max-cells") };
    }

    /** Whether other nodes and regions are frozen now than when this was asked. */
    differ(asked) {
      const same = (a, b = []) => a.size === b.length && b.every((name) => a.has(name));
      return !same(this.regions, asked?.frozen_regions) || !same(this.nodes, asked?.frozen_nodes);
    }

    /** Numbers of the nodes of a view that stay as they are. */
    frozenIn(view, taxonomy) {
      const regions = view.hasRegions && taxonomy === this.taxonomy ? this.regions : new Set();
      return new Set(view.names.map((_, i) => i).filter((i) => this.nodes.has(view.names[i]) || regions.has(view.regions[view.index[i]].name)));
    }
  }

  window.denseflipTerms = Terms;
})();
