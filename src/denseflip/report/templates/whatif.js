"use strict";
// "What if": a graph changed by hand. One script for the app and for the page that is sent by mail:
// where the classifier's weights are in the data, it answers here; else `ask` asks a server.
(() => {
  const DRAWS = 20;

  // ---- numbers ----------------------------------------------------------------------------

  function bytes(text) {
    const raw = atob(text);
    const out = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i += 1) out[i] = raw.charCodeAt(i);
    return out.buffer;
  }

  /** Numbers as Python packed them: as they are, or a few and where each stands. */
  function unpack(packed) {
    const values = new Float64Array(bytes(packed.values));
    if (!packed.places) return values;
    const places = new Uint16Array(bytes(packed.places));
    return Float64Array.from(places, (place) => values[place]);
  }

  /** A generator of numbers from 0 to 1 (mulberry32), seeded by whole numbers. */
  function generator(...seeds) {
    let state = 0x9e3779b9;
    for (const seed of seeds) {
      state = Math.imul(state ^ (seed + 0x7f4a7c15), 0x85ebca6b);
      state ^= state >>> 13;
    }
    return () => {
      state = (state + 0x6d2b79f5) | 0;
      let t = Math.imul(state ^ (state >>> 15), 1 | state);
      t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
      return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
    };
  }

  const place = (code, n) => {
    const u = Math.floor(code / n);
    return code - ((u + 1) * (u + 2)) / 2;
  };

  // ---- the classifier -----------------------------------------------------------------------

  /** Scores are an offset and one weight per edge; see PairTable in Python. */
  class Model {
    constructor(data, edges) {
      this.n = data.n;
      this.weights = data.weights.map(unpack);
      this.classes = data.classes;
      this.logistic = data.logistic;
      this.base = data.offset.map((offset, k) =>
        edges.reduce((sum, code) => sum + this.weights[k][place(code, this.n)], offset),
      );
    }

    /** Label, confidence and score with some pairs flipped; `held` says which are joined now. */
    answer(codes, held) {
      const scores = this.base.map((base, k) => {
        let sum = base;
        for (const code of codes) {
          const weight = this.weights[k][place(code, this.n)];
          sum += held.has(code) ? -weight : weight;
        }
        return sum;
      });
      let best = 0;
      if (scores.length === 1) best = scores[0] > 0 ? 1 : 0;
      else scores.forEach((score, k) => { if (score > scores[best]) best = k; });
      let confidence = null;
      if (this.logistic && scores.length === 1) {
        confidence = 1 / (1 + Math.exp(-Math.abs(scores[0])));
      } else if (this.logistic) {
        const top = Math.max(...scores);
        const powers = scores.map((score) => Math.exp(score - top));
        confidence = powers[best] / powers.reduce((a, b) => a + b, 0);
      }
      return { label: this.classes[best], confidence, score: scores[best === 0 && scores.length === 1 ? 0 : Math.min(best, scores.length - 1)] };
    }
  }

  // ---- which pairs are meant ------------------------------------------------------------------

  /** Draws pairs of cells; one more keeps the others, so a slider walks and does not leap. */
  class Choices {
    constructor(data) {
      this.n = data.n;
      this.index = data.index;
      this.held = new Set(data.edges);
      this.typical = data.typical ? unpack(data.typical) : null;
      this.cells = new Map();
      this.queues = new Map();
      if (data.index.length) this.sort();
    }

    sort() {
      for (let u = 0; u < this.n; u += 1) {
        for (let v = u + 1; v < this.n; v += 1) {
          const a = Math.min(this.index[u], this.index[v]);
          const b = Math.max(this.index[u], this.index[v]);
          const key = `${a}-${b}`;
          if (!this.cells.has(key)) this.cells.set(key, { absent: [], present: [] });
          const code = u * this.n + v;
          this.cells.get(key)[this.held.has(code) ? "present" : "absent"].push(code);
        }
      }
    }

    /** How many connections a cell could get, or lose; pairs flipped singly are not drawn from. */
    room(key, adding, reading, own = []) {
      const cell = this.cells.get(key);
      if (!cell) return 0;
      const taken = new Set(own);
      const codes = adding ? cell.absent : cell.present;
      if (reading === "any" && !taken.size) return codes.length;
      return codes.filter((code) => !taken.has(code) && this.weight(code, adding, reading) > 0).length;
    }

    weight(code, adding, reading) {
      if (reading === "any" || !this.typical) return 1;
      const often = this.typical[place(code, this.n)];
      return adding ? often : 1 - often;
    }

    queue(key, adding, reading, seed, draw) {
      const name = `${key} ${adding} ${reading} ${seed} ${draw}`;
      if (!this.queues.has(name)) {
        const [a, b] = key.split("-").map(Number);
        const random = generator(seed, draw, a, b, adding ? 1 : 0);
        const codes = this.cells.get(key)[adding ? "absent" : "present"];
        const waits = [];
        for (const code of codes) {
          const weight = this.weight(code, adding, reading);
          const wait = -Math.log(1 - random());
          if (weight > 0) waits.push([wait / weight, code]);
        }
        waits.sort((one, other) => one[0] - other[0]);
        if (this.queues.size > 400) this.queues.clear();
        this.queues.set(name, waits.map((pair) => pair[1]));
      }
      return this.queues.get(name);
    }

    /** The pairs that one draw of a state flips. */
    draw(state, i) {
      const own = new Set(state.pairs);
      const out = [...state.pairs];
      for (const [key, amounts] of Object.entries(state.cells)) {
        for (const [adding, amount] of [[true, amounts.more], [false, amounts.fewer]]) {
          if (!amount) continue;
          let left = amount;
          for (const code of this.queue(key, adding, state.reading, state.seed, i)) {
            if (!left) break;
            if (own.has(code)) continue;
            out.push(code);
            left -= 1;
          }
        }
      }
      return out;
    }
  }

  /** What the classifier says of a state, from the weights in the page. */
  function answerHere(model, choices, state, before) {
    const drawn = Object.values(state.cells).some((cell) => cell.more || cell.fewer);
    const draws = [];
    for (let i = 0; i < (drawn ? DRAWS : 1); i += 1) draws.push(choices.draw(state, i));
    const answers = draws.map((codes) => model.answer(codes, choices.held));
    const removed = draws[0].filter((code) => choices.held.has(code)).length;
    return {
      ...answers[0],
      before,
      draws: answers.length,
      flips: answers.filter((answer) => answer.label !== before).length,
      codes: draws[0],
      every: draws,
      added: draws[0].length - removed,
      removed,
    };
  }

  window.denseflipModel = { DRAWS, Model, Choices, answerHere, unpack };
})();
