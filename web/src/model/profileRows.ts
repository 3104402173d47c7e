// SPDX-License-Identifier: Apache-2.0
// Lines of the profile table: sorted methods, and below an expanded method its parents and
// children. Pure functions; the table only draws these lines.
//
//     rank  method                        method line, by the order of the table
//           parents                       heading
//             caller, its share           relation: calls and times on behalf of this method
//           children
//             self                        own time of the method
//             callee, its share
//           recursive parents, children   only if the method calls itself, even through others
//
// The rank stays that by inclusive time, however the table is sorted. A relation is a share of its
// owner, not of the trace. Calls within recursion are counted by each of their levels, so a group
// may add up to more than its method; then its heading says so.

import type { FlameOf } from './address';
import type { ProfileAnswer, RelationRow, Relations, Times } from './engine';
import type { Clock } from './traceFacts';
import {
  columnValue,
  figuresOf,
  figuresOfWaits,
  type ColumnId,
  type Figures,
} from './profileColumns';
import type { Frames } from './names';

/** Pseudo frame number of the "(context switch)" line, which shows the time that threads waited. */
export const WAITS = -2;
export const WAITS_NAME = '(context switch)';
export const TOP_LEVEL_NAME = '(toplevel)';

/** Sort order of the profile table. */
export interface ProfileSort {
  column: ColumnId;
  descending: boolean;
}

export type RelationGroup = 'parents' | 'children' | 'recursive_parents' | 'recursive_children';

/** The line of a method. */
export interface MethodLine {
  kind: 'method';
  frame: number;
  figures: Figures;
  rank: number;
  opened: boolean;
}

/** The heading of a group of relations below a method. */
export interface RelationHeading {
  kind: 'group';
  group: RelationGroup;
  owner: number;
  /** The lines add up to more than the method itself, because recursive calls are nested. */
  exceeds: boolean;
}

/** A caller or callee of an expanded method, or its self time. */
export interface RelationLine {
  kind: 'relation' | 'self';
  group: RelationGroup;
  owner: number;
  /** -1: no caller. For 'self': the owner. */
  frame: number;
  calls: number;
  total: number;
  real: number | null;
  cpu: number | null;
  /** Inclusive times of the expanded method, of which the line shows its share. */
  ownerFigures: Figures;
}

/** Placeholder until the relations of a method have arrived. */
export interface PendingLine {
  kind: 'pending';
  owner: number;
}

export type ProfileLine = MethodLine | RelationHeading | RelationLine | PendingLine;

/** A method of the profile. */
export interface RankedMethod {
  frame: number;
  figures: Figures;
  /** Rank by inclusive time in this profile, from 1; 0 for the waits. */
  rank: number;
}

/** Return the full name of a method, or the name of a pseudo frame. */
export function methodName(frame: number, frames: Frames): string {
  if (frame === WAITS) return WAITS_NAME;
  return frame < 0 ? TOP_LEVEL_NAME : frames.full(frame);
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Return all methods, ranked by inclusive CPU time, or real time if the trace has no CPU time. */
export function rankedMethods(answer: ProfileAnswer, frames: Frames): RankedMethod[] {
  const methods: RankedMethod[] = answer.rows.map((row) => ({
    frame: row[0],
    figures: figuresOf(row),
    rank: 0,
  }));
  const clock: Clock = answer.total_cpu_ns === null ? 'real' : 'cpu';
  const time = (m: RankedMethod): number =>
    columnValue(m.figures, clock === 'cpu' ? 'incl_cpu' : 'incl_real') ?? 0;
  const name = (m: RankedMethod): string => methodName(m.frame, frames);
  [...methods]
    .sort((a, b) => time(b) - time(a) || compareTexts(name(a), name(b)))
    .forEach((m, i) => {
      m.rank = i + 1;
    });
  if (answer.waits && answer.waits.calls > 0)
    methods.push({ frame: WAITS, figures: figuresOfWaits(answer.waits), rank: 0 });
  return methods;
}

/** Return the order of a table of samples, whose figures are in place of real times. */
export function orderOfMeasure(sort: ProfileSort, of: FlameOf): ProfileSort {
  const { column, descending } = sort;
  if (of === 'calls') return sort;
  const other = column === 'calls' ? 'samples' : column.replace('cpu', 'real');
  return { column: other as ColumnId, descending };
}

/** Sort methods; ties are sorted by name. */
export function sortMethods(
  methods: readonly RankedMethod[],
  sort: ProfileSort,
  frames: Frames,
): RankedMethod[] {
  const sign = sort.descending ? -1 : 1;
  const keyed = methods.map((method) => ({
    method,
    value: columnValue(method.figures, sort.column) ?? -1,
    name: methodName(method.frame, frames),
  }));
  keyed.sort((a, b) => {
    if (sort.column === 'name') return sign * compareTexts(a.name, b.name);
    return sign * (a.value - b.value) || compareTexts(a.name, b.name);
  });
  return keyed.map((k) => k.method);
}

const GROUPS: readonly [RelationGroup, keyof Relations, keyof Relations | null][] = [
  ['parents', 'parents', null],
  ['children', 'children', 'self'],
  ['recursive_parents', 'recursive_parents', null],
  ['recursive_children', 'recursive_children', 'recursive_self'],
];

function relationLine(group: RelationGroup, owner: RankedMethod, row: RelationRow): RelationLine {
  const [frame, calls, total, real, cpu] = row;
  return {
    kind: 'relation',
    group,
    owner: owner.frame,
    frame,
    calls,
    total,
    real,
    cpu,
    ownerFigures: owner.figures,
  };
}

function selfLine(group: RelationGroup, owner: RankedMethod, times: Times): RelationLine {
  const line: RelationRow = [owner.frame, 0, 0, times[0], times[1]];
  return { ...relationLine(group, owner, line), kind: 'self' };
}

function hasTime(times: Times): boolean {
  return (times[0] ?? 0) !== 0 || (times[1] ?? 0) !== 0;
}

/** Tell whether the lines of a group add up to more than their method, allowing for rounding. */
function exceedsOwner(
  owner: RankedMethod,
  rows: readonly RelationRow[],
  own: Times | null,
): boolean {
  const sum = (at: 0 | 1): number =>
    rows.reduce((n, row) => n + (row[at === 0 ? 3 : 4] ?? 0), own?.[at] ?? 0);
  const { incl_real, incl_cpu } = owner.figures;
  return (
    (incl_real !== null && sum(0) > incl_real * 1.001) ||
    (incl_cpu !== null && sum(1) > incl_cpu * 1.001)
  );
}

/** Return the lines below an expanded method. */
export function relationLines(owner: RankedMethod, relations: Relations): ProfileLine[] {
  const lines: ProfileLine[] = [];
  for (const [group, list, self] of GROUPS) {
    const rows = relations[list] as RelationRow[];
    const own = self ? (relations[self] as Times) : null;
    // A method that is never recursive has no groups of recursive calls.
    if (rows.length === 0 && !(own && (group === 'children' || hasTime(own)))) continue;
    lines.push({
      kind: 'group',
      group,
      owner: owner.frame,
      exceeds: exceedsOwner(owner, rows, own),
    });
    if (own) lines.push(selfLine(group, owner, own));
    for (const row of rows) lines.push(relationLine(group, owner, row));
  }
  return lines;
}

/**
 * Return all lines of the table. `opened` maps expanded methods to their relations; null: pending.
 */
export function profileLines(
  sorted: readonly RankedMethod[],
  opened: ReadonlyMap<number, Relations | null>,
): ProfileLine[] {
  const lines: ProfileLine[] = [];
  for (const method of sorted) {
    const isOpen = opened.has(method.frame);
    lines.push({ kind: 'method', ...method, opened: isOpen });
    if (!isOpen) continue;
    const relations = opened.get(method.frame);
    if (relations) lines.push(...relationLines(method, relations));
    else lines.push({ kind: 'pending', owner: method.frame });
  }
  return lines;
}
