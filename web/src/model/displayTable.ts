// SPDX-License-Identifier: Apache-2.0
// Lines of the table of display frames: each process with its late frames; and their export.

import { formatCount, formatTime, plural, type FixedUnit, type Unit } from '../base/format';
import { lateBy, type DisplayFigures, type DisplayFrames, type LateFrame } from './displayFrames';
import type { Group } from './groups';
import type { Sheet, SheetValue } from './sheet';

/** A line: a process with its figures, or a late frame. */
export type DisplayItem =
  | { is: 'process'; process: number; figures: DisplayFigures }
  | { is: 'frame'; process: number; frame: LateFrame };

/** Names of processes and of frames of stacks. */
export interface DisplayWords {
  process: (process: number) => string;
  name: (frame: number) => string;
}

/** Group the late frames by process. */
export function displayGroups(answer: DisplayFrames): Group<DisplayItem>[] {
  const places = new Map<number, DisplayItem[]>();
  for (const frame of answer.late) {
    const process = frame[5];
    const own = places.get(process);
    const item: DisplayItem = { is: 'frame', process, frame };
    if (own) own.push(item);
    else places.set(process, [item]);
  }
  return answer.processes.map(([process, ...figures]) => ({
    id: process < 0 ? 'process-none' : `process-${process}`,
    head: { is: 'process', process, figures },
    places: places.get(process) ?? [],
  }));
}

/** Say how many frames a process has, and how long they take. */
export function figureWords([frames, late, , p50, p95, p99]: DisplayFigures, unit: Unit): string {
  const [median, often, mostly] = [p50, p95, p99].map((ns) => formatTime(ns, unit));
  const counts = `${plural(frames, 'frame')}, ${formatCount(late)} late`;
  return `${counts}; p50 ${median}, p95 ${often}, p99 ${mostly}`;
}

/** Return the length of a frame, or the largest one of a process. */
export function durationOf(item: DisplayItem): number {
  return item.is === 'frame' ? item.frame[3] : item.figures[6];
}

/** Return one of the times of a frame; null: unknown. */
export function frameTime(
  item: DisplayItem,
  which: 'start' | 'deadline' | 'late' | 'main' | 'render',
): number | null {
  if (item.is === 'process') return null;
  const { frame } = item;
  switch (which) {
    case 'start':
      return frame[2];
    case 'deadline':
      return frame[4];
    case 'late':
      return lateBy(frame);
    case 'main':
      return frame[8] || null;
    case 'render':
      return frame[9] || null;
  }
}

/** Say what took most of a frame's time, or why it was late. */
export function causeOf(item: DisplayItem, words: DisplayWords, unit: Unit): string {
  if (item.is === 'process') return '';
  const [, , , , , , , , , , cause, time, , reason] = item.frame;
  const called = cause < 0 ? [] : [`${words.name(cause)} ${formatTime(time, unit)}`];
  return [...called, ...(reason ? [reason] : [])].join('; ');
}

const TIMES = ['start', 'deadline', 'late', 'main', 'render'] as const;

function exactLine(item: DisplayItem, words: DisplayWords): readonly SheetValue[] {
  const process = words.process(item.process);
  if (item.is === 'process') return [process, null, ...item.figures, ...Array<null>(11).fill(null)];
  const { frame } = item;
  return [
    ...[process, words.name(frame[7]), ...Array<null>(7).fill(null)],
    ...[frame[2], frame[3], frame[4], lateBy(frame), frame[8] || null, frame[9] || null],
    ...(frame[10] < 0 ? [null, null] : [words.name(frame[10]), frame[11]]),
    ...[frame[13], frame[0], frame[1]],
  ];
}

/** Return the table as a sheet for copying and export. */
export function displaySheet(
  items: readonly DisplayItem[],
  words: DisplayWords,
  unit: FixedUnit,
): Sheet {
  const at = (line: number): DisplayItem => items[line] as DisplayItem;
  const time = (ns: number | null): string => (ns === null ? '' : formatTime(ns, unit));
  return {
    heads: [
      ...['Process', 'Frame'].map((text) => ({ text, number: false })),
      ...['Duration', 'Start', 'Deadline', 'Late by', 'Main', 'Render'].map((text) => ({
        ...{ text: `${text} ${unit}`, number: true },
      })),
      { text: 'What took the time', number: false },
    ],
    keys: [
      ...['process', 'name', 'frames', 'late', 'unfinished', 'p50_ns', 'p95_ns', 'p99_ns'],
      ...['max_ns', 'start_ns', 'duration_ns', 'deadline_ns', 'late_by_ns', 'main_ns'],
      ...['render_ns', 'cause', 'cause_ns', 'reason', 'row', 'index'],
    ],
    count: items.length,
    shown: (line) => {
      const item = at(line);
      const name =
        item.is === 'frame' ? words.name(item.frame[7]) : figureWords(item.figures, unit);
      return [
        ...[words.process(item.process), name, time(durationOf(item))],
        ...TIMES.map((which) => time(frameTime(item, which))),
        causeOf(item, words, unit),
      ];
    },
    exact: (line) => exactLine(at(line), words),
  };
}
