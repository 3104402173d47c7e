// SPDX-License-Identifier: Apache-2.0
// The calls of one method in both sides of a comparison: histograms on one axis, percentiles, and
// the slowest calls with the way to them.

import { h } from '../../base/dom';
import { formatCount, formatShort, formatTimeUnit, type Unit } from '../../base/format';
import { shortened } from '../../base/visible';
import type { ComparedCalls, SideCalls, SlowCall } from '../../model/comparedCalls';
import { comparedParts } from '../../model/names';
import { writeFiles } from '../../model/opening';
import { inTermsOf, wordsFor } from '../../model/words';
import { goToCall, type Views } from '../context';

const SIDES = ['base', 'new'] as const;
const SIDE_WORDS = { base: 'Base', new: 'New' };

function swatchOf(side: 'base' | 'new'): HTMLElement {
  return h('i', { class: `swatch side-${side}`, attrs: { 'aria-hidden': 'true' } });
}

/** Most labels of the axis. */
const LABELS = 8;

/** Draw both sides' shares of calls in each bucket, on a logarithmic axis. */
function histogram(calls: ComparedCalls, unit: Unit): HTMLElement {
  const { bounds } = calls;
  const share = (side: 'base' | 'new', i: number): number =>
    (calls[side].counts[i] ?? 0) / Math.max(1, calls[side].calls);
  const most = Math.max(
    ...calls.base.counts.map((_, i) => Math.max(share('base', i), share('new', i))),
  );
  const time = (ns = 0): string => formatTimeUnit(ns, unit);
  const bar = (side: 'base' | 'new', i: number): HTMLElement => {
    const part = share(side, i) / most;
    const height = part > 0 ? `${Math.max(3, 100 * part)}%` : '0';
    return h('b', { class: `side-${side}`, style: { height } });
  };
  const step = Math.ceil(calls.base.counts.length / LABELS);
  const bars = calls.base.counts.map((count, i) => {
    const sides = `base ${formatCount(count)}, new ${formatCount(calls.new.counts[i] ?? 0)}`;
    return h(
      'i',
      { title: `${time(bounds[i])} to ${time(bounds[i + 1])}: ${sides}` },
      ...SIDES.map((side) => bar(side, i)),
      h('span', null, i % step === 0 ? formatShort(bounds[i] ?? 0) : ''),
    );
  });
  const ends = `${time(bounds[0])} to ${time(bounds.at(-1))}`;
  return h(
    'div',
    {
      class: 'histogram both',
      attrs: { role: 'img', 'aria-label': `Shares of lengths in both sides, from ${ends}` },
    },
    h('div', { class: 'bars' }, ...bars),
  );
}

/** Show number and percentiles of both sides. */
function figures(calls: ComparedCalls, unit: Unit, words: string): HTMLElement {
  const time = (ns: number | null): string => (ns === null ? '' : formatTimeUnit(ns, unit));
  const lines: [string, (side: SideCalls) => string][] = [
    [words, (side) => formatCount(side.calls)],
    ['Median', (side) => time(side.median)],
    ['95 %', (side) => time(side.p95)],
    ['Longest', (side) => time(side.max)],
  ];
  return h(
    'table',
    { class: 'call-figures' },
    h('caption', null, 'Times are medians over the runs'),
    h(
      'tr',
      null,
      h('th', null),
      ...SIDES.map((side) => h('th', null, swatchOf(side), ` ${SIDE_WORDS[side]}`)),
    ),
    ...lines.map(([head, text]) =>
      h('tr', null, h('th', null, head), ...SIDES.map((side) => h('td', null, text(calls[side])))),
    ),
  );
}

/** Return the address of a call in the trace of its run, with some of what is around it. */
function callAddress(v: Views, call: SlowCall): string {
  const { filter } = v.viewer;
  const from = Math.round(call.start - call.length / 2);
  const words = [
    `files=${writeFiles(call.run ?? [])}`,
    `view=${from}-${Math.round(call.start + 1.5 * call.length)}`,
    `call=${call.row}.${call.index}`,
    'tab=selection',
    ...(filter === '' ? [] : [`filter=${encodeURIComponent(filter)}`]),
  ];
  return `#${words.join('&')}`;
}

function slowest(v: Views, side: 'base' | 'new', calls: ComparedCalls, words: string): HTMLElement {
  const unit = v.viewer.unit.peek();
  const line = (call: SlowCall): HTMLElement => {
    const text = formatTimeUnit(call.length, unit);
    const link = call.run
      ? h('a', { class: 'link', attrs: { href: callAddress(v, call), target: '_blank' } }, text)
      : h(
          'button',
          {
            class: 'link',
            attrs: { type: 'button' },
            on: { click: () => void goToCall(v, call) },
          },
          text,
        );
    const at = h('span', { class: 'second text' }, ` at ${formatTimeUnit(call.start, unit)}`);
    return h('li', null, link, at);
  };
  return h(
    'div',
    { class: `slowest of-${side}` },
    h('h3', null, `Slowest ${words}: ${SIDE_WORDS[side].toLowerCase()}`),
    h('ol', null, ...calls[side].slowest.map(line)),
  );
}

/** Return what a section shows of a method's calls. */
export function comparedCallsParts(v: Views, calls: ComparedCalls): HTMLElement[] {
  const words = wordsFor(v.viewer.facts);
  const unit = v.viewer.unit.peek();
  const { own } = comparedParts(calls.name);
  const clock = calls.clock === 'cpu' ? 'CPU time' : 'real time';
  const some = calls.base.calls + calls.new.calls > 0;
  const head = h('h2', null, h('span', { class: 'text', title: shortened(own) }, shortened(own)));
  const about = some
    ? `Lengths of its calls, ${clock}: share of each side`
    : 'None of its calls is known individually.';
  const left = h(
    'div',
    { class: 'one-name' },
    head,
    h('p', { class: 'second' }, inTermsOf(words, about)),
    some && histogram(calls, unit),
  );
  if (!some) return [left];
  return [
    left,
    figures(calls, unit, inTermsOf(words, 'Calls')),
    ...SIDES.map((side) => slowest(v, side, calls, words.slices)),
  ];
}
