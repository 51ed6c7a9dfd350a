"use strict";
// Requests to the server, the progress of a job, and links.
(() => {
  const { count } = window.denseflipElements;

  async function api(path, options = {}) {
    let answer;
    try {
      answer = await fetch(path, { credentials: "same-origin", ...options });
    } catch {
      throw new Error("The server does not respond. Is it still running?");
    }
    if (answer.status === 204) return null;
    const data = await answer.json().catch(() => null);
    if (!answer.ok) {
      const error = new Error(data?.error?.message ?? `The server answered ${answer.status}.`);
      throw Object.assign(error, { parameters: data?.error?.parameters ?? [] });
    }
    return data;
  }

  const post = (path, body) => api(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });

  // ---- jobs -----------------------------------------------------------------------------------

  const STAGES = { waiting: "Waiting …", beginning: "Starting …", training: "Training the classifier …", permuting: "Permuting the labels, retraining and explaining …", judging: "Evaluating the classifier on held-out graphs …", telling: "Testing the sentence …", replaying: "Replaying the search …", saving: "Saving …" };

  /** How far a job with parts is, and how long the rest takes if that can be said. */
  function partWords({ stage, done, of, left }) {
    if (!of || done === undefined) return "";
    const rest = left === null || left === undefined || done >= of ? "" : left < 90 ? `, about ${Math.max(1, Math.round(left))} s left` : `, about ${Math.round(left / 60)} min left`;
    return `${count(done)} of ${count(of)}${stage === "explaining" ? " explained" : ""}${rest}`;
  }

  function progressWords(facts) {
    const parts = partWords(facts);
    if (!["searching", "explaining"].includes(facts.stage)) return [STAGES[facts.stage] ?? facts.stage, parts].filter(Boolean).join(" ");
    const best = facts.best === null || facts.best === undefined ? "no counterfactual yet" : `smallest counterfactual so far ${count(facts.best)} edits`;
    const many = facts.stage === "explaining" && parts ? `${parts}; ` : "";
    return `${many}${facts.method} is searching … ${count(facts.calls ?? 0)} queries, ${best}`;
  }

  /** Follow a job until it ends: "done" or "cancelled", or an error that says what happened. */
  function listen(id, { opened, heard, ended }) {
    return new Promise((done, fail) => {
      const source = new EventSource(`/api/jobs/${id}/events`);
      opened(source);
      const end = (then) => { source.close(); ended(); then(); };
      source.addEventListener("progress", (event) => {
        const facts = JSON.parse(event.data);
        heard(facts);
        if (["done", "cancelled"].includes(facts.status)) end(() => done(facts.status));
        else if (facts.status === "failed") end(() => fail(new Error(facts.error?.message ?? "The job failed.")));
        else if (facts.status === "interrupted") end(() => fail(new Error("The server was stopped during this job. Run it again under “Earlier results”.")));
      });
      source.addEventListener("error", () => {
        if (source.readyState === EventSource.CLOSED) end(() => fail(new Error("The connection to the server was lost. If the server is still running, the job continues: see “Earlier results”.")));
      });
    });
  }

  // ---- links ----------------------------------------------------------------------------------

  const TABS = ["brain", "circle", "matrix", "bars", "edits", "replay", "whatif"];

  /** The state in the fragment of a link; null if it has none. */
  function readLink(hash) {
    const said = new URLSearchParams(hash.slice(1));
    if (!/^[0-9a-f]{16}$/.test(said.get("job") ?? "")) return null;
    const whole = (name) => (/^\d{1,6}$/.test(said.get(name) ?? "") ? Number(said.get(name)) : undefined);
    let hand = null;
    try { hand = JSON.parse(said.get("hand")); } catch { /* a link that was cut */ }
    const words = Object.fromEntries(["subject", "find", "class", "kind", "sort", "down"].map((name) => [name, said.get(name) ?? undefined]));
    return { ...words, job: said.get("job"), answer: whole("answer"), step: whole("step"), tab: TABS.includes(said.get("tab")) ? said.get("tab") : undefined, hand: valid(hand) ? hand : null };
  }

  /** Whether a state from a link is valid. */
  function valid(state) {
    const amount = (x) => Number.isInteger(x) && x >= 0;
    return Boolean(state) && Array.isArray(state.pairs) && state.pairs.every(amount) && typeof state.reading === "string" && amount(state.seed)
      && typeof state.cells === "object" && state.cells !== null && Object.entries(state.cells).every(([key, c]) => /^(\d+-\d+|n\d+)$/.test(key) && amount(c?.more) && amount(c?.fewer));
  }

  window.denseflipAsking = { api, post, listen, readLink, STAGES, progressWords };
})();
