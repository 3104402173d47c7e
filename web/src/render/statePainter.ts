// SPDX-License-Identifier: Apache-2.0
// The state track of a thread. Height and cuts repeat what the colour says: running fills the
// track, runnable is lower, sleeping is a line, and blocked is full height with cuts. A low grey
// bar is any other state: a thread that has ended is not an alarm.

import { HASHED_COLOURS, METHOD_COLOURS } from '../model/colours';
import { STATE_COLOUR } from '../model/states';
import type { Box, Surface } from './surface';
import type { Theme } from './theme';

const CUT = 6;
const FIRST = METHOD_COLOURS + HASHED_COLOURS - 1;
const RUNNING = FIRST + STATE_COLOUR.running;
const SLEEPING = FIRST + STATE_COLOUR.sleeping;
const RUNNABLE = FIRST + STATE_COLOUR.runnable;
const BLOCKED = FIRST + STATE_COLOUR.uninterruptible;
const IO = FIRST + STATE_COLOUR.io;
const OTHER = FIRST + STATE_COLOUR.other;
/** Heights as shares of the full one. */
const RUNNABLE_SHARE = 0.62;
const OTHER_SHARE = 0.25;

/** Tell whether a state of this colour is "running". */
export function isRunning(colour: number): boolean {
  return colour === RUNNING;
}

/** Return the height of a state, in the unit of `full`. */
export function stateHeight(colour: number, full: number, ratio = 1): number {
  if (colour === SLEEPING) return Math.max(1, Math.round(ratio));
  if (colour === RUNNABLE) return Math.max(1, Math.round(full * RUNNABLE_SHARE));
  return colour === OTHER ? Math.max(1, Math.round(full * OTHER_SHARE)) : full;
}

function paintStateCuts(g: Surface, theme: Theme, b: Box, slant: number): void {
  g.save();
  g.beginPath();
  g.rect(b.x, b.y, b.w, b.h);
  g.clip();
  g.strokeStyle = theme.colour.bg;
  g.lineWidth = 1;
  g.beginPath();
  // Place the cuts at fixed x of the canvas, so that they continue across neighbouring states.
  for (let x = Math.ceil(b.x / CUT) * CUT; x < b.x + b.w + slant; x += CUT) {
    g.moveTo(x + 0.5, b.y);
    g.lineTo(x + 0.5 - slant, b.y + b.h);
  }
  g.stroke();
  g.restore();
}

/** Paint one state. Colour -1 is dimmed, because the state does not match the search. */
export function paintState(g: Surface, theme: Theme, b: Box, colour: number): void {
  const high = stateHeight(colour, b.h);
  g.fillStyle = colour < 0 ? theme.colour['bar-dim'] : (theme.bars[colour] ?? '');
  g.fillRect(b.x, b.y + b.h - high, b.w, high);
  if (b.w < CUT || (colour !== BLOCKED && colour !== IO)) return;
  paintStateCuts(g, theme, b, colour === IO ? 0 : b.h / 2);
}
