// SPDX-License-Identifier: Apache-2.0
// The splitter between the time line and the lower panel, moved by dragging or with the arrow keys.

import { h, setAttribute } from '../base/dom';

const LEAST_HEIGHT = 120;
/** The minimum height of everything above: top bar, overview, readout, ruler and some tracks. */
const LEAST_ABOVE = 260;
const KEY_STEP = 24;

export function makeSplitter(
  panel: HTMLElement,
  setHeight: (pixels: number) => void,
  toggle: () => void,
): HTMLElement {
  const splitter = h(
    'div',
    {
      class: 'splitter',
      tabIndex: 0,
      attrs: {
        role: 'separator',
        'aria-orientation': 'horizontal',
        'aria-label': 'Height of the lower panel',
        'aria-valuemin': LEAST_HEIGHT,
        'aria-valuenow': LEAST_HEIGHT,
      },
    },
    h('i', null),
  );
  const set = (height: number): void => {
    setHeight(Math.round(Math.max(LEAST_HEIGHT, Math.min(height, innerHeight - LEAST_ABOVE))));
  };
  let from: { y: number; height: number } | null = null;
  splitter.addEventListener('pointerdown', (e) => {
    splitter.setPointerCapture(e.pointerId);
    from = { y: e.clientY, height: panel.clientHeight };
  });
  splitter.addEventListener('pointermove', (e) => {
    if (from) set(from.height + from.y - e.clientY);
  });
  splitter.addEventListener('pointerup', () => {
    from = null;
  });
  splitter.addEventListener('dblclick', toggle);
  splitter.addEventListener('keydown', (e) => {
    if (e.key !== 'ArrowUp' && e.key !== 'ArrowDown') return;
    set(panel.clientHeight + (e.key === 'ArrowUp' ? KEY_STEP : -KEY_STEP));
    e.preventDefault();
    e.stopPropagation();
  });
  new ResizeObserver(() => {
    setAttribute(splitter, 'aria-valuenow', panel.clientHeight);
    setAttribute(
      splitter,
      'aria-valuemax',
      Math.max(panel.clientHeight, innerHeight - LEAST_ABOVE),
    );
  }).observe(panel);
  return splitter;
}
