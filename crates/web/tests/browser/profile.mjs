// Plays a script in the program of the page, and prints what `cubewire headless --profile` prints natively: the
// times of a frame's parts, without drawing.

import { argumentsOf, game } from './program.mjs';

const { name, text, ticks, open } = argumentsOf({ seconds: '20', open: 'no' });
process.stdout.write(game.profile(name, text, ticks, open === 'yes'));
