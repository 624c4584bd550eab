// Loads the game, starts it, and passes it what only a page has: files dropped on it, fingers on buttons,
// sleep while nobody looks.

import init, * as game from './cubewire.js';
import { cubewire, hasTouch } from './page.js';

const $ = (id) => document.getElementById(id);
const canvas = $('game');
const parameters = new URLSearchParams(location.search);
const isInside = window !== window.top; // Of another page, which says what there is to say.
$('still').hidden = isInside;

// The script that was dropped on the page, until the tab is closed.
const DROPPED = 'cubewire/dropped';

// ---- Messages over the game

function say(text) {
  $('cover').hidden = false;
  $('progress').hidden = true;
  $('message').textContent = text;
}

// What can be mended in the address of the page.
class AddressError extends Error {}

function fail(why) {
  if (cubewire.error) return;
  // Where there is an adapter for WebGPU, and it does not work after all.
  if (panic && cubewire.hasWebGpu && !cubewire.drawn && !parameters.has('graphics')) {
    parameters.set('graphics', 'webgl2');
    location.search = parameters;
    return;
  }
  cubewire.error = panic || String(why?.message ?? why);
  const advice = why instanceof AddressError ? 'Change the address of the page.' : 'Reload the page to begin again.';
  say(`The game cannot go on: ${cubewire.error}\n${advice}`);
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
canvas.addEventListener('webglcontextlost', () => fail('the browser has taken the graphics away'));
cubewire.onFailed = () => fail('the browser has taken the graphics away');
cubewire.onEnded = () => say('The game has ended, as the address asks. Reload the page to play again.');

// ---- Sleep: without frames nothing of the game runs

let asleep = false;
const waiting = new Set(); // The game asks for the same frame at every event.
const nextFrame = window.requestAnimationFrame.bind(window);
window.requestAnimationFrame = (callback) => {
  if (!asleep) return nextFrame(callback);
  waiting.add(callback);
  return 0;
};

function setAsleep(value) {
  cubewire.asleep = value;
  if (value) {
    asleep = true;
    return;
  }
  nextFrame((time) => {
    if (cubewire.asleep) return;
    asleep = false;
    const callbacks = [...waiting];
    waiting.clear();
    for (const callback of callbacks) callback(time);
  });
}

// Who wishes for less motion says when it begins: what would play by itself stands still until a click or a key.
const wantsLessMotion = matchMedia('(prefers-reduced-motion: reduce)').matches;
let isHeld = false;

function hold() {
  isHeld = true;
  setAsleep(true);
}

function letGo() {
  if (!isHeld) return;
  isHeld = false;
  setAsleep(false);
  showHint();
}
for (const type of ['pointerdown', 'keydown']) window.addEventListener(type, letGo, { capture: true });

// A page around this one may send `{cubewire: 'sleep'}`, `{cubewire: 'wake'}` and `{cubewire: {step: 3}}`.
window.addEventListener('message', (event) => {
  const command = event.data?.cubewire;
  if (command === 'sleep') setAsleep(true);
  if (command === 'wake' && !isHeld) setAsleep(false);
  if (command?.step && cubewire.drawn) game.tour_step(command.step);
});

// ---- Keys: those that the game has, the page does not

const KEYS = new Set(
  ('ArrowLeft ArrowRight ArrowUp ArrowDown Space Backspace PageUp PageDown Home End Tab ' +
    'F1 F2 F3 F4 F9 F10 F12').split(' '),
);
canvas.addEventListener('keydown', (event) => {
  const isShortcut = event.ctrlKey || event.metaKey || event.altKey;
  // By the character, wherever the keyboard has it; on a French one, 0 is without Shift another.
  const isZoom = event.ctrlKey && (['+', '=', '-', '0'].includes(event.key) || event.code === 'Digit0');
  // Firefox searches the page after / and '.
  const isKey = KEYS.has(event.code) || ['/', "'"].includes(event.key);
  if ((isKey && !isShortcut) || isZoom) event.preventDefault();
});
canvas.addEventListener('contextmenu', (event) => event.preventDefault());
// Inside of an article the wheel scrolls the article, until somebody plays.
const onWheel = (event) => {
  if (isInside && document.activeElement !== canvas) event.stopImmediatePropagation();
  else event.preventDefault();
};
window.addEventListener('wheel', onWheel, { capture: true, passive: false });

// ---- Focus

function showHint() {
  const hasFocus = document.hasFocus() && document.activeElement === canvas;
  const isUnneeded = (hasFocus || hasTouch()) && !isHeld;
  $('hint').hidden = !cubewire.drawn || !$('cover').hidden || isUnneeded;
}
for (const type of ['focus', 'blur']) {
  canvas.addEventListener(type, showHint);
  window.addEventListener(type, showHint);
}

// ---- Buttons

if (document.fullscreenEnabled) {
  $('fullscreen').addEventListener('click', () => {
    const root = document.documentElement;
    const changed = document.fullscreenElement ? document.exitFullscreen() : root.requestFullscreen();
    changed?.catch(() => {}); // Refused: it stays as it is.
    canvas.focus();
  });
}

function press(button, type) {
  const { code, key } = button.dataset;
  button.classList.toggle('held', type === 'keydown');
  canvas.dispatchEvent(new KeyboardEvent(type, { code, key, bubbles: true, cancelable: true }));
}
canvas.addEventListener('pointerdown', (event) => {
  if (event.pointerType === 'touch') $('touch').hidden = false;
});
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
    throw new AddressError(
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
  try {
    sessionStorage.setItem(DROPPED, JSON.stringify({ name: file.name, text }));
  } catch {
    throw new Error(`${file.name}: the browser keeps nothing for this page, or not as much as this file`);
  }
  parameters.set('script', `file:${file.name}`);
  for (const name of ['left', 'right', 'rung', 'network', 'rate', 'interpolation', 'tour']) parameters.delete(name);
  location.search = parameters;
}
window.addEventListener('dragover', (event) => event.preventDefault());
window.addEventListener('drop', (event) => {
  event.preventDefault();
  const [file] = event.dataTransfer.files;
  if (file && isLoaded) playFile(file).catch((error) => window.alert(error.message));
});

// ---- Loading

function report(text) {
  if (!cubewire.error) $('message').textContent = text;
}

const mb = (bytes) => (bytes / 1e6).toFixed(1);

let isLoaded = false;

// Shows how much has arrived. The browser counts what it has decompressed.
async function showProgress(response) {
  const total = Number($('cover').dataset.bytes) || 0;
  let loaded = 0;
  for (const reader = response.body.getReader(); ; ) {
    const { done, value } = await reader.read();
    if (done) break;
    loaded += value.byteLength;
    $('progress').value = total ? loaded / total : 0;
    report(`Loading: ${mb(loaded)} of ${mb(total)} MB`);
  }
  performance.mark('loaded');
  report('Starting');
}

// The program, compiled while it loads. From a response that was fetched the browser keeps what it compiles.
async function loadProgram() {
  const response = await fetch('cubewire_bg.wasm');
  if (!response.ok) throw new Error(`cubewire_bg.wasm: ${response.status} ${response.statusText}`);
  const copy = response.clone();
  await Promise.all([init({ module_or_path: response }), showProgress(copy)]);
  isLoaded = true;
}

function hasWebGl2() {
  return Boolean(document.createElement('canvas').getContext('webgl2'));
}

async function hasWebGpu() {
  const wanted = parameters.get('graphics') ?? 'auto';
  if (!['auto', 'webgl2', 'webgpu'].includes(wanted)) {
    throw new AddressError(`the address says graphics=${wanted}: it is none of auto, webgl2, webgpu`);
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
  const query = new URLSearchParams(parameters);
  const isSmall = window.innerWidth < 800 || window.innerHeight < 500;
  if (!query.has('panel') && isSmall) query.set('panel', 'slim');
  // What other sites hang on a link.
  for (const name of parameters.keys()) if (/^(utm_|fbclid$|gclid$)/.test(name)) query.delete(name);
  const playsByItself = query.has('tour') || (query.has('script') && !query.get('script').startsWith('file:'));
  if (wantsLessMotion) query.set('calm', '');
  cubewire.onDrawn = () => {
    performance.mark('drawn');
    $('cover').hidden = true;
    $('fullscreen').hidden = !document.fullscreenEnabled;
    if (isInside) delete canvas.focus;
    else canvas.focus();
    if (wantsLessMotion && playsByItself) hold();
    showHint();
    window.parent.postMessage({ cubewire: 'drawn' }, '*');
  };
  // The text around the game keeps the keys until somebody plays; winit takes them at once.
  if (isInside) canvas.focus = () => {};
  performance.mark('compiled');
  try {
    game.start(query.toString(), name, script);
  } catch (error) {
    throw typeof error === 'string' ? new AddressError(error) : error;
  }
}

run().catch(fail);
