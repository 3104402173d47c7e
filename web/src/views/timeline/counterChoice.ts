// SPDX-License-Identifier: Apache-2.0
// The menu next to the name of a counter: draw its series stacked, overlaid or one alone. One
// entry, common to all counters, makes the last value hold until the end of the trace.

import { h } from '../../base/dom';
import { shortened } from '../../base/visible';
import { numericSeries } from '../../model/counters';
import type { CounterFacts } from '../../model/engine';
import type { Viewer } from '../../model/viewer';

const HOLD = 'hold';

/** Return the menu of a counter. */
export function counterChoice(viewer: Viewer, counter: CounterFacts): HTMLElement {
  const view = viewer.counterViews.peek().get(counter.counter) ?? 'stack';
  const hold = viewer.hold.peek();
  const option = (value: string, text: string): HTMLElement =>
    h('option', { attrs: { value } }, text);
  const series = numericSeries(counter);
  const several = series.length > 1;
  const select = h(
    'select',
    {
      class: view === 'stack' ? 'counter-choice' : 'counter-choice chosen',
      title: 'How it is drawn',
      attrs: { 'aria-label': `How ${counter.name} is drawn`, 'data-key': `v${counter.counter}` },
    },
    option('stack', several ? 'stacked' : 'steps'),
    several && option('overlap', 'overlaid'),
    ...(several
      ? series.map((k) => option(String(k), `only ${shortened(counter.series[k] ?? '', 40)}`))
      : []),
    option(
      HOLD,
      hold ? 'All counters: end at the last value' : 'All counters: hold the last value to the end',
    ),
  );
  select.value = String(view);
  select.addEventListener('change', () => {
    const { value } = select;
    if (value === HOLD) viewer.hold.update((on) => !on);
    else
      viewer.showCounter(
        counter.counter,
        value === 'stack' || value === 'overlap' ? value : Number(value),
      );
  });
  return select;
}
