// SPDX-License-Identifier: Apache-2.0
// The look of the differential flame graph: red took more, blue less, the stronger the larger the
// change; grey is not sure. New frames have a border, vanished ones are hatched, so that colour is
// not the only sign.

import type { ComparedFrame } from '../model/comparison';
import { drawHatching, drawThinOutline } from './shapes';
import type { Box, Surface } from './surface';
import { parseColour, type Theme } from './theme';

/** Return a colour between two; `share` 0 is the first. Names of the system stay the first. */
function mixColours(from: string, to: string, share: number): string {
  if (!from.startsWith('#')) return from;
  const [a, b] = [parseColour(from), parseColour(to)];
  const part = (k: 0 | 1 | 2): number => Math.round(a[k] + (b[k] - a[k]) * share);
  return `rgb(${part(0)},${part(1)},${part(2)})`;
}

/** Return the colour of a frame: full at twice or half, as in the SVG of `traceview diff`. */
export function changeColour({ colour }: Theme, { verdict, change }: ComparedFrame): string {
  const size = Math.min(1, Math.abs(Math.log2(1 + (change ?? 0))));
  switch (verdict) {
    case 'more':
      return mixColours(colour.more, colour['more-full'], size);
    case 'less':
      return mixColours(colour.less, colour['less-full'], size);
    case 'appeared':
      return colour['more-full'];
    case 'vanished':
      return colour['less-full'];
    default:
      return colour.unsure;
  }
}

/** Draw the bar of a frame. Return the colours of its text and of the ground under it. */
export function drawChange(
  g: Surface,
  theme: Theme,
  row: ComparedFrame,
  b: Box,
): { ink: string; ground: string } {
  const colour = changeColour(theme, row);
  g.fillStyle = colour;
  g.fillRect(b.x, b.y, b.w, b.h);
  const gone = row.verdict === 'vanished';
  if (gone && b.w >= 3) drawHatching(g, theme, b);
  if (row.verdict === 'appeared' && b.w >= 3) drawThinOutline(g, theme.colour.text, b);
  else if (theme.outlined && b.w >= 3) drawThinOutline(g, theme.colour['text-3'], b);
  else {
    g.fillStyle = theme.colour['bar-edge'];
    g.fillRect(b.x, b.y, 1, b.h);
  }
  return { ink: theme.colour['bar-text'], ground: gone ? colour : '' };
}
