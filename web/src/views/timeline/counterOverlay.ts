// SPDX-License-Identifier: Apache-2.0
// Lets the user choose a second counter that is drawn over the first one, in the same row.

import { plural } from '../../base/format';
import { shortened } from '../../base/visible';
import { numericSeries } from '../../model/counters';
import type { CounterFacts } from '../../model/engine';
import { ownerId } from '../../model/names';
import type { Views } from '../context';
import type { FinderItem } from '../finder';

/** Offer all other counters that have numbers, those of the same process first. */
export function chooseOverlay(v: Views, counter: CounterFacts): void {
  const { viewer } = v;
  const item = (other: CounterFacts): FinderItem => {
    const process = viewer.facts.processes[other.process];
    return {
      dim: process ? `${ownerId(process)} ${process.name}  ` : '',
      name: other.name,
      choose: () => {
        viewer.overlayCounter(counter.counter, other.counter);
        v.showCounter(counter.counter);
        v.announce(`${shortened(other.name)} is drawn over ${shortened(counter.name)}`);
      },
    };
  };
  const others = v.counters.list
    .peek()
    .filter((other) => other.counter !== counter.counter && numericSeries(other).length > 0);
  const isNear = (other: CounterFacts): boolean => other.process === counter.process;
  const sorted = [...others.filter(isNear), ...others.filter((other) => !isNear(other))];
  if (sorted.length === 0) return viewer.say('The trace has no other counter with numbers.');
  const title = `Overlay a counter on ${shortened(counter.name, 60)}`;
  const placeholder = `Name of one of ${plural(sorted.length, 'other counter')}`;
  v.find({ title, placeholder, noun: 'counter' }, sorted.map(item));
}

/**
 * Choose a counter that is drawn over the selected one, or draw it alone again. Return false if no
 * counter is selected.
 */
export function overlaySelected(v: Views, alone: boolean): boolean {
  const mark = v.viewer.mark.peek();
  const counter = mark?.kind === 'counter' ? v.counters.list.peek()[mark.number] : undefined;
  if (!counter) return false;
  if (alone) v.viewer.overlayCounter(counter.counter, null);
  else chooseOverlay(v, counter);
  return true;
}
