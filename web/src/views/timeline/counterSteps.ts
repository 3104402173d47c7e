// SPDX-License-Identifier: Apache-2.0
// Goes along the selected series of a counter: to the next change, peak or trough, or to another
// series.

import { formatTimeUnit, formatValue } from '../../base/format';
import { shortened } from '../../base/visible';
import { seriesTitle, type CounterPoint, type CounterStop } from '../../model/counterFigures';
import { numericSeries, selectCounter } from '../../model/counters';
import type { CounterFacts } from '../../model/engine';
import type { CounterMark } from '../../model/marks';
import { revealingView } from '../../model/span';
import type { Views } from '../context';

/** The selected counter. */
interface Selected {
  mark: CounterMark;
  counter: CounterFacts;
}

function selectedCounter(v: Views): Selected | null {
  const mark = v.viewer.mark.peek();
  const counter = mark?.kind === 'counter' ? v.counters.list.peek()[mark.number] : undefined;
  return mark?.kind === 'counter' && counter ? { mark, counter } : null;
}

/** Select a counter at a time, and bring both into view. */
export function goToCounter(v: Views, counter: CounterFacts, at: number, series: number): void {
  selectCounter(v.viewer, counter, at, series);
  const span = { from: at, to: at + 1 };
  v.mover.glide(revealingView(v.mover.goal, span, v.viewer.bounds));
  v.showCounter(counter.counter);
}

function announcePoint(v: Views, { mark, counter }: Selected, point: CounterPoint): void {
  const name = shortened(seriesTitle(counter, mark.series));
  const time = formatTimeUnit(point.time_ns, v.viewer.unit.peek());
  v.announce(`${name}: ${formatValue(point.value)} at ${time}`);
}

/** Go to the next or previous point of that kind. Return false if no counter is selected. */
export function stepCounter(v: Views, to: CounterStop, direction: 1 | -1): boolean {
  const selected = selectedCounter(v);
  if (!selected) return false;
  const { mark } = selected;
  const step = { counter: mark.number, series: mark.series, time: mark.at, direction, to };
  v.viewer.engine
    .counterStep(step)
    .then((point) => {
      // The user may have selected something else in the meantime.
      if (v.viewer.mark.peek() !== mark) return;
      const where = direction > 0 ? 'after' : 'before';
      if (!point) return v.viewer.say(`No ${to} of this series ${where} the selected time`);
      goToCounter(v, selected.counter, point.time_ns, mark.series);
      announcePoint(v, selected, point);
    })
    .catch(v.viewer.failed);
  return true;
}

/** Select the next or previous series. Return false if no counter is selected. */
export function stepSeries(v: Views, direction: 1 | -1): boolean {
  const selected = selectedCounter(v);
  if (!selected) return false;
  const { mark, counter } = selected;
  const series = numericSeries(counter);
  const next = series[series.indexOf(mark.series) + direction];
  if (next !== undefined) selectCounter(v.viewer, counter, mark.at, next);
  return true;
}
