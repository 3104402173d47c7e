// SPDX-License-Identifier: Apache-2.0
// The switch that subtracts the cost of recording from the times of calls, and its explanation.

import { h, setAttribute, setText } from '../../base/dom';
import { formatCount } from '../../base/format';
import { effect } from '../../base/signal';
import {
  compensationApplies,
  showsRecordedTimes,
  compensationWords,
} from '../../model/compensation';
import type { Views } from '../context';

const MISSING =
  'The file does not state what reading its clock cost: ' + 'nothing can be subtracted';
const IN_TIME = 'In the order of time, calls appear as they were recorded';

function usualTitle(cost: number): string {
  const ns = `${formatCount(cost)} ns`;
  return (
    `Subtract the cost of recording: reading the clock took ${ns}, once within each call ` +
    'and once in its caller'
  );
}

/** Return the switch. */
export function compensateSwitch({ viewer, profile }: Views): HTMLElement {
  const cost = viewer.facts.clock_cost_ns;
  const word = h('span', { class: 'long' });
  const sign = h('span', { class: 'short', attrs: { 'aria-hidden': true } }, '−ns');
  const amount = h('span', { class: 'wide' });
  const button = h(
    'button',
    {
      class: 'toggle compensate',
      attrs: { type: 'button' },
      on: { click: () => viewer.compensate.update((on) => !on) },
    },
    word,
    sign,
    amount,
  );
  effect(() => {
    const on = viewer.compensate.get();
    const recorded = showsRecordedTimes(viewer);
    const answer = profile.answer.get();
    const said = on && answer ? compensationWords(answer, viewer.unit.get()) : null;
    button.hidden = !compensationApplies(viewer);
    button.disabled = cost === undefined || recorded;
    button.title = cost === undefined ? MISSING : recorded ? IN_TIME : (said ?? usualTitle(cost));
    const text = on && !recorded ? 'Compensated' : 'Compensate';
    setText(word, text);
    button.setAttribute('aria-label', text);
    setText(amount, on && !recorded ? `: 2 × ${formatCount(cost ?? 0)} ns a call` : '');
    setAttribute(button, 'aria-pressed', on && !recorded);
  });
  return button;
}
