// SPDX-License-Identifier: Apache-2.0
// The little square in a method's colour that stands before its name.

import { h } from '../base/dom';
import { eventColour } from '../model/colours';
import type { Frames } from '../model/names';
import type { Theme } from '../render/theme';

/** `reserved`: the colour that one slice has, whatever that of its name; 0: none. */
export function swatch(frames: Frames, frame: number, theme: Theme, reserved = 0): HTMLElement {
  const element = h('i', { attrs: { 'aria-hidden': 'true' } });
  // What is no method keeps the place of a square, so that names stand under each other.
  element.style.visibility = frame < 0 ? 'hidden' : 'visible';
  const number = eventColour(reserved, frames.colour(frame));
  element.className = theme.hatched[number] ? 'swatch hatched' : 'swatch';
  element.style.backgroundColor = theme.bars[number] ?? '';
  return element;
}
