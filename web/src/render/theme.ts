// SPDX-License-Identifier: Apache-2.0
// Colours and sizes for the canvas painters. They are read from the custom properties of the style
// sheet, so each theme is defined in one place only.

import { HASHED_COLOURS, KINDS, kindColour, METHOD_COLOURS, RESERVED } from '../model/colours';
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
  'more',
  'more-full',
  'less',
  'less-full',
  'unsure',
] as const;

export type ColourName = (typeof COLOURS)[number];
export type Palette = 'methods' | 'safe';

/** The colours, fonts and sizes that painters use, resolved for one theme and palette. */
export interface Theme {
  colour: Record<ColourName, string>;
  /**
   * Bar colours, indexed by the colour numbers of model/colours.ts. The safe palette repeats 8
   * plain colours and the same 8 hatched for all numbers but states and greys, including the
   * colours that a trace names "good" and "terrible", which are green and red.
   */
  bars: readonly string[];
  /** The text colour on each bar colour. */
  barTexts: readonly string[];
  hatched: readonly boolean[];
  /** The bar colours as pixels (ABGR), plain and for the darker top edge. */
  pixels: Uint32Array;
  edgePixels: Uint32Array;
  dimPixel: number;
  dimEdgePixel: number;
  waitPixel: number;
  groundPixel: number;
  font: string;
  barFont: string;
  bodyFont: string;
  /**
   * True with forced colours: shapes need outlines because their fills carry little information.
   */
  outlined: boolean;
  heights: Heights & { frame: number };
  hitSlop: number;
  /** Changes whenever any field above changes. Caches of drawn images use it as a key. */
  generation: number;
}

/**
 * Parse "#rgb" or "#rrggbb", with or without alpha, to red, green, blue, alpha; return a middle
 * grey for anything else.
 */
export function parseColour(text: string): [number, number, number, number] {
  const short = /^#[0-9a-f]{3,4}$/i.test(text.trim());
  const long = short ? text.trim().replace(/[0-9a-f]/gi, '$&$&') : text.trim();
  const hex = /^#([0-9a-f]{6})([0-9a-f]{2})?$/i.exec(long);
  if (!hex?.[1]) return [128, 128, 128, 1];
  const n = parseInt(hex[1], 16);
  return [n >> 16, (n >> 8) & 255, n & 255, hex[2] ? parseInt(hex[2], 16) / 255 : 1];
}

/**
 * Pack a colour as a pixel. Browsers run on little-endian machines, where the bytes in memory are
 * red, green, blue, alpha.
 */
function packPixel(r: number, g: number, b: number): number {
  return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
}

function blendPixel(base: string, top: string): number {
  const [r, g, b] = parseColour(base);
  const [r2, g2, b2, a] = parseColour(top);
  const mix = (x: number, y: number): number => Math.round(x * (1 - a) + y * a);
  return packPixel(mix(r, r2), mix(g, g2), mix(b, b2));
}

export type Lookup = (property: string) => string;

function pixelOfColour(text: string): number {
  const [r, g, b] = parseColour(text);
  return packPixel(r, g, b);
}

/** Return black or white, whichever is readable on a colour that no theme has chosen. */
function readableTextColour(bar: string): string {
  const [r, g, b] = parseColour(bar);
  return 0.299 * r + 0.587 * g + 0.114 * b > 128 ? '#14171c' : '#ffffff';
}

function isGrey(bar = ''): boolean {
  const [r, g, b] = parseColour(bar);
  return r === g && g === b;
}

/**
 * The custom properties that override the first reserved colours, in the order of those colours.
 */
const STATE_COLOURS = ['unint', 'iowait', 'running', 'runnable', 'sleep', 'other'];

let generations = 0;

/** Read the theme from the style sheet. `lookup` returns the value of a custom property. */
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
  const kinds = KINDS.map((_, i) => lookup(palette === 'safe' ? `--cb-${7 - i}` : `--k-${i}`));
  const isDealt = (i: number): boolean =>
    i < own.length ||
    i >= kindColour(0) ||
    (palette === 'safe' && i >= own.length + states.length && !isGrey(named[i - own.length]));
  const bars = [...own, ...named, ...kinds].map((bar, i) =>
    isDealt(i) && i >= own.length && i < kindColour(0) ? lookup(`--cb-${i % 8}`) : bar,
  );
  const family = lookup('--font');
  return {
    colour,
    bars,
    barTexts: bars.map((bar, i) => (isDealt(i) ? colour['bar-text'] : readableTextColour(bar))),
    hatched: bars.map(
      (_, i) => palette === 'safe' && isDealt(i) && i < kindColour(0) && i % 16 >= 8,
    ),
    pixels: Uint32Array.from(bars, pixelOfColour),
    edgePixels: Uint32Array.from(bars, (bar) => blendPixel(bar, colour['bar-edge'])),
    dimPixel: pixelOfColour(colour['bar-dim']),
    waitPixel: pixelOfColour(colour.wait),
    groundPixel: pixelOfColour(colour.bg),
    dimEdgePixel: blendPixel(colour['bar-dim'], colour['bar-edge']),
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
