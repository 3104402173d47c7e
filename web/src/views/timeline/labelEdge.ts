// SPDX-License-Identifier: Apache-2.0
// The edge between the names and the time line: dragged or moved with the arrow keys, it makes the
// names wider; a double click makes them as wide as usual.

import { h, setAttribute } from '../../base/dom';
import type { Settings } from '../settings';

const LEAST = 96;
/** The time line keeps the rest of the window. */
const MOST_SHARE = 0.4;
const KEY_STEP = 24;

/** The edge of `names`; the keyboard reaches it where `role` says what it is. */
export function labelEdge(
  settings: Settings,
  names: HTMLElement,
  role: 'separator' | null,
): HTMLElement {
  const edge = h('div', {
    class: 'label-edge',
    title: 'Width of the names: drag; a double click makes them as wide as usual',
    attrs: role
      ? {
          role,
          tabindex: 0,
          'aria-orientation': 'vertical',
          'aria-label': 'Width of the names',
          'aria-valuemin': LEAST,
        }
      : { 'aria-hidden': true },
  });
  const most = (): number => Math.round(innerWidth * MOST_SHARE);
  const set = (width: number): void =>
    settings.setLabelWidth(Math.round(Math.max(LEAST, Math.min(width, most()))));
  let from: { x: number; width: number } | null = null;
  edge.addEventListener('pointerdown', (e) => {
    if (e.button !== 0) return;
    edge.setPointerCapture(e.pointerId);
    from = { x: e.clientX, width: names.offsetWidth };
    e.stopPropagation();
  });
  edge.addEventListener('pointermove', (e) => {
    if (from) set(from.width + e.clientX - from.x);
  });
  for (const end of ['pointerup', 'pointercancel'] as const)
    edge.addEventListener(end, () => (from = null));
  edge.addEventListener('dblclick', () => settings.setLabelWidth(null));
  if (!role) return edge;
  edge.addEventListener('keydown', (e) => {
    if (e.key !== 'ArrowLeft' && e.key !== 'ArrowRight') return;
    set(names.offsetWidth + (e.key === 'ArrowRight' ? KEY_STEP : -KEY_STEP));
    e.preventDefault();
    e.stopPropagation();
  });
  new ResizeObserver(() => {
    setAttribute(edge, 'aria-valuenow', names.offsetWidth);
    setAttribute(edge, 'aria-valuemax', Math.max(most(), names.offsetWidth));
  }).observe(names);
  return edge;
}
