// The list beside a debate, on a wide screen: follows the feed, and can be hidden.
import { onChange } from "./feed.js";
import { rove } from "./keys.js";
import { mark } from "./seen.js";
import { get } from "./socket.js";

const debate = document.getElementById("debate");
const wide = matchMedia("(min-width: 105rem)");
const HIDDEN = "aw-list-hidden";
let asked = 0;
let soon = 0;

function list() {
  return document.getElementById("beside");
}

function isShown() {
  return wide.matches && !debate.classList.contains("no-list");
}

async function refresh() {
  const mine = ++asked;
  const answer = await get(`/?beside=${debate.dataset.id}`, { "x-fragment": "beside" }).catch(() => null);
  if (!answer?.ok || mine !== asked) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("beside");
  if (!fresh) return;
  const top = list().scrollTop;
  const href = list().contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
  mark(fresh);
  list().replaceWith(fresh);
  fresh.scrollTop = top;
  if (href) fresh.querySelector(`a[href="${href}"]`)?.focus({ preventScroll: true });
  rove();
}

function refreshSoon() {
  clearTimeout(soon);
  if (isShown()) soon = setTimeout(refresh, 60);
}

export function toggle() {
  if (!list() || !wide.matches) return false;
  const hides = debate.classList.toggle("no-list");
  if (hides) localStorage.setItem(HIDDEN, "1");
  else localStorage.removeItem(HIDDEN);
  refreshSoon();
  return true;
}

export function start() {
  if (!list()) return;
  if (localStorage.getItem(HIDDEN)) debate.classList.add("no-list");
  mark(list());
  const current = list().querySelector("[aria-current]");
  const isBelow = current && current.offsetTop + current.offsetHeight > list().clientHeight;
  if (isBelow) list().scrollTop = current.offsetTop - list().clientHeight / 2;
  onChange(refreshSoon);
  wide.addEventListener("change", refreshSoon);
  // A debate may have been read on another tab.
  addEventListener("storage", () => mark(list()));
}
