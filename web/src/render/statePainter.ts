// SPDX-License-Identifier: Apache-2.0
// The strip of a thread's states.  Height and cuts say what the colour says: running fills it,
// runnable is lower, sleeping a line; what is blocked is full with cuts.

import { HASHED_COLOURS, METHOD_COLOURS } from '../model/colours';
import { STATE_COLOUR } from '../model/states';
import type { Box, Surface } from './surface';
import type { Theme } from './theme';

const CUT = 6;
const FIRST = METHOD_COLOURS + HASHED_COLOURS - 1;
const SLEEPING = FIRST + STATE_COLOUR.sleeping;
const RUNNABLE = FIRST + STATE_COLOUR.runnable;
const BLOCKED = FIRST + STATE_COLOUR.uninterruptible;
const IO = FIRST + STATE_COLOUR.io;

/** How high a state of that colour is in a strip; the same unit as `full`. */
export function stateHeight(colour: number, full: number, ratio = 1): number {
  if (colour === SLEEPING) return Math.max(1, Math.round(ratio));
  return colour === RUNNABLE ? Math.max(1, Math.round(full * 0.62)) : full;
}

function cuts(g: Surface, theme: Theme, b: Box, slant: number): void {
  g.save();
  g.beginPath();
  g.rect(b.x, b.y, b.w, b.h);
  g.clip();
  g.strokeStyle = theme.colour.bg;
  g.lineWidth = 1;
  g.beginPath();
  // At fixed places of the canvas, so that neighbours go on with them.
  for (let x = Math.ceil(b.x / CUT) * CUT; x < b.x + b.w + slant; x += CUT) {
    g.moveTo(x + 0.5, b.y);
    g.lineTo(x + 0.5 - slant, b.y + b.h);
  }
  g.stroke();
  g.restore();
}

/** Colour -1: dimmed, for it is no match of the search. */
export function paintState(g: Surface, theme: Theme, b: Box, colour: number): void {
  const high = stateHeight(colour, b.h);
  g.fillStyle = colour < 0 ? theme.colour['bar-dim'] : (theme.bars[colour] ?? '');
  g.fillRect(b.x, b.y + b.h - high, b.w, high);
  if (b.w < CUT || (colour !== BLOCKED && colour !== IO)) return;
  cuts(g, theme, b, colour === IO ? 0 : b.h / 2);
}
