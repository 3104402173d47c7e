// SPDX-License-Identifier: Apache-2.0
// The small square in the colour of a method, shown before its name.

import { h } from '../base/dom';
import { eventColour } from '../model/colours';
import type { Frames } from '../model/names';
import type { Theme } from '../render/theme';

/**
 * Create a swatch. A `reserved` colour belongs to the slice and overrides the colour of its name; 0
 * is none.
 */
export function swatch(frames: Frames, frame: number, theme: Theme, reserved = 0): HTMLElement {
  const element = h('i', { attrs: { 'aria-hidden': 'true' } });
  // Anything that is not a method gets an invisible square, so that names stay aligned.
  element.style.visibility = frame < 0 ? 'hidden' : 'visible';
  const number = eventColour(reserved, frames.colour(frame));
  element.className = theme.hatched[number] ? 'swatch hatched' : 'swatch';
  element.style.backgroundColor = theme.bars[number] ?? '';
  return element;
}
