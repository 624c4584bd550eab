// The game between paragraphs: a frame with `data-game="?right=…"` loads when it is scrolled to, and one at a
// time is awake: the one of which most is in sight.

const frames = [...document.querySelectorAll('iframe[data-game]')];
const seen = new Map(frames.map((frame) => [frame, 0]));
let awake = null;

// Loaded games, the one that was awake longest ago first. Each takes some 200 MB: beyond KEPT, the first one is
// unloaded, and starts again when it is next in sight.
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
  // What is awake stays so until another is seen better.
  if (share < 0.1) wake(null);
  else if (!awake || share > seen.get(awake)) wake(frame);
}

let timer;
const observer = new IntersectionObserver(
  (changes) => {
    for (const { target, intersectionRatio } of changes) seen.set(target, intersectionRatio);
    // What is only scrolled past is not loaded.
    clearTimeout(timer);
    timer = setTimeout(choose, 300);
  },
  { threshold: [0, 0.1, 0.25, 0.5, 0.75, 1] },
);
for (const frame of frames) observer.observe(frame);

// A frame that has loaded while another was woken.
window.addEventListener('message', (event) => {
  if (event.data?.cubewire !== 'drawn') return;
  const frame = frames.find((frame) => frame.contentWindow === event.source);
  if (frame && frame !== awake) send(frame, 'sleep');
});
