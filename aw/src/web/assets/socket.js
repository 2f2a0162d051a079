// A socket that comes back: with growing pauses, at once when the network or the laptop wakes up.
const FIRST_PAUSE = 400;
const LONGEST_PAUSE = 15000;
// The server pings every 20 s, which a script cannot see; a socket that slept through a night can
// look open. Whoever comes back to the page therefore starts anew when it was away for so long.
const ASLEEP = 50000;

const bar = document.getElementById("connection");
const lost = new Set();
// Whether the server no longer knows who this is: then trying again is of no use.
let out = false;

// The policy of the server was violated: so it closes the socket of whoever is signed out.
const SHUT_OUT = 1008;

function shutOut() {
  out = true;
  show();
}

function toSignIn() {
  const link = document.createElement("a");
  link.href = `/sign-in?to=${encodeURIComponent(location.pathname + location.search + location.hash)}`;
  link.textContent = bar.dataset.signIn;
  // What is typed and kept nowhere stays on this tab.
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

// What is fetched just when the connection comes back may still meet a dead one.
export async function get(address, headers) {
  for (let pause = 200; ; pause *= 3) {
    try {
      const answer = await fetch(address, { headers });
      if (answer.status === 401) shutOut();
      return answer;
    } catch (error) {
      if (pause > 2000) throw error;
      await new Promise((done) => setTimeout(done, pause));
    }
  }
}

// `path` is asked anew for each try, since it says from where to go on. `heard` gets each event;
// `opened` is told whether something may have been missed.
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
      if (code === SHUT_OUT) shutOut();
      again();
    };
  }

  // Asks first whether one is still let in: a socket is never told why it was refused.
  async function reach() {
    clearTimeout(timer);
    const mine = ++reaching;
    let status = 0;
    try {
      status = (await fetch("/needed")).status;
    } catch {
      // There is no connection yet.
    }
    if (mine !== reaching) return;
    if (status === 401) shutOut();
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

  function anew() {
    if (over) return;
    missed = true;
    pause = FIRST_PAUSE;
    if (socket) { socket.onclose = null; socket.close(); }
    reach();
  }

  let hiddenSince = 0;
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) hiddenSince = Date.now();
    // Perhaps they have signed in on another tab.
    else if (out || (hiddenSince && Date.now() - hiddenSince > ASLEEP)) anew();
  });
  // A clock that jumps has been asleep.
  let beat = Date.now();
  setInterval(() => {
    const now = Date.now();
    if (now - beat > ASLEEP) anew();
    beat = now;
  }, 5000);
  addEventListener("online", anew);
  addEventListener("offline", () => { if (socket) socket.close(); });
  addEventListener("pageshow", (event) => { if (event.persisted) anew(); });
  open();
}
