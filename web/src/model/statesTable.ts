// SPDX-License-Identifier: Apache-2.0
// State tables, by state or by processor: columns, sort order, texts and export.

import { formatCount, formatPercent, formatTime, type FixedUnit, type Unit } from '../base/format';
import type { Sheet } from './sheet';
import { STATES, STATE_WORDS, type StatesAnswer, type StatesRow } from './states';

/** Columns of the table: states or processors. */
export type StatesBy = 'state' | 'cpu';

/** Sort order of a state table. */
export interface StatesSort {
  column: string;
  descending: boolean;
}

/** Columns and sort order of the table. */
export interface StatesChoice extends StatesSort {
  by: StatesBy;
}

/** Return the default sort order. */
export function usualStates(by: StatesBy): StatesChoice {
  return { by, column: by === 'state' ? 'running' : 'all', descending: true };
}

/** Tell whether a choice is the default, which the address omits. */
export function isUsualStates({ by, column, descending }: StatesChoice): boolean {
  const usual = usualStates(by);
  return by === 'state' && column === usual.column && descending === usual.descending;
}

/** Format a choice for the address, as in "cpu.cpu3.up". */
export function writeStates({ by, column, descending }: StatesChoice): string {
  return `${by}.${column}.${descending ? 'down' : 'up'}`;
}

/** Parse the output of writeStates; a column that the trace lacks is sorted by name. */
export function readStates(text: string | null): StatesChoice | null {
  const [by, column = '', direction] = (text ?? '').split('.');
  if ((by !== 'state' && by !== 'cpu') || !/^[a-z_]+\d*$/.test(column)) return null;
  return { by, column, descending: direction !== 'up' };
}

/** A column of a state table. */
export interface StatesColumn {
  id: string;
  head: string;
  title: string;
  kind: 'name' | 'time' | 'count';
  /** null: the line has no value in this column. */
  value: (line: StatesLine) => number | null;
}

/** A thread, or a total of the processors, which stays on top. */
export interface StatesLine {
  name: string;
  thread: StatesRow | null;
  /** Time by index of the processor; sparse, because most threads ran on few processors. */
  cpus: ReadonlyMap<number, number>;
  /** Time that equals 100 %. */
  whole: number;
}

function sumOf(values: Iterable<number>): number {
  let all = 0;
  for (const value of values) all += value;
  return all;
}

function threadNameOf(row: StatesRow): string {
  return row[0] < 0 ? row[2] : `[${row[1]}] ${row[2]}`;
}

const NAME_COLUMN: StatesColumn = {
  id: 'name',
  head: 'Thread',
  title: 'Thread',
  kind: 'name',
  value: () => null,
};

/** Columns that are always present; other states need a thread that was in that state. */
const ALWAYS = ['running', 'runnable', 'sleeping', 'uninterruptible'];

/**
 * Return a column for each state that a thread was in; the usual ones are always there, so that the
 * table does not jump.
 */
function stateColumns(answer: StatesAnswer): StatesColumn[] {
  const columns = STATES.map((state, i): StatesColumn | null => {
    const any = answer.threads.some((row) => (row[4][i] ?? 0) > 0);
    if (!any && !ALWAYS.includes(state)) return null;
    const [head, what] = STATE_WORDS[state];
    const title = `${head}: ${what}`;
    return { id: state, head, title, kind: 'time', value: (l) => l.thread?.[4][i] ?? null };
  });
  return [
    NAME_COLUMN,
    ...columns.filter((column) => column !== null),
    {
      ...{ id: 'wakeups', head: 'Wake-ups', title: 'How often it was woken', kind: 'count' },
      value: (l) => l.thread?.[5] ?? null,
    },
    {
      id: 'longest_wait',
      head: 'Longest wait',
      title: 'Longest wait for a processor',
      kind: 'time',
      value: (l) => l.thread?.[6] ?? null,
    },
  ];
}

function cpuColumns(answer: StatesAnswer): StatesColumn[] {
  return [
    NAME_COLUMN,
    {
      ...{ id: 'all', head: 'All CPUs', title: 'All CPUs', kind: 'time' },
      value: (l) => sumOf(l.cpus.values()),
    },
    ...answer.cpus.map(([, number], i): StatesColumn => {
      const head = `CPU ${number}`;
      return {
        id: `cpu${number}`,
        head,
        title: head,
        kind: 'time',
        value: (l) => l.cpus.get(i) ?? 0,
      };
    }),
  ];
}

/** Return the columns of the table. */
export function statesColumns(answer: StatesAnswer, by: StatesBy): StatesColumn[] {
  return by === 'state' ? stateColumns(answer) : cpuColumns(answer);
}

function cpuTotals(answer: StatesAnswer): StatesLine[] {
  const whole = answer.to_ns - answer.from_ns;
  const { cpus } = answer;
  const line = (name: string, times: number[]): StatesLine => {
    return { name, thread: null, cpus: new Map(times.entries()), whole };
  };
  return [
    line(
      '(busy)',
      cpus.map(([, , busy]) => busy),
    ),
    line(
      '(idle)',
      cpus.map(([, , busy, unknown]) => whole - busy - unknown),
    ),
    line(
      '(unknown)',
      cpus.map(([, , , unknown]) => unknown),
    ),
  ];
}

/** Return the lines in sort order; totals of processors come first. */
export function statesLines(
  answer: StatesAnswer,
  by: StatesBy,
  sort: StatesSort,
  matches: (text: string) => boolean,
): StatesLine[] {
  const whole = answer.to_ns - answer.from_ns;
  const column = statesColumns(answer, by).find((c) => c.id === sort.column) ?? NAME_COLUMN;
  const lines = answer.threads
    .map((thread): StatesLine => {
      const all = by === 'state' ? sumOf(thread[4]) : whole;
      return { name: threadNameOf(thread), thread, cpus: new Map(thread[9]), whole: all };
    })
    .filter(
      (line) =>
        matches(line.name) &&
        (by === 'state' ? line.thread?.[0] !== -1 : sumOf(line.cpus.values()) > 0),
    );
  const way = sort.descending ? -1 : 1;
  lines.sort((a, b) =>
    column.kind === 'name'
      ? way * a.name.localeCompare(b.name, 'en')
      : way * ((column.value(a) ?? 0) - (column.value(b) ?? 0)) ||
        a.name.localeCompare(b.name, 'en'),
  );
  return by === 'cpu' && answer.cpus.length > 0 ? [...cpuTotals(answer), ...lines] : lines;
}

/** Format a cell. */
export function statesText(line: StatesLine, column: StatesColumn, unit: Unit): string {
  const value = column.value(line);
  if (column.kind === 'name') return line.name;
  if (value === null) return '';
  return column.kind === 'time' ? formatTime(value, unit) : formatCount(value);
}

/** Format a cell as a percentage of the whole; empty if a share has no meaning. */
export function statesShare(line: StatesLine, column: StatesColumn): string {
  if (column.kind !== 'time' || column.id === 'longest_wait' || column.id === 'all') return '';
  return `${formatPercent(column.value(line) ?? 0, line.whole)} %`;
}

function statesKey(column: StatesColumn): string {
  return column.kind === 'time' ? `${column.id}_ns` : column.id === 'name' ? 'thread' : column.id;
}

/** Return the table as a sheet for copying and export. */
export function statesSheet(
  answer: StatesAnswer,
  by: StatesBy,
  lines: readonly StatesLine[],
  unit: FixedUnit,
): Sheet {
  const columns = statesColumns(answer, by);
  const at = (k: number): StatesLine => lines[k] as StatesLine;
  return {
    heads: columns.map((c) => ({
      text: c.kind === 'time' ? `${c.head} ${unit}` : c.head,
      number: c.kind !== 'name',
    })),
    keys: columns.map(statesKey),
    count: lines.length,
    shown: (k) => columns.map((c) => statesText(at(k), c, unit)),
    exact: (k) => columns.map((c) => (c.kind === 'name' ? at(k).name : c.value(at(k)))),
  };
}
