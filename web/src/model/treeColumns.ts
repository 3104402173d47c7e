// SPDX-License-Identifier: Apache-2.0
// Columns of the tree tables: those of the profile without times per call, and "Self" instead of
// "Exclusive". A tree of samples has one measure instead of clocks.

import { formatCount, formatPercent, formatTime, unitHead, type Unit } from '../base/format';
import type { FlameOf } from './address';
import { profileColumns, type Column } from './profileColumns';
import type { TraceFacts } from './traceFacts';
import type { TreeLines } from './treeLines';
import { wordsFor } from './words';

const MEASURE_WORDS = { count: 'samples', weight: 'weight', time: 'time' } as const;

/** A column of a tree table. */
export interface TreeColumn extends Column {
  /** Head without the unit. */
  text: string;
}

function sampleColumn(column: Column, of: Exclude<FlameOf, 'calls'>): TreeColumn {
  const what = column.id.startsWith('incl') ? 'Incl' : 'Self';
  const title = `${what === 'Incl' ? 'In the frame or what it calls' : 'In the frame itself'}, ${MEASURE_WORDS[of]}`;
  if (column.kind === 'calls') return { ...column, text: 'Samples', title: 'Samples' };
  if (column.kind === 'name') return { ...column, text: 'Name' };
  const text = `${what} ${column.kind === 'percent' ? '%' : MEASURE_WORDS[of]}`;
  return { ...column, text, title: column.kind === 'percent' ? `${title}, share of all` : title };
}

function callColumn(column: Column, bottomUp: boolean, words: { slices: string }): TreeColumn {
  const self = (text: string): string => text.replace('Exclusive', 'Self').replace('Excl', 'Self');
  const calls = words.slices[0]?.toUpperCase() + words.slices.slice(1);
  if (column.kind === 'name') return { ...column, text: 'Name' };
  if (column.kind === 'calls')
    return { ...column, text: calls, title: bottomUp ? `${calls}, recursive ones too` : calls };
  const text = self(column.group) + (column.kind === 'percent' ? ' %' : '');
  return { ...column, text, title: self(column.title) };
}

/** Return the columns of a tree table. */
export function treeColumns(facts: TraceFacts, of: FlameOf, bottomUp: boolean): TreeColumn[] {
  const words = wordsFor(facts);
  return profileColumns(of === 'calls' ? facts : { clocks: ['real'] })
    .filter((column) => !column.id.endsWith('per_call'))
    .map((column) =>
      of === 'calls' ? callColumn(column, bottomUp, words) : sampleColumn(column, of),
    );
}

/** Tell whether a column holds times. */
export function isTreeTime(column: Column, of: FlameOf): boolean {
  return column.kind === 'time' && (of === 'calls' || of === 'time');
}

/** Return the head of a column, with its unit. */
export function treeHead(column: TreeColumn, of: FlameOf, unit: Unit): string {
  return isTreeTime(column, of) ? unitHead(column.text, unit) : column.text;
}

function treeValue(value: number, column: Column, of: FlameOf, unit: Unit): string {
  return isTreeTime(column, of) ? formatTime(value, unit) : formatCount(value);
}

/** Format a cell. */
export function treeText(
  tree: TreeLines,
  line: number,
  column: Column,
  of: FlameOf,
  unit: Unit,
): string {
  const value = tree.figure(line, column.id);
  if (value === null) return '';
  return column.kind === 'percent'
    ? formatPercent(value, treeTotal(tree, column))
    : treeValue(value, column, of, unit);
}

/** Return the total that percentages refer to. */
export function treeTotal(tree: TreeLines, column: Column): number {
  return (column.clock === 'cpu' ? tree.cpu : tree.real)?.total ?? 0;
}

/** Return the widest text of a column, to size it. */
export function widestTreeText(tree: TreeLines, column: Column, of: FlameOf, unit: Unit): string {
  if (column.kind === 'percent') return '100.0';
  // With automatic units, the greatest number need not be the longest.
  if (isTreeTime(column, of) && unit === 'auto') return '999.999 ms';
  return treeValue(tree.most(column.id), column, of, unit);
}
