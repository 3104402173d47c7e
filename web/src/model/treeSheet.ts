// SPDX-License-Identifier: Apache-2.0
// Export the visible lines of a tree table, with their level.

import type { FixedUnit } from '../base/format';
import type { FlameOf } from './address';
import type { Frames } from './names';
import type { Sheet } from './sheet';
import { treeHead, isTreeTime, treeText, type TreeColumn } from './treeColumns';
import type { TreeLines } from './treeLines';

/** The tree table as it is shown. */
export interface ShownTree {
  tree: TreeLines;
  /** Visible lines, in order. */
  lines: readonly number[];
  columns: readonly TreeColumn[];
  of: FlameOf;
  frames: Frames;
  unit: FixedUnit;
}

/** Return the key of a column: times in nanoseconds, other measures by their name. */
function treeKey(column: TreeColumn, of: FlameOf): string {
  const id = of === 'calls' ? column.id.replace('excl', 'self') : (column.id.split('_')[0] ?? '');
  const name = id === 'excl' ? 'self' : id;
  return isTreeTime(column, of) ? `${name}_ns` : `${name}_${of}`;
}

/** Return the tree table as a sheet for copying and export. */
export function treeSheet({ tree, lines, columns, of, frames, unit }: ShownTree): Sheet {
  const at = (k: number): number => lines[k] ?? 0;
  const frame = (k: number): number => tree.frame[at(k)] ?? 0;
  const level = (k: number): number => tree.level[at(k)] ?? 0;
  const times = columns.filter((column) => column.kind === 'time');
  return {
    heads: columns.map((c) => ({ text: treeHead(c, of, unit), number: c.kind !== 'name' })),
    keys: [
      ...['level', 'class', 'method', 'signature', 'calls'],
      ...times.map((column) => treeKey(column, of)),
    ],
    count: lines.length,
    level,
    shown: (k) =>
      columns.map((c) =>
        c.kind === 'name' ? frames.full(frame(k)) : treeText(tree, at(k), c, of, unit),
      ),
    exact: (k) => [
      ...[level(k), frames.className(frame(k)), frames.method(frame(k))],
      ...[frames.rawSignature(frame(k)), tree.calls[at(k)] ?? 0],
      ...times.map((column) => tree.figure(at(k), column.id)),
    ],
  };
}
