// SPDX-License-Identifier: Apache-2.0
// Chooses the columns of a table with two clocks if room is short. The names come first: a
// table of numbers whose names cannot be read is of no use. The figures of the other clock are one
// click away, at the switch of clocks.

import type { Clock } from './traceFacts';

/** Names get at least this width, in CSS pixels, before any column gives way. */
const NAME_ROOM = 350;

/** A column as the table shows it. */
interface FittedColumn {
  id: string;
  clock: Clock | null;
  /** In CSS pixels; 0: the column of names, which has the rest. */
  width: number;
}

/**
 * Return the columns for a table of `room` pixels: all of them if the names have room enough,
 * otherwise without those of the clock that is neither chosen nor sorted by. `room` 0: not known.
 */
export function fittingColumns<C extends FittedColumn>(
  columns: readonly C[],
  room: number,
  clock: Clock,
  sortedBy: string,
): readonly C[] {
  const needed = columns.reduce((sum, column) => sum + (column.width || NAME_ROOM), 0);
  if (room === 0 || needed <= room) return columns;
  const kept = columns.find(({ id }) => id === sortedBy)?.clock ?? clock;
  return columns.filter((column) => column.clock === null || column.clock === kept);
}
