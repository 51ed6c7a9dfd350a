"use strict";
// The page of the app: asks the API, shows what it says. Everything from data goes in as text.
(() => {
  const { circle, bars, matrix, EditTable, make, count } = window.denseflipPictures;
  const find = (id) => document.getElementById(id);
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const app = { sets: [], set: null, methods: [], job: null, result: null, view: null, answer: 0, frozen: new Set(), panel: null, hand: null, turn: 0 };

  // ---- asking the server ----------------------------------------------------------------------

  async function api(path, options = {}) {
    let answer;
    try {
      answer = await fetch(path, { credentials: "same-origin", ...options });
    } catch {
      throw new Error("The server does not answer. Is it still running?");
    }
    if (answer.status === 204) return null;
    const data = await answer.json().catch(() => null);
    if (!answer.ok) throw new Error(data?.error?.message ?? `The server answered ${answer.status}.`);
    return data;
  }

  const post = (path, body) => api(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });

  function trouble(message) {
    find("trouble").hidden = !message;
    find("trouble").textContent = message || "";
  }

  const guarded = (work) => async (...given) => {
    try { trouble(""); await work(...given); } catch (error) { trouble(error.message); }
  };

  // ---- the form -------------------------------------------------------------------------------

  const option = (value, text) => make("option", { value, text });

  async function loadSets(chosen) {
    app.sets = await api("/api/datasets");
    find("dataset").replaceChildren(...app.sets.filter((set) => !set.error).map((set) => option(set.key, set.uploaded ? `${set.name} (uploaded)` : set.name)));
    if (chosen) find("dataset").value = chosen;
    await loadSet();
  }

  async function loadSet() {
    const set = await api(`/api/datasets/${encodeURIComponent(find("dataset").value)}`);
    app.set = set;
    const classes = Object.entries(set.classes).map(([name, n]) => `${name} ${n}`).join(", ");
    find("dataset-facts").textContent = `${count(set.n_graphs)} graphs, ${count(set.n_nodes)} nodes; ${classes}. ${set.card.caveats.join(" ")}`;
    find("classifier").replaceChildren(...set.classifiers.map((c) => option(c.key, `${c.key} — ${c.summary}`)));
    find("subject").replaceChildren(...set.subjects.map((s) => option(s.id, s.class ? `${s.name} (${s.class})` : `${s.name} (uploaded)`)));
    find("target").replaceChildren(option("", "any other class"), ...Object.keys(set.classes).map((name) => option(name, name)));
    find("regions").replaceChildren(option("", "as fits"), ...set.taxonomies.map((name) => option(name, name)));
    app.frozen.clear();
    drawFrozen();
    showJudged();
  }

  /** What is known of the classifiers by now; the form stays as it was filled in. */
  async function refresh() {
    app.set.classifiers = (await api(`/api/datasets/${encodeURIComponent(app.set.key)}`)).classifiers;
    showJudged();
  }

  function showJudged() {
    const one = app.set.classifiers.find((c) => c.key === find("classifier").value);
    worth(find("judged"), one?.judged, one?.can_judge);
    find("judge").hidden = !one || Boolean(one.judged) || !one.can_judge;
  }

  function worth(place, judged, known = true) {
    place.className = judged ? (judged.level === "better" ? "good" : "warning") : "quiet";
    place.textContent = judged ? [judged.verdict, judged.warning].filter(Boolean).join(" ")
      : known ? "How good it is on graphs it has not seen is found out before the first explanation."
        : "How good this classifier is on graphs it has not seen is not known here. Read its explanations with that in mind.";
  }

  function drawFrozen() {
    const key = find("regions").value || app.set.taxonomies[0];
    const names = (key && app.set.regions[key]) || [];
    find("frozen").replaceChildren(...names.map((name) => make("button", { type: "button", text: name, "aria-pressed": String(app.frozen.has(name)), onclick: () => freeze(name) })));
    if (!names.length) find("frozen").textContent = "This data set has no regions.";
  }

  function freeze(name) {
    if (!app.frozen.delete(name)) app.frozen.add(name);
    drawFrozen();
    drawPictures();
  }

  const number = (id) => (find(id).value === "" ? null : Number(find(id).value));

  function request(kind) {
    return {
      kind,
      dataset: find("dataset").value,
      classifier: find("classifier").value,
      subject: find("subject").value,
      method: find("method").value || "auto",
      target: find("target").value || null,
      regions: find("regions").value || (app.frozen.size ? app.set.taxonomies[0] : null),
      seed: number("seed") ?? 0,
      confidence: number("confidence"),
      permutations: number("permutations") ?? 99,
      constraints: { only: find("only").value || null, frozen_regions: [...app.frozen], max_edits: number("max-edits"), max_cells: number("max-cells") },
    };
  }

  async function upload() {
    const file = find("file").files[0];
    const said = find("upload-said");
    if (!file) { said.textContent = "Choose a file first."; return; }
    const form = new FormData();
    form.append("file", file);
    form.append("dataset", find("dataset").value);
    if (find("percentile").value !== "") form.append("percentile", find("percentile").value);
    said.textContent = "Reading …";
    try {
      const got = await api("/api/uploads", { method: "POST", body: form });
      if (got.kind === "dataset") await loadSets(got.dataset);
      else if (got.kind === "graph") { await loadSet(); find("subject").value = got.subject; } else await open(got.job);
      said.textContent = `Taken: ${got.name}.`;
    } catch (error) { said.textContent = error.message; }
  }

  // ---- jobs -----------------------------------------------------------------------------------

  const STAGES = { waiting: "Waits for its turn …", beginning: "Begins …", training: "Trains the classifier …", permuting: "Permutes the labels, trains and explains anew …", judging: "Judges the classifier on graphs it has not seen …", telling: "Tests the sentence …", replaying: "Replays the search …", saving: "Saves …" };

  function progressWords(facts) {
    if (facts.stage !== "searching") return STAGES[facts.stage] ?? facts.stage;
    const best = facts.best === null || facts.best === undefined ? "no flip yet" : `smallest flip so far ${count(facts.best)} edits`;
    return `${facts.method} searches … ${count(facts.calls ?? 0)} questions, ${best}`;
  }

  async function run(kind) {
    const job = await post("/api/jobs", request(kind));
    await follow(job.id);
  }

  function follow(id) {
    app.following = id; // what is shown meanwhile, with its files and its "what if", is another job
    app.source?.close();
    find("progress").hidden = false;
    find("progress-words").textContent = STAGES.waiting;
    find("bar").removeAttribute("value");
    return new Promise((done, fail) => {
      const source = new EventSource(`/api/jobs/${id}/events`);
      app.source = source;
      const end = (then) => { source.close(); find("progress").hidden = true; then(); };
      source.addEventListener("progress", (event) => {
        const facts = JSON.parse(event.data);
        if (facts.sent) { app.lags = app.lags || []; app.lags.push(Date.now() / 1000 - facts.sent); }
        find("progress-words").textContent = progressWords(facts);
        if (["judging", "permuting"].includes(facts.stage) && facts.of) { find("bar").max = facts.of; find("bar").value = facts.done; } else find("bar").removeAttribute("value");
        if (facts.status === "done") end(() => open(id).then(done, fail));
        else if (facts.status === "cancelled") end(() => { trouble("Cancelled."); history(); done(); });
        else if (facts.status === "failed") end(() => { history(); fail(new Error(facts.error?.message ?? "It failed.")); });
        else if (facts.status === "interrupted") end(() => { history(); fail(new Error("The server was stopped in the middle of this; run it again from “Earlier answers”.")); });
      });
      source.addEventListener("error", () => {
        if (source.readyState === EventSource.CLOSED) end(() => fail(new Error("The connection to the server was lost. The job goes on if the server does; find it under “Earlier answers”.")));
      });
    });
  }

  async function history() {
    const jobs = await api("/api/jobs?limit=30");
    find("jobs").replaceChildren(...jobs.map((job) => {
      const what = job.summary?.title ?? `${job.kind} ${job.request.subject ?? job.request.classifier ?? ""}`;
      const item = make("li", {}, `${what} · ${job.status} `);
      if (job.status === "done" && job.kind !== "judge") item.append(make("button", { type: "button", text: "open", "aria-label": `open ${what}`, onclick: guarded(() => open(job.id)) }));
      if (["interrupted", "failed", "cancelled"].includes(job.status)) item.append(make("button", { type: "button", text: "run again", "aria-label": `run again ${what}`, onclick: guarded(async () => { await post(`/api/jobs/${job.id}/again`, {}); await follow(job.id); }) }));
      if (["queued", "running"].includes(job.status)) item.append(make("button", { type: "button", text: "watch", onclick: guarded(() => follow(job.id)) }));
      return item;
    }));
  }

  // ---- showing --------------------------------------------------------------------------------

  /** Another answer is shown: what was opened or asked by hand for the last one counts no more. */
  function leaveHand() {
    app.turn += 1;
    app.panel = null;
    app.opening = null;
    app.hand = null;
    app.first = undefined;
  }

  async function open(id, state = {}) {
    const [job, result] = await Promise.all([api(`/api/jobs/${id}`), api(`/api/jobs/${id}/result`)]);
    if (result.evaluation) { await refresh(); history(); return; } // what is shown stays
    app.job = id;
    app.request = job.request;
    app.result = result;
    leaveHand();
    find("welcome").hidden = true;
    find("comparison").hidden = !result.rows;
    find("together").hidden = !result.cohort;
    find("story").hidden = Boolean(result.rows || result.cohort);
    if (result.rows) showComparison(job, result);
    else if (result.cohort) showCohort(job, result.cohort);
    else showStory(result.view, state);
    history();
    if (app.set && app.set.key === job.request.dataset) {
      await refresh();
    }
    if (!state.quiet) find("answer").focus({ preventScroll: innerWidth > 830 });
  }

  function showStory(view, state) {
    app.view = view;
    app.answer = Math.min(state.answer ?? view.current, view.answers.length - 1);
    const by = [view.brought && `from the file ${app.request.name}, as it says; nothing was asked anew here`, app.request.classifier && `classifier ${app.request.classifier}`, view.method && `method ${view.method}${view.chosen ? ` (${view.chosen})` : ""}`, app.request.dataset].filter(Boolean);
    find("story-eyebrow").textContent = by.join(" · ");
    find("story-title").textContent = view.found ? `${view.subject}: ${view.before} → ${view.after}` : `${view.subject}: ${view.before}`;
    worth(find("worth"), view.judged, false);
    find("front").hidden = view.answers.length < 2;
    find("front-slider").max = view.answers.length - 1;
    find("front-slider").value = app.answer;
    find("tab-brain").hidden = view.points === null;
    find("tab-replay").hidden = !view.replay.length;
    find("tab-matrix").hidden = !view.hasRegions;
    find("tab-bars").hidden = !view.hasRegions;
    find("tab-whatif").hidden = !app.request.subject;
    find("step").max = Math.max(0, view.replay.length - 1);
    find("step").value = state.step ?? find("step").max;
    app.brain = null;
    drawRegionChips();
    drawFiles();
    drawAnswer();
    const wanted = state.tab && !find(`tab-${state.tab}`).hidden ? state.tab : view.points === null ? "circle" : "brain";
    select(wanted, { quiet: true });
    if (state.hand) { app.wanted = state.hand; select("whatif", { quiet: true }); }
  }

  function drawAnswer() {
    const view = app.view, one = view.answers[app.answer];
    find("chips").replaceChildren(...one.chips.map((chip) => make("li", { class: `chip ${chip.kind}`, text: chip.text })));
    find("sentence").replaceChildren(make("p", { text: one.lead }), ...(one.items.length ? [make("ul", {}, ...one.items.map((text) => make("li", { text })))] : []));
    find("truth").textContent = one.truth;
    find("notes").replaceChildren(...[...new Set([...one.notes, ...view.notes].filter((text) => text !== view.judged?.verdict))].map((text) => make("li", { text })));
    find("tiles").replaceChildren(...one.tiles.map(([term, value]) => make("div", {}, make("dt", { text: term }), make("dd", { text: value }))));
    const edits = one.removed.length + one.added.length;
    find("front-said").textContent = `in ${one.named}, ${count(edits)} edits; ${one.read}`;
    find("front-slider").setAttribute("aria-valuetext", find("front-said").textContent);
    drawPictures();
    remember();
  }

  function shown() {
    if (app.hand) return app.hand;
    const one = app.view.answers[app.answer];
    return { removed: one.removed, added: one.added };
  }

  function drawPictures() {
    const view = app.view;
    if (!view || find("story").hidden) return;
    const { removed, added } = shown();
    const tab = app.tab;
    if (tab === "brain") drawBrain(removed, added);
    if (tab === "circle") circle(find("circle"), view, removed, added);
    if (tab === "matrix") matrix(find("matrix"), view, removed, added, { frozen: app.frozen, onPick: (a, b) => { select("whatif"); pick(a, b); } });
    if (tab === "bars") bars(find("bars"), view, removed, added);
    if (tab === "edits") { app.table = app.table ?? new EditTable(find("edits")); app.table.show(view, view.answers[app.answer]); }
    if (tab === "replay") drawStep();
    if (tab === "whatif") whatif();
  }

  async function drawBrain(removed, added) {
    const view = app.view;
    app.canvas = app.canvas ?? new window.denseflipBrain(find("brain"), find("tip"), { onPick: (node) => picked(node) });
    const brain = app.canvas;
    if (app.brain !== view) {
      app.brain = view;
      brain.hidden.clear();
      brain.surface = null;
      brain.show({ names: view.names, index: view.index, regions: view.regions, points: view.points, edges: view.edges, removed, added });
      if (view.kind === "brain") {
        app.surface = app.surface ?? api("/api/surface");
        brain.surface = await app.surface;
        if (app.brain === view) brain.show(brain.data);
      }
    } else brain.edits(removed, added);
  }

  function drawRegionChips() {
    find("brain-regions").replaceChildren(...(app.view.hasRegions ? app.view.regions : []).map((region, i) => make("button", {
      type: "button", text: region.name, "aria-pressed": "true",
      onclick: (event) => {
        const hidden = app.canvas.hidden;
        if (!hidden.delete(i)) hidden.add(i);
        event.currentTarget.setAttribute("aria-pressed", String(!hidden.has(i)));
        app.canvas.draw();
      },
    })));
  }

  /** Two nodes clicked one after the other in the brain are a pair to flip. */
  function picked(node) {
    if (app.first === undefined || app.first === node) {
      app.first = app.first === node ? undefined : node;
      find("tip").textContent = app.first === undefined ? "" : `${app.view.names[node]}: click another node to flip the connection between them`;
      return;
    }
    const first = app.first;
    app.first = undefined;
    whatif().then((panel) => { panel?.flip(first, node); find("tip").textContent = `${app.view.names[first]} – ${app.view.names[node]} flipped; see “What if?”`; });
  }

  // ---- replay ---------------------------------------------------------------------------------

  function drawStep() {
    const view = app.view, step = Number(find("step").value);
    if (!view.replay.length) return;
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
    circle(find("replay-picture"), view, pairs.filter(joined), pairs.filter((pair) => !joined(pair)));
  }

  function play() {
    if (app.playing) { clearInterval(app.playing); app.playing = null; find("play").textContent = "Play"; return; }
    const slider = find("step");
    if (slider.value === slider.max) slider.value = 0;
    find("play").textContent = "Stop";
    app.playing = setInterval(() => {
      slider.value = Number(slider.value) + 1;
      drawStep();
      if (slider.value === slider.max) play();
    }, still ? 1200 : 500);
    drawStep();
  }

  // ---- what if --------------------------------------------------------------------------------

  async function whatif() {
    if (app.panel || app.opening) return app.opening ?? app.panel;
    const asked = app.request, turn = app.turn;
    const query = new URLSearchParams({ dataset: asked.dataset, subject: asked.subject, classifier: asked.classifier, job: app.job, answer: app.answer });
    const opening = (async () => {
      find("whatif").textContent = "Opening …";
      try {
        const data = await api(`/api/whatif?${query}`);
        if (turn !== app.turn) return null;
        const n = data.n;
        app.panel = window.denseflipWhatIf.mount(find("whatif"), data, {
          storage: `denseflip ${asked.dataset} ${asked.subject} ${asked.classifier} ${data.taxonomy ?? ""}`, // cells are counted by its regions
          ask: async (state, draws) => {
            const answer = await post("/api/whatif", {
              dataset: asked.dataset, subject: asked.subject, classifier: asked.classifier, regions: data.taxonomy, draws, seed: state.seed, reading: state.reading, target: data.target === null ? null : String(new Map(data.classes).get(data.target) ?? data.target),
              cells: Object.entries(state.cells).map(([key, amounts]) => { const [a, b] = key.split("-").map(Number); return { a, b, ...amounts }; }),
              pairs: state.pairs.map((code) => [Math.floor(code / n), code % n]),
            });
            return { ...answer, codes: answer.pairs.map(([u, v]) => u * n + v) };
          },
          onAnswer: (answer, state) => {
            if (turn !== app.turn) return;
            const held = app.panel?.choices.held ?? new Set(data.edges);
            const pairs = answer.codes.map((code) => [code, [Math.floor(code / n), code % n]]);
            const touched = pairs.length || app.panel?.past.length;
            app.hand = touched ? { state, removed: pairs.filter(([code]) => held.has(code)).map((p) => p[1]), added: pairs.filter(([code]) => !held.has(code)).map((p) => p[1]) } : null;
            remember();
          },
        });
        if (app.wanted) { app.panel.restore(app.wanted); app.wanted = null; } else if (data.start) app.panel.fromStart();
        return app.panel;
      } catch (error) {
        if (turn === app.turn) find("whatif").textContent = error.message;
        return null;
      } finally { if (app.opening === opening) app.opening = null; }
    })();
    app.opening = opening;
    return opening;
  }

  /** A cell of the picture, to be changed by hand; the panel may speak of other regions. */
  function pick(a, b) {
    whatif().then((panel) => {
      if (!panel) return;
      const names = [a, b].map((i) => panel.data.regions.indexOf(app.view.regions[i].name));
      if (!names.includes(-1)) panel.addCell(names[0], names[1]);
    });
  }

  // ---- methods side by side ---------------------------------------------------------------------

  function showComparison(job, result) {
    find("comparison-title").textContent = job.summary?.title ?? "Methods side by side";
    find("comparison-rows").replaceChildren(make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "methods side by side" }, make("table", {},
      make("thead", {}, make("tr", {}, ...["method", "edits", "distance", "questions", "region pairs for 80 %", "true as read"].map((text) => make("th", { scope: "col", text })))),
      make("tbody", {}, ...result.rows.map((row) => make("tr", {}, make("th", { scope: "row", text: row.method }), make("td", { text: row.distance === null || !row.applies ? (row.status ?? "does not apply") : count(row.distance) }), make("td", { text: row.relative ? `${(100 * row.relative).toFixed(1)} %` : "–" }), make("td", { text: row.calls ? count(row.calls) : "–" }), make("td", { text: row.regions ?? "–" }), make("td", { text: row.read || "–" })))))),
    ...result.rows.map((row) => make("section", { class: "method" }, make("h3", { text: row.method }), make("ul", { class: "chips" }, ...(row.chips ?? []).map((chip) => make("li", { class: `chip ${chip.kind}`, text: chip.text }))), make("p", { text: row.sentence }))));
    window.history.replaceState(null, "", `#${new URLSearchParams({ job: app.job })}`);
  }

  // ---- what all have in common ------------------------------------------------------------------

  function showCohort(job, cohort) {
    const p = (value) => (value === null ? "–" : value < 0.001 ? "< 0.001" : value.toFixed(3));
    find("together-title").textContent = job.summary?.title ?? "What they all have in common";
    worth(find("together-worth"), cohort.judged, false);
    find("together-said").replaceChildren(...cohort.sentences.map((text) => make("p", { text })));
    find("together-notes").replaceChildren(...cohort.notes.map((text) => make("li", { text })));
    const heads = ["region pair", "direction", "patients", "connections (median)", "p", "groups differ (t)", "p of that"];
    find("together-rows").replaceChildren(
      make("p", { class: "quiet", text: `The ${count(cohort.rows.length)} of ${count(cohort.of)} region pairs that most patients use; p-values from ${count(cohort.permutations)} permutations of the labels, for all region pairs together. ✓ marks what is more than chance.` }),
      make("div", { class: "scroll tall", tabindex: 0, role: "region", "aria-label": "region pairs by patients" }, make("table", {},
        make("thead", {}, make("tr", {}, ...heads.map((text) => make("th", { scope: "col", text })))),
        make("tbody", {}, ...cohort.rows.map((row) => make("tr", {},
          make("th", { scope: "row", text: row.named ? `✓ ${row.name}` : row.name }),
          ...[row.direction, `${row.patients} (${(100 * row.share).toFixed(0)} %)`, count(row.amount), p(row.p), row.difference.toFixed(2), p(row.p_difference)].map((text) => make("td", { text }))))))));
    find("together-files").replaceChildren(...[["cohort.tsv", "TSV"], ["result.json", "JSON"]].map(([name, text]) => make("a", { href: `/api/jobs/${app.job}/files/${name}`, download: name, text })));
    window.history.replaceState(null, "", `#${new URLSearchParams({ job: app.job })}`);
  }

  // ---- taking away ------------------------------------------------------------------------------

  function save(name, content, kind) {
    const link = make("a", { download: name, href: URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type: kind })) });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  }

  /** The picture that is shown, as SVG text with its colours written out. */
  function picture() {
    if (app.tab === "brain") return app.canvas.svg();
    const drawn = find({ matrix: "matrix", replay: "replay-picture" }[app.tab] ?? "circle").querySelector("svg") ?? (circle(find("circle"), app.view, shown().removed, shown().added), find("circle").querySelector("svg"));
    const twin = drawn.cloneNode(true);
    const from = [drawn, ...drawn.querySelectorAll("*")], to = [twin, ...twin.querySelectorAll("*")];
    from.forEach((element, i) => {
      const style = getComputedStyle(element);
      for (const name of ["fill", "stroke", "stroke-width", "stroke-dasharray", "font-size", "font-weight", "font-family"]) to[i].setAttribute(name, style.getPropertyValue(name));
    });
    const [x, y, width, height] = drawn.getAttribute("viewBox").split(" ");
    const back = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    for (const [name, value] of Object.entries({ x, y, width, height, fill: getComputedStyle(document.body).backgroundColor })) back.setAttribute(name, value);
    twin.prepend(back);
    twin.removeAttribute("style");
    twin.setAttribute("width", width);
    twin.setAttribute("height", height);
    return new XMLSerializer().serializeToString(twin);
  }

  function savePng() {
    if (app.tab === "brain") { find("brain").toBlob((blob) => save("denseflip.png", blob)); return; }
    const text = picture();
    const image = new Image();
    image.onload = () => {
      const canvas = make("canvas");
      canvas.width = 2 * image.width;
      canvas.height = 2 * image.height;
      canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
      canvas.toBlob((blob) => save("denseflip.png", blob));
    };
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  }

  function drawFiles() {
    const at = (name) => `/api/jobs/${app.job}/files/${name}?answer=${app.answer}`;
    const file = (name, text) => make("a", { href: at(name), download: name, text, "data-file": name });
    const listed = [["report.html", "page"], ["result.json", "JSON"], ["edits.csv", "CSV"], ...(app.view.points ? [["brain.node", "BrainNet .node"]] : []), ["brain.edge", "BrainNet .edge"]];
    find("files").replaceChildren(...listed.map(([name, text]) => file(name, text)),
      make("button", { type: "button", id: "save-svg", text: "picture as SVG", onclick: () => save("denseflip.svg", picture(), "image/svg+xml") }),
      make("button", { type: "button", id: "save-png", text: "picture as PNG", onclick: savePng }),
      make("button", { type: "button", id: "copy-link", text: "copy link", onclick: async () => {
        remember();
        try { await navigator.clipboard.writeText(location.href); find("link-said").textContent = "The link is copied; it restores this view on this server."; } catch { find("link-said").textContent = location.href; }
      } }));
  }

  function remember() {
    if (!app.view || find("story").hidden) return;
    const state = new URLSearchParams({ job: app.job, answer: app.answer, tab: app.tab ?? "", step: find("step").value });
    if (app.hand) state.set("hand", JSON.stringify(app.hand.state));
    if (state.toString().length < 6000) window.history.replaceState(null, "", `#${state}`);
    for (const link of find("files").querySelectorAll("a[data-file]")) link.href = `/api/jobs/${app.job}/files/${link.dataset.file}?answer=${app.answer}`;
  }

  async function recall() {
    const state = new URLSearchParams(location.hash.slice(1));
    if (!/^[0-9a-f]{16}$/.test(state.get("job") ?? "")) return;
    const whole = (name) => (/^\d{1,6}$/.test(state.get(name) ?? "") ? Number(state.get(name)) : undefined);
    let hand = null;
    try { hand = JSON.parse(state.get("hand")); } catch { /* a link that was cut */ }
    const tab = ["brain", "circle", "matrix", "bars", "edits", "replay", "whatif"].includes(state.get("tab")) ? state.get("tab") : undefined;
    await open(state.get("job"), { answer: whole("answer"), step: whole("step"), tab, hand: valid(hand) ? hand : null, quiet: true });
  }

  /** Whether a state from a link is one of ours. */
  function valid(state) {
    const amount = (x) => Number.isInteger(x) && x >= 0;
    return Boolean(state) && Array.isArray(state.pairs) && state.pairs.every(amount) && ["any", "typical"].includes(state.reading) && amount(state.seed)
      && typeof state.cells === "object" && state.cells !== null && Object.entries(state.cells).every(([key, c]) => /^\d+-\d+$/.test(key) && amount(c?.more) && amount(c?.fewer));
  }

  // ---- tabs, theme, start -------------------------------------------------------------------------

  const tabs = [...document.querySelectorAll("[role=tab]")];

  function select(name, { quiet = false } = {}) {
    app.tab = name;
    for (const tab of tabs) {
      const mine = tab.id === `tab-${name}`;
      tab.setAttribute("aria-selected", String(mine));
      tab.tabIndex = mine ? 0 : -1;
      find(tab.getAttribute("aria-controls")).hidden = !mine;
    }
    drawPictures();
    if (!quiet) remember();
  }

  tabs.forEach((tab) => {
    tab.addEventListener("click", () => select(tab.id.slice(4)));
    tab.addEventListener("keydown", (event) => {
      const way = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!way) return;
      const open = tabs.filter((one) => !one.hidden);
      const next = open[(open.indexOf(tab) + way + open.length) % open.length];
      next.focus();
      select(next.id.slice(4));
    });
  });

  function theme(dark) {
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    find("theme").setAttribute("aria-pressed", String(dark));
    try { localStorage.setItem("denseflip theme", dark ? "dark" : "light"); } catch { /* a private window */ }
    app.canvas?.draw();
  }
  let kept = null;
  try { kept = localStorage.getItem("denseflip theme"); } catch { /* a private window */ }
  theme(kept ? kept === "dark" : matchMedia("(prefers-color-scheme: dark)").matches);

  find("theme").addEventListener("click", () => theme(document.documentElement.dataset.theme !== "dark"));
  find("dataset").addEventListener("change", guarded(loadSet));
  find("classifier").addEventListener("change", showJudged);
  find("regions").addEventListener("change", () => { app.frozen.clear(); drawFrozen(); });
  find("method").addEventListener("change", () => { find("method-said").textContent = app.methods.find((m) => m.name === find("method").value)?.summary ?? ""; });
  find("upload").addEventListener("click", upload);
  find("judge").addEventListener("click", guarded(() => run("judge")));
  find("ask").addEventListener("submit", (event) => { event.preventDefault(); guarded(() => run("explain"))(); });
  find("compare").addEventListener("click", guarded(() => run("compare")));
  find("cohort").addEventListener("click", guarded(() => run("cohort")));
  find("cancel").addEventListener("click", guarded(() => post(`/api/jobs/${app.following}/cancel`, {})));
  find("front-slider").addEventListener("input", () => { app.answer = Number(find("front-slider").value); leaveHand(); drawAnswer(); });
  find("step").addEventListener("input", () => { drawStep(); remember(); });
  find("play").addEventListener("click", play);
  find("all-edges").addEventListener("change", () => { app.canvas.all = find("all-edges").checked; app.canvas.draw(); });
  find("closer").addEventListener("click", () => app.canvas.scale(1.25));
  find("farther").addEventListener("click", () => app.canvas.scale(0.8));
  const views = { top: [0, 1.57], side: [1.57, 0], back: [0, 0] };
  for (const button of document.querySelectorAll("[data-view]")) button.addEventListener("click", () => app.canvas.view(...views[button.dataset.view]));
  addEventListener("hashchange", guarded(recall));

  guarded(async () => {
    app.methods = (await api("/api/methods")).filter((method) => !method.suffix);
    find("method").replaceChildren(...app.methods.map((method) => option(method.name, method.name)));
    find("method-said").textContent = app.methods[0].summary;
    await loadSets();
    history();
    await recall();
    document.documentElement.dataset.ready = "true";
  })();
  window.denseflipApp = app;
})();
