// SPDX-License-Identifier: Apache-2.0
// Ranges as typed by the user: "1.5ms .. 20ms", "1.5 20 ms", "1.5 + 3 ms" (start and length),
// "..20", "20..".

import {
  fixedUnit,
  formatTime,
  formatTimeUnit,
  unitLabel,
  unitLength,
  type Unit,
} from '../base/format';
import type { Span } from './span';

const NS_OF_UNIT: Readonly<Record<string, number>> = {
  ns: 1,
  us: 1e3,
  µs: 1e3,
  μs: 1e3,
  ms: 1e6,
  s: 1e9,
  m: 60e9,
  min: 60e9,
  ...{ sample: unitLength('samples'), samples: unitLength('samples') },
  ...{ byte: 1, bytes: 1, kib: 1024, mib: 1024 ** 2, gib: 1024 ** 3 },
};

/** Two ends and the separator between them. */
const PARTS = /^(.*?)\s*(\.{2,}|…|–|:|\+|(?<=[\d\s\p{L}])-|\bto\b|(?<=\S)\s+(?=[-\d]))\s*(.*)$/u;
const TIME = /^(-?)(\d[\d,_ ]*(?:\.\d+)?|\.\d+)\s*(\p{L}*)$/u;

/** A time as typed. */
interface TypedTime {
  /** Number of units; an empty unit means that of the other end. */
  size: number;
  unit: string;
}

function readTime(text: string): TypedTime | null {
  const found = TIME.exec(text.trim());
  if (!found) return null;
  const unit = (found[3] ?? '').toLowerCase();
  if (unit !== '' && NS_OF_UNIT[unit] === undefined) return null;
  const size = Number((found[2] ?? '').replace(/[,_ ]/g, ''));
  return { size: found[1] ? -size : size, unit };
}

/** Convert to nanoseconds. An end without a unit has the unit of the other end, or of the page. */
function typedNs(time: TypedTime, other: TypedTime | null, unit: Unit): number {
  return Math.round(time.size * (NS_OF_UNIT[time.unit || other?.unit || fixedUnit(unit)] ?? 1));
}

function notATime(text: string): string {
  return `not a time: "${text.trim()}" (as in 20, 1.5 ms, 300 µs, 2 s)`;
}

/**
 * Parse a range; a missing end is that of the trace. Return an error message for the user if it is
 * malformed.
 */
export function readRange(text: string, unit: Unit, bounds: Span): Span | string {
  const parts = PARTS.exec(text.trim());
  if (!parts) return 'two times, for example 1.5 .. 20 ms';
  const [, first = '', between = '', second = ''] = parts;
  const a = first === '' ? null : readTime(first);
  const b = second === '' ? null : readTime(second);
  if (first !== '' && !a) return notATime(first);
  if (second !== '' && !b) return notATime(second);
  const from = a ? typedNs(a, b, unit) : bounds.from;
  const end = b ? typedNs(b, a, unit) : bounds.to;
  const to = between === '+' && b ? from + end : end;
  if (to <= from) return 'the end is not after the start';
  if (to <= bounds.from || from >= bounds.to) {
    const whole = `${formatTime(bounds.from, unit)} to ${formatTimeUnit(bounds.to, unit)}`;
    return `the trace is from ${whole}`;
  }
  return { from: Math.max(from, bounds.from), to: Math.min(to, bounds.to) };
}

/** Format a range so that readRange reads it. */
export function writeRange({ from, to }: Span, unit: Unit): string {
  const fixed = fixedUnit(unit);
  const plain = (ns: number): string => formatTime(ns, fixed).replaceAll(',', '');
  return `${plain(from)} .. ${plain(to)} ${unitLabel(fixed)}`;
}
