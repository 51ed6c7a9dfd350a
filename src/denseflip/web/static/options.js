"use strict";
// The options of a request as form fields. Every field is made from what the server says about the
// option (kind, label, help, bounds, choices, default), so a new option needs no code here.
(() => {
  const { make } = window.denseflipElements;
  const find = (id) => document.getElementById(id);
  const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

  /** One option: its control, its value, and the chips that show the value. */
  class Field {
    constructor(facts, changed) {
      Object.assign(this, { facts, changed, id: `option-${facts.name}` });
      this.element = make("div", { class: `option ${facts.kind}`, "data-option": facts.name });
      this.build();
    }

    build() {
      this.control = this.makeControl();
      this.control.addEventListener("change", () => this.changed(this));
      this.element.replaceChildren(make("label", { for: this.id, text: this.facts.label }), ...this.help(), this.control);
    }

    /** A button, and the help text that it shows. */
    help() {
      const text = make("p", { class: "quiet", id: `${this.id}-help`, hidden: true, text: this.facts.help });
      const button = make("button", { type: "button", class: "help", "aria-label": `About “${this.facts.label}”`, "aria-expanded": "false", "aria-controls": text.id, text: "?" });
      button.addEventListener("click", () => { text.hidden = !text.hidden; button.setAttribute("aria-expanded", String(!text.hidden)); });
      return [button, text];
    }

    makeControl() {
      const number = ["whole", "number"].includes(this.facts.kind);
      return make("input", {
        id: this.id, autocomplete: "off", placeholder: this.facts.default ?? "", "aria-describedby": `${this.id}-help`,
        ...(number ? { type: "number", min: this.facts.minimum, max: this.facts.maximum, step: this.facts.kind === "whole" ? 1 : "any" } : { type: "text", maxlength: 300 }),
      });
    }

    /** The value; the default if the field is empty. */
    read() {
      const text = this.control.value.trim();
      if (text === "") return this.facts.default;
      return this.control.type === "number" ? Number(text) : text;
    }

    write(value) {
      this.control.value = same(value, this.facts.default) ? "" : value ?? "";
    }

    get isSet() { return !same(this.read(), this.facts.default); }

    /** Whether a value of an earlier request is the value of this field. */
    holds(value) { return same(this.read(), value ?? this.facts.default); }

    /** The values that are set: a text and a function that resets each. */
    chips() {
      return this.isSet ? [[`${this.facts.label}: ${this.read()}`, () => this.write(this.facts.default)]] : [];
    }
  }

  class Flag extends Field {
    build() {
      this.control = make("input", { type: "checkbox", id: this.id, "aria-describedby": `${this.id}-help` });
      this.control.addEventListener("change", () => this.changed(this));
      this.element.replaceChildren(make("label", { class: "check" }, this.control, this.facts.label), ...this.help());
    }

    read() { return this.control.checked; }

    write(value) { this.control.checked = value ?? this.facts.default; }

    chips() { return this.isSet ? [[this.facts.label, () => this.write(this.facts.default)]] : []; }
  }

  const offered = (choices) => choices.map((choice) => make("option", { value: choice.value ?? choice, text: choice.value ?? choice }));

  /** One of several; a choice is a text, or a text with a summary that is shown below. */
  class Choice extends Field {
    makeControl() {
      const none = this.facts.default === null ? [make("option", { value: "", text: "not set" })] : [];
      return make("select", { id: this.id, "aria-describedby": `${this.id}-help` },
        ...none, ...offered(this.facts.choices.filter((choice) => !choice.more)),
        ...(this.facts.choices.some((choice) => choice.more) ? [make("optgroup", { label: "More" }, ...offered(this.facts.choices.filter((choice) => choice.more)))] : []));
    }

    build() {
      super.build();
      this.said = make("p", { class: "quiet", id: `${this.id}-help` });
      if (this.hasSummaries) { // they replace the help of the option
        this.element.replaceChildren(this.element.querySelector("label"), this.control, this.said);
        this.element.classList.add("wide");
      }
      this.control.addEventListener("change", () => this.summarise());
      this.write(this.facts.default);
    }

    get hasSummaries() { return this.facts.choices.some((choice) => choice.summary); }

    summarise() {
      this.said.textContent = this.facts.choices.find((choice) => choice.value === this.control.value)?.summary ?? "";
    }

    read() { return this.control.value === "" ? null : this.control.value; }

    write(value) {
      const text = String(value ?? "");
      if (![...this.control.options].some((one) => one.value === text)) this.control.append(make("option", { value: text, text }));
      this.control.value = text;
      this.summarise();
    }
  }

  /** Several names: buttons for the names that are known, or a field to type them. */
  class Names extends Field {
    build() {
      this.values = this.values ?? [];
      this.element.classList.add("wide");
      this.element.id = this.id;
      this.element.setAttribute("role", "group");
      this.element.setAttribute("aria-labelledby", `${this.id}-title`);
      this.buttons = make("div", { class: "chips" });
      this.element.replaceChildren(make("span", { class: "title", id: `${this.id}-title`, text: this.facts.label }), ...this.help(), ...this.body());
      this.draw();
    }

    body() { return [this.buttons, ...(this.facts.choices.length ? [] : this.typing("Name"))]; }

    /** A field to type a name, with a button that adds it. */
    typing(label, suggestions = []) {
      this.input = make("input", { id: `${this.id}-new`, list: `${this.id}-list`, autocomplete: "off", maxlength: 300 });
      this.input.addEventListener("keydown", (event) => { if (event.key === "Enter") { event.preventDefault(); this.add(); } });
      this.status = make("p", { class: "quiet", role: "status", id: `${this.id}-said` });
      return [
        make("div", { class: "joined" }, make("label", {}, label, this.input), make("button", { type: "button", id: `${this.id}-add`, text: "Add", onclick: () => this.add() })),
        make("datalist", { id: `${this.id}-list` }, ...suggestions.map((value) => make("option", { value }))),
        this.status,
      ];
    }

    /** Parse a typed text; throw an error if it is invalid. */
    parse(text) { return text; }

    add() {
      const text = this.input.value.trim();
      try {
        if (!text) throw new Error("Type a name first.");
        const value = this.parse(text);
        this.status.textContent = "";
        this.input.value = "";
        if (!this.values.includes(value)) this.toggle(value);
      } catch (error) { this.status.textContent = error.message; }
    }

    /** The names that have a button: value and text. */
    items() { return [...new Set([...this.facts.choices, ...this.values])].map((value) => [value, value]); }

    draw() {
      this.buttons.replaceChildren(...this.items().map(([value, text]) => make("button", { type: "button", text, "aria-pressed": String(this.values.includes(value)), onclick: () => this.toggle(value) })));
    }

    toggle(value) {
      const at = this.items().findIndex(([one]) => one === value);
      const here = this.buttons.contains(document.activeElement);
      this.values = this.values.includes(value) ? this.values.filter((one) => one !== value) : [...this.values, value];
      this.draw();
      if (here) this.buttons.children[Math.min(at, this.buttons.children.length - 1)]?.focus();
      this.changed(this);
    }

    read() { return this.values.length ? this.values : this.facts.default; }

    write(value) {
      this.values = value === null || value === undefined ? [] : [value].flat();
      this.draw();
    }

    holds(value) { return same(this.values, value === null || value === undefined ? [] : [value].flat()); }

    text(value) { return `${this.facts.label}: ${value}`; }

    chips() { return this.values.map((value) => [this.text(value), () => this.write(this.values.filter((one) => one !== value))]); }
  }

  const KINDS = { flag: Flag, names: Names, choice: Choice };
  const kindOf = (facts) => KINDS[facts.kind] ?? (facts.choices.length ? Choice : Field);

  /** All options: the common ones in one place, the rest in another, each in groups with titles. */
  class Options {
    /** `own` has classes of fields for options with a picker of their own. */
    constructor({ common, rest, onChange, own = {} }) {
      Object.assign(this, { common, rest, onChange, own, fields: new Map() });
    }

    build(listed) {
      for (const facts of listed) this.fields.set(facts.name, this.make(facts));
      for (const [place, isCommon] of [[this.common, true], [this.rest, false]]) {
        const groups = new Map();
        for (const { facts, element } of this.fields.values()) {
          if (facts.common === isCommon) groups.set(facts.group, [...(groups.get(facts.group) ?? []), element]);
        }
        place.replaceChildren(...[...groups].map(([title, elements]) => make("fieldset", { class: "group" }, make("legend", { text: title }), make("div", { class: "fields" }, ...elements))));
      }
      this.draw();
    }

    make(facts) {
      return new (this.own[facts.name] ?? kindOf(facts))(facts, (field) => this.changed(field));
    }

    field(name) { return this.fields.get(name); }

    /** Offer choices for an option, as the data set or the server has them. Resets its value. */
    offer(name, choices) {
      const old = this.fields.get(name);
      if (!old) return;
      const field = this.make({ ...old.facts, choices });
      old.element.replaceWith(field.element);
      this.fields.set(name, field);
    }

    changed(field) {
      this.draw();
      this.onChange(field);
    }

    /** The options that are set. The server knows the defaults of the others. */
    read() {
      return Object.fromEntries([...this.fields].filter(([, field]) => field.isSet).map(([name, field]) => [name, field.read()]));
    }

    /** The options of an earlier request. */
    fill(asked) {
      for (const [name, field] of this.fields) field.write(asked[name] ?? field.facts.default);
      this.draw();
    }

    /** Whether an earlier request had other options. */
    differ(asked) { return [...this.fields].some(([name, field]) => !field.holds(asked[name])); }

    draw() {
      const chips = [...this.fields.values()].flatMap((field) => field.chips().map(([text, drop]) => [text, drop, field]));
      find("chosen").replaceChildren(...chips.map(([text, drop, field], i) => make("li", {}, make("button", { type: "button", "aria-label": `Remove ${text}`, onclick: () => { drop(); this.changed(field); this.focus(i); } }, `${text} `, make("span", { "aria-hidden": "true", text: "×" })))));
      find("chosen-part").hidden = !chips.length;
    }

    /** Keep the focus in the list after a chip is removed. */
    focus(i) {
      const left = find("chosen").querySelectorAll("button");
      (left[Math.min(i, left.length - 1)] ?? find("explain")).focus();
    }

    /** A message of the server with the labels of options in place of their names. */
    spell(text, parameters = []) {
      const names = [...this.fields.keys()].filter((name) => name.includes("_") || parameters.includes(name));
      return names.reduce((said, name) => said.replace(new RegExp(`(?<![\\w'“-]|Unknown |[Tt]he )${name}(?:(=)|(?![\\w'”-]| class))`, "g"), (_, equals) => `“${this.fields.get(name).facts.label}”${equals ? " = " : ""}`), text);
    }

    /** Mark the fields that an error refers to; without parameters, clear the marks. */
    mark(parameters = []) {
      for (const [name, { element }] of this.fields) {
        element.classList.toggle("wrong", parameters.includes(name));
        for (let part = parameters.includes(name) && element.closest("details"); part; part = part.parentElement.closest("details")) part.open = true;
      }
    }
  }

  window.denseflipOptions = { Options, Names };
})();
