// SPDX-License-Identifier: Apache-2.0
// Colours and sizes for the canvases, read from the custom properties of the style sheet, so that
// a theme is written down in one place only.

import { HASHED_COLOURS, METHOD_COLOURS, RESERVED } from '../model/colours';
import type { Heights } from '../model/layout';

const COLOURS = [
  'bg',
  'chrome',
  'well',
  'line',
  'line-strong',
  'grid',
  'beyond',
  'text',
  'text-2',
  'text-3',
  'accent',
  'on-accent',
  'select',
  'select-halo',
  'range',
  'range-tint',
  'cursor',
  'hit',
  'wait',
  'bar-text',
  'bar-dim',
  'bar-dim-text',
  'bar-edge',
  'hatch',
  'strip-edge',
  'activity',
  'error',
  'tip',
  'tip-text',
  'parents',
] as const;

export type ColourName = (typeof COLOURS)[number];
export type Palette = 'methods' | 'safe';

export interface Theme {
  colour: Record<ColourName, string>;
  /**
   * By the numbers of model/colours.ts; of the safe palette 8 plain and the same 8 hatched, over and
   * over, for all but states and greys: the trace's "good" and "terrible" are green and red.
   */
  bars: readonly string[];
  /** What is written on each. */
  barTexts: readonly string[];
  hatched: readonly boolean[];
  /** The same as pixels (ABGR), plain and with the darker top edge. */
  pixels: Uint32Array;
  edgePixels: Uint32Array;
  dimPixel: number;
  dimEdgePixel: number;
  waitPixel: number;
  groundPixel: number;
  font: string;
  barFont: string;
  bodyFont: string;
  /** Forced colours: shapes need outlines, for the fills carry little. */
  outlined: boolean;
  heights: Heights & { frame: number };
  hitSlop: number;
  /** Changes whenever anything above does; keys for what was drawn with it. */
  generation: number;
}

/** "#rgb" or "#rrggbb", with or without alpha, to red, green, blue, alpha; else a middle grey. */
export function parseColour(text: string): [number, number, number, number] {
  const short = /^#[0-9a-f]{3,4}$/i.test(text.trim());
  const long = short ? text.trim().replace(/[0-9a-f]/gi, '$&$&') : text.trim();
  const hex = /^#([0-9a-f]{6})([0-9a-f]{2})?$/i.exec(long);
  if (!hex?.[1]) return [128, 128, 128, 1];
  const n = parseInt(hex[1], 16);
  return [n >> 16, (n >> 8) & 255, n & 255, hex[2] ? parseInt(hex[2], 16) / 255 : 1];
}

/** Bytes in memory are red, green, blue, alpha on the little-endian machines browsers run on. */
function pixel(r: number, g: number, b: number): number {
  return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
}

function over(base: string, top: string): number {
  const [r, g, b] = parseColour(base);
  const [r2, g2, b2, a] = parseColour(top);
  const mix = (x: number, y: number): number => Math.round(x * (1 - a) + y * a);
  return pixel(mix(r, r2), mix(g, g2), mix(b, b2));
}

export type Lookup = (property: string) => string;

function plain(text: string): number {
  const [r, g, b] = parseColour(text);
  return pixel(r, g, b);
}

/** Black or white, whichever is seen on a colour that no theme has chosen. */
function readable(bar: string): string {
  const [r, g, b] = parseColour(bar);
  return 0.299 * r + 0.587 * g + 0.114 * b > 128 ? '#14171c' : '#ffffff';
}

function isGrey(bar = ''): boolean {
  const [r, g, b] = parseColour(bar);
  return r === g && g === b;
}

/** The first reserved colours, in their order: a theme has its own. */
const STATE_COLOURS = ['unint', 'iowait', 'running', 'runnable', 'sleep'];

let generations = 0;

export function readTheme(lookup: Lookup, palette: Palette, outlined: boolean): Theme {
  const colour = Object.fromEntries(
    COLOURS.map((name) => [name, lookup(`--${name}`)]),
  ) as Theme['colour'];
  const size = (name: string): number => parseFloat(lookup(`--${name}`)) || 0;
  const own = Array.from({ length: METHOD_COLOURS + HASHED_COLOURS }, (_, i) => {
    if (palette === 'safe') return lookup(`--cb-${i % 8}`);
    return lookup(i < METHOD_COLOURS ? `--m-${i}` : `--te-${i - METHOD_COLOURS}`);
  });
  const states = STATE_COLOURS.map((name, i) => lookup(`--state-${name}`) || RESERVED[i] || '');
  const named = [...states, ...RESERVED.slice(states.length)];
  const isDealt = (i: number): boolean =>
    i < own.length ||
    (palette === 'safe' && i >= own.length + states.length && !isGrey(named[i - own.length]));
  const bars = [...own, ...named].map((bar, i) =>
    isDealt(i) && i >= own.length ? lookup(`--cb-${i % 8}`) : bar,
  );
  const family = lookup('--font');
  return {
    colour,
    bars,
    barTexts: bars.map((bar, i) => (isDealt(i) ? colour['bar-text'] : readable(bar))),
    hatched: bars.map((_, i) => palette === 'safe' && isDealt(i) && i % 16 >= 8),
    pixels: Uint32Array.from(bars, plain),
    edgePixels: Uint32Array.from(bars, (bar) => over(bar, colour['bar-edge'])),
    dimPixel: plain(colour['bar-dim']),
    waitPixel: plain(colour.wait),
    groundPixel: plain(colour.bg),
    dimEdgePixel: over(colour['bar-dim'], colour['bar-edge']),
    font: `11px ${family}`,
    bodyFont: `12px ${family}`,
    barFont: `${lookup('--t-bar')} ${family}`,
    outlined,
    heights: {
      row: size('h-row'),
      bar: size('h-bar'),
      foot: size('h-foot'),
      collapsed: size('h-collapsed'),
      state: size('h-state'),
      group: size('h-group'),
      counter: size('h-counter'),
      frame: size('h-frame'),
    },
    hitSlop: size('hit-slop'),
    generation: ++generations,
  };
}
