// SPDX-License-Identifier: Apache-2.0
// What stands in the time line beside tracks of slices: one row each, of a process or a thread.

import type { CounterFacts } from './engine';
import type { RowBox } from './layout';

interface Owned {
  /** Of its label, for the keyboard. */
  key: string;
  /** Index; -1: of no process. */
  process: number;
}

export interface CounterRow extends Owned {
  kind: 'counter';
  counter: CounterFacts;
}

export type Row = CounterRow;

export function counterRow(counter: CounterFacts): CounterRow {
  const { process } = counter;
  return { kind: 'counter', key: `c${counter.counter}`, process, counter };
}

export interface CounterBox {
  counter: CounterFacts;
  top: number;
  height: number;
  /** Until when the last value holds. */
  end: number;
}

/** Of these rows the counters; their last values hold until `end`. */
export function counterBoxes(rows: readonly RowBox[], end: number): CounterBox[] {
  return rows.flatMap(({ row, top, height }) =>
    row.kind === 'counter' ? [{ counter: row.counter, top, height, end }] : [],
  );
}
