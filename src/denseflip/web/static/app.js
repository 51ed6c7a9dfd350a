"use strict";
// The page of the app: sends requests to the API and shows the answers. Data goes in as text, or as HTML that the server escaped.
(() => {
  const { make, count, save } = window.denseflipElements;
  const { bars, matrix, EditTable, parsed, saveAsPng, svgText } = window.denseflipPictures;
  const { api, post, listen, readLink, STAGES, progressWords } = window.denseflipAsking;
  const { cut } = window.denseflipDrawing;
  const { worth, marked, meanings, links, showComparison, showCohort } = window.denseflipSides;
  const find = (id) => document.getElementById(id);
  const LISTED = 6; // places of a sentence that are shown at once
  const FEW = 4; // with more regions, the matrix shows only the changed ones at first
  const [LETTER, MARGIN] = [7, 24]; // pixels: the least mean width of a letter in the list of subjects, and what is beside them
  const PHONE = 830; // pixels; narrower windows have one column, as in app.css
  const EXAMPLE = "0".repeat(16); // the id of the worked example
  const [MANY_REGIONS, MANY_EDITS] = [20, 150]; // with more of both, lines cover each other: the matrix comes first
  const [BARS_FROM, STEPS_FROM] = [3, 3]; // regions and steps that bars and a replay need to say something
  const app = { sets: [], set: null, job: null, result: null, view: null, answer: 0, panel: null, hand: null, turn: 0 };

  const options = new window.denseflipOptions.Options({
    common: find("options"),
    rest: find("more-options"),
    own: { freeze: window.denseflipFreeze },
    onChange: (field) => { if (field === freeze()) drawPictures(); drawNewer(); },
  });
  const freeze = () => options.field("freeze");
  app.options = options;
  const replay = new window.denseflipReplay(() => remember());
  const steps = new window.denseflipSteps({ narrow: matchMedia(`(max-width: ${PHONE}px)`) });

  // ---- errors ---------------------------------------------------------------------------------

  function trouble(message) {
    find("trouble").hidden = !message;
    find("trouble").textContent = message || "";
  }

  const guarded = (work) => async (...given) => {
    try {
      trouble("");
      options.mark();
      await work(...given);
    } catch (error) {
      trouble(options.spell(error.message, error.parameters));
      options.mark(error.parameters);
    }
  };

  // ---- the form -------------------------------------------------------------------------------

  const option = (value, text) => make("option", { value, text });
  const subjectOption = ({ id, name, class: known }) => make("option", { value: id, "data-name": name, "data-class": known ?? "uploaded", title: `${name} (${known ?? "uploaded"})` });

  /** Subjects in the letters that fit in the list: names are cut in the middle, the class stays; the tooltip has all. */
  function fitSubjects() {
    const room = (find("subject").clientWidth || 320) - MARGIN, pen = document.createElement("canvas").getContext("2d");
    pen.font = getComputedStyle(find("subject")).font;
    const all = [...find("subject").options].map((one) => one.dataset.name), shared = (names) => { let n = 0; while (names.length > 1 && n < names[0].length && names.every((name) => name[n] === names[0][n])) n += 1; return n; };
    const backwards = (name) => [...name].reverse().join(""), whole = (n, name) => n - name.slice(0, n).match(/[^-_ ./]*$/)[0].length; // the part that differs begins and ends between signs
    const start = all.length ? whole(shared(all), all[0]) : 0, end = all.length ? whole(shared(all.map(backwards)), backwards(all[0])) : 0;
    let fitting = Math.max(24, Math.floor(room / LETTER));
    const own = (name) => (name.length <= fitting - 15 ? name : `${start > 3 ? "…" : name.slice(0, start)}${name.slice(start, name.length - end)}${end > 3 ? "…" : name.slice(name.length - end)}`); // what differs is kept
    const written = ({ dataset }) => {
      const id = own(dataset.name), known = cut(dataset.class, Math.max(8, fitting - id.length - 3)), name = cut(id, Math.max(9, fitting - known.length - 3));
      return `${name} (${known})`;
    };
    for (const one of find("subject").options) {
      while (fitting > 20 && pen.measureText(written(one)).width > room) fitting -= 1; // fonts differ in width
    }
    for (const one of find("subject").options) one.textContent = written(one);
  }

  const setName = (set) => (set.uploaded ? `${set.name} (uploaded)` : set.name);

  async function loadSets(chosen) {
    app.sets = await api("/api/datasets");
    find("dataset").replaceChildren(...app.sets.filter((set) => !set.error).map((set) => option(set.key, setName(set))));
    if (chosen) find("dataset").value = chosen;
    await loadSet();
  }

  async function loadSet() {
    const set = await api(`/api/datasets/${encodeURIComponent(find("dataset").value)}`);
    app.set = set;
    const classes = Object.entries(set.classes).map(([name, n]) => `${name} ${n}`).join(", ");
    find("dataset-facts").textContent = `${count(set.n_graphs)} graphs of ${count(set.n_nodes)} nodes: ${classes}. ${set.known}`;
    find("dataset-about").textContent = [set.card.description, ...set.card.caveats, set.card.citation].filter(Boolean).join(" ");
    find("title").value = set.name;
    find("title-said").textContent = "";
    find("classifier").replaceChildren(...set.classifiers.map((c) => option(c.key, c.key)));
    find("classifier").value = set.default_classifier;
    find("subject").replaceChildren(...set.subjects.map((s) => subjectOption(s)));
    find("subject").selectedIndex = 0;
    fitSubjects();
    options.offer("target", Object.keys(set.classes));
    options.offer("regions", set.taxonomies);
    find("many-whom").replaceChildren(option("", `all ${count(set.n_graphs)}`), ...Object.entries(set.classes).filter(([, n]) => n).map(([name, n]) => option(name, `${name} (${count(n)})`)));
    freeze().open(set);
    options.draw();
    showJudged();
    drawNewer();
  }

  /** Call the data set by the title that was typed; results from now on use it. */
  async function rename() {
    const set = app.set, said = find("title-said");
    try {
      const { name } = await api(`/api/datasets/${encodeURIComponent(set.key)}`, { method: "PATCH", headers: { "content-type": "application/json" }, body: JSON.stringify({ title: find("title").value }) });
      for (const one of [set, app.sets.find((x) => x.key === set.key)]) one.name = name;
      find("dataset").selectedOptions[0].textContent = setName(set);
      find("title").value = name;
      said.textContent = "Saved. New results use this title.";
      sayChosen();
    } catch (error) { said.textContent = options.spell(error.message, error.parameters); }
  }

  /** Reload what is known about the classifiers; the form keeps its values. */
  async function refresh() {
    app.set.classifiers = (await api(`/api/datasets/${encodeURIComponent(app.set.key)}`)).classifiers;
    showJudged();
  }

  function showJudged() {
    const one = app.set.classifiers.find((c) => c.key === find("classifier").value);
    find("classifier-about").textContent = one?.summary ?? "";
    worth(find("judged"), one?.judged, one?.can_judge);
    sayChosen();
    find("judge").hidden = !one || Boolean(one.judged) || !one.can_judge;
  }

  /** Say in the heading of each step what is chosen. */
  function sayChosen() {
    if (!app.set) return;
    const chosen = app.set.classifiers.find((c) => c.key === find("classifier").value);
    const trust = { better: ", better than chance", chance: ", at chance", unclear: ", not clearly better than chance" }[chosen?.judged?.level] ?? "";
    const set = Object.keys(options.read()).length;
    steps.say("data", `${app.set.name}, ${count(app.set.n_graphs)} graphs`);
    steps.say("classifier", `${find("classifier").value}${trust}`);
    const subject = find("subject").selectedOptions[0];
    steps.say("subject", subject?.title ?? "none");
    steps.say("asked", [app.set.name, subject?.dataset.name, find("classifier").value].filter(Boolean).join(" · "));
    steps.say("options", set ? `${count(set)} set` : "none set");
  }

  /** The request of a job: its subject and the options that are set. */
  function request(kind) {
    const about = { kind, dataset: find("dataset").value, classifier: find("classifier").value };
    if (kind === "judge") return about;
    if (["explain", "compare"].includes(kind)) about.subject = find("subject").value;
    if (kind === "many" && find("many-whom").value) about.classes = [find("many-whom").value];
    if (kind === "cohort") about.permutations = Number(find("permutations").value);
    const { method, ...rest } = options.read();
    return { ...about, ...rest, ...(method && ["explain", "many"].includes(kind) ? { method } : {}) };
  }

  /** Fill the form with an earlier request, so that changes in it refer to what is shown. */
  async function fill(asked) {
    if (!app.sets.some((set) => set.key === asked.dataset && !set.error)) return;
    find("dataset").value = asked.dataset;
    if (app.set?.key !== asked.dataset) await loadSet();
    const put = (id, value) => { find(id).value = value ?? ""; if (find(id).selectedIndex < 0) find(id).selectedIndex = 0; };
    put("classifier", asked.classifier);
    put("many-whom", asked.classes?.[0]);
    if (asked.subject) put("subject", asked.subject);
    if (asked.kind === "cohort") put("permutations", asked.permutations);
    options.fill(asked);
    find("subject").selectedOptions[0]?.scrollIntoView?.({ block: "nearest" });
    showJudged();
  }

  async function upload() {
    const file = find("file").files[0];
    const said = find("upload-said");
    const tell = (text, wrong = false) => { said.textContent = text; said.setAttribute("role", wrong ? "alert" : "status"); if (wrong) said.scrollIntoView({ block: "nearest" }); };
    if (!file) { tell("Choose a file first.", true); return; }
    const form = new FormData();
    form.append("file", file);
    form.append("dataset", find("dataset").value);
    if (find("percentile").value !== "") form.append("percentile", find("percentile").value);
    const tables = {};
    for (const one of document.querySelectorAll("#tables .table")) {
      if (one.type === "checkbox" ? one.checked : one.value !== "") tables[one.name] = one.type === "checkbox" || one.value;
    }
    if (Object.keys(tables).length) form.append("options", JSON.stringify(tables));
    for (const one of document.querySelectorAll("select.reading")) if (one.value) form.append(one.name, one.value);
    tell("Reading …");
    try {
      const got = await api("/api/uploads", { method: "POST", body: form });
      if (got.kind === "dataset") await loadSets(got.dataset);
      else if (got.kind === "graph") { await loadSet(); find("subject").value = got.subject; sayChosen(); } else await open(got.job);
      tell([`Uploaded: ${got.name}.`, ...(got.notes || [])].join(" "));
      sayUnread("");
    } catch (error) {
      tell(options.spell(error.message, error.parameters), true);
      sayUnread(file.name);
    }
  }

  /** After a failed upload, say whose answer is still shown, and dim it: it is not that of the file. */
  function sayUnread(name) {
    const articles = [...document.querySelectorAll("#answer > article")], old = articles.find((one) => !one.hidden);
    for (const one of articles) one.inert = Boolean(name);
    find("unread").hidden = !name || !old;
    const whose = old?.id === "story" ? `answer for ${app.view.subject}` : `earlier result “${old?.querySelector("h2").textContent}”`;
    find("unread-said").textContent = name ? `${name} was not read. Below is still the ${whose}.` : "";
  }

  // ---- jobs -----------------------------------------------------------------------------------

  async function run(kind) {
    if (!find("ask").reportValidity()) return;
    const job = await post("/api/jobs", request(kind));
    steps.foldAll();
    await follow(job.id);
  }

  function follow(id) {
    app.following = id; // until it ends, the page still shows another job
    app.source?.close();
    find("progress").hidden = false;
    find("explain").disabled = true;
    find("progress-words").textContent = STAGES.waiting;
    find("bar").removeAttribute("value");
    return listen(id, {
      opened: (source) => { app.source = source; },
      ended: () => { find("progress").hidden = true; find("explain").disabled = false; },
      heard: (facts) => {
        find("progress-words").textContent = progressWords(facts);
        if (["judging", "permuting", "explaining"].includes(facts.stage) && facts.of) { find("bar").max = facts.of; find("bar").value = facts.done; } else find("bar").removeAttribute("value");
      },
    }).then(async (status) => {
      if (status === "done") { await open(id); return; }
      trouble("Cancelled.");
      history();
    }, (error) => { history(); throw error; });
  }

  async function history() {
    const jobs = await api("/api/jobs?limit=30");
    find("jobs").replaceChildren(...jobs.map((job) => {
      const what = job.summary?.title ?? `${job.kind} ${job.request.subject ?? job.request.classifier ?? ""}`;
      const item = make("li", {}, `${what} · ${job.status} `);
      if (job.status === "done" && job.kind !== "judge") item.append(make("button", { type: "button", text: "open", "aria-label": `open ${what}`, onclick: guarded(() => open(job.id, { fill: true })) }));
      if (["interrupted", "failed", "cancelled"].includes(job.status)) item.append(make("button", { type: "button", text: "run again", "aria-label": `run again ${what}`, onclick: guarded(async () => { await post(`/api/jobs/${job.id}/again`, {}); await follow(job.id); }) }));
      if (["queued", "running"].includes(job.status)) item.append(make("button", { type: "button", text: "watch", "aria-label": `watch ${what}`, onclick: guarded(() => follow(job.id)) }));
      else item.append(" ", make("button", { type: "button", text: "delete", "aria-label": `delete ${what}`, onclick: guarded(() => drop(job.id, what)) }));
      return item;
    }));
  }

  /** Delete a job with its result; if it is shown, show the example instead. */
  async function drop(id, what) {
    if (!confirm(`Delete “${what}” with its result? This cannot be undone.`)) return;
    await api(`/api/jobs/${id}`, { method: "DELETE" });
    if (app.job === id) {
      window.history.replaceState(null, "", location.pathname);
      await open(EXAMPLE, { quiet: true });
    }
    await history();
  }

  // ---- showing --------------------------------------------------------------------------------

  /** Discard the "what if" state of the previous answer. */
  function leaveHand() {
    app.turn += 1;
    app.panel = null;
    app.opening = null;
    app.hand = null;
    leavePicked();
  }

  async function open(id, state = {}) {
    const order = (app.opens = (app.opens ?? 0) + 1);
    const [job, result] = await Promise.all([api(`/api/jobs/${id}`), api(`/api/jobs/${id}/result`)]);
    if (result.evaluation) { await refresh(); history(); return; } // keep what is shown
    if (state.fill && job.kind !== "brought") await fill(job.request); // the previous result is still shown
    if (order < (app.opened ?? 0)) return; // a later request is already shown
    app.opened = order;
    app.job = id;
    app.request = job.request;
    app.result = result;
    leaveHand();
    sayUnread("");
    find("comparison").hidden = !result.rows;
    find("together").hidden = !result.cohort;
    find("index").hidden = !result.many;
    find("story").hidden = !result.view;
    drawNewer();
    if (result.rows) showComparison(job, result);
    else if (result.cohort) showCohort(job, result.cohort);
    else if (result.many) showIndex(job, result.many, state);
    else showStory(result.view, state);
    if (result.rows || result.cohort) window.history.replaceState(null, "", `#${new URLSearchParams({ job: id })}`);
    if (!state.quiet || state.link) beginAnswer(); // before further requests, so that it does not steal the focus later
    history();
    if (app.set && app.set.key === job.request.dataset) await refresh();
  }

  /** Focus the answer and scroll to its start. */
  function beginAnswer() {
    const answer = find("answer");
    answer.focus({ preventScroll: true });
    if (innerWidth <= PHONE || answer.getBoundingClientRect().top < 0) answer.scrollIntoView({ block: "start" });
  }

  // ---- many subjects ----------------------------------------------------------------------------

  function showIndex(job, many, state) {
    const link = (shown) => window.history.replaceState(null, "", `#${new URLSearchParams({ job: job.id, ...shown })}`);
    app.index = app.index ?? new window.denseflipIndex(find("index-table"));
    app.index.onState = link;
    find("index-by").textContent = `Classifier ${job.request.classifier}, method ${job.request.method}.`;
    find("index-title").textContent = job.summary?.title ?? "Many subjects";
    worth(find("index-worth"), many.judged, false);
    find("index-tiles").replaceChildren(...many.tiles.map(([term, value]) => make("li", { class: "chip" }, `${term}: `, make("b", { text: value }))));
    app.index.show(job.id, many.rows, state);
    find("index-files").replaceChildren(...links(job, [["index.html", "page"], ["explanations.csv", "CSV"], ["edits.csv", "all edits as CSV"], ["regions.csv", "region pairs as CSV"], ["reference.csv", "reference as CSV"], ["result.json", "JSON"]]));
    link(app.index.state());
  }

  /** Open one subject of an index from its stored result, without a new search. */
  async function openOne(id, subject) {
    const order = (app.ones = (app.ones ?? 0) + 1);
    const many = await api(`/api/jobs/${id}`);
    const job = await post("/api/jobs", { ...many.request, kind: "explain", subject, of: id });
    if (order !== app.ones) return; // there is a later request
    await fill(job.request);
    await follow(job.id);
  }

  // ---- one story --------------------------------------------------------------------------------

  function showStory(view, state) {
    app.view = view;
    app.answer = Math.min(state.answer ?? view.current, view.answers.length - 1);
    const example = app.job === EXAMPLE;
    find("example-note").hidden = !example;
    const by = [view.brought && `read from ${app.request.name}`, app.request.classifier && `classifier ${app.request.classifier}`, view.method && `method ${view.method}${view.chosen ? ` (${view.chosen})` : ""}`, app.sets.find((set) => set.key === app.request.dataset)?.name ?? app.request.dataset].filter(Boolean);
    find("made-by").textContent = by.join(" · ");
    find("story-eyebrow").hidden = !app.request.of;
    find("story-eyebrow").replaceChildren(...(app.request.of ? [make("a", { id: "to-index", href: `#job=${app.request.of}`, text: "back to the index" })] : []));
    find("story-title").textContent = view.found ? `${view.subject}: ${view.before} → ${view.after}` : view.needed ? `${view.subject}: still ${view.before}, no answer found` : `${view.subject}: ${view.before} already`;
    worth(find("worth"), view.judged, false);
    find("distrust").hidden = !view.distrust;
    find("distrust").textContent = view.distrust ?? "";
    find("front").hidden = view.answers.length < 2;
    find("front-title").textContent = view.diverse ? "Answers in different places" : "Choose an answer";
    drawFront();
    find("all-regions").checked = view.regions.length <= FEW;
    find("matrix-line").hidden = view.regions.length <= FEW;
    const none = !view.answers.some((one) => one.removed.length || one.added.length); // then there is nothing to draw
    for (const name of ["circle", "edits"]) find(`tab-${name}`).hidden = none;
    find("tab-brain").hidden = none || view.points === null;
    find("tab-brain").textContent = view.kind === "brain" ? "Brain" : "Nodes in space";
    find("tab-replay").hidden = view.replay.length < STEPS_FROM;
    find("tab-matrix").hidden = none || !view.hasRegions;
    find("tab-whatif").hidden = !app.request.subject || !app.sets.some((set) => set.key === app.request.dataset && !set.error);
    find("picture").hidden = none && find("tab-whatif").hidden;
    replay.show(view, state.step);
    drawFiles();
    app.silent = example; // the address of the start page stays as it is
    drawAnswer();
    app.silent = false;
    const wanted = state.tab && !find(`tab-${state.tab}`).hidden ? state.tab : none ? "whatif" : isCrowded() ? "matrix" : view.points === null ? "circle" : "brain";
    select(wanted, { quiet: true });
    if (state.hand) { app.wanted = state.hand; select("whatif", { quiet: true }); }
  }

  /** Whether lines between nodes would be too many to tell apart. */
  function isCrowded() {
    const pairs = Object.values(shown()).flat();
    return app.view.hasRegions && pairs.length > MANY_EDITS && new Set(pairs.flat().map((node) => app.view.index[node])).size > MANY_REGIONS;
  }

  /** The places of a long sentence: the first few, and the rest folded. */
  function listed(items) {
    const list = (some) => make("ul", {}, ...some.map((text) => make("li", { text })));
    const rest = items.slice(LISTED);
    return [...(items.length ? [list(items.slice(0, LISTED))] : []), ...(rest.length ? [make("details", { class: "rest" }, make("summary", { text: "show more" }), list(rest))] : [])];
  }

  /** The answers as labelled choices. */
  function drawFront() {
    const choose = (i) => { app.answer = i; leaveHand(); drawFront(); drawAnswer(); };
    const shown = find("front").contains(document.activeElement);
    find("front").replaceChildren(find("front-title"), ...app.view.answers.map((one, i) => make("button", { type: "button", "aria-pressed": String(i === app.answer), onclick: () => choose(i) }, one.label, make("small", {}, one.edits, ...(one.held?.text ? [" · ", make("span", { class: one.held.few ? "few" : null, title: one.held.meaning, text: one.held.text })] : [])))));
    if (shown) find("front").querySelectorAll("button")[app.answer].focus();
  }

  function drawAnswer() {
    const view = app.view, one = view.answers[app.answer];
    find("chips").replaceChildren(...one.chips.map(marked));
    find("meanings").replaceChildren(...meanings(one.chips));
    find("sure").hidden = !one.sure;
    find("sure").textContent = one.sure ?? "";
    find("decision").hidden = !one.decision;
    find("decision").className = `decision ${one.decision?.kind ?? ""}`;
    find("decision").textContent = one.decision?.text ?? "";
    find("unlimited").hidden = view.found || one.parameters[0] !== "budget" || !app.request.budget || !ours();
    find("unnamed").textContent = one.unnamed ?? "";
    find("drawn").textContent = one.drawn;
    const touched = new Set([...one.removed, ...one.added].flat().map((node) => view.index[node]));
    find("tab-bars").hidden = !view.hasRegions || touched.size < BARS_FROM;
    find("sentence").replaceChildren(make("p", { text: options.spell(one.lead, one.parameters) }), ...(one.warning ? [make("p", { class: "meaning", text: one.warning })] : []), ...listed(one.items));
    find("strip").replaceChildren(...parsed(one.strip));
    find("truth").textContent = options.spell(one.truth);
    find("methods").textContent = one.methods;
    find("notes").replaceChildren(...[...new Set([...one.notes, ...view.notes].filter((text) => !view.judged || !text.startsWith(view.judged.verdict)))].map((text) => make("li", { text: options.spell(text) })));
    find("tiles").replaceChildren(...one.tiles.map(([term, value]) => make("div", {}, make("dt", { text: term }), make("dd", { text: value }))));
    drawPictures();
    remember();
  }

  function shown() {
    if (app.hand) return app.hand;
    const one = app.view.answers[app.answer];
    return { removed: one.removed, added: one.added };
  }

  /** Pictures can show the "What if?" state instead of the explanation; say so. */
  function sayWhose() {
    const own = app.hand && ["brain", "circle", "matrix", "bars"].includes(app.tab);
    find("by-hand").hidden = !own;
    find("unnamed").hidden = own || ["replay", "whatif"].includes(app.tab) || !find("unnamed").textContent;
    if (own) find("by-hand-said").textContent = `This shows your changes under “What if?” (${count(app.hand.added.length)} added, ${count(app.hand.removed.length)} removed), not the explanation.`;
  }

  function drawPictures() {
    const view = app.view;
    if (!view || find("story").hidden) return;
    const { removed, added } = shown();
    const tab = app.tab;
    sayWhose();
    if (tab === "brain") drawBrain();
    if (tab === "circle") drawCircle();
    if (tab === "matrix") matrix(find("matrix"), view, removed, added, { frozen: frozenRegions(), every: find("all-regions").checked, onRegion, onHover: (words) => { find("matrix-tip").textContent = words; }, onPick: (a, b) => { select("whatif"); pick(a, b); } });
    if (tab === "bars") bars(find("bars"), view, removed, added);
    if (tab === "edits") { app.table = app.table ?? new EditTable(find("edits")); app.table.show(view, view.answers[app.answer]); }
    if (tab === "replay") replay.draw();
    if (tab === "whatif") whatif();
  }

  const frozenRegions = () => freeze().regionsIn(app.view);
  const onRegion = (i) => { if (app.view.hasRegions && ours()) freeze().toggleRegion(app.view.regions[i].name, app.view.taxonomy); };

  /** Draw the brain or the circle: create the component once, then update its data or edits. */
  function drawConnectome(name, kind) {
    const view = app.view, { removed, added } = shown(), data = { ...view, kind, label: view.title, removed, added };
    let picture = app[name];
    const other = picture?.view !== view;
    if (!picture) picture = app[name] = new window.denseflipConnectome(find(name), data, { onPick: picked, onRegion, save: false, folded: true });
    else if (other) picture.show(data);
    else picture.edits(removed, added);
    picture.view = view;
    picture.frozen = freeze().frozenIn(view);
    const frozen = frozenRegions();
    picture.frozenRegions = new Set(view.regions.map((_, i) => i).filter((i) => frozen.has(view.regions[i].name)));
    picture.mark(app.first ?? -1);
    return other;
  }

  const drawCircle = () => drawConnectome("circle", "circle");

  async function drawBrain() {
    const view = app.view;
    if (!drawConnectome("brain", view.kind) || view.kind !== "brain") return;
    app.surface = app.surface ?? api("/api/surface");
    const surface = await app.surface;
    if (app.brain.view === view) app.brain.wrap(surface);
  }

  /** Whether the form has the data set that is shown; only then can its regions be frozen. */
  const ours = () => Boolean(app.set) && app.request?.dataset === app.set.key;

  /** Select a clicked node: it can be frozen, alone or with its region. A second node flips the pair. */
  function picked(node) {
    const names = app.view.names, first = app.first;
    if (first === undefined || first === node) {
      app.first = first === node ? undefined : node;
      drawPicked();
      return;
    }
    app.first = undefined;
    drawPicked();
    whatif().then((panel) => { panel?.flip(first, node); for (const picture of [app.brain, app.circle]) picture?.say(`${names[first]} – ${names[node]} flipped; see “What if?”`); drawPictures(); });
  }

  function drawPicked() {
    const node = app.first, view = app.view;
    find("picked").hidden = node === undefined;
    for (const picture of [app.brain, app.circle]) picture?.mark(node ?? -1);
    if (node === undefined) return;
    const region = view.hasRegions ? view.regions[view.index[node]].name : null;
    find("picked-said").textContent = `${view.names[node]}${region ? ` · ${region}` : ""}. Click another node to flip the connection between them, or:`;
    find("picked-node").textContent = `${freeze().nodesIn(view).has(view.names[node]) ? "Unfreeze" : "Freeze"} this node`;
    find("picked-region").textContent = `${frozenRegions().has(region) ? "Unfreeze" : "Freeze"} ${region}`;
    find("picked-region").hidden = !region || !ours();
    find("picked-node").hidden = !ours();
  }

  /** Say if the options have changed since the explanation, and offer a new one. */
  function drawNewer() {
    const asked = app.request;
    sayChosen();
    find("newer").hidden = find("story").hidden || asked?.kind !== "explain" || !ours() || asked.subject !== find("subject").value || !options.differ(asked);
  }

  function leavePicked() {
    app.first = undefined;
    find("picked").hidden = true;
    for (const picture of [app.brain, app.circle]) picture?.mark(-1);
  }

  // ---- what if --------------------------------------------------------------------------------

  async function whatif() {
    if (app.panel || app.opening) return app.opening ?? app.panel;
    const asked = app.request, turn = app.turn, about = { job: app.job, answer: app.answer };
    const query = new URLSearchParams({ dataset: asked.dataset, subject: asked.subject, classifier: asked.classifier, ...about });
    const opening = (async () => {
      find("whatif").textContent = "Opening …";
      try {
        const data = await api(`/api/whatif?${query}`);
        if (turn !== app.turn) return null;
        const n = data.n;
        app.panel = window.denseflipWhatIf.mount(find("whatif"), data, {
          storage: `denseflip ${asked.dataset} ${asked.subject} ${asked.classifier} ${data.taxonomy ?? ""}`, // cells are numbered by its regions
          ask: async (state, draws, first) => {
            const answer = await post("/api/whatif", {
              dataset: asked.dataset, subject: asked.subject, classifier: asked.classifier, regions: data.taxonomy, draws, seed: state.seed, reading: state.reading, balance: state.balance, target: data.target === null ? null : String(new Map(data.classes).get(data.target) ?? data.target),
              cells: Object.entries(state.cells).map(([key, amounts]) => { const [a, b] = window.denseflipModel.readKey(key); return { a, b, ...amounts }; }),
              pairs: state.pairs.map((code) => [Math.floor(code / n), code % n]),
              ...(first ? { first } : {}), ...(data.free ? about : {}), // what is frozen is not drawn
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

  /** Open a cell of the picture under "What if?"; the panel may use other regions. */
  function pick(a, b) {
    whatif().then((panel) => {
      if (!panel) return;
      const names = [a, b].map((i) => panel.data.regions.indexOf(app.view.regions[i].name));
      if (!names.includes(-1)) panel.addCell(names[0], names[1]);
    });
  }

  // ---- downloads --------------------------------------------------------------------------------

  /** The picture that is shown, as SVG text with its colours written out. */
  function picture() {
    if (app.tab === "matrix") return svgText(find("matrix").querySelector("svg"));
    if (app.tab === "brain") return app.brain.svg();
    if (app.tab === "replay") return replay.picture.svg();
    drawCircle();
    return app.circle.svg();
  }

  const savePng = () => (app.tab === "brain" ? app.brain.canvas.toBlob((blob) => save("denseflip.png", blob)) : saveAsPng("denseflip.png", picture()));

  function drawFiles() {
    const at = (name) => `/api/jobs/${app.job}/files/${name}?answer=${app.answer}`;
    const file = (name, text) => make("a", { href: at(name), download: name, text, "data-file": name });
    const listed = [["report.html", "page"], ["result.json", "JSON"], ["edits.csv", "edits (CSV)"], ["regions.csv", "region pairs (CSV)"], ...(app.view.answers[app.answer].strip ? [["reference.csv", "reference (CSV)"], ["reference.svg", "reference strip (SVG)"]] : []), ...(app.view.points ? [["brain.node", "BrainNet .node"]] : []), ["brain.edge", "BrainNet .edge"]];
    find("files").replaceChildren(...listed.map(([name, text]) => file(name, text)),
      make("button", { type: "button", id: "save-svg", text: "picture as SVG", onclick: () => save("denseflip.svg", picture(), "image/svg+xml") }),
      make("button", { type: "button", id: "save-png", text: "picture as PNG", onclick: savePng }),
      make("button", { type: "button", id: "copy-link", text: "copy link", onclick: async () => {
        remember();
        try { await navigator.clipboard.writeText(location.href); find("link-said").textContent = "Link copied. It restores this view on this server."; } catch { find("link-said").textContent = location.href; }
      } }));
  }

  function remember() {
    if (!app.view || find("story").hidden || app.silent) return;
    const state = new URLSearchParams({ job: app.job, answer: app.answer, tab: app.tab ?? "", step: find("step").value });
    if (app.hand) state.set("hand", JSON.stringify(app.hand.state));
    if (state.toString().length < 6000) window.history.replaceState(null, "", `#${state}`);
    for (const link of find("files").querySelectorAll("a[data-file]")) link.href = `/api/jobs/${app.job}/files/${link.dataset.file}?answer=${app.answer}`;
  }

  /** Open what the address names, else the worked example. On a phone a link opens at its answer. */
  async function recall() {
    const state = readLink(location.hash);
    if (!state) { if (!app.job) await open(EXAMPLE, { quiet: true, fill: true }); return; }
    if (state.subject !== undefined) await openOne(state.job, state.subject);
    else await open(state.job, { ...state, quiet: true, fill: true, link: innerWidth <= PHONE });
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
    find("drawn").hidden = !["brain", "circle", "edits"].includes(name);
    find("picked").hidden = app.first === undefined || !["brain", "circle"].includes(name);
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
    find("theme").textContent = dark ? "Light mode" : "Dark mode";
    if (app.tab === "matrix") drawPictures(); // its letters depend on the colours below them
    try { localStorage.setItem("denseflip theme", dark ? "dark" : "light"); } catch { /* a private window */ }
  }
  let kept = null;
  try { kept = localStorage.getItem("denseflip theme"); } catch { /* a private window */ }
  theme(kept ? kept === "dark" : matchMedia("(prefers-color-scheme: dark)").matches);

  find("theme").addEventListener("click", () => theme(document.documentElement.dataset.theme !== "dark"));
  find("dataset").addEventListener("change", guarded(loadSet));
  find("classifier").addEventListener("change", showJudged);
  find("subject").addEventListener("change", drawNewer);
  find("subject").addEventListener("dblclick", guarded(() => run("explain")));
  find("upload").addEventListener("click", upload);
  find("unread-end").addEventListener("click", () => { sayUnread(""); beginAnswer(); });
  find("rename").addEventListener("click", rename);
  find("judge").addEventListener("click", guarded(() => run("judge")));
  find("ask").addEventListener("invalid", (event) => { for (let part = event.target.closest("details"); part; part = part.parentElement.closest("details")) part.open = true; }, true);
  find("ask").addEventListener("submit", (event) => { event.preventDefault(); guarded(() => run("explain"))(); });
  find("compare").addEventListener("click", guarded(() => run("compare")));
  find("cohort").addEventListener("click", guarded(() => run("cohort")));
  find("many").addEventListener("click", guarded(() => run("many")));
  find("newer-explain").addEventListener("click", guarded(() => run("explain")));
  find("unlimited").addEventListener("click", guarded(async () => { await fill({ ...app.request, budget: null }); await run("explain"); }));
  find("by-hand-end").addEventListener("click", () => { app.hand = null; drawPictures(); remember(); find(`tab-${app.tab}`).focus(); });
  find("picked-node").addEventListener("click", () => { const name = app.view.names[app.first]; leavePicked(); freeze().toggleNode(name); });
  find("picked-region").addEventListener("click", () => { const i = app.view.index[app.first]; leavePicked(); onRegion(i); });
  find("picked-none").addEventListener("click", () => { leavePicked(); drawPictures(); });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || app.first === undefined) return;
    leavePicked();
    drawPictures();
  });
  find("cancel").addEventListener("click", guarded(() => post(`/api/jobs/${app.following}/cancel`, {})));
  find("all-regions").addEventListener("change", () => drawPictures());
  addEventListener("hashchange", guarded(recall));
  addEventListener("resize", fitSubjects);

  guarded(async () => {
    const [listed, methods] = await Promise.all([api("/api/options"), api("/api/methods")]);
    options.build(listed);
    options.offer("method", methods.filter((method) => !method.suffix).map(({ name, summary, first }) => ({ value: name, summary, more: !first })));
    await loadSets();
    history();
    await recall();
    document.documentElement.dataset.ready = "true";
  })();
  window.denseflipApp = app;
})();
