// The list beside a debate, on a wide screen: follows the feed, is searched and filtered, and can be hidden.
import { onChange } from "./feed.js";
import * as filters from "./filters.js";
import { rove } from "./keys.js";
import { mark } from "./seen.js";
import { get } from "./socket.js";

const debate = document.getElementById("debate");
const form = document.getElementById("beside-filters");
const wide = matchMedia("(min-width: 105rem)");
const HIDDEN = "aw-list-hidden";
let asked = 0;
let soon = 0;
// Whether all debates of each group are shown.
let all = false;

function list() {
  return document.getElementById("beside");
}

function isShown() {
  return wide.matches && list() && !debate.classList.contains("no-list");
}

async function refresh() {
  const mine = ++asked;
  const query = filters.kept();
  query.set("beside", debate.dataset.id);
  if (all) query.set("all", "1");
  const answer = await get(`/?${query}`, { "x-fragment": "beside" }).catch(() => null);
  if (!answer?.ok || mine !== asked) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("beside-rows");
  if (!fresh) return;
  const was = document.getElementById("beside-rows");
  const top = list().scrollTop;
  const href = was.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
  was.replaceWith(fresh);
  mark(list());
  list().scrollTop = top;
  if (href) fresh.querySelector(`a[href="${href}"]`)?.focus({ preventScroll: true });
  rove();
}

function refreshSoon(pause = 60) {
  clearTimeout(soon);
  if (isShown()) soon = setTimeout(refresh, pause);
}

export function toggle() {
  if (!list() || !wide.matches) return false;
  const hides = debate.classList.toggle("no-list");
  if (hides) localStorage.setItem(HIDDEN, "1");
  else localStorage.removeItem(HIDDEN);
  refreshSoon();
  return true;
}

// Searches the list beside the debate, or the list itself.
export function search() {
  if (!isShown()) {
    location.href = "/#search";
    return true;
  }
  form.elements.q.focus();
  form.elements.q.select();
  return true;
}

export function start() {
  if (!list()) return;
  if (localStorage.getItem(HIDDEN)) debate.classList.add("no-list");
  filters.restore(form);
  const kept = filters.kept();
  mark(list());
  if (kept.size > 0) refreshSoon(0);
  kept.delete("q");
  document.getElementById("beside-more").open = kept.size > 0;
  form.addEventListener("input", () => { filters.keep(form); refreshSoon(120); });
  form.addEventListener("submit", (event) => { event.preventDefault(); refresh(); });
  list().addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || all || !event.target.closest("[data-all]")) return;
    event.preventDefault();
    all = true;
    refresh();
  });
  const current = list().querySelector("[aria-current]");
  const isBelow = current && current.offsetTop + current.offsetHeight > list().clientHeight;
  if (isBelow) list().scrollTop = current.offsetTop - list().clientHeight / 2;
  onChange(() => refreshSoon());
  wide.addEventListener("change", () => refreshSoon());
  // A debate may have been read on another tab.
  addEventListener("storage", () => mark(list()));
}
