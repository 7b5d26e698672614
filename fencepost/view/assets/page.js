/* The page of a kernel. `page` is what fencepost says (view/page_data.py); `shown` is what the reader looks at.
   Every part has a function that makes it (`make…`, once for each kernel) and one that brings it up to date (`draw…`).
   Only what is in view is in the document: rows of the kernel, bars of windows, and steps of the run. */
(function () {
  "use strict";

  const page = JSON.parse(document.getElementById("data").textContent);
  const SVG = "http://www.w3.org/2000/svg";
  const ROW = 21; // as high as .row in the style
  const CELL = 20, LANE = 24, SLOT = 18, LABEL = 104; // of the lanes
  const BAR = 11, MOST_BARS = 8; // room for a window, and how many stand side by side for each buffer
  const SPEED = 450; // milliseconds of a step
  const KINDS = { RAW: "read after write", WAR: "write after read", WAW: "write after write" };
  const ACTIONS = {
    r: ["R", "reads"], w: ["W", "writes"], u: ["U", "updates"], c: ["C", "starts a copy"], e: ["E", "starts an engine's read"],
    m: ["·", "computes"], g: ["G", "accesses global memory"], b: ["B", "passes a barrier"], t: ["T", "passes a wait"],
    s: ["S", "signals a barrier"], o: ["O", "uses an mbarrier"], v: ["V", "passes an mbarrier wait"], k: ["–", "goes on"],
    x: ["…", "waits"], h: ["z", "is slow here"],
  };
  const shown = {
    kernel: 0, scenario: 0, step: 0, line: 0, query: "", playing: 0, off: -1, finding: -1,
    rows: [], rowOf: new Map(), columns: [], width: 0, longest: 80,
  };

  // ------------------------------------------------------------ small things

  const element = (id) => document.getElementById(id);
  const kernel = () => page.kernels[shown.kernel];
  const lines = () => page.texts[kernel().text].lines;
  const run = () => (kernel().scenarios[shown.scenario] || {}).recording;

  function make(tag, attributes, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (name === "class") node.className = value;
      else if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
      else if (value !== false && value !== null) node.setAttribute(name, value === true ? "" : value);
    }
    node.append(...children);
    return node;
  }

  // What stands between backticks is code, as in a report.
  function worded(text) {
    const parts = text.split("`");
    return parts.length % 2 ? parts.map((part, at) => (at % 2 ? make("code", {}, part) : part)) : [text];
  }

  function draw(tag, attributes, ...children) {
    const node = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes || {})) node.setAttribute(name, value);
    node.append(...children);
    return node;
  }

  const many = (count, one, more) => `${count.toLocaleString("en")} ${count === 1 ? one : more || one + "s"}`;
  const indent = (text) => text.slice(0, text.length - text.trimStart().length);
  const lineText = (line) => (lines()[line - 1] || "").trim();

  function lineButton(line, text) {
    return make("button", { type: "button", class: "link", onclick: () => selectLine(line, true) }, text || `line ${line}`);
  }

  // ------------------------------------------------------------ the head

  function makeHead() {
    element("page-title").textContent = page.title;
    element("version").textContent = `fencepost ${page.version}`;
    const choice = element("kernel");
    page.kernels.forEach((each, number) => choice.append(make("option", { value: number }, each.title)));
    element("kernel-choice").hidden = page.kernels.length < 2;
    choice.addEventListener("change", () => showKernel(Number(choice.value)));
    element("other").addEventListener("click", showOther);
    const dark = window.matchMedia("(prefers-color-scheme: dark)");
    setTheme(dark.matches);
    dark.addEventListener("change", () => setTheme(dark.matches));
    element("theme").addEventListener("click", () => setTheme(document.documentElement.dataset.theme !== "dark"));
    const search = element("search");
    search.addEventListener("input", () => filter(search.value));
    search.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && shown.rows.length) {
        selectLine(shown.rows[0], true);
        element("code").focus();
      }
    });
  }

  function setTheme(dark) {
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    element("theme").textContent = dark ? "Light" : "Dark";
    element("theme").setAttribute("aria-label", dark ? "Light colours" : "Dark colours");
  }

  function showKernel(number) {
    stop();
    Object.assign(shown, { kernel: number, scenario: 0, step: 0, line: 0, off: -1, finding: -1 });
    const now = kernel();
    element("kernel").value = number;
    element("kernel-facts").textContent =
      `${now.launch || many(now.waves, "wave")}${now.target ? ", " + now.target : ""}, ${many(now.barriers.length, "barrier or wait", "barriers and waits")}, ` +
      many(now.windows.length, "hazard window");
    const verdict = element("verdict");
    verdict.textContent = `${now.proven ? "✓" : now.ok ? "○" : "✗"} ${now.verdict}`;
    verdict.className = now.proven ? "clean" : now.ok ? "" : "found";
    element("other").hidden = now.other === null;
    element("other").textContent = otherWords();
    shown.longest = Math.min(Math.max(...lines().map((text) => text.length)), 200);
    makeColumns();
    makeSigns();
    makeFindings();
    makeSwitches();
    makeScenarios();
    makeStrategies();
    const out = element("left-out");
    out.replaceChildren(...now.left_out.map((text) => make("li", {}, text)));
    element("left-out-panel").hidden = !now.left_out.length;
    filter(element("search").value);
    const shows = now.findings.filter((finding) => finding.scenario !== null && !finding.allowed);
    const isRead = (finding) => now.scenarios[finding.scenario].recording.races.slice(0, 1).some((race) => race.kind === "RAW");
    const firstRace = shows.find(isRead) || shows[0];
    const marked = firstRace || now.findings.find((finding) => finding.marks.length);
    const first = now.barriers.length ? now.barriers[0].line : now.first_line;
    setScenario(0, 0);
    selectLine(now.added.length ? now.added[0] : first, true);
    if (marked && !now.added.length) chooseFinding(now.findings.indexOf(marked));
  }

  function otherWords() {
    return kernel().added.length ? "Show it as it was" : "Show it mended";
  }

  function showOther() {
    if (kernel().other !== null) showKernel(kernel().other);
  }

  // ------------------------------------------------------------ the kernel: rows in view

  function filter(query) {
    shown.query = query.trim().toLowerCase();
    const every = lines();
    const wanted = (text) => !shown.query || text.toLowerCase().includes(shown.query);
    shown.rows = [];
    every.forEach((text, number) => wanted(text) && shown.rows.push(number + 1));
    shown.rowOf = new Map(shown.rows.map((line, row) => [line, row]));
    element("matches").textContent = shown.query ? many(shown.rows.length, "line") : "";
    element("rows").style.height = `${shown.rows.length * ROW + 4}px`;
    element("code").style.height = `min(${shown.rows.length * ROW + 20}px, var(--code-height))`;
    placeColumns();
    element("code").scrollTop = 0;
    drawCode();
  }

  function barrierOn(line) {
    return kernel().barriers.find((barrier) => barrier.line === line);
  }

  function isWritten(barrier) {
    // A barrier that a compiler puts in has the line of what follows it, and no text of its own.
    const text = lineText(barrier.line);
    return text.includes("barrier") || text.includes(barrier.text.split(" ")[0]);
  }

  function wavesOn() {
    // Where the waves are in this step, by line.
    const found = new Map();
    const recording = run();
    if (!recording) return found;
    recording.waves.forEach((wave, place) => {
      const cell = cellAt(recording.cells[place], shown.step);
      if (cell) found.set(cell[1], [...(found.get(cell[1]) || []), [wave, cell[2]]]);
    });
    return found;
  }

  function drawCode() {
    const box = element("code"), rows = element("rows");
    const first = Math.max(0, Math.floor(box.scrollTop / ROW) - 10);
    const last = Math.min(shown.rows.length, Math.ceil((box.scrollTop + box.clientHeight) / ROW) + 10);
    const waves = wavesOn(), racing = racingLines(), marks = markedLines(), off = linesOff(), added = new Set(kernel().added);
    const runs = kernel().scenarios.length, most = Math.max(...[...waves.values()].map((each) => each.length), 2);
    const room = runs ? most * 18 + 4 : 0;
    const width = Math.min(Math.max(box.clientWidth - shown.width, 240), 90 + room + shown.longest * 8);
    const parts = [];
    for (let row = first; row < last; row++) {
      parts.push(makeRow(row, { waves, racing, marks, off, added, runs, room, width }));
    }
    parts.push(drawWindows(first, last, width));
    rows.replaceChildren(...parts);
    rows.style.width = `${width + shown.width}px`;
    const there = shown.rowOf.has(shown.line);
    box.setAttribute("aria-activedescendant", there ? `line-${shown.line}` : "");
    drawColumnHeads(width);
  }

  function makeRow(row, now) {
    const line = shown.rows[row], barrier = barrierOn(line), here = now.waves.get(line) || [];
    const classes = ["row"];
    if (barrier) classes.push(isWritten(barrier) ? "barrier" : "barrier-before");
    if (now.off.has(line)) classes.push(barrier && !isWritten(barrier) ? "off-before" : "off");
    if (now.marks.has(line)) classes.push(now.marks.get(line) ? (now.runs ? "marked" : "found") : "elsewhere");
    if (now.added.has(line)) classes.push("added");
    if (barrier && barrier.wrong) classes.push("wrong");
    if (line === shown.line) classes.push("selected");
    if (now.racing.has(line)) classes.push("race");
    const chips = here.map(([wave, action]) => {
      const kind = now.racing.has(line) && now.racing.get(line).has(wave) ? " races" : action === "x" || action === "h" ? " waits" : "";
      return make("span", { class: `chip${kind}`, title: `wave ${wave} ${ACTIONS[action][1]}` }, String(wave));
    });
    const sign = barrier ? (now.off.has(line) || barrier.wrong ? "✗" : barrier.needed === false ? "○" : "●") : !now.runs && now.marks.has(line) ? "⚡" : "";
    const origin = kernel().origins[line];
    return make(
      "div",
      {
        class: classes.join(" "), id: `line-${line}`, role: "option", "aria-selected": String(line === shown.line),
        "aria-posinset": row + 1, "aria-setsize": shown.rows.length, "data-line": line,
        style: `top:${row * ROW}px;width:${now.width}px`, onclick: () => selectLine(line, false),
      },
      make("span", { class: "number" }, now.added.has(line) ? `+ ${line}` : String(line)),
      make("span", { class: "margin", "aria-hidden": "true" }, sign),
      make("span", { class: "chips", style: `width:${now.room}px` }, ...chips),
      make("span", { class: "indent" }, indent(lines()[line - 1])),
      make("span", { class: "text", title: barrier ? barrierTip(barrier) : lines()[line - 1] }, lines()[line - 1].trimStart()),
      ...(origin ? [make("span", { class: "origin", title: origin }, origin.split("/").pop())] : []),
      ...(barrier ? [make("span", { class: "sr-only" }, barrierWords(barrier))] : []),
    );
  }

  function barrierWords(barrier) {
    if (barrier.wrong) return `, wrong: ${barrier.wrong}`;
    if (barrier.needed === false) return `, redundant: ${barrier.reasons.join("; ")}`;
    return barrier.reasons.length ? `, needed: ${barrier.reasons[0]}` : ", a barrier or wait";
  }

  function barrierTip(barrier) {
    if (barrier.wrong) return `wrong: ${barrier.wrong}`;
    const words = { true: "needed", false: "redundant", null: "a barrier or wait" }[String(barrier.needed)];
    return [words, ...barrier.reasons.slice(0, 4)].join("\n• ");
  }

  function selectLine(line, scroll) {
    shown.line = line;
    if (scroll) scrollTo(line);
    drawCode();
    drawDetails();
  }

  function scrollTo(line) {
    const box = element("code"), row = shown.rowOf.get(line);
    if (row === undefined) return;
    const top = row * ROW;
    if (top < box.scrollTop + 2 * ROW) box.scrollTop = Math.max(0, top - 4 * ROW);
    else if (top > box.scrollTop + box.clientHeight - 3 * ROW) box.scrollTop = top - box.clientHeight + 5 * ROW;
  }

  function moveSelection(by) {
    const row = shown.rowOf.get(shown.line);
    const next = row === undefined ? 0 : Math.min(Math.max(row + by, 0), shown.rows.length - 1);
    if (shown.rows.length) selectLine(shown.rows[next], true);
  }

  function nextBarrier() {
    const there = kernel().barriers.map((barrier) => barrier.line).filter((line) => shown.rowOf.has(line));
    if (there.length) selectLine(there.find((line) => line > shown.line) || there[0], true);
  }

  // ------------------------------------------------------------ hazard windows: one column for each buffer

  function makeColumns() {
    const now = kernel();
    shown.columns = now.buffers
      .map((name) => ({ name, windows: now.windows.filter((each) => each.buffer === name) }))
      .filter((column) => column.windows.length);
    const list = Object.entries(KINDS).map(([kind, words]) =>
      make("li", {}, sampleBar(kind, false), `${kind} ${words}`));
    if (now.windows.some((each) => !each.covered)) list.push(make("li", {}, sampleBar("RAW", true), "dashed: nothing covers it"));
    element("kinds").replaceChildren(...(now.windows.length ? list : []));
  }

  function makeSigns() {
    const now = kernel(), list = [];
    const has = (test) => now.barriers.some(test);
    const sign = (text, words, kind) => list.push(make("li", {}, make("span", { class: kind }, text), words));
    if (has((each) => !each.wrong && each.needed !== false)) sign("●", "barrier or wait", "sign");
    if (has((each) => !each.wrong && each.needed === false)) sign("○", "nothing needs it", "sign");
    if (has((each) => each.wrong)) sign("✗", "wrong", "sign wrong");
    if (!now.scenarios.length && markedLines().size) sign("⚡", "found here", "sign wrong");
    if (now.added.length) sign("+", "new or changed", "sign good");
    if (now.scenarios.length) {
      sign("0", "wave on this line", "chip");
      sign("0", "waits", "chip waits");
      if (now.scenarios.some((each) => each.recording.races.length)) sign("0", "races", "chip races");
    }
    element("signs").replaceChildren(...list);
  }

  function sampleBar(kind, open) {
    // Dashes need room, or they look like a line.
    const height = open ? 30 : 18;
    const bar = draw("g", { class: `bar ${kind}${open ? " uncovered" : ""}` }, ...barShapes(kind, 7, 3, height - 3));
    return draw("svg", { width: 14, height, "aria-hidden": "true" }, bar);
  }

  function rowsOf(window) {
    // The rows that a window reaches over; those of the whole loop if it goes round.
    const at = [window.producer, window.consumer, ...(window.loop || [])].map((line) => shown.rowOf.get(line));
    if (at[0] === undefined || at[1] === undefined) return null;
    const there = at.filter((row) => row !== undefined);
    return [Math.min(...there), Math.max(...there)];
  }

  function placeColumns() {
    // Windows that overlap stand side by side; where there is no room for more, the line's details still list them.
    const named = shown.columns.filter((column) => shown.query && column.name.toLowerCase().includes(shown.query));
    let left = 8;
    for (const column of shown.columns) {
      const ends = [];
      column.placed = [];
      column.hidden = 0;
      column.shown = !named.length || named.includes(column);
      if (!column.shown) continue;
      for (const window of column.windows) {
        const rows = rowsOf(window);
        if (!rows) continue;
        let place = ends.findIndex((end) => end < rows[0]);
        if (place < 0 && ends.length < MOST_BARS) place = ends.length;
        if (place < 0) {
          column.hidden += 1;
          continue;
        }
        ends[place] = rows[1];
        column.placed.push({ window, rows, place });
      }
      column.left = left;
      column.width = Math.max(ends.length * BAR + 6, 8 * column.name.length + 8);
      left += column.width;
    }
    shown.width = shown.columns.length ? left + 4 : 0;
  }

  function drawColumnHeads(width) {
    const heads = shown.columns.filter((column) => column.shown).map((column) => {
      const more = column.hidden ? ` +${column.hidden}` : "";
      const style = `left:${width + column.left - element("code").scrollLeft}px;width:${column.width}px`;
      return make("span", { style, title: `${column.name}: ${many(column.windows.length, "hazard window")}` }, column.name + more);
    });
    element("columns").replaceChildren(...heads);
  }

  function drawWindows(first, last, left) {
    const top = first * ROW, height = Math.max(0, last - first) * ROW;
    const svg = draw("svg", {
      id: "windows", width: shown.width, height, style: `left:${left}px;top:${top}px`,
      role: "img", "aria-label": "Hazard windows; the details of a line list those that begin or end there",
    });
    for (const column of shown.columns) {
      if (!column.shown) continue;
      svg.append(draw("path", { d: `M${column.left - 3} 0V${height}`, stroke: "var(--line)" }));
      for (const { window, rows, place } of column.placed) {
        if (rows[1] >= first && rows[0] <= last) svg.append(drawBar(window, column.left + place * BAR + 7, first));
      }
    }
    return svg;
  }

  function drawBar(window, x, first) {
    const middle = (line) => (shown.rowOf.get(line) - first) * ROW + ROW / 2;
    const touches = window.producer === shown.line || window.consumer === shown.line || window.barriers.includes(shown.line);
    const classes = ["bar", window.kind];
    if (!window.covered) classes.push("uncovered");
    const about = shown.line && (barrierOn(shown.line) || touches);
    if (touches) classes.push("lit");
    else if (about && barrierOn(shown.line)) classes.push("faint");
    const from = middle(window.producer), to = middle(window.consumer);
    let shapes;
    if (window.loop && shown.rowOf.has(window.loop[0]) && shown.rowOf.has(window.loop[1])) {
      const end = middle(window.loop[1]) + ROW / 2 - 2, start = middle(window.loop[0]) + ROW / 2;
      shapes = [...barShapes(window.kind, x, from, end, "leaves"), ...barShapes(window.kind, x, start, to, "enters")];
    } else shapes = barShapes(window.kind, x, from, to);
    const bar = draw("g", { class: classes.join(" ") }, draw("title", {}, windowWords(window)), ...shapes);
    bar.addEventListener("click", () => selectLine(window.consumer, true));
    return bar;
  }

  function barShapes(kind, x, from, to, part) {
    // The end where the first access is: a dot (RAW), a ring (WAR) or a square (WAW); an arrow where the other one is.
    const shapes = [
      draw("path", { class: "hit", d: `M${x} ${from}V${to}` }),
      draw("path", { class: "stem", d: `M${x} ${from}V${to}` }),
    ];
    if (part !== "enters") {
      shapes.push(kind === "WAW"
        ? draw("rect", { class: "end", x: x - 3, y: from - 3, width: 6, height: 6 })
        : draw("circle", { class: "end", cx: x, cy: from, r: 3.2 }));
    }
    const down = to >= from ? 1 : -1;
    if (part === "leaves") shapes.push(draw("path", { class: "stem", d: `M${x - 4} ${to}H${x + 4}` }));
    else shapes.push(draw("path", { class: "head", d: `M${x - 4.5} ${to - 6 * down}L${x} ${to + down}L${x + 4.5} ${to - 6 * down}Z` }));
    return shapes;
  }

  function windowWords(window) {
    const again = window.distance ? `, ${many(window.distance, "iteration")} later` : "";
    const by = window.covered ? `covered by ${window.covered}` : "NOT COVERED";
    return `${window.kind} of ${window.buffer}, lines ${window.producer} → ${window.consumer}${again}: ${by}`;
  }

  // ------------------------------------------------------------ what is said about the selected line

  function drawDetails() {
    const now = kernel(), line = shown.line, parts = [];
    element("details-title").textContent = `Line ${line}`;
    parts.push(make("p", { class: "code" }, lineText(line) || "(empty)"));
    const barrier = barrierOn(line);
    if (barrier) parts.push(...barrierDetails(barrier));
    if (now.origins[line]) parts.push(make("p", {}, `written in ${now.origins[line]}`));
    for (const finding of now.findings) {
      for (const mark of finding.marks) {
        if (mark.line !== line || (barrier && barrier.wrong === mark.text)) continue;
        parts.push(make("p", {}, ...worded(`${finding.allowed ? "○" : "✗"} ${finding.code}: ${mark.text || finding.title}`)));
        if (finding.allowed) parts.push(make("p", { class: "hint" }, `allowed: ${finding.allowed}`));
      }
    }
    const windows = now.windows.filter((each) => each.producer === line || each.consumer === line);
    if (windows.length) {
      parts.push(make("p", {}, many(windows.length, "hazard window") + " here:"));
      parts.push(make("ul", {}, ...windows.slice(0, 12).map(windowItem)));
      if (windows.length > 12) parts.push(make("p", { class: "hint" }, `and ${windows.length - 12} more`));
    }
    if (parts.length === 1) parts.push(make("p", { class: "hint" }, "No barrier, no hazard begins or ends here."));
    element("details").replaceChildren(...parts);
  }

  function barrierDetails(barrier) {
    const parts = [];
    const heads = { true: "● needed:", false: "○ redundant:", null: "● a barrier or wait:" };
    if (barrier.wrong) parts.push(make("p", { class: "wrong" }, make("b", {}, "✗ wrong: "), barrier.wrong));
    else parts.push(make("p", {}, make("b", {}, heads[String(barrier.needed)])), ...reasonLists(barrier));
    if (barrier.stall) parts.push(make("p", { class: "hint" }, barrier.stall));
    const number = kernel().switches.findIndex((each) => each.lines.includes(barrier.line));
    const change = kernel().switches[number];
    if (change && change.off !== null) {
      const text = shown.off === number ? "Switch it on again" : "Switch it off";
      parts.push(make("button", { type: "button", onclick: () => toggle(number) }, text));
    }
    return parts;
  }

  function reasonLists(barrier) {
    // The first few, and the others behind a click.
    const items = barrier.reasons.map((text) => make("li", {}, text));
    if (barrier.more) items.push(make("li", {}, `and ${many(barrier.more, "more reason")} that are left out here`));
    if (!items.length) return [];
    if (items.length <= 4) return [make("ul", {}, ...items)];
    const rest = make("details", {}, make("summary", {}, many(items.length - 3, "more reason")), make("ul", {}, ...items.slice(3)));
    return [make("ul", {}, ...items.slice(0, 3)), rest];
  }

  function windowItem(window) {
    const other = window.producer === shown.line ? window.consumer : window.producer;
    const item = make("li", { class: window.kind }, make("b", {}, `${window.kind} ${window.buffer} `));
    item.append(lineButton(other, `lines ${window.producer} → ${window.consumer}`));
    if (window.distance) item.append(`, ${many(window.distance, "iteration")} later`);
    item.append(...worded(window.covered ? `: covered by ${window.covered}` : `: not covered: ${window.text}`));
    return item;
  }

  // ------------------------------------------------------------ findings

  function makeFindings() {
    const found = kernel().findings;
    const allowed = found.filter((finding) => finding.allowed).length, counts = [];
    if (found.length > allowed) counts.push(String(found.length - allowed));
    if (allowed) counts.push(`${allowed} allowed`);
    element("findings-title").textContent = `Findings (${counts.join(", ")})`;
    element("findings-panel").hidden = !found.length;
    element("findings").replaceChildren(...found.map(findingCard));
  }

  function findingCard(finding, number) {
    const card = make("div", { class: finding.allowed ? "finding allowed" : "finding" });
    const title = make("b", {}, ...worded(`${finding.code}: ${finding.title}`));
    const choose = () => make("button", { type: "button", class: "link choose", "aria-pressed": "false", onclick: () => chooseFinding(number) }, title);
    card.append(make("p", { class: "title" }, kernel().findings.length > 1 ? choose() : title));
    if (finding.allowed) card.append(make("p", {}, `○ allowed by a comment: ${finding.allowed}`));
    // In the order of the program, as in a report.
    const marks = [...finding.marks].sort((one, other) => one.line - other.line);
    for (const mark of marks) {
      card.append(make("p", { class: "mark" }, lineButton(mark.line), make("code", {}, ` ${lineText(mark.line)}`), mark.text ? make("span", {}, " ", ...worded(mark.text)) : ""));
    }
    for (const [word, text] of finding.notes) {
      card.append(make("p", { class: word === "fix" ? "fix" : "notes" }, make("b", {}, `${word}: `), ...worded(text)));
    }
    if (finding.scenario !== null) {
      card.append(make("button", { type: "button", onclick: () => showHappen(number) }, "Show it happen"));
    }
    return card;
  }

  function chooseFinding(number) {
    // Its lines, its run, and what is said about the line that it is about.
    const finding = kernel().findings[number];
    shown.finding = number;
    if (finding.scenario !== null) showRace(finding.scenario);
    const marks = finding.marks.map((mark) => mark.line);
    const wrong = marks.find((line) => (barrierOn(line) || {}).wrong);
    if (marks.length) {
      selectLine(wrong || marks[0], true);
      scrollTo(Math.min(...marks));
    }
    drawCode();
    element("findings").querySelectorAll(".finding").forEach((card, place) => {
      const button = card.querySelector(".choose");
      card.classList.toggle("chosen", place === number);
      if (button) button.setAttribute("aria-pressed", String(place === number));
      if (button && place === number) card.scrollIntoView({ block: "nearest" });
    });
  }

  function nextFinding() {
    const count = kernel().findings.length;
    if (count) chooseFinding((shown.finding + 1) % count);
  }

  function markedLines() {
    // The lines of findings, and whether each is one of the finding that is chosen.
    const found = new Map();
    kernel().findings.forEach((finding, number) => {
      for (const mark of finding.marks) {
        if (!finding.allowed || number === shown.finding) found.set(mark.line, found.get(mark.line) || number === shown.finding);
      }
    });
    return found;
  }

  // ------------------------------------------------------------ switches: a barrier off, and on again

  function makeSwitches() {
    const now = kernel();
    element("switches-hint").hidden = !now.switches.length;
    const none = make("li", { class: "hint" }, "There is no barrier or wait in this kernel.");
    const items = now.switches.length ? now.switches.map(switchItem) : now.barriers.map(barrierItem);
    element("switches").replaceChildren(...(items.length ? items : [none]));
  }

  function barrierItem(barrier) {
    // A kernel that is not run step by step: its barriers cannot be switched off.
    const sign = barrier.wrong ? "✗" : barrier.needed === false ? "○" : "●";
    const words = barrier.wrong ? "wrong" : { true: "needed", false: "redundant", null: "" }[String(barrier.needed)];
    const item = make("li", { class: barrier.wrong ? "is-wrong" : "" }, `${sign} `, lineButton(barrier.line), ` ${words} `);
    item.append(make("span", { class: "code" }, barrier.text));
    return item;
  }

  function switchItem(change, number) {
    const where = `line${change.lines.length > 1 ? "s" : ""} ${change.lines.join(" and ")}`;
    const box = make("input", {
      type: "checkbox", id: `switch-${number}`, disabled: change.off === null, onchange: () => toggle(number),
      "aria-describedby": change.note ? `switch-note-${number}` : false,
    });
    box.checked = true;
    const item = make("li", { class: change.wrong ? "is-wrong" : "" }, make("label", {}, box, make("span", { class: "where" }, where), make("span", { class: "code" }, change.text)));
    if (change.note) item.append(make("span", { class: "note", id: `switch-note-${number}` }, change.note));
    return item;
  }

  function toggle(number) {
    // One at a time: the run without several barriers was not made.
    const change = kernel().switches[number];
    if (!change || change.off === null) return;
    stop();
    const off = shown.off === number ? -1 : number;
    shown.off = off;
    if (off >= 0) showRace(change.off);
    else setScenario(change.on, Math.min(shown.step, kernel().scenarios[change.on].recording.steps - 1));
  }

  function drawSwitches() {
    element("switches").querySelectorAll("input").forEach((box, number) => {
      box.checked = number !== shown.off;
      box.closest("li").classList.toggle("is-off", number === shown.off);
    });
  }

  function linesOff() {
    return new Set(kernel().scenarios.length ? kernel().scenarios[shown.scenario].switched_off : []);
  }

  // ------------------------------------------------------------ runs

  function makeScenarios() {
    const now = kernel(), choice = element("scenario");
    choice.replaceChildren(...now.scenarios.map((each, number) => make("option", { value: number }, each.title)));
    element("run-panel").hidden = !now.scenarios.length;
    element("run-keys").hidden = !now.scenarios.length;
    const used = new Set(now.scenarios.flatMap((each) => each.recording.cells.flat().map((cell) => cell[2])));
    const letters = Object.entries(ACTIONS).filter(([name]) => used.has(name)).map(([name, [letter, words]]) =>
      legend(`cell a-${name}`, letter, words, ""));
    if (now.scenarios.some((each) => each.recording.accesses.length)) {
      letters.push(legend("under-way", "", "slot read, under way", "of-read"), legend("under-way", "", "written", "of-write"));
      if (used.has("c")) letters.push(legend("under-way", "", "copied into", "of-copy"));
      letters.push(legend("complete", "", "complete, but not every wave can rely on it", "of-write"));
    }
    if (now.scenarios.some((each) => each.recording.mbarriers.length)) {
      letters.push(legend("phase-0", "n", "mbarrier: phase n · arrivals / expected", ""));
    }
    element("letters").replaceChildren(...letters);
  }

  function legend(kind, letter, words, colour) {
    const sample = draw("rect", { class: kind, x: 0.5, y: colour ? 5 : 0.5, width: 17, height: colour ? 6 : 15, stroke: colour ? "none" : "var(--line)" });
    const text = draw("text", { x: 9, y: 12, "text-anchor": "middle", "font-size": 11, fill: "var(--ink)" }, letter);
    return make("li", {}, draw("svg", { width: 18, height: 16, "aria-hidden": "true", class: colour }, sample, text), words);
  }

  function setScenario(number, step) {
    if (!kernel().scenarios.length) {
      drawCode();
      return;
    }
    shown.scenario = number;
    shown.off = kernel().switches.findIndex((each) => each.off === number);
    element("scenario").value = number;
    element("position").max = Math.max(run().steps - 1, 0);
    drawSwitches();
    setStep(step);
    drawDetails();
  }

  function showRace(number) {
    stop();
    const recording = kernel().scenarios[number].recording, race = recording.races[0];
    setScenario(number, race ? race.second[2] : recording.stuck.length ? recording.steps - 1 : 0);
    if (race) selectLine(race.second[1], true);
    if (race) scrollTo(race.first[1]);
    drawCode();
  }

  function showHappen(number) {
    chooseFinding(number);
    // Where the run is out of sight, bring it there; where the reader can see it, nothing moves.
    element("race").scrollIntoView({ block: "nearest" });
  }

  function setStep(step) {
    const recording = run();
    if (!recording) return;
    shown.step = Math.min(Math.max(step, 0), Math.max(recording.steps - 1, 0));
    element("position").value = shown.step;
    element("step").textContent = `Step ${shown.step + 1} of ${recording.steps}`;
    element("back").disabled = element("to-start").disabled = shown.step === 0;
    element("forward").disabled = element("to-end").disabled = shown.step >= recording.steps - 1;
    if (shown.playing) follow(recording);
    drawRace(recording);
    drawLanes(recording);
    drawNow(recording);
    drawCode();
  }

  function follow(recording) {
    // While it plays, the wave that runs last in the kernel stays in view.
    const cell = cellAt(recording.cells[0], shown.step);
    if (cell) scrollTo(cell[1]);
  }

  function play() {
    if (!run()) return;
    if (shown.playing) {
      stop();
      return;
    }
    if (shown.step >= run().steps - 1) setStep(0);
    element("now").setAttribute("aria-live", "off");
    element("play").textContent = "❚❚ Pause";
    element("play").setAttribute("aria-label", "Pause");
    shown.playing = window.setInterval(() => {
      setStep(shown.step + 1);
      if (shown.step >= run().steps - 1) stop();
    }, SPEED);
  }

  function stop() {
    window.clearInterval(shown.playing);
    shown.playing = 0;
    element("now").setAttribute("aria-live", "polite");
    element("play").textContent = "▶ Play";
    element("play").setAttribute("aria-label", "Play");
  }

  function cellAt(cells, step) {
    // The last cell that begins no later, if it lasts until then.
    let low = 0, high = cells.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (cells[middle][0] <= step) low = middle + 1;
      else high = middle;
    }
    const cell = cells[low - 1];
    return cell && step < cell[0] + cell[3] ? cell : null;
  }

  const happened = (recording) => recording.races.filter((race) => race.second[2] <= shown.step);

  function racingLines() {
    // The lines of the race that was last, and the waves that race there.
    const found = new Map(), recording = run();
    const race = recording && happened(recording)[0];
    if (!race) return found;
    for (const [wave, line] of [race.first, race.second]) found.set(line, (found.get(line) || new Set()).add(wave));
    return found;
  }

  function drawRace(recording) {
    const box = element("race"), races = happened(recording), scenario = kernel().scenarios[shown.scenario];
    const ended = shown.step >= recording.steps - 1;
    const stuck = ended ? recording.hangs : "";
    let text, kind = "";
    if (stuck) {
      text = `⚡ Deadlock: ${stuck}.${races.length ? ` Race: ${races[0].text}.` : ""}`;
      kind = "happens";
    } else if (races.length) {
      const others = races.length > 1 ? ` (and ${many(races.length - 1, "more race")} in this run)` : "";
      text = `⚡ Race (${races[0].kind}, ${KINDS[races[0].kind]}): ${races[0].text}${others}.`;
      kind = "happens";
    } else if (recording.races.length) text = "No race so far in this run.";
    else if (recording.stuck.length) text = "Nobody waits for ever so far.";
    else {
      const barrier = scenario.opposite !== null ? `: with ${kernel().scenarios[scenario.opposite].switched_off.map((line) => "line " + line).join(" and ")} there, the waves wait for each other` : "";
      text = `✓ No race in this run${barrier}.`;
      kind = "gone";
    }
    box.className = kind;
    if (box.textContent !== text) box.textContent = text;
  }

  function drawNow(recording) {
    const racing = racingLines();
    element("now").replaceChildren(...recording.waves.map((wave, place) => {
      const cell = cellAt(recording.cells[place], shown.step);
      const text = cell ? `${ACTIONS[cell[2]][1]}, line ${cell[1]}` : shown.step < recording.steps ? "has ended" : "";
      const races = cell && racing.has(cell[1]) && racing.get(cell[1]).has(wave);
      return make("li", races ? { class: "races" } : {}, make("b", {}, `wave ${wave} `), `${races ? "⚡ " : ""}${text}`);
    }));
  }

  // ------------------------------------------------------------ lanes

  function drawLanes(recording) {
    const box = element("lanes"), room = Math.max(box.clientWidth - LABEL, 10 * CELL);
    const columns = Math.floor(room / CELL);
    const last = Math.max(recording.steps - columns, 0);
    const first = Math.min(Math.max(shown.step - Math.floor(columns * 0.6), 0), last);
    const view = { first, columns, x: (step) => LABEL + (step - first) * CELL };
    const slots = usedSlots(recording);
    const tops = { waves: 20, slots: 20 + recording.waves.length * LANE + 8 };
    tops.mbarriers = tops.slots + slots.length * SLOT + (slots.length ? 8 : 0);
    const height = tops.mbarriers + recording.mbarriers.length * SLOT + 6;
    const svg = draw("svg", {
      width: LABEL + columns * CELL, height, role: "img",
      "aria-label": `Step ${shown.step + 1} of ${recording.steps}; what each wave does is listed below`,
    });
    drawAxis(svg, view, height, recording.steps);
    drawWaves(svg, view, recording, tops.waves);
    drawSlots(svg, view, recording, tops.slots, slots);
    drawPhases(svg, view, recording, tops.mbarriers);
    drawRaceMarks(svg, view, recording, tops.waves);
    svg.append(draw("rect", { class: "cursor", x: view.x(shown.step), y: 17, width: CELL, height: height - 20, rx: 3 }));
    box.replaceChildren(svg);
  }

  function inView(view, start, end) {
    return end > view.first && start < view.first + view.columns;
  }

  function drawAxis(svg, view, height, steps) {
    for (let step = view.first; step < Math.min(view.first + view.columns, steps); step++) {
      if ((step + 1) % 5 === 0 || step === 0) {
        svg.append(draw("text", { class: "soft", x: view.x(step) + CELL / 2, y: 13, "text-anchor": "middle" }, String(step + 1)));
      }
    }
    svg.append(draw("path", { class: "rule", d: `M${LABEL - 2} 16V${height}` }));
  }

  function drawWaves(svg, view, recording, top) {
    const groups = Math.max(...recording.groups) > 0;
    recording.waves.forEach((wave, place) => {
      const y = top + place * LANE;
      const group = groups ? ` · ${String.fromCharCode(65 + (recording.groups[place] % 26))}` : "";
      svg.append(draw("text", { x: 6, y: y + 16 }, `wave ${wave}${group}`));
      for (const [start, line, action, steps] of recording.cells[place]) {
        if (!inView(view, start, start + steps)) continue;
        const from = Math.max(start, view.first), to = Math.min(start + steps, view.first + view.columns);
        const cell = draw("g", { class: start > shown.step ? "later" : "" },
          draw("title", {}, `wave ${wave} ${ACTIONS[action][1]}: line ${line}: ${lineText(line)}`),
          draw("rect", { class: `cell a-${action}`, x: view.x(from) + 1, y: y + 1, width: (to - from) * CELL - 2, height: LANE - 4, rx: 3 }),
          draw("text", { class: "letter", x: view.x(from) + ((to - from) * CELL) / 2, y: y + 16 }, ACTIONS[action][0]));
        cell.addEventListener("click", () => { setStep(start); selectLine(line, true); });
        svg.append(cell);
      }
    });
  }

  function usedSlots(recording) {
    const used = new Set(recording.accesses.flatMap((access) => access.lanes));
    return recording.slots.map((name, number) => [name, number]).filter(([, number]) => used.has(number));
  }

  function drawSlots(svg, view, recording, top, slots) {
    const high = Math.max((SLOT - 4) / recording.waves.length, 1.5);
    slots.forEach(([name, number], place) => {
      const y = top + place * SLOT;
      svg.append(draw("text", { x: 6, y: y + 13 }, name));
      svg.append(draw("path", { class: "rule", d: `M0 ${y}H${LABEL + view.columns * CELL}` }));
      for (const access of recording.accesses) {
        if (!access.lanes.includes(number)) continue;
        const complete = access.complete === null ? recording.steps : access.complete;
        const visible = access.visible === null ? recording.steps : access.visible;
        if (!inView(view, access.step, Math.max(complete, visible) + 1)) continue;
        const kind = access.action === "r" || access.action === "e" ? "read" : access.action === "c" ? "copy" : "write";
        const line = y + 2 + recording.waves.indexOf(access.wave) * high;
        const bar = draw("g", { class: `of-${kind}${access.step > shown.step ? " later" : ""}` },
          draw("title", {}, `wave ${access.wave} ${ACTIONS[access.action][1]} ${name} (line ${access.line}): ` +
            (access.complete === null ? "under way to the end" : `complete at step ${access.complete + 1}`)),
          span(view, "under-way", access.step, Math.max(complete, access.step + 1), line, high));
        if (visible > complete) bar.append(span(view, "complete", Math.max(complete, access.step + 1), visible, line, high));
        svg.append(bar);
      }
    });
  }

  function span(view, kind, start, end, y, high) {
    const from = Math.max(start, view.first), to = Math.min(Math.max(end, start), view.first + view.columns);
    return draw("rect", { class: kind, x: view.x(from), y, width: Math.max((to - from) * CELL, 0), height: Math.max(high - 0.5, 1) });
  }

  function drawPhases(svg, view, recording, top) {
    recording.mbarriers.forEach((mbarrier, place) => {
      const y = top + place * SLOT;
      svg.append(draw("text", { x: 6, y: y + 13 }, mbarrier.name));
      svg.append(draw("path", { class: "rule", d: `M0 ${y}H${LABEL + view.columns * CELL}` }));
      mbarrier.phases.forEach((phase, number) => {
        const next = mbarrier.phases[number + 1], end = next ? next.step : recording.steps;
        if (end <= phase.step || !inView(view, phase.step, end)) return;
        const parity = phase.complete % 2;
        const words = `phase ${phase.complete}, parity ${parity}: ${phase.arrived} of ${many(phase.count, "arrival")}` +
          (phase.bytes ? `, ${phase.bytes} bytes to come` : "");
        const rect = span(view, `phase-${parity}`, phase.step, end, y + 2, SLOT - 4);
        const from = Math.max(phase.step, view.first), wide = (Math.min(end, view.first + view.columns) - from) * CELL;
        const text = wide > 110 ? `phase ${phase.complete} · ${phase.arrived}/${phase.count}` : wide > 34 ? `${phase.complete} · ${phase.arrived}/${phase.count}` : wide >= 18 ? String(phase.complete) : "";
        rect.setAttribute("stroke", "var(--line)");
        svg.append(draw("g", { class: phase.step > shown.step ? "later" : "" }, draw("title", {}, words), rect,
          draw("text", { class: "soft", x: view.x(from) + 4, y: y + 13 }, text)));
      });
    });
  }

  function drawRaceMarks(svg, view, recording, top) {
    const race = happened(recording)[0];
    if (!race) return;
    const spots = [race.first, race.second].map(([wave, , step]) => ({
      x: view.x(step), y: top + recording.waves.indexOf(wave) * LANE, step,
    }));
    for (const spot of spots) {
      if (inView(view, spot.step, spot.step + 1)) {
        svg.append(draw("rect", { class: "raced", x: spot.x + 1, y: spot.y, width: CELL - 2, height: LANE - 2, rx: 3 }));
      }
    }
    if (spots.every((spot) => inView(view, spot.step, spot.step + 1))) {
      const [one, two] = spots.map((spot) => `${spot.x + CELL / 2} ${spot.y + LANE / 2}`);
      svg.append(draw("path", { class: "link", "stroke-dasharray": "2 3", d: `M${one}L${two}` }));
    }
  }

  // ------------------------------------------------------------ strategies

  function makeStrategies() {
    const rows = kernel().strategies;
    element("strategies-panel").hidden = rows.length < 2;
    const number = (text) => make("td", { class: "number" }, text);
    const round = (value) => (value === null ? "–" : Math.round(value).toLocaleString("en"));
    const heads = [["Strategy", ""], ["Barriers", "number"], ["Executed", "number"], ["Cycles", "number"], ["Of them a wave stalls", "number"], ["Where", ""]];
    const fewest = Math.min(...rows.slice(1).map((row) => row.executed));
    element("strategies").replaceChildren(
      make("thead", {}, make("tr", {}, ...heads.map(([text, kind]) => make("th", { scope: "col", class: kind }, text)))),
      make("tbody", {}, ...rows.map((row, place) => make("tr", { class: place && row.executed === fewest ? "best" : "" },
        make("th", { scope: "row" }, row.name), number(String(row.barriers)), number(round(row.executed)), number(round(row.cycles)),
        number(round(row.stall)), whereCell(row)))),
    );
  }

  function whereCell(row) {
    // The first row is the kernel itself: too few barriers are no bargain.
    const wrong = row === kernel().strategies[0] && !kernel().ok ? "wrong: see the findings" : "";
    if (!row.lines.length) return make("td", {}, row.note || wrong);
    const list = make("ul", {}, ...row.lines.map((text) => make("li", { class: "code" }, text)));
    return make("td", {}, make("details", {}, make("summary", {}, row.note || many(row.lines.length, "place")), list));
  }

  // ------------------------------------------------------------ keys

  function onKey(event) {
    const typing = event.target.closest("input:not([type=checkbox]), select, textarea");
    if (event.key === "Escape") {
      element("search").value = "";
      filter("");
      if (typing) element("code").focus();
      return;
    }
    if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
    const inCode = document.activeElement === element("code");
    const actions = {
      "/": () => element("search").focus(),
      ArrowRight: () => { stop(); setStep(shown.step + 1); },
      ArrowLeft: () => { stop(); setStep(shown.step - 1); },
      b: nextBarrier,
      n: nextFinding,
    };
    if (!event.target.closest("button, input, summary")) actions[" "] = play;
    if (inCode) {
      const visible = Math.max(1, Math.floor(element("code").clientHeight / ROW) - 2);
      Object.assign(actions, {
        ArrowDown: () => moveSelection(1), ArrowUp: () => moveSelection(-1), PageDown: () => moveSelection(visible),
        PageUp: () => moveSelection(-visible), Home: () => moveSelection(-lines().length), End: () => moveSelection(lines().length),
        Enter: () => toggle(kernel().switches.findIndex((each) => each.lines.includes(shown.line))),
      });
    }
    if (actions[event.key]) {
      event.preventDefault();
      actions[event.key]();
    }
  }

  // ------------------------------------------------------------ start

  function start() {
    makeHead();
    element("to-start").addEventListener("click", () => { stop(); setStep(0); });
    element("back").addEventListener("click", () => { stop(); setStep(shown.step - 1); });
    element("play").addEventListener("click", play);
    element("forward").addEventListener("click", () => { stop(); setStep(shown.step + 1); });
    element("to-end").addEventListener("click", () => { stop(); setStep(run() ? run().steps - 1 : 0); });
    element("position").addEventListener("input", () => { stop(); setStep(Number(element("position").value)); });
    element("scenario").addEventListener("change", () => { stop(); setScenario(Number(element("scenario").value), 0); });
    element("code").addEventListener("scroll", () => window.requestAnimationFrame(drawCode));
    window.addEventListener("resize", () => { drawCode(); if (run()) drawLanes(run()); });
    document.addEventListener("keydown", onKey);
    showKernel(0);
    document.documentElement.dataset.ready = String(Math.round(performance.now()));
  }

  start();
})();
