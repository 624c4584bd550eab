// The game's program in Node, without a page.

import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { parseArgs } from 'node:util';
import { PAGE } from './folder.mjs';

const glue = await import(`${PAGE}/cubewire.js`);
glue.initSync({ module: readFileSync(`${PAGE}/cubewire_bg.wasm`) });

export const game = glue;

// `SCRIPT --seconds 60` and other options with a value.
export function argumentsOf(options) {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: Object.fromEntries(Object.entries(options).map(([name, value]) => [name, { type: 'string', default: value }])),
  });
  const [path] = positionals;
  if (!path) throw new Error('the first argument is a script');
  return { ...values, ticks: Math.round(60 * Number(values.seconds)), ...script(path) };
}

export function script(path) {
  return { name: basename(path), text: readFileSync(path, 'utf8') };
}
