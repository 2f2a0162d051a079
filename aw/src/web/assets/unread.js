// What is new since the reader last looked. An argument counts as seen after it was on the screen.
import * as kept from "./seen.js";

const debate = document.getElementById("debate");
const first = Number(debate.dataset.first);
const pill = document.getElementById("new-below");
// How long an argument must be on the screen.
const LOOKED = 600;
let last = Number(debate.dataset.last);
const stored = kept.seen(debate);
// On the first visit nothing is new.
let seen = stored > 0 ? Math.min(stored, last) : last;
// The arguments after this one are new during this visit.
let since = seen;
// The reader's own arguments.
const mine = new Set();
const looked = new Set();
const timers = new Map();

function keep() {
  kept.keep(debate, seen);
}

function articles() {
  return [...document.querySelectorAll("#record > .argument, #arguments > .argument")];
}

function fresh() {
  return articles().filter(({ dataset: { seq } }) => Number(seq) > since && !mine.has(Number(seq)));
}

// Advances over arguments that were on the screen, in order: a leap to the end skips none.
function advance() {
  const before = seen;
  if (seen < first - 1) seen = first - 1;
  while (looked.has(seen + 1)) seen += 1;
  if (seen !== before) keep();
  draw();
}

const watcher = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting, intersectionRatio, intersectionRect } of entries) {
    const seq = Number(target.dataset.seq);
    const isRead = isIntersecting && (intersectionRatio >= 0.5 || intersectionRect.height >= innerHeight * 0.4);
    if (isRead && !document.hidden && !timers.has(seq)) {
      timers.set(seq, setTimeout(() => {
        looked.add(seq);
        watcher.unobserve(target);
        advance();
      }, LOOKED));
    } else if (!isRead) {
      clearTimeout(timers.get(seq));
      timers.delete(seq);
    }
  }
}, { threshold: [0, 0.1, 0.25, 0.5, 0.75, 1] });

export function count() {
  return Math.max(0, last - seen);
}

export function draw() {
  const number = count();
  const link = document.getElementById("bar-new");
  if (link) {
    link.hidden = number === 0;
    link.dataset.count = number;
    link.textContent = number === 1 ? link.dataset.one : link.dataset.many.replace("{}", number);
    const hint = document.createElement("kbd");
    hint.textContent = "n";
    hint.ariaHidden = "true";
    link.append(" ", hint);
  }
  const next = articles().find((one) => Number(one.dataset.seq) > seen);
  const isBelow = next && next.getBoundingClientRect().top > innerHeight - 40;
  pill.hidden = number === 0 || !isBelow;
  pill.textContent = number === 1 ? debate.dataset.oneNew : debate.dataset.manyNew.replace("{}", number);
}

// The line before the first new argument.
function line() {
  if (document.getElementById("new-since")) return;
  const next = fresh()[0];
  if (!next) return;
  const mark = document.createElement("p");
  mark.id = "new-since";
  mark.className = "new-since";
  mark.textContent = debate.dataset.newSince;
  next.before(mark);
}

export function go(article) {
  if (!article) return false;
  article.scrollIntoView({ block: "start" });
  article.focus({ preventScroll: true });
  return true;
}

// Moves to the next or the previous new argument.
export function step(forward) {
  const all = fresh();
  const top = document.getElementById("bar").getBoundingClientRect().bottom + 24;
  const at = (one) => one.getBoundingClientRect().top;
  const isCurrent = (one) => one === document.activeElement;
  const current = all.findIndex(isCurrent);
  if (current >= 0) return go(all[current + (forward ? 1 : -1)]);
  if (forward) return go(all.find((one) => at(one) > top) ?? all.find((one) => Number(one.dataset.seq) > seen));
  return go(all.reverse().find((one) => at(one) < top));
}

export function arrived(article) {
  last = Math.max(last, Number(article.dataset.seq));
  watcher.observe(article);
  line();
  draw();
}

// The reader's own argument is no news.
export function own(seq) {
  last = Math.max(last, seq);
  mine.add(seq);
  looked.add(seq);
  document.getElementById("new-since")?.remove();
  line();
  advance();
}

export function start(opensHere) {
  keep();
  kept.start(debate);
  for (const article of articles()) if (Number(article.dataset.seq) > seen) watcher.observe(article);
  line();
  draw();
  const toFirst = () => go(articles().find((one) => Number(one.dataset.seq) > seen));
  pill.addEventListener("click", toFirst);
  document.addEventListener("click", (event) => {
    if (!event.target.closest("#bar-new")) return;
    event.preventDefault();
    toFirst();
  });
  addEventListener("scroll", () => { if (count() > 0) draw(); }, { passive: true });
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) return;
    // Looks again at what is on the screen.
    for (const article of articles()) {
      if (Number(article.dataset.seq) <= seen) continue;
      watcher.unobserve(article);
      watcher.observe(article);
    }
  });
  if (opensHere && count() > 0 && document.getElementById("new-since")) {
    document.getElementById("new-since").scrollIntoView({ block: "start" });
  }
}
