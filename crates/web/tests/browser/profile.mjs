// Plays a script in the program of the page, and prints what `cubewire headless --profile --json` prints natively: how long a
// frame takes, without drawing.

import { argumentsOf, game } from './program.mjs';

const { name, text, ticks } = argumentsOf({ seconds: '20' });
console.log(game.profile(name, text, ticks));
