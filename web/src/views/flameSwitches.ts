// SPDX-License-Identifier: Apache-2.0
// What a flame graph is of, and its order: the switches above it.

import { h, setAttribute } from '../base/dom';
import { effect } from '../base/signal';
import type { FlameOf, FlameOrder } from '../model/address';
import type { Viewer } from '../model/viewer';
import { inWords, wordsFor } from '../model/words';

const ORDERS: readonly [FlameOrder, string, string, string][] = [
  ['left-heavy', '2', 'Left heavy', 'Equal chains of calls merged, the longest at the left'],
  ['by-name', '', 'By name', 'Equal chains of calls merged, in the order of their names'],
  ['inverted', '4', 'Inverted', 'From where the time was spent up to who called it'],
];

const FLAMES: readonly [FlameOf, string][] = [
  ['calls', 'Calls'],
  ['count', 'Samples, by count'],
  ['weight', 'Samples, by weight'],
  ['time', 'Samples, by time'],
];

/** Calls or samples, where the trace has both; by what samples are measured. */
export function ofSwitch(viewer: Viewer): HTMLElement | null {
  if (viewer.facts.samples === 0) return null;
  const choices = viewer.facts.calls > 0 ? FLAMES : FLAMES.slice(1);
  const select = h(
    'select',
    { class: 'of', attrs: { 'aria-label': 'What the flame graph is of' } },
    ...choices.map(([of, text]) =>
      h('option', { attrs: { value: of } }, inWords(wordsFor(viewer.facts), text)),
    ),
  );
  select.addEventListener('change', () => {
    viewer.flameOf.set(FLAMES.find(([of]) => of === select.value)?.[0] ?? 'calls');
  });
  effect(() => {
    select.value = viewer.flameOf.get();
  });
  return select;
}

export function orderSwitch(viewer: Viewer): HTMLElement {
  return h(
    'div',
    { class: 'segments', attrs: { role: 'group', 'aria-label': 'Order' } },
    ...ORDERS.map(([order, key, text, title]) => {
      const button = h(
        'button',
        {
          title: inWords(wordsFor(viewer.facts), title),
          attrs: { type: 'button' },
          on: { click: () => viewer.flameOrder.set(order) },
        },
        key !== '' && h('kbd', null, key),
        text,
      );
      effect(() => setAttribute(button, 'aria-pressed', viewer.flameOrder.get() === order));
      return button;
    }),
  );
}
