// Moves through the changes of a document: `]` to the next one, `[` to the previous one.
import { isOurs } from "./help.js";

function places() {
  return [...document.querySelectorAll(".changes .change")];
}

// Moves to the next change after the one in sight. Returns whether there is one.
export function step(forward) {
  const all = places();
  const at = all.indexOf(document.activeElement);
  const middle = innerHeight / 3;
  const top = (one) => one.getBoundingClientRect().top;
  const next = at >= 0 ? all[at + (forward ? 1 : -1)]
    : forward ? all.find((one) => top(one) > 60) ?? all[0]
    : all.reverse().find((one) => top(one) < middle);
  if (!next) return false;
  next.tabIndex = -1;
  next.scrollIntoView({ block: "center" });
  next.focus({ preventScroll: true });
  return true;
}

export function start() {
  document.addEventListener("keydown", (event) => {
    if (!isOurs(event)) return;
    if (event.key === "]" && step(true)) event.preventDefault();
    if (event.key === "[" && step(false)) event.preventDefault();
  });
}
