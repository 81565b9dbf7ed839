// Keeps a page of an open run as it is: each event of the run's stream has htmx fetch the page's live part anew.
// A card that is on screen is kept (hx-preserve), so a swap never turns one question's buttons into another's.
(() => {
  const TYPES = ["run.started", "run.ended", "step.in_flight", "step.done", "step.failed", "step.unknown",
    "undo.in_flight", "undo.done", "undo.failed", "undo.unknown", "question.opened", "question.answered", "end"];
  const live = () => document.getElementById("live");
  let timer = 0, shown = document.querySelector(".card")?.id, stream = null;
  const refresh = () => {
    clearTimeout(timer);
    timer = setTimeout(() => live()?.dispatchEvent(new CustomEvent("refresh")), 150);
  };
  const listen = () => {
    const path = live()?.dataset.events;
    if (!path || stream || document.hidden) return;
    stream = new EventSource(path);
    for (const type of TYPES) stream.addEventListener(type, refresh);
    stream.addEventListener("end", () => { stream.close(); });
  };
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) { stream?.close(); stream = null; } else { listen(); refresh(); }
  });
  document.addEventListener("htmx:after:swap", () => {
    const card = document.querySelector(".card");
    if (card && card.id !== shown) {
      shown = card.id;
      if (document.activeElement === document.body) card.querySelector("h3")?.focus();
    }
  });
  // A heartbeat is no event of the run, so what is in flight is looked at now and then.
  setInterval(() => { if (live()?.dataset.flying && !document.hidden) refresh(); }, 2000);
  listen();
})();
