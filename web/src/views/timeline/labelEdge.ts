// SPDX-License-Identifier: Apache-2.0
// The edge between the names and the time line. Dragging it or the arrow keys change the width of
// the names; a double click restores the default width.

import { h, setAttribute } from '../../base/dom';
import type { Settings } from '../settings';

const LEAST = 96;
/** The names take at most this share of the window. */
const MOST_SHARE = 0.4;
const KEY_STEP = 24;

/** Return the edge of `names`. With a `role`, the keyboard can reach it. */
export function labelEdge(
  settings: Settings,
  names: HTMLElement,
  role: 'separator' | null,
): HTMLElement {
  const edge = h('div', {
    class: 'label-edge',
    title: 'Width of the names: drag to change it, double-click to reset it',
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
