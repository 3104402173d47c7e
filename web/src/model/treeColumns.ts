// SPDX-License-Identifier: Apache-2.0
// Columns of the tree tables: those of the profile without times per call, and "Self" instead of
// "Exclusive".

import { formatCount, formatPercent } from '../base/format';
import type { FlameOf } from './address';
import { scaleLabel, type Scale } from './measure';
import { measureColumns, type Column } from './profileColumns';
import type { TraceFacts } from './traceFacts';
import type { TreeLines } from './treeLines';
import { wordsFor } from './words';

/** A column of a tree table. */
export interface TreeColumn extends Column {
  /** Head without the unit. */
  text: string;
}

function callColumn(column: Column, bottomUp: boolean, words: { slices: string }): TreeColumn {
  const self = (text: string): string => text.replace('Exclusive', 'Self').replace('Excl', 'Self');
  const calls = words.slices[0]?.toUpperCase() + words.slices.slice(1);
  if (column.kind === 'calls')
    return { ...column, text: calls, title: bottomUp ? `${calls}, recursive ones too` : calls };
  const text = self(column.group) + (column.kind === 'percent' ? ' %' : '');
  return { ...column, text, title: self(column.title) };
}

/** Return the columns of a tree table. */
export function treeColumns(facts: TraceFacts, of: FlameOf, bottomUp: boolean): TreeColumn[] {
  const words = wordsFor(facts);
  return measureColumns(of, facts)
    .filter((column) => !column.id.endsWith('per_call'))
    .map((column) => callColumn(column, bottomUp, words));
}

/** Return the head of a column, with its unit. */
export function treeHead(column: TreeColumn, scale: Scale): string {
  return column.kind === 'figure' ? `${column.text} ${scaleLabel(scale)}`.trim() : column.text;
}

function treeValue(value: number, column: Column, scale: Scale): string {
  return column.kind === 'figure' ? scale.text(value) : formatCount(value);
}

/** Format a cell. */
export function treeText(tree: TreeLines, line: number, column: Column, scale: Scale): string {
  const value = tree.figure(line, column.id);
  if (value === null) return '';
  return column.kind === 'percent'
    ? formatPercent(value, treeTotal(tree, column))
    : treeValue(value, column, scale);
}

/** Return the total that percentages refer to. */
export function treeTotal(tree: TreeLines, column: Column): number {
  return (column.clock === 'cpu' ? tree.cpu : tree.real)?.total ?? 0;
}

/** Return the widest text of a column, to size it. */
export function widestTreeText(tree: TreeLines, column: Column, scale: Scale): string {
  if (column.kind === 'percent') return '100.0';
  const most = treeValue(tree.most(column.id), column, scale);
  return (column.kind === 'figure' && scale.widest) || most;
}
