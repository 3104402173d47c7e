// SPDX-License-Identifier: Apache-2.0
// The columns of the profile table: which ones a trace has, and the number and text of each cell.
//
// Times come twice, for both clocks, inclusive and exclusive, with their shares of all threads. A
// trace of samples has counts or weights in the place of real times: then "Total" and "Self" stand
// for inclusive and exclusive, and their columns keep the ids of real times, so that an address
// stays valid.
//
// A share is of all threads together. A method in two threads at once may have more than 100 % of
// the range, but never of that sum.

import { formatCount, formatPercent } from '../base/format';
import type { FlameOf } from './address';
import type { ProfileAnswer, ProfileRow } from './engine';
import type { Scale } from './measure';
import type { Clock, TraceFacts } from './traceFacts';
import { countsCalls, inTermsOf, type Words } from './words';

/** Names of columns; they also are in the address. */
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
  | 'samples'
  | 'cpu_per_call'
  | 'real_per_call';

/** A column of the profile table. */
export interface Column {
  id: ColumnId;
  /** First line of the head; the second line of a column of figures is their unit. */
  group: string;
  head: string;
  title: string;
  /** figure: in the unit of the table's scale. */
  kind: 'name' | 'percent' | 'figure' | 'calls' | 'samples';
  clock: Clock | null;
  width: number;
  /** Draw a line at the left edge: the column begins a new group. */
  begins: boolean;
}

function clockColumns(clock: Clock, what: 'incl' | 'excl'): Column[] {
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
      kind: 'figure',
      clock,
      width: 84,
      begins: false,
    },
  ];
}

const PROFILE_COLUMNS: readonly Column[] = [
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
  ...clockColumns('cpu', 'incl'),
  ...clockColumns('cpu', 'excl'),
  ...clockColumns('real', 'incl'),
  ...clockColumns('real', 'excl'),
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
    kind: 'figure',
    clock: 'cpu',
    width: 78,
    begins: false,
  },
  {
    id: 'real_per_call',
    group: 'Real',
    head: 'per call',
    title: 'Inclusive real time / (calls + recursions)',
    kind: 'figure',
    clock: 'real',
    width: 78,
    begins: false,
  },
];

function sampleColumns(what: 'incl' | 'excl'): Column[] {
  const group = what === 'incl' ? 'Total' : 'Self';
  const title = what === 'incl' ? 'In the function or what it calls' : 'In the function itself';
  const column = { group, head: '', title, clock: null, begins: false };
  return [
    {
      ...column,
      ...{ id: `${what}_real_pct`, head: '%', title: `${title}, share of all` },
      ...{ kind: 'percent', width: 54, begins: what === 'incl' },
    },
    { ...column, id: `${what}_real`, kind: 'figure', width: 84 },
  ];
}

/** The columns of tables of samples. Their figures are in the place of real times. */
const SAMPLE_COLUMNS: readonly Column[] = [
  ...PROFILE_COLUMNS.slice(0, 1),
  ...sampleColumns('incl'),
  ...sampleColumns('excl'),
  {
    ...{ id: 'samples', group: 'Samples', head: 'count', kind: 'samples', clock: null },
    ...{ title: 'Samples with the function in their stack', width: 72, begins: true },
  },
];

/** The parts of the trace info that decide which columns exist. */
export type ColumnFacts = { clocks: readonly Clock[] } & Partial<Pick<TraceFacts, 'sampled'>>;

/**
 * Return the columns of a trace: none for a clock that the trace lacks, and no call counts if calls
 * were not counted.
 */
export function profileColumns(facts: ColumnFacts, words?: Words): Column[] {
  const said = (text: string): string => (words ? inTermsOf(words, text) : text);
  const isThere = ({ clock, kind, id }: Column): boolean =>
    clock !== null
      ? facts.clocks.includes(clock) && (countsCalls(facts) || !id.endsWith('per_call'))
      : kind !== 'calls' || countsCalls(facts);
  return PROFILE_COLUMNS.filter(isThere).map((column) => ({
    ...column,
    group: said(column.group),
    head: said(column.head),
    title: said(column.title),
  }));
}

/** Return the columns of a table of a measure; calls have those of the trace. */
export function measureColumns(of: FlameOf, facts: ColumnFacts, words?: Words): readonly Column[] {
  if (of === 'calls') return profileColumns(facts, words);
  return SAMPLE_COLUMNS.filter(({ kind }) => of !== 'count' || kind !== 'samples');
}

/** Tell whether a text names a column. */
export function isProfileColumn(id: string): id is ColumnId {
  return [...PROFILE_COLUMNS, ...SAMPLE_COLUMNS].some((column) => column.id === id);
}

/** Numbers of a method, or of "(context switch)". Times are in nanoseconds; null: not recorded. */
export interface Figures {
  calls: number;
  recursive: number;
  incl_real: number | null;
  excl_real: number | null;
  incl_cpu: number | null;
  excl_cpu: number | null;
}

/** Return the numbers of a profile row. */
export function figuresOf(row: ProfileRow): Figures {
  const [, calls, recursive, incl_real, excl_real, incl_cpu, excl_cpu] = row;
  return { calls, recursive, incl_real, excl_real, incl_cpu, excl_cpu };
}

/** Return the numbers of the "(context switch)" line. */
export function figuresOfWaits(waits: { calls: number; real_ns: number }): Figures {
  const t = waits.real_ns;
  return { calls: waits.calls, recursive: 0, incl_real: t, excl_real: t, incl_cpu: 0, excl_cpu: 0 };
}

function timePerCall(time: number | null, f: Figures): number | null {
  const n = f.calls + f.recursive;
  return time === null || n === 0 ? null : time / n;
}

/** Return the number that a column shows and sorts by; a percentage sorts by its time. */
export function columnValue(f: Figures, id: ColumnId): number | null {
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
    case 'samples':
      return f.calls;
    case 'cpu_per_call':
      return timePerCall(f.incl_cpu, f);
    case 'real_per_call':
      return timePerCall(f.incl_real, f);
    case 'name':
      return null;
  }
}

/** Return the total time of the profile in nanoseconds, by default of the real clock. */
export function profileTotal(answer: ProfileAnswer | null, clock: Clock | null): number {
  return (clock === 'cpu' ? answer?.total_cpu_ns : answer?.total_real_ns) ?? 0;
}

/** Format a cell of the profile table. */
export function profileCellText(
  f: Figures,
  column: Column,
  answer: ProfileAnswer,
  scale: Scale,
): string {
  if (column.kind === 'calls') return `${formatCount(f.calls)}+${formatCount(f.recursive)}`;
  const value = columnValue(f, column.id);
  if (value === null) return '';
  if (column.kind === 'percent') return formatPercent(value, profileTotal(answer, column.clock));
  return column.kind === 'samples' ? formatCount(value) : scale.text(value);
}

/**
 * Return the widest text of a column, to size it. The widest text belongs to the greatest number,
 * because all digits have one width.
 */
export function widestProfileText(answer: ProfileAnswer, column: Column, scale: Scale): string {
  if (column.kind === 'percent') return '100.0';
  const rows = answer.rows.map(figuresOf);
  if (answer.waits) rows.push(figuresOfWaits(answer.waits));
  if (column.kind !== 'calls') {
    const most = rows.reduce((max, row) => Math.max(max, columnValue(row, column.id) ?? 0), 0);
    if (column.kind === 'samples') return formatCount(most);
    return scale.widest ?? scale.text(most);
  }
  let longest = '';
  let total = 0;
  for (const row of rows) {
    const text = profileCellText(row, column, answer, scale);
    if (text.length > longest.length) longest = text;
    total = Math.max(total, row.calls + row.recursive);
  }
  // The lines under an expanded method show "calls along the edge / all calls" of the child.
  const edge = `${formatCount(total)}/${formatCount(total)}`;
  return edge.length > longest.length ? edge : longest;
}
