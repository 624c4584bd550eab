// Plays a script in the program of the page, and prints what `cubewire play SCRIPT --ticks FILE` writes: for each
// tick the hash of the states, and the bytes of each rung.

import { argumentsOf, game } from './program.mjs';

const { name, text, ticks, lane } = argumentsOf({ seconds: '60', lane: 'link:3g' });
process.stdout.write(game.tick_by_tick(name, text, ticks, lane));
