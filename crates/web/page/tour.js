// The tour as a page: the current step of the text sets up the game next to it.

const steps = [...document.querySelectorAll('section[data-step]')];
const frame = document.querySelector('.stage iframe');
let current = null;
let isDrawn = false;

function sendStep() {
  if (isDrawn && current) frame.contentWindow.postMessage({ cubewire: { step: Number(current.dataset.step) } }, '*');
}

function select(step) {
  if (step === current) return;
  current?.removeAttribute('aria-current');
  current = step;
  current.setAttribute('aria-current', 'step');
  sendStep();
}

window.addEventListener('message', (event) => {
  if (event.source !== frame.contentWindow || event.data?.cubewire !== 'drawn') return;
  isDrawn = true;
  sendStep();
});

// Selects the step at a third of the height of the text area. On a phone the text area is below the game.
function follow() {
  const stage = frame.parentElement.getBoundingClientRect();
  const top = stage.left > 0 ? 0 : stage.bottom;
  const line = top + (window.innerHeight - top) / 3;
  const before = steps.findLast((step) => step.getBoundingClientRect().top <= line + 1);
  select(before ?? steps[0]);
}
// A click selects a step. Steps that the page scrolls past on the way are not selected, until the reader scrolls.
let isClicked = false;
window.addEventListener('scroll', () => isClicked || follow(), { passive: true });
const release = () => (isClicked = false);
for (const event of ['keydown', 'pointerdown']) window.addEventListener(event, release, { passive: true });
for (const event of ['wheel', 'touchmove']) {
  // The browser can scroll before it dispatches these events.
  window.addEventListener(event, () => release() || requestAnimationFrame(follow), { passive: true });
}
const behavior = matchMedia('(prefers-reduced-motion: reduce)').matches ? 'instant' : 'smooth';
for (const step of steps) {
  step.addEventListener('click', () => {
    isClicked = true;
    step.scrollIntoView({ behavior, block: 'start' });
    select(step);
  });
}
follow();
