// SPDX-License-Identifier: Apache-2.0
// The table of a comparison: which rows it shows, their order, their texts, and its export.

import { formatCount, formatTime, formatValue, unitHead, type Unit } from '../base/format';
import { visibleTexts } from '../base/visible';
import type { CompareColumn, ComparedRow, CompareChoice, Comparison } from './comparison';
import { COMPARE_COLUMNS } from './comparison';
import { substringMatcher } from './names';
import type { Sheet, SheetValue } from './sheet';

/** p below which a row counts as changed. */
const CERTAIN = 0.05;

/** Tell whether p, or the exact number of calls, says that a row changed. */
export function isCertain(row: ComparedRow): boolean {
  return row.calls_differ || (row.p !== null && row.p < CERTAIN);
}

/** Tell whether a row changed: for sure, or, where nothing has a p, at all. */
function hasChanged(row: ComparedRow, tested: boolean): boolean {
  return row.side !== 'both' || isCertain(row) || (!tested && row.effect !== 0);
}

/** The row of the total. */
function totalRow({ total }: Comparison): ComparedRow {
  return {
    ...total,
    key: '(total of all threads)',
    ...{ match: 'exact', side: 'both', effect: total.new - total.base, calls_differ: false },
    ...{ base_calls: 0, new_calls: 0 },
  };
}

function figureOf(row: ComparedRow, column: CompareColumn): number | null {
  if (column === 'calls') return row.new_calls - row.base_calls;
  if (column === 'interval') return row.low;
  if (column === 'change' && row.side === 'new') return Infinity;
  return column === 'key' ? null : row[column];
}

/** Compare by what is certain, then by the size of the difference. */
function usualOrder(a: ComparedRow, b: ComparedRow): number {
  const certain = Number(isCertain(b)) - Number(isCertain(a));
  return certain || Math.abs(b.effect) - Math.abs(a.effect) || (a.key < b.key ? -1 : 1);
}

/** Return the rows that the table shows, the total first, in order. Unknown figures come last. */
export function compareLines(
  answer: Comparison,
  { changed, sort }: CompareChoice,
  find: string,
): ComparedRow[] {
  const test = substringMatcher(find);
  const tested = answer.rows.some((row) => row.p !== null);
  const sign = sort?.descending ? -1 : 1;
  const compareRows = (a: ComparedRow, b: ComparedRow): number => {
    if (!sort) return usualOrder(a, b);
    if (sort.column === 'key') return sign * (a.key < b.key ? -1 : 1);
    const [x, y] = [figureOf(a, sort.column), figureOf(b, sort.column)];
    if (x === null || y === null) return Number(x === null) - Number(y === null);
    return x === y ? usualOrder(a, b) : sign * (x < y ? -1 : 1);
  };
  const rows = answer.rows
    .filter((row) => !changed || hasChanged(row, tested))
    .filter((row) => find === '' || test(row.key) || test(row.base_key ?? ''))
    .sort(compareRows);
  return find === '' ? [totalRow(answer), ...rows] : rows;
}

/** Return the mark in front of a name, as `traceview diff` has it, and what it means. */
export function compareMark(row: ComparedRow): [mark: string, title: string] {
  if (row.side === 'new') return ['+', 'Only in the new runs'];
  if (row.side === 'base') return ['−', 'Only in the base runs'];
  if (row.match === 'renamed') return ['=', `Renamed: ${row.base_key ?? ''}`];
  if (row.match === 'similar')
    return ['~', `Matched except for numbers or the program's name: ${row.base_key ?? ''}`];
  if (row.calls_differ) return ['!', 'The number of calls differs for certain'];
  return row.tiny
    ? ['t', 'Recording its calls makes up half or more of its time: compare only their number']
    : ['', ''];
}

/** Ten times and more is shown as a factor: nobody reads "+2251365.5 %". */
const FACTOR_FROM = 10;

/**
 * Format a relative change: "+5.3 %", "0.0 %" if it rounds to nothing, or "22,500×" with three
 * digits where it is ten times or more.
 */
export function signedPercent(change: number): string {
  const factor = 1 + change;
  if (factor >= FACTOR_FROM) {
    return `${factor.toLocaleString('en-US', { maximumSignificantDigits: 3 })}×`;
  }
  const text = `${Math.abs(change * 100).toFixed(1)} %`;
  if (text === '0.0 %') return text;
  return change < 0 ? `−${text}` : `+${text}`;
}

/** Format p as `traceview diff` does. */
function formatP(p: number): string {
  return p < 0.0001 ? '<0.0001' : p.toFixed(p < 0.01 ? 4 : 3);
}

function isCount({ figure }: Comparison): boolean {
  return figure === 'calls';
}

function formatFigure(answer: Comparison, value: number, unit: Unit): string {
  if (isCount(answer)) return formatCount(Math.round(value));
  return answer.unit === undefined ? formatTime(value, unit) : formatValue(value);
}

/** Return the head and the explanation of a column. */
export function compareHead(
  answer: Comparison,
  column: CompareColumn,
  unit: Unit,
): [head: string, title: string] {
  const figure = (what: string): string => {
    if (isCount(answer)) return what;
    return answer.unit === undefined ? unitHead(what, unit) : `${what} ${answer.unit}`.trim();
  };
  const heads: Record<CompareColumn, [string, string]> = {
    key: [answer.by.slice(0, 1).toUpperCase() + answer.by.slice(1), 'Matched by name'],
    base: [figure('Base'), 'Median over the base runs'],
    new: [figure('New'), 'Median over the new runs'],
    effect: [figure('Difference'), 'New minus base'],
    change: ['Change', 'Relative change'],
    interval: ['95 % interval', 'The 95 % confidence interval of the change'],
    p: ['p', 'Probability of such a change by chance, adjusted for all rows'],
    calls: [answer.unit === undefined ? 'Calls' : 'Samples', 'Base → new'],
  };
  return heads[column];
}

/** Return the columns: interval and p only where they can be known. */
export function compareColumns({ rows, total }: Comparison): readonly CompareColumn[] {
  const tested = total.p !== null || rows.some((row) => row.p !== null);
  return COMPARE_COLUMNS.filter((column) => tested || (column !== 'interval' && column !== 'p'));
}

/** Format a cell. */
export function compareText(
  answer: Comparison,
  row: ComparedRow,
  column: CompareColumn,
  unit: Unit,
): string {
  switch (column) {
    case 'key':
      return visibleTexts(row.key);
    case 'base':
    case 'new':
      return formatFigure(answer, row[column], unit);
    case 'effect': {
      const text = formatFigure(answer, Math.abs(row.effect), unit);
      return row.effect === 0 ? text : `${row.effect < 0 ? '−' : '+'}${text}`;
    }
    case 'change':
      if (row.side === 'new') return 'new';
      if (row.side === 'base') return 'gone';
      return row.change === null ? '' : signedPercent(row.change);
    case 'interval':
      return row.low === null || row.high === null
        ? ''
        : `${signedPercent(row.low)} … ${signedPercent(row.high)}`;
    case 'p':
      return row.p === null ? '' : formatP(row.p);
    case 'calls': {
      const [base, fresh] = [formatCount(row.base_calls), formatCount(row.new_calls)];
      if (row.base_calls === 0 && row.new_calls === 0) return '';
      return base === fresh ? base : `${base} → ${fresh}`;
    }
  }
}

/** Return the table as a sheet, with the keys of `traceview diff --format json`. */
export function compareSheet(answer: Comparison, lines: readonly ComparedRow[], unit: Unit): Sheet {
  const at = (k: number): ComparedRow => lines[k] as ComparedRow;
  const columns = compareColumns(answer);
  return {
    heads: columns.map((c) => ({ text: compareHead(answer, c, unit)[0], number: c !== 'key' })),
    keys: [
      ...['key', 'side', 'base', 'new', 'effect', 'change', 'low', 'high', 'p'],
      ...['base_calls', 'new_calls'],
    ],
    count: lines.length,
    shown: (k) => columns.map((column) => compareText(answer, at(k), column, unit)),
    exact: (k): SheetValue[] => {
      const r = at(k);
      return [
        ...[r.key, r.side, r.base, r.new, r.effect, r.change, r.low, r.high, r.p],
        ...[r.base_calls, r.new_calls],
      ];
    },
  };
}
