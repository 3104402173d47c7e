// SPDX-License-Identifier: Apache-2.0
// The widths of columns, and which columns of a table with two clocks are shown if room is short.
// The names come first: a table of numbers whose names cannot be read is of no use. The figures of
// the other clock are one click away, at the switch of clocks.

import type { Clock } from './traceFacts';

/** Names get at least this width, in CSS pixels, before any column gives way. */
const NAME_ROOM = 350;

/** Space on both sides of a number. */
const PADDING = 18;

/**
 * Return the width in which each of these numbers can be read, below a head. All digits are equally
 * wide, so few texts are measured.
 */
export function figureWidth(
  measure: (text: string) => number,
  head: string,
  texts: readonly string[],
  least: number,
): number {
  const shapes = new Set(texts.map((text) => text.replace(/\d/g, '0')));
  const widest = [...shapes].reduce((most, shape) => Math.max(most, measure(shape)), least);
  return Math.ceil(Math.max(widest, measure(`▾ ${head}`))) + PADDING;
}

/**
 * Return the columns for a table of `room` pixels without those that have to give way, the first of
 * `giving` first.  `room` 0: not known.
 */
export function givingWay<C extends { id: string; width: number }>(
  columns: readonly C[],
  room: number,
  nameLeast: number,
  giving: readonly string[],
): readonly C[] {
  const fits = (some: readonly C[]): boolean =>
    some.reduce((sum, { width }) => sum + (width || nameLeast), 0) <= room;
  let shown = columns;
  for (const id of giving)
    if (room > 0 && !fits(shown)) shown = shown.filter((column) => column.id !== id);
  return shown;
}

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
