// A socket that reconnects: with growing pauses, or at once when the network or the laptop wakes up.
const FIRST_PAUSE = 400;
const LONGEST_PAUSE = 15000;
// A script cannot see the pings of the server, and after a night a dead socket can look open. So the
// socket reconnects when the page was hidden or asleep for longer than this.
const ASLEEP = 50000;

const bar = document.getElementById("connection");
const lost = new Set();
// Whether the person is signed out, so that reconnecting fails.
let out = false;

// The code with which the server closes the socket of a person who is signed out.
const SIGNED_OUT = 1008;

function signedOut() {
  out = true;
  show();
}

function toSignIn() {
  const link = document.createElement("a");
  link.href = `/sign-in?to=${encodeURIComponent(location.pathname + location.search + location.hash)}`;
  link.textContent = bar.dataset.signIn;
  // Text that is stored nowhere stays on this tab.
  link.addEventListener("click", () => {
    const typed = [...document.querySelectorAll("textarea:not([data-draft], [readonly])")];
    if (typed.some((field) => field.value.trim() !== "")) link.target = "_blank";
  });
  return link;
}

function show() {
  if (!bar) return;
  if (out) {
    bar.classList.remove("back");
    bar.replaceChildren(`${bar.dataset.out} `, toSignIn());
  } else if (lost.size > 0) {
    bar.classList.remove("back");
    bar.textContent = bar.dataset.lost;
  } else if (bar.textContent !== "") {
    bar.classList.add("back");
    bar.textContent = bar.dataset.back;
    setTimeout(() => { if (lost.size === 0) bar.textContent = ""; }, 2500);
  }
}

// Whether the server cannot be reached, as far as the page knows.
export function isLost() {
  return lost.size > 0 || !navigator.onLine;
}

// Asks the server. After this the page no longer counts as lost if it answers.
export async function isReached() {
  bar?.classList.remove("back");
  if (bar) bar.textContent = bar.dataset.lost;
  try {
    await fetch("/needed");
  } catch {
    return false;
  }
  lost.clear();
  show();
  return navigator.onLine;
}

// Retries, because a request just after reconnecting may use a dead connection.
export async function get(address, headers) {
  for (let pause = 200; ; pause *= 3) {
    try {
      const answer = await fetch(address, { headers });
      if (answer.status === 401) signedOut();
      return answer;
    } catch (error) {
      if (pause > 2000) throw error;
      await new Promise((done) => setTimeout(done, pause));
    }
  }
}

// Calls `path` for each attempt, because it contains the last number; `heard` with each event; and
// `opened` with whether events may have been missed.
export function follow(path, heard, opened) {
  let socket = null;
  let pause = FIRST_PAUSE;
  let timer = 0;
  let reaching = 0;
  let missed = false;
  let over = false;
  const me = {};

  function open() {
    clearTimeout(timer);
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    const mine = new WebSocket(`${scheme}//${location.host}${path()}`);
    socket = mine;
    mine.onopen = () => {
      out = false;
      pause = FIRST_PAUSE;
      lost.delete(me);
      show();
      opened(missed);
    };
    mine.onmessage = (message) => {
      const { event, data } = JSON.parse(message.data);
      if (event === "debate_deleted" && heard(event, data) === "over") over = true;
      else heard(event, data);
    };
    mine.onclose = ({ code }) => {
      if (mine !== socket || over) return;
      if (code === SIGNED_OUT) signedOut();
      again();
    };
  }

  // Sends a request first: a refused socket does not say why.
  async function reach() {
    clearTimeout(timer);
    const mine = ++reaching;
    let status = 0;
    try {
      status = (await fetch("/needed")).status;
    } catch {
      // Still no connection.
    }
    if (mine !== reaching) return;
    if (status === 401) signedOut();
    else if (status === 0) again();
    else open();
  }

  function again() {
    missed = true;
    lost.add(me);
    show();
    clearTimeout(timer);
    timer = setTimeout(() => { if (!out) reach(); }, pause * (0.5 + Math.random() / 2));
    pause = Math.min(pause * 2, LONGEST_PAUSE);
  }

  function reconnect() {
    if (over) return;
    missed = true;
    pause = FIRST_PAUSE;
    if (socket) { socket.onclose = null; socket.close(); }
    reach();
  }

  let hiddenSince = 0;
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) hiddenSince = Date.now();
    // The person may have signed in on another tab.
    else if (out || (hiddenSince && Date.now() - hiddenSince > ASLEEP)) reconnect();
  });
  // The clock jumps after sleep.
  let beat = Date.now();
  setInterval(() => {
    const now = Date.now();
    if (now - beat > ASLEEP) reconnect();
    beat = now;
  }, 5000);
  addEventListener("online", reconnect);
  addEventListener("offline", () => { if (socket) socket.close(); });
  addEventListener("pageshow", (event) => { if (event.persisted) reconnect(); });
  open();
}
