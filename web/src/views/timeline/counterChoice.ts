// SPDX-License-Identifier: Apache-2.0
// The menu next to the name of a counter: draw its series stacked, overlaid or one alone, or draw
// another counter over it. One entry, common to all counters, makes the last value hold until the
// end of the trace.

import { h } from '../../base/dom';
import { shortened } from '../../base/visible';
import { numericSeries } from '../../model/counters';
import type { CounterFacts } from '../../model/engine';
import type { Views } from '../context';
import { chooseOverlay } from './counterOverlay';

const HOLD = 'hold';
const OVERLAY = 'overlay';
const ALONE = 'alone';

/** Return the menu of a counter. */
export function counterChoice(v: Views, counter: CounterFacts): HTMLElement {
  const { viewer } = v;
  const over = v.counters.overlayOf(counter);
  const view = viewer.counterViews.peek().get(counter.counter) ?? 'stack';
  const hold = viewer.hold.peek();
  const option = (value: string, text: string): HTMLElement =>
    h('option', { attrs: { value } }, text);
  const series = numericSeries(counter);
  const several = series.length > 1;
  const select = h(
    'select',
    {
      class: view === 'stack' && !over ? 'counter-choice' : 'counter-choice chosen',
      title: 'How it is drawn',
      attrs: { 'aria-label': `How ${counter.name} is drawn`, 'data-key': `v${counter.counter}` },
    },
    option('stack', several ? 'stacked' : 'steps'),
    several && option('overlap', 'overlaid'),
    ...(several
      ? series.map((k) => option(String(k), `only ${shortened(counter.series[k] ?? '', 40)}`))
      : []),
    option(OVERLAY, over ? 'Overlay another counter instead…' : 'Overlay another counter…'),
    over && option(ALONE, `Without ${shortened(over.name, 40)}`),
    option(
      HOLD,
      hold ? 'All counters: end at the last value' : 'All counters: hold the last value to the end',
    ),
  );
  select.value = String(view);
  select.addEventListener('change', () => {
    const { value } = select;
    if (value === HOLD) viewer.hold.update((on) => !on);
    else if (value === ALONE) viewer.overlayCounter(counter.counter, null);
    else if (value === OVERLAY) {
      select.value = String(view);
      chooseOverlay(v, counter);
    } else
      viewer.showCounter(
        counter.counter,
        value === 'stack' || value === 'overlap' ? value : Number(value),
      );
  });
  return select;
}
