// The tour as a page: the step that is read throws its switches in the game beside it.

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

// The step at a third of the height that is left to the text; on a phone the game is above it.
function follow() {
  const stage = frame.parentElement.getBoundingClientRect();
  const top = stage.left > 0 ? 0 : stage.bottom;
  const line = top + (window.innerHeight - top) / 3;
  const before = steps.findLast((step) => step.getBoundingClientRect().top <= line + 1);
  select(before ?? steps[0]);
}
window.addEventListener('scroll', follow, { passive: true });
for (const step of steps) {
  step.addEventListener('click', () => {
    step.scrollIntoView({ behavior: 'smooth', block: 'start' });
    select(step);
  });
}
follow();
