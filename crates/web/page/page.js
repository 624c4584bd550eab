// What the game asks of the page. The game's glue imports these by name: see src/page.rs.

// What the page lets the game know, and what scripts of the page may read.
export const cubewire = { report: null, drawn: false, asleep: false, hasWebGpu: false, onDrawn: () => {}, onEnded: () => {}, onFailed: () => {} };

if (typeof window !== 'undefined') window.cubewire = cubewire;

export function download(name, bytes) {
  const url = URL.createObjectURL(new Blob([bytes]));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

export function publish(text) {
  cubewire.report = JSON.parse(text);
}

// In an article's frame the panel is as its address says; that is nobody's wish for the next visit. Where the
// browser keeps nothing, every visit is the first.
export function recall(name) {
  try {
    return localStorage.getItem(`cubewire/${name}`) ?? undefined;
  } catch {
    return undefined;
  }
}

export function remember(name, text) {
  if (window !== window.top) return;
  try {
    localStorage.setItem(`cubewire/${name}`, text);
  } catch {
    // Full, or not allowed.
  }
}

export function copy(text) {
  const failed = () => window.prompt('Copy this link:', text);
  if (navigator.clipboard) navigator.clipboard.writeText(text).catch(failed);
  else failed();
}

export function browse(address) {
  window.open(address, '_blank', 'noopener');
}

export function address() {
  return location.origin + location.pathname;
}

export function hasWebGpu() {
  return cubewire.hasWebGpu;
}

export function hasTouch() {
  return matchMedia('(pointer: coarse)').matches;
}

export function drawn() {
  cubewire.drawn = true;
  cubewire.onDrawn();
}

export function ended() {
  cubewire.onEnded();
}

export function failed() {
  cubewire.onFailed();
}
