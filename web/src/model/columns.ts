// SPDX-License-Identifier: Apache-2.0
// The columns of the profile table: what each one holds, which a trace has, and its text.

import { formatCount, formatPercent, formatTime, type Unit } from '../base/format';
import type { Clock, ProfileAnswer, ProfileRow, TraceFacts } from './engine';
import { countsCalls, inWords, type Words } from './words';

export type ColumnId =
  | 'name'
  | 'incl_cpu_pct'
  | 'incl_cpu'
  | 'excl_cpu_pct'
  | 'excl_cpu'
  | 'incl_real_pct'
  | 'incl_real'
  | 'excl_real_pct'
  | 'excl_real'
  | 'calls'
  | 'cpu_per_call'
  | 'real_per_call';

export interface Column {
  id: ColumnId;
  /** Two lines of head; the second of a time column is its unit. */
  group: string;
  head: string;
  title: string;
  kind: 'name' | 'percent' | 'time' | 'calls';
  clock: Clock | null;
  width: number;
  /** A line at its left begins a new group. */
  begins: boolean;
}

function pair(clock: Clock, what: 'incl' | 'excl'): Column[] {
  const name = `${what === 'incl' ? 'Incl' : 'Excl'} ${clock === 'cpu' ? 'CPU' : 'Real'}`;
  const long = `${what === 'incl' ? 'Inclusive' : 'Exclusive'} ${clock === 'cpu' ? 'CPU' : 'real'} time`;
  const begins = what === 'incl';
  return [
    {
      id: `${what}_${clock}_pct`,
      group: name,
      head: '%',
      title: `${long}, share of all threads`,
      kind: 'percent',
      clock,
      width: 54,
      begins,
    },
    {
      id: `${what}_${clock}`,
      group: name,
      head: '',
      title: long,
      kind: 'time',
      clock,
      width: 84,
      begins: false,
    },
  ];
}

const COLUMNS: readonly Column[] = [
  {
    id: 'name',
    group: 'Name',
    head: '',
    title: 'Name',
    kind: 'name',
    clock: null,
    width: 0,
    begins: false,
  },
  ...pair('cpu', 'incl'),
  ...pair('cpu', 'excl'),
  ...pair('real', 'incl'),
  ...pair('real', 'excl'),
  {
    id: 'calls',
    group: 'Calls+Rec',
    head: 'of Total',
    title: 'Calls + Recursions / Calls of Total',
    kind: 'calls',
    clock: null,
    width: 96,
    begins: true,
  },
  {
    id: 'cpu_per_call',
    group: 'CPU',
    head: 'per call',
    title: 'Inclusive CPU time / (calls + recursions)',
    kind: 'time',
    clock: 'cpu',
    width: 78,
    begins: false,
  },
  {
    id: 'real_per_call',
    group: 'Real',
    head: 'per call',
    title: 'Inclusive real time / (calls + recursions)',
    kind: 'time',
    clock: 'real',
    width: 78,
    begins: false,
  },
];

/** Figures that are samples belong to no clock. */
function ofSamples(text: string): string {
  return text.replace(/ Real$/, '').replace(' real time', ' samples');
}

/** The facts of a trace that choose its columns. */
export type ColumnFacts = { clocks: readonly Clock[] } & Partial<
  Pick<TraceFacts, 'timeless' | 'sampled'>
>;

/** A clock that the trace lacks has no columns, nor have calls that nobody counted. */
export function columnsFor(facts: ColumnFacts, words?: Words): Column[] {
  const said = (text: string): string => {
    const told = words ? inWords(words, text) : text;
    return facts.timeless === 'counts' ? ofSamples(told) : told;
  };
  const isThere = ({ clock, kind, id }: Column): boolean =>
    clock !== null
      ? facts.clocks.includes(clock) && (countsCalls(facts) || !id.endsWith('per_call'))
      : kind !== 'calls' || countsCalls(facts);
  return COLUMNS.filter(isThere).map((column) => ({
    ...column,
    group: said(column.group),
    head: said(column.head),
    title: said(column.title),
  }));
}

export function isColumn(id: string): id is ColumnId {
  return COLUMNS.some((column) => column.id === id);
}

/** The figures of a method, or of "(context switch)", by column. */
export interface Figures {
  calls: number;
  recursive: number;
  incl_real: number | null;
  excl_real: number | null;
  incl_cpu: number | null;
  excl_cpu: number | null;
}

export function figuresOf(row: ProfileRow): Figures {
  const [, calls, recursive, incl_real, excl_real, incl_cpu, excl_cpu] = row;
  return { calls, recursive, incl_real, excl_real, incl_cpu, excl_cpu };
}

export function figuresOfWaits(waits: { calls: number; real_ns: number }): Figures {
  const t = waits.real_ns;
  return { calls: waits.calls, recursive: 0, incl_real: t, excl_real: t, incl_cpu: 0, excl_cpu: 0 };
}

function perCall(time: number | null, f: Figures): number | null {
  const n = f.calls + f.recursive;
  return time === null || n === 0 ? null : time / n;
}

/** The number a column sorts by and shows; a share sorts as its time does. */
export function figure(f: Figures, id: ColumnId): number | null {
  switch (id) {
    case 'incl_cpu_pct':
    case 'incl_cpu':
      return f.incl_cpu;
    case 'excl_cpu_pct':
    case 'excl_cpu':
      return f.excl_cpu;
    case 'incl_real_pct':
    case 'incl_real':
      return f.incl_real;
    case 'excl_real_pct':
    case 'excl_real':
      return f.excl_real;
    case 'calls':
      return f.calls + f.recursive;
    case 'cpu_per_call':
      return perCall(f.incl_cpu, f);
    case 'real_per_call':
      return perCall(f.incl_real, f);
    case 'name':
      return null;
  }
}

export function totalOf(answer: ProfileAnswer, clock: Clock | null): number {
  return (clock === 'cpu' ? answer.total_cpu_ns : answer.total_real_ns) ?? 0;
}

export function cellText(f: Figures, column: Column, answer: ProfileAnswer, unit: Unit): string {
  if (column.kind === 'calls') return `${formatCount(f.calls)}+${formatCount(f.recursive)}`;
  const value = figure(f, column.id);
  if (value === null) return '';
  if (column.kind === 'percent') return formatPercent(value, totalOf(answer, column.clock));
  return formatTime(value, unit);
}

/** The widest text of a column: of its greatest number, for digits are of one width. */
export function longestText(answer: ProfileAnswer, column: Column, unit: Unit): string {
  if (column.kind === 'percent') return '100.0';
  const rows = answer.rows.map(figuresOf);
  if (answer.waits) rows.push(figuresOfWaits(answer.waits));
  if (column.kind !== 'calls') {
    const most = rows.reduce((max, row) => Math.max(max, figure(row, column.id) ?? 0), 0);
    // Each has the unit that suits it: then the greatest is not the longest.
    return unit === 'auto' ? '999.999 ms' : formatTime(most, unit);
  }
  let longest = '';
  let total = 0;
  for (const row of rows) {
    const text = cellText(row, column, answer, unit);
    if (text.length > longest.length) longest = text;
    total = Math.max(total, row.calls + row.recursive);
  }
  // Under an opened method stand calls along an edge of all calls, at most all of all.
  const edge = `${formatCount(total)}/${formatCount(total)}`;
  return edge.length > longest.length ? edge : longest;
}
