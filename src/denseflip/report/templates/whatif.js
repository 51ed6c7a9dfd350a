"use strict";
// "What if": a graph edited by hand. The app and the stand-alone page share this script: if the data
// contain the classifier's weights, it answers locally; otherwise `ask` queries a server.
(() => {
  const { bytes } = window.denseflipElements;
  const DRAWS = 20;
  const AT_NODE = 0x7fffffff; // in the seed of a draw, in place of a second region
  const ELSEWHERE = 0x7ffffffe; // the same, in place of both regions: pairs outside the named places

  // ---- numbers ----------------------------------------------------------------------------

  /** Unpack numbers from Python: a plain list, or values with their positions. */
  function unpack(packed) {
    const values = new Float64Array(bytes(packed.values));
    if (!packed.places && !packed.bytes) return values;
    const places = packed.bytes ? new Uint8Array(bytes(packed.bytes)) : new Uint16Array(bytes(packed.places));
    return Float64Array.from(places, (place) => values[place]);
  }

  /** A random generator of numbers from 0 to 1 (mulberry32), seeded by integers. */
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

  // ---- choice of pairs ------------------------------------------------------------------------

  /** The place of a key: two regions ("2-5"), or a node and null ("n7"). The number of regions as
   *  the second stands for all regions. */
  function readKey(key) {
    return key.startsWith("n") ? [Number(key.slice(1)), null] : key.split("-").map(Number);
  }

  const keyOf = (a, b) => (b === null ? `n${a}` : `${Math.min(a, b)}-${Math.max(a, b)}`);

  /** Draws pairs of places. A larger amount keeps the pairs already drawn, so a slider changes little. */
  class Choices {
    constructor(data) {
      this.n = data.n;
      this.index = data.index;
      this.every = data.regions.length; // "all regions" as the second of a place
      this.held = new Set(data.edges);
      this.target = data.often ? unpack(data.often.target) : null;
      this.current = data.often ? unpack(data.often.current) : null;
      this.graphs = data.often ? data.often.graphs : null;
      this.free = data.free ? unpack(data.free) : null;
      this.cells = new Map();
      this.nodes = new Map();
      this.queues = new Map();
      this.outside = { name: null, draws: new Map() }; // of the last seed only
      if (data.index.length) this.sort();
    }

    sort() {
      for (let u = 0; u < this.n; u += 1) {
        for (let v = u + 1; v < this.n; v += 1) {
          const key = keyOf(this.index[u], this.index[v]);
          if (!this.cells.has(key)) this.cells.set(key, { absent: [], present: [], size: 0, joined: 0 });
          this.put(this.cells.get(key), u * this.n + v);
        }
      }
    }

    /** Counts a pair in a place; pairs that the constraints fix cannot be drawn. */
    put(found, code) {
      const held = this.held.has(code);
      found.size += 1;
      if (held) found.joined += 1;
      if (!this.free || this.free[place(code, this.n)]) found[held ? "present" : "absent"].push(code);
    }

    /** The pairs of a place that can be added and removed; undefined if the place does not exist. */
    at(key) {
      const [node, second] = readKey(key);
      if (second !== null && second === this.every) return this.withAll(node, key);
      if (second !== null) return this.cells.get(key);
      if (!(node < this.n)) return undefined;
      if (!this.nodes.has(key)) {
        const found = { absent: [], present: [], size: 0, joined: 0 };
        for (let v = 0; v < this.n; v += 1) {
          if (v !== node) this.put(found, Math.min(node, v) * this.n + Math.max(node, v));
        }
        this.nodes.set(key, found);
      }
      return this.nodes.get(key);
    }

    /** The pairs with an end in a region. */
    withAll(region, key) {
      if (!this.nodes.has(key)) {
        const found = { absent: [], present: [], size: 0, joined: 0 };
        for (const [cell, held] of this.cells) {
          if (!readKey(cell).includes(region)) continue;
          found.absent.push(...held.absent);
          found.present.push(...held.present);
          found.size += held.size;
          found.joined += held.joined;
        }
        this.nodes.set(key, found);
      }
      return region < this.every ? this.nodes.get(key) : undefined;
    }

    /** Number of connections that can be added to or removed from a place, without single pairs. */
    room(key, adding, reading, own = []) {
      const found = this.at(key);
      if (!found) return 0;
      const taken = new Set(own);
      const codes = adding ? found.absent : found.present;
      if (reading === "any" && !taken.size) return codes.length;
      return codes.filter((code) => !taken.has(code) && this.weight(code, adding, reading) > 0).length;
    }

    /** Weight of a pair in the draw, as in Redraw.weights in Python. */
    weight(code, adding, reading) {
      if (reading === "any" || !this.target) return 1;
      const at = place(code, this.n);
      if (reading === "typical") return adding ? this.target[at] : 1 - this.target[at];
      const more = this.target[at] - this.current[at];
      return Math.max(adding ? more : -more, 0);
    }

    queue(key, adding, reading, seed, draw) {
      const name = `${key} ${adding} ${reading} ${seed} ${draw}`;
      if (!this.queues.has(name)) {
        const [a, b] = readKey(key);
        const random = generator(seed, draw, a, b ?? AT_NODE, adding ? 1 : 0);
        const codes = this.at(key)[adding ? "absent" : "present"];
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

    /** Whether the number of connections can be kept: that takes how often the data set has each pair. */
    get canBalance() {
      return this.graphs !== null;
    }

    /** How many connections more there are if these pairs are flipped. */
    net(codes) {
      let more = 0;
      for (const code of codes) more += this.held.has(code) ? -1 : 1;
      return more;
    }

    /** Pairs to add or remove in any place, with their weights, as in Elsewhere in Python. */
    pool(adding) {
      const name = adding ? "addable" : "removable";
      if (!this[name]) {
        const every = this.graphs.current + this.graphs.target;
        const codes = [], weights = [];
        let total = 0;
        for (let u = 0, at = 0; u < this.n; u += 1) {
          for (let v = u + 1; v < this.n; v += 1, at += 1) {
            const code = u * this.n + v;
            if (this.held.has(code) === adding || (this.free && !this.free[at])) continue;
            const having = Math.round(this.current[at] * this.graphs.current + this.target[at] * this.graphs.target);
            const weight = adding ? having : Math.max(1, every) + 1 - having;
            if (weight > 0) { codes.push(code); weights.push(weight); total += weight; }
          }
        }
        this[name] = { codes, weights, total };
      }
      return this[name];
    }

    /** The first pairs to add or remove in any place, in the order of one draw: at least `least`
     *  of them, if there are enough. Only these are sorted: a graph of 1,000 nodes has half a million pairs. */
    queueElsewhere(adding, seed, draw, least) {
      const { codes, weights, total } = this.pool(adding);
      const name = `${adding} ${seed}`;
      if (this.outside.name !== name) this.outside = { name, draws: new Map() };
      if (!this.outside.draws.has(draw)) {
        const random = generator(seed, draw, ELSEWHERE, ELSEWHERE, adding ? 1 : 0);
        const waits = new Float64Array(codes.length);
        for (let i = 0; i < waits.length; i += 1) waits[i] = -Math.log(1 - random()) / weights[i];
        this.outside.draws.set(draw, { waits, upto: 0, queue: [] });
      }
      const known = this.outside.draws.get(draw), { waits } = known;
      while (known.queue.length < Math.min(least, codes.length)) {
        known.upto = Math.max(2 * known.upto, (2 * least) / total);
        const near = [];
        for (let i = 0; i < waits.length; i += 1) if (waits[i] <= known.upto) near.push(i);
        known.queue = near.sort((one, other) => waits[one] - waits[other]).map((i) => codes[i]);
      }
      return known.queue;
    }

    /** Adds pairs outside the named places to those of a draw, until the number of connections is kept. */
    keepNumber(taken, state, i) {
      const net = this.net(taken);
      if (!net) return;
      const adding = net < 0, wanted = Math.abs(net);
      const named = Object.keys(state.cells).filter((key) => state.cells[key].more || state.cells[key].fewer).map(readKey);
      const nodes = new Set(named.filter(([, b]) => b === null).map(([a]) => a));
      const wide = new Set(named.filter(([, b]) => b === this.every).map(([a]) => a));
      const cells = new Set(named.filter(([, b]) => b !== null).map(([a, b]) => keyOf(a, b)));
      const isOutside = (code) => {
        const u = Math.floor(code / this.n), v = code % this.n;
        if (taken.has(code) || nodes.has(u) || nodes.has(v)) return false;
        if (wide.size && (wide.has(this.index[u]) || wide.has(this.index[v]))) return false;
        return !cells.size || !cells.has(keyOf(this.index[u], this.index[v]));
      };
      let found = [];
      for (let least = wanted; found.length < wanted; least *= 2) {
        const queue = this.queueElsewhere(adding, state.seed, i, least);
        found = queue.filter(isOutside).slice(0, wanted);
        if (found.length < wanted && queue.length === this.pool(adding).codes.length) {
          throw new Error(`The number of connections cannot be kept: ${wanted.toLocaleString("en")} would have to be ${adding ? "added" : "removed"} outside the places chosen, and only ${found.length.toLocaleString("en")} can be. Change fewer connections, or do not keep their number.`);
        }
      }
      for (const code of found) taken.add(code);
    }

    /** The pairs that one draw of a state flips. */
    draw(state, i) {
      const taken = new Set(state.pairs); // two nodes share the pair between them
      for (const [key, amounts] of Object.entries(state.cells)) {
        for (const [adding, amount] of [[true, amounts.more], [false, amounts.fewer]]) {
          if (!amount) continue;
          let left = amount;
          for (const code of this.queue(key, adding, state.reading, state.seed, i)) {
            if (!left) break;
            if (taken.has(code)) continue;
            taken.add(code);
            left -= 1;
          }
        }
      }
      if (state.balance) this.keepNumber(taken, state, i);
      return [...taken];
    }
  }

  /** The answer for a state from the weights in the page; `first` is the first choice, if given.
   *  Throws an error if the number of connections cannot be kept. */
  function answerHere(model, choices, state, before, first = null) {
    const drawn = Object.values(state.cells).some((cell) => cell.more || cell.fewer)
      || (state.balance && choices.net(state.pairs) !== 0);
    let draws = [];
    for (let i = 0; i < (drawn ? DRAWS : 1); i += 1) draws.push(choices.draw(state, i));
    if (first) draws[0] = first;
    const chosen = new Set(draws[0]);
    if (draws.every((codes) => codes.length === chosen.size && codes.every((code) => chosen.has(code)))) draws = draws.slice(0, 1);
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

  window.denseflipModel = { DRAWS, Model, Choices, answerHere, keyOf, readKey, unpack };
})();
