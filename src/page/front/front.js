(() => {
  "use strict";
  const byId = (id) => document.getElementById(id);

  const cards = byId("cards");
  if (cards) {
    const [form, filter, kind, found] = ["find", "filter", "kind", "found"].map(byId);
    const all = [...cards.querySelectorAll("article")];
    const texts = all.map((card) => [...card.querySelectorAll("h3, .about, .about + p")].map((e) => e.textContent).join(" ").toLowerCase());
    const apply = () => {
      const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      all.forEach((card, n) => {
        card.hidden = !words.every((word) => texts[n].includes(word)) || (kind.value !== "" && card.dataset.holds !== kind.value);
        shown += card.hidden ? 0 : 1;
      });
      found.textContent = `${shown} of ${all.length}`;
    };
    form.hidden = false;
    form.addEventListener("submit", (event) => event.preventDefault());
    filter.addEventListener("input", apply);
    kind.addEventListener("change", apply);
    apply();
    const reveal = () => {
      const card = location.hash.startsWith("#s") && byId(location.hash.slice(1));
      if (!card || !card.hidden) return;
      filter.value = kind.value = "";
      apply();
      card.scrollIntoView();
    };
    addEventListener("hashchange", reveal);
  }

  const table = byId("verdicts");
  if (!table) return;
  const [box, tip, run, close] = ["tip-box", "tip", "tip-run", "tip-close"].map(byId);
  const rows = [...table.tBodies[0].rows].map((row) => [...row.cells].map((cell) => cell.querySelector("a, button")));
  const panel = matchMedia("(max-width: 640px)");
  let current = null;
  let shown = null;
  let timer = 0;

  const place = (mark) => {
    const at = mark.closest("td").getBoundingClientRect();
    const [width, height] = [box.offsetWidth, box.offsetHeight];
    const [right, bottom] = [document.documentElement.clientWidth - width - 8, innerHeight - height - 8];
    const [below, above, beside] = [at.bottom + 6, at.top - height - 6, at.right + 6];
    const fits = below <= bottom || above >= 8;
    const left = fits ? Math.max(8, Math.min(at.left, right)) : beside <= right ? beside : Math.max(8, at.left - width - 6);
    box.style.left = `${left}px`;
    box.style.top = `${below <= bottom ? below : above >= 8 ? above : Math.max(8, Math.min(at.top, bottom))}px`;
  };
  const inSight = (mark) => {
    const [at, grid] = [mark.getBoundingClientRect(), table.closest(".scroll").getBoundingClientRect()];
    const [top, bottom] = [Math.max(0, grid.top), Math.min(innerHeight, grid.bottom)];
    return at.bottom > top && at.top < bottom && at.right > grid.left && at.left < grid.right;
  };
  const hide = () => {
    clearTimeout(timer);
    box.hidden = true;
    shown = null;
  };
  const show = (mark) => {
    clearTimeout(timer);
    if (shown === mark) return;
    const cell = mark.closest("td");
    const head = document.createElement("p");
    const name = document.createElement("b");
    name.textContent = cell.dataset.strategy;
    head.append(name, " under ", cell.dataset.faults);
    const said = [...byId(mark.dataset.at).children].filter((e) => !e.querySelector("a"));
    tip.replaceChildren(head, ...said.map((e) => e.cloneNode(true)));
    run.hidden = mark.tagName !== "A";
    if (!run.hidden) run.href = mark.getAttribute("href");
    box.hidden = false;
    shown = mark;
    if (panel.matches) scrollBy(0, Math.max(0, cell.getBoundingClientRect().bottom + 8 - box.getBoundingClientRect().top));
    else place(mark);
  };
  const hideSoon = () => {
    clearTimeout(timer);
    timer = setTimeout(hide, 150);
  };
  const choose = (mark) => {
    if (current) current.tabIndex = -1;
    current = mark;
    current.tabIndex = 0;
  };

  rows.flat().forEach((mark) => { if (mark) mark.tabIndex = -1; });
  byId("hints").hidden = false;
  const first = rows.flatMap((row) => row.slice(1)).find(Boolean);
  if (first) choose(first);

  const markOf = (event) => event.target.closest?.("td")?.querySelector("[data-at]");
  table.addEventListener("focusin", (event) => {
    if (rows.some((row) => row.includes(event.target))) choose(event.target);
    const mark = markOf(event);
    if (mark) show(mark);
  });
  table.addEventListener("focusout", (event) => {
    if (!box.contains(event.relatedTarget)) hide();
  });
  table.addEventListener("mouseover", (event) => {
    const mark = markOf(event);
    if (mark) show(mark);
    else hideSoon();
  });
  table.addEventListener("mouseleave", hideSoon);
  box.addEventListener("mouseenter", () => clearTimeout(timer));
  box.addEventListener("mouseleave", hideSoon);

  let touched = false;
  let before = null;
  table.addEventListener("pointerdown", (event) => {
    touched = event.pointerType === "touch";
    before = shown;
  });
  table.addEventListener("click", (event) => {
    const mark = markOf(event);
    if (!mark) return;
    if (touched && before !== mark) event.preventDefault();
    show(mark);
  });
  document.addEventListener("pointerdown", (event) => {
    if (shown && !box.contains(event.target) && !table.contains(event.target)) hide();
  });
  close.addEventListener("click", () => {
    const back = shown;
    hide();
    back?.focus({ preventScroll: true });
    hide();
  });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
  panel.addEventListener("change", hide);
  addEventListener("resize", () => { if (!panel.matches) hide(); });
  const follow = (event) => {
    if (!shown || panel.matches || box.contains(event.target)) return;
    if (shown === document.activeElement && inSight(shown)) place(shown);
    else hide();
  };
  addEventListener("scroll", follow, { capture: true, passive: true });

  const find = (marks) => marks.find(Boolean);
  table.addEventListener("keydown", (event) => {
    if (event.altKey || event.metaKey || event.shiftKey) return;
    const mark = event.target;
    const y = rows.findIndex((row) => row.includes(mark));
    if (y < 0) return;
    const x = rows[y].indexOf(mark);
    const column = rows.map((row) => row[x]);
    const next = {
      ArrowRight: () => find(rows[y].slice(x + 1)),
      ArrowLeft: () => find(rows[y].slice(0, x).reverse()),
      ArrowDown: () => find(column.slice(y + 1)),
      ArrowUp: () => find(column.slice(0, y).reverse()),
      Home: () => find(rows[event.ctrlKey ? 0 : y].slice(1)),
      End: () => find([...rows[event.ctrlKey ? rows.length - 1 : y]].reverse()),
    }[event.key]?.();
    if (next === undefined) return;
    event.preventDefault();
    next.focus();
  });
})();
