// SPDX-License-Identifier: Apache-2.0
// The little square in a method's colour that stands before its name.

import { h } from '../base/dom';
import type { Frames } from '../model/names';
import type { Theme } from '../render/theme';

export function paintSwatch(
  element: HTMLElement,
  frames: Frames,
  frame: number,
  theme: Theme,
): void {
  // What is no method keeps the place of a square, so that names stand under each other.
  element.style.visibility = frame < 0 ? 'hidden' : 'visible';
  const number = frames.colour(frame);
  element.className = theme.hatched[number] ? 'swatch hatched' : 'swatch';
  element.style.backgroundColor = theme.bars[number] ?? '';
}

export function swatch(frames: Frames, frame: number, theme: Theme): HTMLElement {
  const element = h('i', { attrs: { 'aria-hidden': 'true' } });
  paintSwatch(element, frames, frame, theme);
  return element;
}
