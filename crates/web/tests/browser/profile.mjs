// Plays a script in the program of the page and prints the frame times without drawing, in the format of
// `cubewire headless --profile --json`.

import { argumentsOf, game } from './program.mjs';

const { name, text, ticks } = argumentsOf({ seconds: '20' });
console.log(game.profile(name, text, ticks));
