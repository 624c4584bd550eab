// The tour as a page: the step that is read throws its switches in the game beside it.

const steps = [...document.querySelectorAll('section[data-step]')];
const frame = document.querySelector('.stage iframe');
let current = null;
let isDrawn = false;

function throwSwitches() {
  if (isDrawn && current) frame.contentWindow.postMessage({ cubewire: { step: Number(current.dataset.step) } }, '*');
}

function read(step) {
  if (step === current) return;
  current?.removeAttribute('aria-current');
  current = step;
  current.setAttribute('aria-current', 'step');
  throwSwitches();
}

window.addEventListener('message', (event) => {
  if (event.source !== frame.contentWindow || event.data?.cubewire !== 'drawn') return;
  isDrawn = true;
  throwSwitches();
});

// The step that is nearest to a third of the page's height.
function follow() {
  const line = window.innerHeight / 3;
  const below = steps.findLast((step) => step.getBoundingClientRect().top <= line);
  read(below ?? steps[0]);
}
window.addEventListener('scroll', follow, { passive: true });
for (const step of steps) {
  step.addEventListener('click', () => {
    step.scrollIntoView({ behavior: 'smooth', block: 'start' });
    read(step);
  });
}
follow();
