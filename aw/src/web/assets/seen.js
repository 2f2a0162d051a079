// The newest argument of each debate that the reader has seen. The server keeps it for a person with a
// token, the browser for everybody else. An element of a debate has its id, and `data-seen` if the server
// keeps it.
const PAUSE = 400;
let unsent = 0;
let timer = 0;
// Another site may open the page in a window, so the server notes nothing before a person is there.
let isHere = false;

export function seen({ dataset }) {
  return Number(dataset.seen ?? localStorage.getItem(`aw-seen:${dataset.id}`));
}

function send(id) {
  clearTimeout(timer);
  const seq = unsent;
  if (seq === 0 || !isHere) return;
  unsent = 0;
  const headers = { "content-type": "application/json" };
  fetch(`/debates/${id}/seen`, { method: "PUT", keepalive: true, headers, body: JSON.stringify({ seq }) })
    // Sent again with the next one.
    .catch(() => { unsent = Math.max(unsent, seq); });
}

export function keep({ dataset }, seq) {
  if (dataset.seen === undefined) {
    localStorage.setItem(`aw-seen:${dataset.id}`, String(seq));
    return;
  }
  unsent = Math.max(unsent, seq);
  clearTimeout(timer);
  timer = setTimeout(() => send(dataset.id), PAUSE);
}

// Sends once a person is there, and what is not sent yet when the page is left.
export function start({ dataset }) {
  if (dataset.seen === undefined) return;
  for (const sign of ["pointermove", "pointerdown", "wheel", "keydown"]) {
    addEventListener(sign, () => { isHere = true; send(dataset.id); }, { once: true, passive: true });
  }
  addEventListener("pagehide", () => send(dataset.id));
  document.addEventListener("visibilitychange", () => { if (document.hidden) send(dataset.id); });
}

// Marks the rows of a list with the number of new arguments. The server has marked what it keeps itself.
export function mark(list) {
  const { many, one } = list.dataset;
  for (const row of list.querySelectorAll("[data-last]")) {
    const sign = row.querySelector(".unread");
    if (!sign || row.dataset.seen !== undefined) continue;
    const before = seen(row);
    const count = Number(row.dataset.last) - before;
    sign.hidden = count <= 0;
    sign.textContent = before === 0 ? list.dataset.new : count === 1 ? one : many.replace("{}", count);
  }
}
