"use strict";
// The steps of the form: each says what is chosen, and folds once it is answered.
(() => {
  const find = (id) => document.getElementById(id);
  const PAUSE = 250; // milliseconds: what is being clicked must not move away

  class Steps {
    /** On a phone all steps are one line that opens them: the answer comes first. */
    constructor({ narrow }) {
      this.narrow = narrow;
      if (narrow.matches) find("step-subject").open = false;
      find("asked").open = !narrow.matches;
      narrow.addEventListener("change", () => { find("asked").open = !narrow.matches; });
      for (const id of ["step-data", "step-classifier"]) {
        const step = find(id);
        step.addEventListener("change", () => { step.dataset.answered = "true"; });
        step.addEventListener("focusout", (event) => {
          if (step.dataset.answered && !step.contains(event.relatedTarget)) setTimeout(() => this.fold(step), PAUSE);
        });
      }
    }

    /** Fold an answered step, unless the keyboard is in it again or an error has to be read. */
    fold(step) {
      if (step.contains(document.activeElement) || step.querySelector("[role=alert]")) return;
      step.open = false;
      delete step.dataset.answered;
    }

    /** Fold all answered steps: the question is asked. */
    foldAll() {
      for (const step of document.querySelectorAll(".step[data-answered]")) this.fold(step);
      if (this.narrow.matches) this.fold(find("asked"));
    }

    say(id, text) { find(`${id}-said`).textContent = text; }
  }

  window.denseflipSteps = Steps;
})();
