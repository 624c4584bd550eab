// Loads and starts the game, and handles events of the page: dropped files, touch buttons, and sleep while it is hidden.

import init, * as game from './cubewire.js';
import { cubewire, hasTouch } from './page.js';

const $ = (id) => document.getElementById(id);
const canvas = $('game');
const parameters = new URLSearchParams(location.search);
const isInside = window !== window.top; // In a frame of another page, which has the explanations.
$('still').hidden = isInside;

// Storage key of the script that was dropped on the page, kept until the tab is closed.
const DROPPED = 'cubewire/dropped';

// ---- Messages over the game

function say(text) {
  $('cover').hidden = false;
  $('progress').hidden = true;
  $('message').textContent = text;
}

// An error that the user can correct in the address of the page.
class AddressError extends Error {}

function fail(why) {
  if (cubewire.error) return;
  // There is a WebGPU adapter, but it does not work: try WebGL 2.
  if (panic && cubewire.hasWebGpu && !cubewire.drawn && !parameters.has('graphics')) {
    parameters.set('graphics', 'webgl2');
    location.search = parameters;
    return;
  }
  cubewire.error = panic || String(why?.message ?? why);
  const advice = why instanceof AddressError ? 'Change the address of the page.' : 'Reload the page to start again.';
  say(`The game stopped: ${cubewire.error}\n${advice}`);
}

// A panic prints its message, and then traps without one. Keep the message.
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
canvas.addEventListener('webglcontextlost', () => fail('the browser lost the graphics context'));
cubewire.onFailed = () => fail('the browser lost the graphics context');
cubewire.onEnded = () => say('The game has ended after the time in the address. Reload the page to play again.');

// ---- Sleep: the game does not run without frames

let asleep = false;
const waiting = new Set(); // A set, because the game requests the same callback at every event.
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

// With reduced motion, a script or tour waits for a click or a key before it plays.
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

// An enclosing page can send `{cubewire: 'sleep'}`, `{cubewire: 'wake'}` and `{cubewire: {step: 3}}`.
window.addEventListener('message', (event) => {
  const command = event.data?.cubewire;
  if (command === 'sleep') setAsleep(true);
  if (command === 'wake' && !isHeld) setAsleep(false);
  if (command?.step && cubewire.drawn) game.tour_step(command.step);
});

// ---- Keys: keys of the game have no effect on the page

const KEYS = new Set(
  ('ArrowLeft ArrowRight ArrowUp ArrowDown Space Backspace PageUp PageDown Home End Tab ' +
    'F1 F2 F3 F4 F9 F12').split(' '),
);
canvas.addEventListener('keydown', (event) => {
  const isShortcut = event.ctrlKey || event.metaKey || event.altKey;
  // By character, at any position of the layout. On a French keyboard, the 0 key without Shift has another character.
  const isZoom = event.ctrlKey && (['+', '=', '-', '0'].includes(event.key) || event.code === 'Digit0');
  // Firefox starts a search of the page on / and '.
  const isKey = KEYS.has(event.code) || ['/', "'"].includes(event.key);
  if ((isKey && !isShortcut) || isZoom) event.preventDefault();
});
canvas.addEventListener('contextmenu', (event) => event.preventDefault());
// In an article the wheel scrolls the article until the game has the focus.
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
    changed?.catch(() => {}); // The browser can refuse.
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

// Returns the name and the text of the script in the address.
async function loadScript() {
  const name = parameters.get('script');
  if (!name) return ['', undefined];
  const file = dropped();
  if (file && name === `file:${file.name}`) return [file.name, file.text];
  const known = $('cover').dataset.scripts.split(' ');
  if (!known.includes(name)) {
    throw new AddressError(
      name.startsWith('file:')
        ? `drop ${name.slice(5)} on the page again`
        : `unknown script \`${name}\`; choose one of ${known.join(', ')}`,
    );
  }
  const response = await fetch(`scripts/${name}.ron`);
  if (!response.ok) throw new Error(`scripts/${name}.ron: ${response.status} ${response.statusText}`);
  return [`${name}.ron`, await response.text()];
}

// A script starts with a new world, so reload the page, from the browser's cache.
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
    throw new Error(`${file.name}: the browser cannot store this file for the page`);
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

// Shows the progress of the download, in decompressed bytes.
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

// Compiles the program while it loads. The browser caches the compiled code of a fetched response.
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
    throw new AddressError(`the address has graphics=${wanted}; choose one of auto, webgl2, webgpu`);
  }
  if (wanted === 'webgl2' || !navigator.gpu) return false;
  return Boolean(await navigator.gpu.requestAdapter().catch(() => null));
}

// The shaders are compiled for WebGL 2. They sample shadow maps with derivatives where WebGPU requires an explicit level.
// The texture has one level, so the result is the same, but WebGPU rejects it without this diagnostic filter.
function allowShadersOfWebGl2() {
  const create = GPUDevice.prototype.createShaderModule;
  GPUDevice.prototype.createShaderModule = function (descriptor) {
    const code = `diagnostic(off, derivative_uniformity);\n${descriptor.code}`;
    return create.call(this, { ...descriptor, code });
  };
}

async function run() {
  if (typeof WebAssembly !== 'object') throw new Error('this browser does not support WebAssembly');
  cubewire.hasWebGpu = await hasWebGpu();
  if (!cubewire.hasWebGpu && !hasWebGl2()) {
    throw new Error(
      'WebGL 2 is not available. Enable hardware acceleration in the settings of the browser, or use a newer browser',
    );
  }
  if (cubewire.hasWebGpu) allowShadersOfWebGl2();
  const [[name, script]] = await Promise.all([loadScript(), loadProgram()]);
  const query = new URLSearchParams(parameters);
  const isSmall = window.innerWidth < 800 || window.innerHeight < 500;
  if (!query.has('panel') && isSmall) query.set('panel', 'slim');
  // Remove tracking parameters that other sites append to links.
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
  // winit takes the focus at once. In an article, the text keeps it until the user clicks the game.
  if (isInside) canvas.focus = () => {};
  performance.mark('compiled');
  try {
    game.start(query.toString(), name, script);
  } catch (error) {
    throw typeof error === 'string' ? new AddressError(error) : error;
  }
}

run().catch(fail);
