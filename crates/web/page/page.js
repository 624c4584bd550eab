// Functions of the page for the game. The game's glue imports them by name: see src/page.rs.

// State that the page shares with the game and with other scripts.
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

// Settings of the last visit. A frame in an article does not store them, because its address sets the panel. Without
// storage, every visit is the first.
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
    // The storage is full or not allowed.
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
