// Loads the game, starts it, and gives it what only a page can: files dropped on it, fingers on buttons,
// sleep while nobody looks.

import init, * as game from './cubewire.js';
import { cubewire, hasFingers } from './page.js';

const $ = (id) => document.getElementById(id);
const canvas = $('game');
const parameters = new URLSearchParams(location.search);

// The script that was dropped on the page, until the tab is closed.
const DROPPED = 'cubewire/dropped';

// ---- What is said over the picture

function say(text) {
  $('cover').hidden = false;
  $('progress').hidden = true;
  $('message').textContent = text;
}

function fail(why) {
  if (cubewire.error) return;
  cubewire.error = String(why?.message ?? why);
  say(`The game cannot go on: ${cubewire.error}\nReload the page to begin again.`);
}

// A panic prints what happened, and then traps without a word.
const print = console.error.bind(console);
let panic = '';
console.error = (...values) => {
  if (String(values[0]).includes('panicked at')) panic = String(values[0]).split('\n\nStack')[0];
  print(...values);
};
window.addEventListener('error', (event) => {
  if (event.error) fail(panic || event.error);
});
window.addEventListener('unhandledrejection', (event) => fail(event.reason));
cubewire.onEnded = () => say('The game has ended, as the address asks. Reload the page to play again.');

// ---- Sleep: without frames nothing of the game runs

let asleep = false;
const waiting = [];
const nextFrame = window.requestAnimationFrame.bind(window);
window.requestAnimationFrame = (callback) => (asleep ? waiting.push(callback) : nextFrame(callback));

function setAsleep(value) {
  asleep = value;
  cubewire.asleep = value;
  if (!asleep) for (const callback of waiting.splice(0)) nextFrame(callback);
}

// A page around this one may send `{cubewire: 'sleep'}`, `{cubewire: 'wake'}` and `{cubewire: {step: 3}}`.
window.addEventListener('message', (event) => {
  const wish = event.data?.cubewire;
  if (wish === 'sleep') setAsleep(true);
  if (wish === 'wake') setAsleep(false);
  if (wish?.step && cubewire.drawn) game.tour_step(wish.step);
});

// ---- Keys: those that the game has, the page does not

const KEYS = new Set(
  ('ArrowLeft ArrowRight ArrowUp ArrowDown Space Backspace PageUp PageDown Home End Tab Slash Quote ' +
    'F1 F2 F3 F4 F9 F10 F12').split(' '),
);
canvas.addEventListener('keydown', (event) => {
  const isShortcut = event.ctrlKey || event.metaKey || event.altKey;
  const isZoom = event.ctrlKey && ['Equal', 'Minus', 'Digit0', 'NumpadAdd', 'NumpadSubtract'].includes(event.code);
  if ((KEYS.has(event.code) && !isShortcut) || isZoom) event.preventDefault();
});
canvas.addEventListener('contextmenu', (event) => event.preventDefault());
canvas.addEventListener('wheel', (event) => event.preventDefault(), { passive: false });

// ---- Focus

function showHint() {
  const hasFocus = document.hasFocus() && document.activeElement === canvas;
  $('hint').hidden = !cubewire.drawn || hasFocus || hasFingers() || !$('cover').hidden;
}
for (const type of ['focus', 'blur']) {
  canvas.addEventListener(type, showHint);
  window.addEventListener(type, showHint);
}

// ---- Buttons

if (document.fullscreenEnabled) {
  $('fullscreen').addEventListener('click', () => {
    if (document.fullscreenElement) document.exitFullscreen();
    else document.documentElement.requestFullscreen();
    canvas.focus();
  });
}

function press(button, type) {
  const { code, key } = button.dataset;
  button.classList.toggle('held', type === 'keydown');
  canvas.dispatchEvent(new KeyboardEvent(type, { code, key, bubbles: true, cancelable: true }));
}
for (const button of $('touch').children) {
  button.addEventListener('pointerdown', (event) => {
    event.preventDefault();
    button.setPointerCapture(event.pointerId);
    canvas.focus();
    press(button, 'keydown');
  });
  for (const type of ['pointerup', 'pointercancel']) {
    button.addEventListener(type, () => press(button, 'keyup'));
  }
}

// ---- Scripts and replays

function dropped() {
  try {
    return JSON.parse(sessionStorage.getItem(DROPPED) ?? 'null');
  } catch {
    return null;
  }
}

// The name and the text of the script that the address names.
async function loadScript() {
  const name = parameters.get('script');
  if (!name) return ['', undefined];
  const file = dropped();
  if (file && name === `file:${file.name}`) return [file.name, file.text];
  const known = $('cover').dataset.scripts.split(' ');
  if (!known.includes(name)) {
    throw new Error(
      name.startsWith('file:')
        ? `${name.slice(5)} has to be dropped on the page again`
        : `there is no script \`${name}\`; there are ${known.join(', ')}`,
    );
  }
  const response = await fetch(`scripts/${name}.ron`);
  if (!response.ok) throw new Error(`scripts/${name}.ron: ${response.status} ${response.statusText}`);
  return [`${name}.ron`, await response.text()];
}

// A script begins with a fresh world: the page loads again, from the browser's cache.
async function playFile(file) {
  const text = await file.text();
  const wrong = game.check_script(file.name, text);
  if (wrong) {
    window.alert(wrong);
    return;
  }
  sessionStorage.setItem(DROPPED, JSON.stringify({ name: file.name, text }));
  parameters.set('script', `file:${file.name}`);
  for (const name of ['left', 'right', 'rung', 'network', 'rate', 'interpolation', 'tour']) parameters.delete(name);
  location.search = parameters;
}
window.addEventListener('dragover', (event) => event.preventDefault());
window.addEventListener('drop', (event) => {
  event.preventDefault();
  const [file] = event.dataTransfer.files;
  if (file && cubewire.drawn) playFile(file).catch((error) => window.alert(error.message));
});

// ---- Loading

function report(text) {
  if (!cubewire.error) $('message').textContent = text;
}

const mb = (bytes) => (bytes / 1e6).toFixed(1);

// The program, compiled while it loads.
async function loadProgram() {
  const response = await fetch('cubewire_bg.wasm');
  if (!response.ok) throw new Error(`cubewire_bg.wasm: ${response.status} ${response.statusText}`);
  // Of what was compressed on the way.
  const total = Number($('cover').dataset.bytes) || 0;
  let loaded = 0;
  const counted = new TransformStream({
    transform(chunk, controller) {
      loaded += chunk.byteLength;
      $('progress').value = total ? loaded / total : 0;
      report(`Loading: ${mb(loaded)} of ${mb(total)} MB`);
      controller.enqueue(chunk);
    },
    flush() {
      performance.mark('loaded');
      report('Starting');
    },
  });
  const headers = { 'Content-Type': 'application/wasm' };
  await init({ module_or_path: new Response(response.body.pipeThrough(counted), { headers }) });
}

function hasWebGl2() {
  return Boolean(document.createElement('canvas').getContext('webgl2'));
}

async function hasWebGpu() {
  const wanted = parameters.get('graphics') ?? 'auto';
  if (!['auto', 'webgl2', 'webgpu'].includes(wanted)) {
    throw new Error(`the address says graphics=${wanted}: it is none of auto, webgl2, webgpu`);
  }
  if (wanted === 'webgl2' || !navigator.gpu) return false;
  return Boolean(await navigator.gpu.requestAdapter().catch(() => null));
}

// The shaders are those for WebGL 2. They sample the shadow's depths by derivatives where WebGPU wants a level. The
// texture has one level, so it is the same; but WebGPU has to be told to let them.
function allowShadersOfWebGl2() {
  const create = GPUDevice.prototype.createShaderModule;
  GPUDevice.prototype.createShaderModule = function (descriptor) {
    const code = `diagnostic(off, derivative_uniformity);\n${descriptor.code}`;
    return create.call(this, { ...descriptor, code });
  };
}

async function run() {
  if (typeof WebAssembly !== 'object') throw new Error('this browser has no WebAssembly');
  cubewire.hasWebGpu = await hasWebGpu();
  if (!cubewire.hasWebGpu && !hasWebGl2()) {
    throw new Error(
      'this browser draws without WebGL 2. It may be switched off (look for hardware acceleration in its settings), ' +
        'or the browser is too old',
    );
  }
  if (cubewire.hasWebGpu) allowShadersOfWebGl2();
  const [[name, script]] = await Promise.all([loadScript(), loadProgram()]);
  if (!parameters.has('panel') && window.innerWidth < 800) parameters.set('panel', 'slim');
  parameters.delete('graphics');
  cubewire.onDrawn = () => {
    performance.mark('drawn');
    performance.measure('from the last byte to the first picture', 'loaded', 'drawn');
    $('cover').hidden = true;
    $('fullscreen').hidden = !document.fullscreenEnabled;
    $('touch').hidden = !hasFingers();
    if (window === window.top) canvas.focus();
    showHint();
    window.parent.postMessage({ cubewire: 'drawn' }, '*');
  };
  game.start(parameters.toString(), name, script);
}

run().catch(fail);
