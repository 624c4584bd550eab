// Runs the game between paragraphs of an article. A frame with `data-game="?right=…"` loads when it scrolls into view.
// Only the frame with the largest visible part is awake.

const frames = [...document.querySelectorAll('iframe[data-game]')];
const seen = new Map(frames.map((frame) => [frame, 0]));
let awake = null;

// Loaded games, least recently awake first. Each takes about 200 MB, so with more than KEPT games the first one is
// unloaded. It restarts when it is visible again.
const loaded = new Set();
const KEPT = 2;

function send(frame, command) {
  frame.contentWindow?.postMessage({ cubewire: command }, '*');
}

function wake(frame) {
  if (frame === awake) return;
  if (awake) send(awake, 'sleep');
  awake = frame;
  if (!awake) return;
  if (loaded.delete(awake)) send(awake, 'wake');
  else awake.src = new URL(`index.html${awake.dataset.game}`, import.meta.url);
  loaded.add(awake);
  if (loaded.size <= KEPT) return;
  const [oldest] = loaded;
  loaded.delete(oldest);
  oldest.src = 'about:blank';
}

function choose() {
  const [frame, share] = [...seen].reduce((best, next) => (next[1] > best[1] ? next : best));
  // Keep the current frame awake until another one is more visible.
  if (share < 0.1) wake(null);
  else if (!awake || share > seen.get(awake)) wake(frame);
}

let timer;
const observer = new IntersectionObserver(
  (changes) => {
    for (const { target, intersectionRatio } of changes) seen.set(target, intersectionRatio);
    // Do not load frames that the reader only scrolls past.
    clearTimeout(timer);
    timer = setTimeout(choose, 300);
  },
  { threshold: [0, 0.1, 0.25, 0.5, 0.75, 1] },
);
for (const frame of frames) observer.observe(frame);

// A frame can finish loading after another one was woken: let it sleep.
window.addEventListener('message', (event) => {
  if (event.data?.cubewire !== 'drawn') return;
  const frame = frames.find((frame) => frame.contentWindow === event.source);
  if (frame && frame !== awake) send(frame, 'sleep');
});
