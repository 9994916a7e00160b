(() => {
  "use strict";
  const find = (id) => document.getElementById(id);
  const all = (root, query) => Array.from(root.querySelectorAll(query));
  const make = (name, text, kind) => {
    const node = document.createElement(name);
    node.textContent = text;
    if (kind) node.className = kind;
    return node;
  };

  const scrub = find("scrub");
  const at = find("at");
  let run;

  // The pictures and stories themselves are the data.
  const read = (which) => {
    const roots = all(document, "." + which);
    const query = (text) => roots.flatMap((root) => all(root, text));
    const time = (node) => ({
      host: node.dataset.host,
      holder: node.dataset.holder,
      say: node.dataset.say,
      from: Number(node.dataset.from),
      to: Number(node.dataset.to),
    });
    return {
      lines: query("ol.story > li"),
      scroller: query("div.picture")[0],
      cursor: query("g.cursor")[0],
      names: Number(query("svg.names")[0].getAttribute("width")),
      held: query("svg.names")[0].dataset.held,
      nodes: query("svg.names [data-node]").map((node) => node.dataset.node),
      bands: query("g.band").map(time),
      cuts: query("g.cut").map(time),
      beliefs: query("g.belief").map(time),
      wrong: query("g.overlap[data-from]").map(time),
      leases: query("g.bar.lease[data-from]").map(time),
    };
  };

  const now = (list, moment) => list.filter((one) => one.from <= moment && moment < one.to);

  const state = (node, moment) => {
    const of = (list) => now(list, moment).filter((one) => one.host === node);
    const wrong = of(run.bands).concat(of(run.cuts)).map((one) => one.say);
    const says = [wrong.length ? wrong.join("; ") : "running"];
    if (of(run.beliefs).length > 0) says.push("believes it holds the " + run.held);
    if (of(run.wrong).length > 0) says.push("✗ wrongly");
    return says.join(", ");
  };

  const held = (moment) => {
    const leases = now(run.leases, moment);
    if (!run.leases.length) return [];
    if (!leases.length) return [[run.held, "nobody holds it"]];
    return leases.map((lease) => [lease.host, lease.holder + " holds the " + run.held]);
  };

  const time = (line) => line.querySelector("time").textContent;
  const told = (line) => line.querySelector("b").textContent + " " + line.querySelector("span").textContent;

  const move = (index) => {
    const last = run.lines.length - 1;
    const i = Math.max(0, Math.min(last, index));
    const line = run.lines[i];
    if (!line) return;
    scrub.value = i;
    scrub.setAttribute("aria-valuetext", time(line) + " " + told(line));
    const moment = Number(line.dataset.t);
    const rows = run.nodes.map((node) => [node, state(node, moment)]).concat(held(moment));
    const head = make("span", "", "wrong" in line.dataset ? "now wrong" : "now");
    head.append(make("b", time(line)), " " + told(line), make("small", " " + (i + 1) + " of " + (last + 1)));
    at.replaceChildren(head, ...rows.flatMap(([name, text]) => {
      const one = make("span", "", text.includes("✗") ? "state wrong" : "state");
      one.append(make("b", name), " " + text);
      return [" ", one];
    }));
    run.cursor.removeAttribute("hidden");
    run.cursor.setAttribute("transform", "translate(" + line.dataset.x + " 0)");
    if (run.current) run.current.removeAttribute("aria-current");
    run.current = line;
    line.setAttribute("aria-current", "step");
    show(line);
  };

  // Scrolls the list and the picture, never the page.
  const show = (line) => {
    const list = line.parentElement;
    const top = line.offsetTop - list.offsetTop;
    if (top < list.scrollTop || top + line.offsetHeight > list.scrollTop + list.clientHeight) {
      list.scrollTop = top - list.clientHeight / 3;
    }
    const x = Number(line.dataset.x);
    const room = run.scroller.clientWidth - run.names;
    if (x < run.scroller.scrollLeft + 20 || x > run.scroller.scrollLeft + room - 40) {
      run.scroller.scrollLeft = x - room / 2;
    }
  };

  const start = (which) => {
    if (run && run.current) run.current.removeAttribute("aria-current");
    run = read(which);
    scrub.max = Math.max(0, run.lines.length - 1);
    const wrong = run.lines.findIndex((line) => "wrong" in line.dataset);
    const kept = run.lines.findIndex((line) => "kept" in line.dataset);
    move(Math.max(0, kept < 0 ? wrong : kept));
    find("next-wrong").disabled = wrong < 0;
  };

  const nextWrong = () => {
    const here = Number(scrub.value);
    const wrong = run.lines.map((line, i) => ("wrong" in line.dataset ? i : -1)).filter((i) => i >= 0);
    const next = wrong.find((i) => i > here);
    move(next === undefined ? wrong[0] : next);
  };

  const select = (node) => {
    const range = document.createRange();
    range.selectNodeContents(node);
    const selection = getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
  };

  const copy = async (id) => {
    const node = find(id);
    let done = false;
    try {
      await navigator.clipboard.writeText(node.textContent);
      done = true;
    } catch {
      select(node);
      done = document.execCommand("copy");
    }
    find("copied").textContent = done ? "Copied." : "Selected: copy it with the keyboard.";
  };

  find("scrubber").hidden = false;
  scrub.addEventListener("input", () => move(Number(scrub.value)));
  find("previous").addEventListener("click", () => move(Number(scrub.value) - 1));
  find("next").addEventListener("click", () => move(Number(scrub.value) + 1));
  find("next-wrong").addEventListener("click", nextWrong);
  for (const list of all(document, "ol.story")) {
    list.addEventListener("click", (event) => {
      const line = event.target.closest("li");
      if (line && getSelection().isCollapsed) move(run.lines.indexOf(line));
    });
  }
  for (const radio of all(document, "input[name=which]")) {
    radio.addEventListener("change", () => start(radio.value));
  }
  for (const button of all(document, "button[data-copy]")) {
    button.hidden = false;
    button.addEventListener("click", () => copy(button.dataset.copy));
  }
  const checked = document.querySelector("input[name=which]:checked");
  start(checked ? checked.value : "after");
})();
