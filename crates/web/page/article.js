// The game between paragraphs: a frame with `data-game="?right=…"` loads when it is scrolled to, and one at a
// time is awake: the one of which most is in sight.

const frames = [...document.querySelectorAll('iframe[data-game]')];
const seen = new Map(frames.map((frame) => [frame, 0]));
let awake = null;

function tell(frame, wish) {
  frame.contentWindow?.postMessage({ cubewire: wish }, '*');
}

function wake(frame) {
  if (frame === awake) return;
  if (awake) tell(awake, 'sleep');
  awake = frame;
  if (!awake) return;
  if (awake.hasAttribute('src')) tell(awake, 'wake');
  else awake.src = `index.html${awake.dataset.game}`;
}

const observer = new IntersectionObserver(
  (changes) => {
    for (const { target, intersectionRatio } of changes) seen.set(target, intersectionRatio);
    const [frame, share] = [...seen].reduce((best, next) => (next[1] > best[1] ? next : best));
    // What is wide awake stays so until another is seen better.
    if (share < 0.1) wake(null);
    else if (!awake || share > seen.get(awake)) wake(frame);
  },
  { threshold: [0, 0.1, 0.25, 0.5, 0.75, 1] },
);
for (const frame of frames) observer.observe(frame);

// A frame that has loaded while another was woken.
window.addEventListener('message', (event) => {
  if (event.data?.cubewire !== 'drawn') return;
  const frame = frames.find((frame) => frame.contentWindow === event.source);
  if (frame && frame !== awake) tell(frame, 'sleep');
});
