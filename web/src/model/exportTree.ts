// SPDX-License-Identifier: Apache-2.0
// The lines of a tree table that are shown, as text for other programs: with their level.

import type { Unit } from '../base/format';
import type { FlameOf } from './address';
import { csvCell, tsvCell, type ExportFormat } from './exportTable';
import type { Frames } from './names';
import { headText, isTime, treeText, type TreeColumn } from './treeColumns';
import type { TreeLines } from './treeLines';

export interface ShownTree {
  tree: TreeLines;
  /** Those to be told, in order. */
  lines: readonly number[];
  columns: readonly TreeColumn[];
  of: FlameOf;
  frames: Frames;
  unit: Unit;
}

interface Told {
  [member: string]: string | number | null;
}

/** Times in whole nanoseconds; what is no time as it is. */
function record(shown: ShownTree, line: number): Told {
  const { tree, frames, of } = shown;
  const frame = tree.frame[line] ?? 0;
  const told: Told = {
    level: tree.level[line] ?? 0,
    class: frames.className(frame),
    method: frames.method(frame),
    signature: frames.rawSignature(frame),
    calls: tree.calls[line] ?? 0,
  };
  for (const column of shown.columns) {
    if (column.kind !== 'time') continue;
    const id = of === 'calls' ? column.id.replace('excl', 'self') : (column.id.split('_')[0] ?? '');
    const name = id === 'excl' ? 'self' : id;
    told[isTime(column, of) ? `${name}_ns` : `${name}_${of}`] = tree.figure(line, column.id);
  }
  return told;
}

function rows(shown: ShownTree, name: (line: number) => string, group: boolean): string[][] {
  const { tree, columns, of, unit } = shown;
  const text = (line: number, column: TreeColumn): string => {
    if (column.kind === 'name') return name(line);
    const value = treeText(tree, line, column, of, unit);
    return group ? value : value.replaceAll(',', '');
  };
  return shown.lines.map((line) => columns.map((column) => text(line, column)));
}

function heads(shown: ShownTree): string[] {
  return shown.columns.map((column) => headText(column, shown.of, shown.unit));
}

function toTsv(shown: ShownTree): string {
  const { tree, frames } = shown;
  const name = (line: number): string => tsvCell(frames.full(tree.frame[line] ?? 0));
  const lines = rows(shown, name, false).map((cells, k) => [
    String(tree.level[shown.lines[k] ?? 0] ?? 0),
    ...cells,
  ]);
  return [['Level', ...heads(shown)], ...lines].map((cells) => cells.join('\t')).join('\n') + '\n';
}

function toCsv(shown: ShownTree): string {
  const records = shown.lines.map((line) => record(shown, line));
  const keys = Object.keys(records[0] ?? {});
  const lines = records.map((told) => keys.map((key) => csvCell(told[key] ?? null)).join(','));
  return [keys.join(','), ...lines].join('\r\n') + '\r\n';
}

function toMarkdown(shown: ShownTree): string {
  const { tree, frames, columns } = shown;
  const name = (line: number): string => {
    const text = frames
      .full(tree.frame[line] ?? 0)
      .replaceAll('|', '\\|')
      .replaceAll('`', "'");
    return `${'&emsp;'.repeat(Math.min(40, tree.level[line] ?? 0))}\`${text}\``;
  };
  const rule = columns.map((column) => (column.kind === 'name' ? '---' : '---:'));
  return (
    [heads(shown), rule, ...rows(shown, name, true)]
      .map((cells) => `| ${cells.join(' | ')} |`)
      .join('\n') + '\n'
  );
}

export function exportTree(format: ExportFormat, shown: ShownTree): string {
  if (format === 'tsv') return toTsv(shown);
  if (format === 'csv') return toCsv(shown);
  if (format === 'markdown') return toMarkdown(shown);
  return `[\n${shown.lines.map((line) => JSON.stringify(record(shown, line))).join(',\n')}\n]\n`;
}
