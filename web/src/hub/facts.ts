// SPDX-License-Identifier: Apache-2.0
// Formats the facts of a trace, for its line in the list and for its page.

import { formatBytes, formatCount, formatShort, plural, versionWords } from '../base/format';
import { shortened, nameOrPlaceholder, makeVisible } from '../base/visible';
import type { TraceLine } from './api';

/** Return a text of the server on one line. */
export function singleLine(text: string, most = 200): string {
  return nameOrPlaceholder(shortened(makeVisible(text), most));
}

export function formatWords(trace: TraceLine): string {
  return makeVisible(
    [trace.format ?? '', versionWords(trace.version ?? '')].filter(Boolean).join(', '),
  );
}

export function lengthWords(trace: TraceLine): string {
  return trace.length_ns === null ? '' : formatShort(trace.length_ns);
}

/** Return the word for items on threads: a method trace has calls, an event file has slices. */
export function sliceWord(trace: TraceLine): 'call' | 'slice' {
  return /trace event|ftrace/i.test(trace.format ?? '') ? 'slice' : 'call';
}

/** Return the number of calls if there are any, else of events. */
export function countWords(trace: TraceLine): string {
  if (trace.calls !== null && trace.calls > 0) return plural(trace.calls, sliceWord(trace));
  return trace.events === null ? '' : plural(trace.events, 'event');
}

export function sizeWords(trace: TraceLine): string {
  return formatBytes(trace.bytes);
}

export function progressPercent(progress: number | null): number | null {
  if (progress === null || !Number.isFinite(progress)) return null;
  return Math.floor(Math.min(1, Math.max(0, progress)) * 100);
}

export function stateWords(trace: TraceLine): string {
  const share = trace.state === 'reading' ? progressPercent(trace.progress) : null;
  return share === null ? trace.state : `${trace.state} ${share} %`;
}

export function isBeingRead(trace: TraceLine): boolean {
  return trace.state === 'waiting' || trace.state === 'reading';
}

export function offsetWords(offset: number): string {
  return `byte ${formatCount(offset)} (0x${offset.toString(16)})`;
}

/** Normalize a label as the server does; empty means none. */
export function cleanLabel(text: string): string {
  return text.trim().replace(/\s+/g, ' ');
}

/** Return the names of the processes that have one. */
export function processNames(trace: TraceLine): string[] {
  return trace.processes.filter((name) => name.trim() !== '');
}
