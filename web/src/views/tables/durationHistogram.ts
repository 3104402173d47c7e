// SPDX-License-Identifier: Apache-2.0
// The histogram of the lengths of one name. The axis of lengths is logarithmic: ten bars for each
// power of ten, labelled at both ends and at powers of ten between them.

import { h } from '../../base/dom';
import { formatCount, formatTimeUnit } from '../../base/format';
import { powerTicks, type Durations } from '../../model/statistics';
import { countSlices, wordsFor } from '../../model/words';
import type { Views } from '../context';

/** The least width of a label below the bars, in bars of the widest kind. */
const LABEL_BARS = 4;
/** The widest bar and the narrowest histogram, in CSS pixels; the latter has room for two labels. */
const BAR_WIDTH = 24;
const LEAST_WIDTH = 2 * LABEL_BARS * BAR_WIDTH;

/** Draw the histogram; the tooltip of each bar gives its bounds and count. */
export function durationHistogram(v: Views, d: Durations): HTMLElement {
  const { facts, clock, unit: unitSignal } = v.viewer;
  const unit = unitSignal.peek();
  const words = wordsFor(facts);
  const most = Math.max(...d.counts);
  const time = (ns = 0): string => formatTimeUnit(ns, unit);
  const bar = (count: number, i: number): HTMLElement => {
    const range = `${time(d.bounds[i])} to ${time(d.bounds[i + 1])}`;
    const share = count === 0 ? 0 : Math.max(3, (100 * count) / most);
    return h(
      'i',
      { title: `${range}: ${countSlices(words, count)}` },
      h('b', { style: { height: `${share}%` } }),
    );
  };
  const bars = d.counts.length;
  const apart = Math.max(LABEL_BARS, Math.ceil(bars / 5));
  const tick = (i: number): HTMLElement =>
    h('span', { class: 'tick', style: { left: `${(100 * i) / bars}%` } }, time(d.bounds[i]));
  const [from, to] = [time(d.bounds[0]), time(d.bounds[bars])];
  const top = d.counts.indexOf(most);
  const told =
    `Histogram of lengths from ${from} to ${to}, most of them, ${formatCount(most)}, ` +
    `between ${time(d.bounds[top])} and ${time(d.bounds[top + 1])}`;
  const what = facts.axis === 'weight' ? 'size' : clock.peek() === 'cpu' ? 'CPU time' : 'real time';
  const second = (name: string, ...content: (string | HTMLElement)[]): HTMLElement =>
    h('div', { class: `${name} second` }, ...content);
  return h(
    'div',
    { class: 'histogram', attrs: { role: 'img', 'aria-label': told } },
    second('of', `Number of ${words.slices} by ${what}, logarithmic scale`),
    second('counts', h('span', null, formatCount(most)), h('span', null, '0')),
    h(
      'div',
      { class: 'plot', style: { 'max-width': `${Math.max(LEAST_WIDTH, bars * BAR_WIDTH)}px` } },
      h('div', { class: 'bars' }, ...d.counts.map(bar)),
      second(
        'ends',
        h('span', null, from),
        ...powerTicks(d.bounds, apart).map(tick),
        h('span', null, to),
      ),
    ),
  );
}
