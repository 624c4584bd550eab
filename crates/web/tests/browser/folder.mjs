import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));

// Folder that `cargo web build` wrote.
export const PAGE = resolve(process.env.CUBEWIRE_PAGE ?? `${here}/../../../../target/page`);
