"use strict";
// The "what if" panel: sliders, single pairs and saved variants. The answers come from whatif.js.
(() => {
  const { make, count, wordsOf } = window.denseflipElements;
  const { DRAWS, Model, Choices, answerHere, keyOf, readKey, unpack } = window.denseflipModel;
  const STORED = 50; // maximum number of saved variants
  const MANY = 6; // with more regions, region pairs are found by search
  const FOUND = 12; // region pairs shown by a search

  // ---- the panel ------------------------------------------------------------------------------

  const percent = (share) => `${(100 * share).toFixed(share > 0.995 || share < 0.005 ? 1 : 0)} %`;
  const empty = () => ({ cells: {}, pairs: [], reading: "any", balance: false, seed: 1 });
  const copy = (state) => JSON.parse(JSON.stringify(state));

  class Panel {
    constructor(root, data, options = {}) {
      Object.assign(this, { root, data, options });
      this.choices = new Choices(data);
      this.model = data.model ? new Model(data.model, data.edges) : null;
      this.names = new Map(data.classes); // keyed by the label itself, because a class may be named "1"
      this.state = this.untouched();
      this.past = [];
      this.future = [];
      this.saved = this.recall();
      this.asked = 0;
      this.build();
      this.draw();
      this.ask();
    }

    /** The graph without changes; the number of connections is kept if the sentence keeps it. */
    untouched() {
      return { ...empty(), balance: Boolean(this.data.start?.balance) };
    }

    className(label) {
      return this.names.get(label) ?? String(label);
    }

    cellName(key) {
      const [a, b] = readKey(key);
      const regions = this.data.labels ?? this.data.regions;
      if (b === null) return `of ${/^\d+$/.test(this.data.names[a]) ? "node " : ""}${this.data.names[a]}`;
      return a === b ? `within ${regions[a]}` : `${regions[a]} – ${regions[b] ?? "all regions"}`;
    }

    // ---- state ----

    change(edit, { quiet = false } = {}) {
      if (!quiet) {
        this.past.push(copy(this.state));
        this.future = [];
      }
      edit(this.state);
      this.draw();
      this.ask();
    }

    restore(state) {
      const next = this.fit({ ...empty(), ...copy(state) });
      this.change((now) => Object.assign(now, next));
    }

    /** Restore a state from a link or from storage, ignoring what this graph does not have. */
    fit(state) {
      const n = this.data.n;
      const pair = (code) => Number.isInteger(code) && code >= 0 && Math.floor(code / n) < code % n;
      state.pairs = [...new Set(state.pairs)].filter(pair);
      state.cells = Object.fromEntries(Object.entries(state.cells).filter(([key]) => this.choices.at(key)));
      if (!this.data.readings.includes(state.reading)) state.reading = "any";
      state.balance = state.balance === true && this.choices.canBalance;
      this.clip(state);
      return state;
    }

    step(from, to) {
      if (!from.length) return;
      to.push(copy(this.state));
      this.state = from.pop();
      this.draw();
      this.ask();
    }

    codes(pairs) {
      return pairs.map(([u, v]) => Math.min(u, v) * this.data.n + Math.max(u, v));
    }

    /** The claim of the explanation, in its reading. */
    startState() {
      const state = this.untouched(), { start } = this.data;
      if (!start) return state;
      state.reading = start.reading;
      for (const cell of start.cells) state.cells[keyOf(cell.a, cell.b)] = { more: cell.more, fewer: cell.fewer };
      state.pairs = this.codes(start.pairs);
      return state;
    }

    fromStart() {
      this.change((state) => Object.assign(state, this.startState()));
    }

    /** Whether the state equals the explanation; then its own connections are the first choice. */
    isStart() {
      return Boolean(this.data.start) && JSON.stringify(this.state) === JSON.stringify(this.startState());
    }

    addCell(a, b) {
      const key = keyOf(a, b);
      if (!this.choices.at(key)) return;
      if (!this.state.cells[key]) this.change((state) => { state.cells[key] = { more: 0, fewer: 0 }; });
      this.root.querySelector(`[data-cell="${key}"] input[type=range]`)?.focus();
    }

    flip(u, v) {
      if (u === v) return;
      const code = Math.min(u, v) * this.data.n + Math.max(u, v);
      this.change((state) => {
        state.pairs = state.pairs.includes(code)
          ? state.pairs.filter((other) => other !== code)
          : [...state.pairs, code];
        this.clip(state);
      });
    }

    // ---- queries ----

    async ask() {
      this.asked += 1;
      const turn = this.asked;
      const first = this.isStart() ? this.data.start.edits : null;
      if (this.model) {
        try {
          this.show(answerHere(this.model, this.choices, this.state, this.data.before, first && this.codes(first)));
        } catch (error) { this.complain(error.message); }
        return;
      }
      this.root.setAttribute("aria-busy", "true");
      await new Promise((done) => { setTimeout(done, 150); });
      if (turn !== this.asked) return;
      try {
        const answer = await this.options.ask(copy(this.state), DRAWS, first);
        if (turn === this.asked) this.show(answer);
      } catch (error) {
        if (turn === this.asked) this.complain(error.message);
      }
    }

    complain(message) {
      this.root.removeAttribute("aria-busy");
      this.answer = null; // nothing to save
      delete this.root.dataset.label;
      delete this.root.dataset.flips;
      this.verdict.replaceChildren(make("p", { class: "wi-error", text: message }));
    }

    show(answer) {
      const tested = this.isStart() ? this.data.start.test : null;
      if (tested) answer = { ...answer, ...tested }; // the test of the sentence, which has more redraws than this panel
      this.answer = answer;
      this.root.removeAttribute("aria-busy");
      const flipped = answer.label !== answer.before;
      const parts = [
        make("p", { class: flipped ? "wi-label wi-flipped" : "wi-label" },
          make("span", { class: "wi-quiet", text: flipped ? `${this.className(answer.before)} → ` : "still " }),
          make("strong", { text: this.className(answer.label) })),
      ];
      if (answer.confidence !== null && answer.confidence !== undefined) {
        const meter = make("span", { class: "wi-meter", "aria-hidden": "true" }, make("span"));
        meter.firstChild.style.width = `${100 * answer.confidence}%`;
        parts.push(make("p", {}, make("span", { text: `Confidence ${percent(answer.confidence)} ` }), meter));
      } else {
        parts.push(make("p", { class: "wi-quiet", text: answer.score === undefined || answer.score === null ? "This classifier gives no confidence." : `This classifier gives no confidence; its score is ${answer.score.toFixed(3)}.` }));
      }
      const outside = this.elsewhere();
      parts.push(make("p", { text: `${count(answer.added)} added, ${count(answer.removed)} removed${outside ? `. To keep the number of connections, ${count(outside)} of these lie outside the places chosen.` : ""}` }));
      parts.push(make("p", { class: "wi-redraws", text: answer.draws === 1
        ? (answer.added + answer.removed ? "No other connections can be drawn." : "Nothing changed yet.")
        : `${answer.flips} of ${answer.draws} random draws of the same number of connections flip the decision` }));
      this.verdict.replaceChildren(...parts);
      this.root.dataset.label = this.className(answer.label);
      this.root.dataset.flips = `${answer.flips}/${answer.draws}`;
      if (this.options.onAnswer) this.options.onAnswer(answer, copy(this.state));
    }

    /** How many connections change outside the named places to keep the number of connections. */
    elsewhere() {
      if (!this.state.balance) return 0;
      const inside = Object.values(this.state.cells).reduce((sum, cell) => sum + cell.more - cell.fewer, 0);
      return Math.abs(inside + this.choices.net(this.state.pairs));
    }

    // ---- drawing ----

    build() {
      const button = (text, on, extra = {}) => make("button", { type: "button", text, onclick: on, ...extra });
      this.verdict = make("div", { class: "wi-verdict", role: "status", "aria-live": "polite" });
      this.reading = make("select", { onchange: () => this.change((state) => { state.reading = this.reading.value; this.clip(state); }) },
        ...this.data.readings.map((value) => make("option", { value, text: this.readingName(value) })));
      this.balance = make("input", { type: "checkbox", onchange: () => this.change((state) => { state.balance = this.balance.checked; }) });
      this.undo = button("Undo", () => this.step(this.past, this.future));
      this.redo = button("Redo", () => this.step(this.future, this.past));
      this.rows = make("div", { class: "wi-rows" });
      this.pairList = make("ul", { class: "wi-pairs" });
      this.table = make("div", { class: "wi-saved" });
      const tools = make("div", { class: "wi-tools" }, this.undo, this.redo,
        button("Original", () => this.change((state) => Object.assign(state, this.untouched())), { title: "the graph without changes" }),
        button("Redraw", () => this.change((state) => { state.seed += 1; }), { title: "the same number of other connections" }));
      if (this.data.start) tools.append(button("As explained", () => this.fromStart(), { title: "the changes of the explanation" }));
      const blocks = [make("div", { class: "wi-top" }, this.verdict, tools)];
      if (this.choices.canBalance) blocks.push(make("label", { class: "wi-line wi-balance" }, this.balance, "Keep the number of connections (as many change outside the places chosen)"));
      if (this.data.regions.length || this.data.start?.cells.length) blocks.push(this.cellBlock(button));
      blocks.push(this.pairBlock(button), this.saveBlock(button));
      this.root.classList.add("wi");
      this.root.replaceChildren(...blocks);
    }

    readingName(reading) {
      const who = this.data.target === null ? "the other class" : this.className(this.data.target);
      const names = { any: "any connections there", typical: `those typical of ${who}`, distinctive: `those that set ${who} apart from ${this.className(this.data.before)}` };
      return names[reading] ?? reading;
    }

    cellBlock(button) {
      const meant = make("label", { class: "wi-line" }, "Which connections: ", this.reading);
      if (!this.data.regions.length) return make("fieldset", { class: "wi-cells" }, make("legend", { text: "Connections of nodes" }), meant, this.rows);
      const options = () => (this.data.labels ?? this.data.regions).map((name, i) => make("option", { value: i, text: name }));
      const a = make("select", { "aria-label": "first region" }, ...options());
      const b = make("select", { "aria-label": "second region" }, ...options());
      return make("fieldset", { class: "wi-cells" }, make("legend", { text: "Connections between regions" }),
        meant,
        ...(this.data.regions.length > MANY ? [this.finder()] : []),
        this.rows,
        make("div", { class: "wi-line" }, a, " – ", b, " ", button("Add this region pair", () => this.addCell(Number(a.value), Number(b.value)), { class: "wi-add" })));
    }

    /** Search region pairs by name: 57 regions have 1,653 pairs. */
    finder() {
      const keys = [...this.choices.cells.keys()];
      const names = new Map(keys.map((key) => [key, this.cellName(key).toLowerCase()]));
      const said = make("span", { class: "wi-quiet", role: "status" });
      const list = make("ul", { class: "wi-found" });
      const search = () => {
        const words = wordsOf(field);
        const fit = words.length ? keys.filter((key) => words.every((word) => names.get(key).includes(word))) : [];
        for (const row of this.rows.children) row.hidden = words.length > 0 && this.rows.children.length > MANY && !fit.includes(row.dataset.cell);
        said.textContent = !words.length ? `${count(keys.length)} region pairs` : fit.length > FOUND ? `${count(fit.length)} pairs; the first ${FOUND}` : `${count(fit.length)} pairs`;
        list.replaceChildren(...fit.slice(0, FOUND).map((key) => {
          const cell = this.choices.at(key);
          const [a, b] = readKey(key);
          const add = () => { field.value = ""; search(); this.addCell(a, b); };
          return make("li", {}, make("button", { type: "button", onclick: add, "data-find": key }, this.cellName(key), make("span", { class: "wi-quiet", text: ` ${count(cell.joined)} of ${count(cell.size)} joined` })));
        }));
      };
      const field = make("input", { type: "search", placeholder: "part of a region name", autocomplete: "off", class: "wi-find", oninput: search, onkeydown: (event) => { if (event.key === "Escape") { field.value = ""; search(); } } });
      search();
      return make("div", {}, make("label", { class: "wi-line" }, "Find a region pair: ", field, said), list);
    }

    pairBlock(button) {
      const id = `wi-nodes-${Math.random().toString(36).slice(2)}`;
      const list = make("datalist", { id }, ...this.data.names.map((name) => make("option", { value: name })));
      const ends = [0, 1].map((i) => make("input", { list: id, "aria-label": i ? "second node" : "first node", placeholder: i ? "second node" : "first node", autocomplete: "off" }));
      const say = make("span", { class: "wi-quiet", role: "status" });
      const flip = () => {
        const [u, v] = ends.map((end) => this.data.names.indexOf(end.value));
        if (u < 0 || v < 0 || u === v) say.textContent = "Choose two different nodes.";
        else { say.textContent = ""; this.flip(u, v); }
      };
      return make("fieldset", {}, make("legend", { text: "Single connections" }),
        make("div", { class: "wi-line" }, ...ends, " ", button("Flip", flip, { class: "wi-flip" }), say), list, this.pairList);
    }

    saveBlock(button) {
      const name = make("input", { "aria-label": "name", placeholder: "name", maxlength: 80 });
      const save = () => {
        if (!this.answer) return;
        this.saved = [...this.saved, { name: name.value || `variant ${this.saved.length + 1}`, state: copy(this.state), answer: { ...this.answer, every: undefined, codes: undefined, pairs: undefined } }].slice(-STORED);
        name.value = "";
        this.keep();
        this.drawSaved();
      };
      return make("fieldset", {}, make("legend", { text: "Save and compare" }),
        make("div", { class: "wi-line" }, name, " ", button("Save", save, { class: "wi-save" })), this.table);
    }

    clip(state) {
      for (const [key, amounts] of Object.entries(state.cells)) {
        amounts.more = Math.min(amounts.more, this.choices.room(key, true, state.reading, state.pairs));
        amounts.fewer = Math.min(amounts.fewer, this.choices.room(key, false, state.reading, state.pairs));
      }
    }

    draw() {
      this.reading.value = this.state.reading;
      this.balance.checked = this.state.balance;
      this.undo.disabled = !this.past.length;
      this.redo.disabled = !this.future.length;
      const keys = Object.keys(this.state.cells);
      const shown = [...this.rows.children].map((row) => row.dataset.cell);
      if (keys.join() !== shown.join() || this.rows.dataset.reading !== this.state.reading) {
        this.rows.dataset.reading = this.state.reading;
        this.rows.replaceChildren(...keys.map((key) => this.row(key)));
      }
      for (const row of this.rows.children) {
        for (const field of row.querySelectorAll("input")) {
          const amount = this.state.cells[row.dataset.cell][field.dataset.way];
          if (field.type === "range" && amount > Number(field.max)) { field.max = amount; field.closest(".wi-scale").querySelector(".wi-far").textContent = count(amount); this.band(field, row.dataset.cell); }
          field.value = amount;
        }
        this.sayRange(row);
      }
      this.drawPairs();
      this.drawSaved();
    }

    /** Where a slider leaves a place in the range of real graphs, as a band behind it. */
    band(field, key) {
      const usual = this.data.usual?.[key];
      if (!usual) return;
      const { joined } = this.choices.at(key), [low, , high] = usual;
      const [from, to] = field.dataset.way === "more" ? [low - joined, high - joined] : [joined - high, joined - low];
      const at = (value) => `${(100 * Math.max(0, Math.min(1, value / Math.max(1, Number(field.max))))).toFixed(2)}%`;
      const track = field.parentElement;
      track.style.setProperty("--from", at(from));
      track.style.setProperty("--to", at(to));
      track.classList.toggle("wi-band", to >= 0 && from <= Number(field.max));
    }

    /** The numbers of a place after the change, and whether real graphs have them. */
    sayRange(row) {
      const key = row.dataset.cell, usual = this.data.usual?.[key], { joined } = this.choices.at(key), { more, fewer } = this.state.cells[key];
      const after = joined + more - fewer, said = row.querySelector(".wi-range");
      const inside = !usual || (after >= usual[0] && after <= usual[2]), changed = more || fewer;
      const who = this.data.target === null ? "the other class" : this.className(this.data.target);
      said.textContent = `${count(joined)}${changed ? ` → ${count(after)}` : ""}${usual ? `; usual for ${who}: ${count(usual[0])} to ${count(usual[2])}${changed ? (inside ? ", in range" : ", out of range") : ""}` : ""}`;
      row.classList.toggle("wi-out", Boolean(changed) && !inside);
    }

    row(key) {
      const name = this.cellName(key), usual = this.data.usual?.[key];
      const line = (way, sign) => {
        const most = this.choices.room(key, way === "more", this.state.reading);
        const span = usual ? Math.max(...[usual[0], usual[2]].map((end) => Math.abs(end - this.choices.at(key).joined))) : most;
        const far = Math.min(most, Math.max(20, 2 * span, 2 * this.state.cells[key][way])); // the field beside it takes more
        let before = null;
        const set = (value, done) => {
          const amount = Math.max(0, Math.min(most, Math.round(Number(value) || 0)));
          if (before === null) before = copy(this.state);
          this.change((state) => { state.cells[key][way] = amount; this.clip(state); }, { quiet: true });
          if (done) { this.past.push(before); this.future = []; before = null; this.draw(); }
        };
        const common = { min: 0, max: most, step: 1, "data-way": way, disabled: most === 0 };
        return make("div", { class: `wi-slider wi-${way}` },
          make("span", { text: `${sign} ${way}` }),
          make("span", { class: "wi-scale" }, make("span", { class: "wi-track" }, make("input", { type: "range", ...common, max: far, "aria-label": `${way}, ${name}`, oninput: (event) => set(event.target.value, false), onchange: (event) => set(event.target.value, true) })),
            make("span", { class: "wi-ends", "aria-hidden": "true" }, make("span", { text: "0" }), make("span", { class: "wi-far", text: count(far) }))),
          make("input", { type: "number", ...common, "aria-label": `${way}, ${name}, as a number`, onchange: (event) => set(event.target.value, true) }),
          make("span", { class: "wi-quiet", text: `of ${count(most)} possible` }));
      };
      const made = make("div", { class: "wi-row", "data-cell": key },
        make("div", { class: "wi-head" },
          make("b", { text: name }),
          make("span", { class: "wi-range" }),
          make("button", { type: "button", text: "×", "aria-label": `remove ${name}`, onclick: () => this.change((state) => { delete state.cells[key]; }) })),
        line("more", "+"), line("fewer", "−"));
      for (const field of made.querySelectorAll("input[type=range]")) this.band(field, key);
      return made;
    }

    drawPairs() {
      const n = this.data.n;
      const items = this.state.pairs.slice(0, 40).map((code) => {
        const [u, v] = [Math.floor(code / n), code % n];
        const gone = this.choices.held.has(code);
        const text = `${gone ? "−" : "+"} ${this.data.names[u]} – ${this.data.names[v]}`;
        return make("li", { class: gone ? "wi-gone" : "wi-new" }, `${text} `,
          make("button", { type: "button", text: "×", "aria-label": `undo ${text}`, onclick: () => this.flip(u, v) }));
      });
      if (this.state.pairs.length > 40) items.push(make("li", { text: `… and ${count(this.state.pairs.length - 40)} more` }));
      this.pairList.replaceChildren(...items);
    }

    drawSaved() {
      if (!this.saved.length) {
        this.table.replaceChildren(make("p", { class: "wi-quiet", text: "Nothing saved yet." }));
        return;
      }
      const row = (one, i) => make("tr", {},
        make("th", { scope: "row", text: one.name }),
        make("td", { text: this.className(one.answer.label) }),
        make("td", { text: one.answer.confidence === null || one.answer.confidence === undefined ? "–" : percent(one.answer.confidence) }),
        make("td", { text: `${one.answer.flips} of ${one.answer.draws}` }),
        make("td", { text: `+${count(one.answer.added)} −${count(one.answer.removed)}` }),
        make("td", { text: `${Object.keys(one.state.cells).length}` }),
        make("td", {},
          make("button", { type: "button", text: "show", "aria-label": `show ${one.name}`, onclick: () => this.restore(one.state) }), " ",
          make("button", { type: "button", text: "×", "aria-label": `delete ${one.name}`, onclick: () => { this.saved.splice(i, 1); this.keep(); this.drawSaved(); } })));
      this.table.replaceChildren(make("div", { class: "wi-scroll", tabindex: 0, role: "region", "aria-label": "saved variants" }, make("table", {},
        make("thead", {}, make("tr", {}, ...["name", "class", "confidence", "redraws that flip", "edits", "places", ""].map((text) => make("th", { scope: "col", text })))),
        make("tbody", {}, ...this.saved.map(row)))));
    }

    // ---- saving ----

    recall() {
      if (!this.options.storage) return [];
      try {
        const kept = JSON.parse(localStorage.getItem(this.options.storage));
        return Array.isArray(kept) ? kept : [];
      } catch { return []; }
    }

    keep() {
      if (!this.options.storage) return;
      try { localStorage.setItem(this.options.storage, JSON.stringify(this.saved)); } catch { /* not available in a private window */ }
    }
  }

  const mount = (root, data, options) => new Panel(root, data, options);
  /** The panel of a stand-alone page, which contains the data. */
  const start = (data) => {
    const panel = mount(document.getElementById("whatif"), data);
    window.denseflipWhatIf.panel = panel;
    if (panel.data.start) panel.fromStart();
  };
  window.denseflipWhatIf = { mount, start, Model, Choices, answerHere, unpack };
})();
