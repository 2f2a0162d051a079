// A debate: inserts new arguments by their number, and replaces the regions around them.
import * as beside from "./beside.js";
import * as dock from "./dock.js";
import * as drafts from "./drafts.js";
import { onCount } from "./feed.js";
import * as keys from "./keys.js";
import * as plan from "./plan.js";
import { follow, get } from "./socket.js";
import * as unread from "./unread.js";

const debate = document.getElementById("debate");
const id = debate.dataset.id;
// Not location.pathname: a refused form is answered under its own address.
const page = `/debate/${id}`;
const place = document.getElementById("arguments");
const middle = document.getElementById("middle");
const isNewest = debate.dataset.newest === "true";
const REGIONS = ["bar", "top", "rail", "thread", "strip"];
let last = Number(debate.dataset.last);
let ruling = 0;
let own = 0;

// What the server wrote, so that an unchanged region stays as it is.
const written = new Map();

function textOf(region) {
  return region?.outerHTML.replace(/name="request" value="[^"]*"/g, "") ?? "";
}

for (const name of REGIONS) written.set(name, textOf(document.getElementById(name)));

function replaceRegion(name, will) {
  const was = document.getElementById(name);
  if (written.get(name) === textOf(will)) return;
  written.set(name, textOf(will));
  if (name === "thread" && !was && will) middle.prepend(will);
  else if (name === "thread" && was && !will) was.remove();
  if (!was || !will) return;
  // Read first: an element that is moved loses the focus.
  const active = was.contains(document.activeElement) ? document.activeElement : null;
  const from = active && "selectionStart" in active ? [active.selectionStart, active.selectionEnd] : null;
  const open = [...was.querySelectorAll("details[open][id]")].map((one) => one.id);
  const top = was.scrollTop;
  // The form in which a person writes a reason stays.
  const stop = was.querySelector("#intervene");
  const next = will.querySelector("#intervene");
  if (stop?.open && next) {
    stop.querySelector('[name="csrf"]').value = next.querySelector('[name="csrf"]').value;
    next.replaceWith(stop);
  }
  if (name === "rail" && will.querySelector("#rail-turns")) mergeTurns(was, will);
  const wasAtEnd = was.scrollHeight - was.clientHeight - top < 8;
  was.replaceWith(will);
  will.scrollTop = name === "rail" && wasAtEnd ? toNewestTurn(will) : top;
  for (const one of open) document.getElementById(one)?.setAttribute("open", "");
  if (!active) return;
  if (will.contains(active)) {
    active.focus({ preventScroll: true });
    if (from) active.setSelectionRange(...from);
    return;
  }
  // Focuses the same element in the new region.
  const href = active.getAttribute("href");
  const alike = [...will.querySelectorAll(active.tagName)].filter((one) => one.getAttribute("href") === href);
  const like = alike.find((one) => one.parentElement.id === active.parentElement.id) ?? alike[0];
  like?.focus({ preventScroll: true });
}

// A fresh region has the newest turns only.
function mergeTurns(was, will) {
  const rows = will.querySelector("#rail-turns");
  const known = new Set([...rows.children].map((row) => row.dataset.seq));
  const earlier = [...was.querySelectorAll("#rail-turns > li")].filter((row) => !known.has(row.dataset.seq));
  rows.append(...[...earlier, ...rows.children].sort((one, other) => one.dataset.seq - other.dataset.seq));
}

// Where the rail shows the newest turn of a debate without points.
function toNewestTurn(rail) {
  return rail.querySelector("#rail-turns") ? rail.scrollHeight : 0;
}

// The headings of statements show the state of their point now.
function markStatements() {
  for (const link of document.querySelectorAll("a[data-point]")) {
    const now = document.querySelector(`#point-${link.dataset.point} .point-state`)?.cloneNode(true);
    if (!now || link.textContent === now.dataset.now) continue;
    now.lastChild.textContent = now.dataset.now;
    link.replaceChildren(now);
  }
}

function placeRegions(fresh) {
  for (const name of REGIONS) replaceRegion(name, fresh.getElementById(name));
  markCurrent();
  markStatements();
  keys.rove();
  unread.draw();
  drawNext();
  drafts.restore(document.getElementById("bar"));
  plan.follow();
}

let asked = 0;
let soon = 0;

async function refresh() {
  clearTimeout(soon);
  const mine = ++asked;
  let html;
  try {
    const point = shownPoint() ? `&point=${shownPoint()}` : "";
    const answer = await get(`${page}?first=${debate.dataset.first}${point}`, { "x-fragment": "live" });
    if (!answer.ok) return;
    html = await answer.text();
  } catch {
    return;
  }
  if (mine !== asked) return;
  const fresh = new DOMParser().parseFromString(html, "text/html");
  const isBehind = Number(fresh.getElementById("bar").dataset.last) > last;
  placeRegions(fresh);
  dock.refresh(fresh, ruling, isBehind);
}

function refreshSoon() {
  clearTimeout(soon);
  soon = setTimeout(refresh, 40);
}

// The turns of one point instead of the transcript.

function shownPoint() {
  return debate.classList.contains("shows-thread") ? document.getElementById("thread")?.dataset.point : null;
}

function markCurrent() {
  for (const link of document.querySelectorAll("[data-point-open]")) {
    if (link.dataset.pointOpen === shownPoint()) link.ariaCurrent = "true";
    else link.ariaCurrent = null;
  }
}

async function showPoint(point) {
  const answer = await get(`${page}?first=${debate.dataset.first}&point=${point}`, { "x-fragment": "live" }).catch(() => null);
  if (!answer?.ok) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  if (!fresh.getElementById("thread")) return;
  debate.classList.add("shows-thread");
  placeRegions(fresh);
  bringThread();
}

// The turns of a point begin in the upper half of what the dock leaves.
function bringThread() {
  const thread = document.getElementById("thread");
  const { top } = thread.getBoundingClientRect();
  const room = innerHeight - document.getElementById("dock-place").offsetHeight;
  if (top < 0 || top > room / 2) thread.scrollIntoView({ block: "start" });
}

function whole() {
  if (!shownPoint()) return false;
  debate.classList.remove("shows-thread");
  document.getElementById("thread")?.remove();
  written.set("thread", "");
  markCurrent();
  return true;
}

function openPoint(point) {
  history.pushState(null, "", `${page}?point=${point}`);
  showPoint(point);
}

// New arguments.

function arrive(argument) {
  if (argument.seq <= last) return;
  last = argument.seq;
  if (argument.type === "RULING") ruling = argument.seq;
  if (!isNewest || !argument.html) return;
  if (document.getElementById(`a-${argument.seq}`)) return;
  const holder = document.createElement("template");
  holder.innerHTML = argument.html;
  const article = holder.content.firstElementChild;
  article.classList.add("arrives");
  const after = [...place.children].find((one) => Number(one.dataset.seq) > argument.seq);
  place.insertBefore(article, after ?? null);
  unread.arrived(article);
  if (argument.seq === own) {
    own = 0;
    unread.own(argument.seq);
    article.focus({ preventScroll: true });
  }
}

function heard(event, data) {
  if (event === "initial_state") {
    data.arguments.forEach(arrive);
    // Presence that changed between the page and the socket has no event of its own.
    const roles = Object.keys(data.presence);
    const shown = document.getElementById("bar").dataset;
    const isShown = (role) => document.getElementById(`agent-${role}`);
    const waiting = roles.filter((role) => isShown(role) && data.presence[role].waiting).join(" ");
    const labels = roles.filter((role) => isShown(role) && data.presence[role].working).map((role) => `${role}: ${data.presence[role].working.label}`);
    const same = waiting === shown.waiting && labels.join(" ") === shown.working;
    if (data.arguments.length > 0 || !same) refreshSoon();
  } else if (event === "new_argument") {
    arrive(data.argument);
    refreshSoon();
  } else if (event === "presence") {
    refreshSoon();
  } else if (event === "debate_deleted") {
    location.reload();
    return "over";
  }
  return undefined;
}

// Shows that the reader's ruling is recorded.
function ruled(seq, words) {
  const note = document.getElementById("recorded").content.firstElementChild.cloneNode(true);
  note.querySelector("span").textContent = words;
  document.querySelector(".recorded")?.remove();
  document.getElementById("dock-place").prepend(note);
  drawNext();
  const article = document.getElementById(`a-${seq}`);
  if (article) {
    unread.own(seq);
    article.focus({ preventScroll: true });
  } else own = seq;
}

// The next debate that needs the reader, in the bar and below the note of a ruling.
let next = null;

function drawNext() {
  for (const link of document.querySelectorAll(".next-needed")) {
    link.hidden = next === null;
    if (next === null) continue;
    const hint = document.createElement("kbd");
    hint.textContent = ".";
    hint.ariaHidden = "true";
    link.replaceChildren(`${link.dataset.words.replace("{}", next.count)} `, hint);
    link.href = `/debate/${next.id}`;
  }
}

function counted(debates, total) {
  const others = debates.filter((one) => one.id !== id);
  const count = Math.max(total - (debates.length - others.length), others.length);
  next = others.length > 0 ? { id: others[0].id, count } : null;
  drawNext();
}

export function start() {
  // A link to an earlier argument leads to the page that shows it.
  const linked = Number(location.hash.match(/^#a-(\d+)$/)?.[1]);
  if (linked <= last && !document.getElementById(`a-${linked}`)) {
    location.replace(`${page}?before=${linked + 100}#a-${linked}`);
    return;
  }
  if (debate.dataset.ruled) drafts.forget(...drafts.RULING);
  const query = new URLSearchParams(location.search);
  if (query.has("stopped")) drafts.forget("stop");
  if (debate.dataset.ruled || location.pathname !== page) history.replaceState(null, "", page + location.hash);
  drafts.restore(document);
  drafts.rememberTyped(document);
  document.addEventListener("input", drafts.remember);
  document.addEventListener("change", drafts.remember);
  document.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    const point = event.target.closest("[data-point-open], a[data-point]");
    if (point) {
      event.preventDefault();
      openPoint(point.dataset.pointOpen ?? point.dataset.point);
    } else if (event.target.closest("[data-whole]")) {
      event.preventDefault();
      history.pushState(null, "", page);
      whole();
    } else {
      // A link to an argument, to the question or to the report shows the transcript.
      const link = event.target.closest("a[href*='#a-'], a[href='#question'], a[href='#report'], a[href='#record']");
      if (link && shownPoint() && link.pathname === location.pathname) whole();
    }
  });
  addEventListener("popstate", () => {
    const point = new URLSearchParams(location.search).get("point");
    if (point) showPoint(point);
    else whole();
  });
  dock.start({ place: placeRegions, refresh, ruled });
  keys.start({ whole: () => { if (!whole()) return false; history.pushState(null, "", page); return true; }, keys: { d: plan.toggle, l: beside.toggle, "/": beside.search, "]": () => plan.step(1), "[": () => plan.step(-1) } });
  unread.start(!location.hash && !dock.isOpen() && !shownPoint());
  plan.start();
  beside.start();
  markCurrent();
  if (shownPoint()) bringThread();
  onCount(counted);
  document.getElementById("rail").scrollTop = toNewestTurn(document.getElementById("rail"));
  // Times pass, and an agent becomes quiet by time alone, without an event.
  setInterval(() => { if (!document.hidden) refreshSoon(); }, 20000);
  debate.dataset.ready = "";
  follow(() => `/ws?debate_id=${id}&after_seq=${last}&html=1`, heard, (missed) => {
    if (missed) refresh().then(dock.back);
  });
}
