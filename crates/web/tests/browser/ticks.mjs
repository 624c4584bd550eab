// Plays a script in the program of the page and prints the hash of the states and the bytes of each rung per tick, in the
// format of `cubewire play SCRIPT --ticks FILE`.

import { argumentsOf, game } from './program.mjs';

const { name, text, ticks, lane } = argumentsOf({ seconds: '60', lane: 'link:3g' });
process.stdout.write(game.tick_by_tick(name, text, ticks, lane));
