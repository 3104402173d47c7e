// SPDX-License-Identifier: Apache-2.0
// Colour numbers of bars: 16 for methods by rank, 23 for hashed names, then the reserved colours,
// then one for each kind of frame.

export const METHOD_COLOURS = 16;
export const HASHED_COLOURS = 23;

/** Colours that a trace can name, in the order of their ids. */
export const RESERVED: readonly string[] = [
  '#b67d8f',
  '#ff8c00',
  '#7ec894',
  '#85a0d2',
  '#f0f0f0',
  '#c79b7d',
  '#00b4b4',
  '#0000b4',
  '#b400b4',
  '#0000ff',
  '#7d7d7d',
  '#007d00',
  '#b47d00',
  '#b40000',
  '#000000',
  '#dddddd',
  '#ffffff',
  '#ffff00',
  '#646400',
  '#4387fd',
  '#f44a3f',
  '#ee8e00',
  '#0da861',
  '#e6e600',
  '#808080',
  '#0000ff',
  '#cc6600',
  '#ffff77',
  '#99ee66',
  '#ee8888',
  '#bbbbbb',
  '#dede4b',
  '#67da23',
  '#c55151',
];

/** Kinds of frames by their numbers in answers, and the names of their colours in the style sheet. */
export const KINDS: readonly string[] = [
  'Unknown',
  'Native',
  'C++',
  'Kernel',
  'JIT',
  'Interpreted',
  'Inlined',
  'GC',
];
export const KERNEL = 3;

/** Return the colour number of a kind of frame. */
export function kindColour(kind: number): number {
  return METHOD_COLOURS + HASHED_COLOURS + RESERVED.length + kind;
}

/** Return Trace Viewer's hash of a name, over its UTF-16 code units. */
export function colourHash(text: string): number {
  let hash = 0;
  for (let i = 0; i < text.length; i++) {
    hash = (hash + 37 * hash + 11 * text.charCodeAt(i)) % 0xffffffff;
  }
  return hash % HASHED_COLOURS;
}

/** Return the colour number of a name that is coloured by its hash. */
export function hashedColour(text: string): number {
  return METHOD_COLOURS + colourHash(text);
}

/**
 * From this value on, the reserved colour of an event is 64 plus the hash colour of another name.
 */
const OF_OTHER_NAME = 64;

/** Return the colour number of an event. `reserved` counts from 1; 0: use `automatic`. */
export function eventColour(reserved: number, automatic: number): number {
  if (reserved >= OF_OTHER_NAME && reserved < OF_OTHER_NAME + HASHED_COLOURS)
    return METHOD_COLOURS + reserved - OF_OTHER_NAME;
  return reserved > 0 && reserved <= RESERVED.length
    ? METHOD_COLOURS + HASHED_COLOURS + reserved - 1
    : automatic;
}
