"use strict";
// Replay of the search: a slider over its steps, with the label and the confidence at each.
(() => {
  const { count } = window.denseflipElements;
  const find = (id) => document.getElementById(id);
  const still = matchMedia("(prefers-reduced-motion: reduce)");

  class Replay {
    constructor(onStep) {
      this.view = null;
      find("step").addEventListener("input", () => { this.draw(); onStep(); });
      find("play").addEventListener("click", () => this.play());
    }

    /** Load the replay of another view, at its last step unless one is given. */
    show(view, step) {
      if (this.playing) this.play();
      this.view = view;
      find("step").max = Math.max(0, view.replay.length - 1);
      find("step").value = step ?? find("step").max;
    }

    draw() {
      const view = this.view, step = Number(find("step").value);
      if (!view?.replay.length) return;
      const flipped = new Map();
      for (const frame of view.replay.slice(0, step + 1)) for (const pair of frame.toggled) { const key = pair.join("-"); if (!flipped.delete(key)) flipped.set(key, pair); }
      const n = view.names.length, held = new Set(view.edges);
      const pairs = [...flipped.values()];
      const joined = ([u, v]) => held.has(Math.min(u, v) * n + Math.max(u, v));
      const frame = view.replay[step];
      find("step-said").textContent = `${frame.step} of ${view.replay.at(-1).step}`;
      const sure = frame.confidence === null ? "" : `, confidence ${(100 * frame.confidence).toFixed(0)} %`;
      find("step-label").textContent = `${frame.name}: ${frame.label}${sure} · ${count(pairs.length)} edits`;
      find("step").setAttribute("aria-valuetext", find("step-label").textContent);
      const removed = pairs.filter(joined), added = pairs.filter((pair) => !joined(pair));
      const data = { ...view, kind: "circle", label: "Replay", removed, added };
      if (!this.picture) this.picture = new window.denseflipConnectome(find("replay-picture"), data, { panel: false });
      else if (this.drawn !== view) this.picture.show(data);
      else this.picture.edits(removed, added);
      this.drawn = view;
    }

    play() {
      if (this.playing) { clearInterval(this.playing); this.playing = null; find("play").textContent = "Play"; return; }
      const slider = find("step");
      if (slider.value === slider.max) slider.value = 0;
      find("play").textContent = "Stop";
      this.playing = setInterval(() => {
        slider.value = Number(slider.value) + 1;
        this.draw();
        if (slider.value === slider.max) this.play();
      }, still.matches ? 1200 : 500);
      this.draw();
    }
  }

  window.denseflipReplay = Replay;
})();
