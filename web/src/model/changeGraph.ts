// SPDX-License-Identifier: Apache-2.0
// The differential flame graph: which frames of the answer are shown, where, and their texts.

import { formatCount, formatTimeUnit, formatValue, type Unit } from '../base/format';
import type { ComparedFrame, ComparedRow, Comparison } from './comparison';
import { compareMark, compareText } from './compareTable';
import type { FlameGraph } from './engine';
import { comparedParts } from './names';

/** The shown part of the answer. `frame` is the number of a name, `path` a row of the answer. */
export interface ChangeGraph extends FlameGraph {
  /** Names by number, as the answer has them. */
  names: readonly string[];
}

/** Tell of each row whether it changed, or one that it calls did. */
function changedRows(rows: readonly ComparedFrame[]): Uint8Array {
  const changed = new Uint8Array(rows.length);
  const below: boolean[] = [];
  for (let i = rows.length - 1; i >= 0; i--) {
    const { depth = 0, verdict } = rows[i] ?? {};
    if (verdict === 'unsure' && !below[depth + 1]) continue;
    changed[i] = 1;
    below[depth] = true;
    below[depth + 1] = false;
  }
  return changed;
}

/** Return the row that a row is called by; -1: none. */
export function callerOf(rows: readonly ComparedFrame[], at: number): number {
  const depth = rows[at]?.depth ?? 0;
  let caller = at - 1;
  while (caller >= 0 && (rows[caller]?.depth ?? 0) >= depth) caller--;
  return caller;
}

/** Return the rows from `root` on, and its callers; all rows if it is null. */
function rowsAround(rows: readonly ComparedFrame[], root: number | null): number[] {
  if (root === null) return rows.map((_, i) => i);
  const shown: number[] = [];
  for (let at = root; at >= 0; at = callerOf(rows, at)) shown.unshift(at);
  const depth = rows[root]?.depth ?? 0;
  for (let i = root + 1; (rows[i]?.depth ?? 0) > depth; i++) shown.push(i);
  return shown;
}

/** Lay out an answer, or the part of it that begins with row `root`. */
export function changeGraph(
  { graph, rows }: Comparison<ComparedFrame>,
  onlyChanged: boolean,
  root: number | null,
): ChangeGraph {
  const changed = onlyChanged ? changedRows(rows) : null;
  const shown = rowsAround(rows, root).filter((i) => changed?.[i] !== 0);
  const first = root === null ? null : rows[root];
  const from = first?.start ?? 0;
  const total = first?.width ?? graph?.total ?? 0;
  const numbers = new Map<string, number>();
  const numberOf = (name: string): number => {
    const number = numbers.get(name) ?? numbers.size;
    numbers.set(name, number);
    return number;
  };
  const of = (i: number): ComparedFrame => rows[i] as ComparedFrame;
  // A caller of the first row is as wide as it.
  const above = (i: number): boolean => root !== null && i < root;
  return {
    ...{ total, leftOut: graph?.left_out ?? 0 },
    start: Float64Array.from(shown, (i) => (above(i) ? 0 : of(i).start - from)),
    width: Float64Array.from(shown, (i) => (above(i) ? total : of(i).width)),
    self: new Float64Array(shown.length),
    depth: Uint32Array.from(shown, (i) => of(i).depth),
    frame: Uint32Array.from(shown, (i) => numberOf(of(i).key)),
    path: Uint32Array.from(shown),
    calls: new Uint32Array(shown.length),
    names: [...numbers.keys()],
  };
}

/** Return frames as rows whose keys are call paths, as `traceview diff --by path` has them. */
export function pathRows(rows: readonly ComparedFrame[]): ComparedRow[] {
  const way: string[] = [];
  return rows.map((row) => {
    way.length = row.depth;
    way.push(row.key);
    return { ...row, key: way.join(';') };
  });
}

/** Return the short name of a compared method: Class.method. */
export function changeName(key: string): string {
  return comparedParts(key).own;
}

function figureText(answer: Comparison, value: number, unit: Unit): string {
  if (answer.figure === 'calls') return formatCount(Math.round(value));
  if (answer.unit === undefined) return formatTimeUnit(Math.round(value), unit);
  return `${formatValue(value)} ${answer.unit}`.trim();
}

/** Return "60.000 ms → 40.000 ms". */
export function sidesText(
  answer: Comparison,
  { base, new: fresh }: Pick<ComparedRow, 'base' | 'new'>,
  unit: Unit,
): string {
  return `${figureText(answer, base, unit)} → ${figureText(answer, fresh, unit)}`;
}

const REASONS = {
  unsure: 'Not certain: may be chance, too small, or missing in some runs',
  more: '',
  less: '',
  appeared: 'Only in the new runs',
  vanished: 'Only in the base runs',
};

/** Return lines about a frame: figures of both sides, change, interval, p, calls. */
export function changeLines(
  answer: Comparison,
  row: ComparedFrame,
  figureWords: string,
  unit: Unit,
): string[] {
  const text = (column: 'change' | 'interval' | 'p' | 'calls'): string =>
    compareText(answer, row, column, unit);
  const [interval, p] = [text('interval'), text('p')];
  const change = text('change');
  const calls = answer.figure === 'calls' ? '' : text('calls');
  return [
    `${figureWords}: ${sidesText(answer, row, unit)}${change === '' ? '' : ` (${change})`}`,
    interval === '' ? '' : `95 % interval: ${interval}`,
    p === '' ? '' : `p ${p.startsWith('<') ? p : `= ${p}`}`,
    calls === '' ? '' : `${answer.unit === undefined ? 'Calls' : 'Samples'}: ${calls}`,
    REASONS[row.verdict],
  ].filter((line) => line !== '');
}

/** Return the mark of a frame in front of its name: '+ ', '− ' or nothing. */
export function changeMark(row: ComparedFrame): string {
  const [mark] = compareMark(row);
  return mark === '+' || mark === '−' ? `${mark} ` : '';
}
