// SPDX-License-Identifier: Apache-2.0
// Export the visible lines of a tree table, with their level.

import type { Measure, Scale } from './measure';
import type { Frames } from './names';
import type { Sheet } from './sheet';
import { treeHead, treeText, type TreeColumn } from './treeColumns';
import type { TreeLines } from './treeLines';

/** The tree table as it is shown. */
export interface ShownTree {
  tree: TreeLines;
  /** Visible lines, in order. */
  lines: readonly number[];
  columns: readonly TreeColumn[];
  frames: Frames;
  scale: Scale;
}

/** Return the key of a column: times of calls in nanoseconds, other measures by their name. */
function treeKey(column: TreeColumn, { of }: Measure): string {
  const id = column.id.replace('excl', 'self');
  const name = of === 'calls' ? id : id.replace('_real', '');
  return of === 'calls' || of === 'time' ? `${name}_ns` : `${name}_${of}`;
}

/** Return the tree table as a sheet for copying and export. */
export function treeSheet({ tree, lines, columns, frames, scale }: ShownTree): Sheet {
  const at = (k: number): number => lines[k] ?? 0;
  const frame = (k: number): number => tree.frame[at(k)] ?? 0;
  const level = (k: number): number => tree.level[at(k)] ?? 0;
  const times = columns.filter((column) => column.kind === 'figure');
  return {
    heads: columns.map((c) => ({ text: treeHead(c, scale), number: c.kind !== 'name' })),
    keys: [
      ...['level', 'class', 'method', 'signature', 'calls'],
      ...times.map((column) => treeKey(column, tree.measure)),
    ],
    count: lines.length,
    level,
    shown: (k) =>
      columns.map((c) =>
        c.kind === 'name' ? frames.full(frame(k)) : treeText(tree, at(k), c, scale),
      ),
    exact: (k) => [
      ...[level(k), frames.className(frame(k)), frames.method(frame(k))],
      ...[frames.rawSignature(frame(k)), tree.calls[at(k)] ?? 0],
      ...times.map((column) => tree.figure(at(k), column.id)),
    ],
  };
}
