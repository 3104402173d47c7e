// SPDX-License-Identifier: Apache-2.0
// A trace in words: for its line in the list and for its page.

import { formatBytes, formatCount, formatShort, plural, versionWords } from '../base/format';
import { shortened, nameOrPlaceholder, makeVisible } from '../base/visible';
import type { TraceLine } from './api';

/** A text of the server on one line. */
export function shown(text: string, most = 200): string {
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

/** What lies on its threads: a method trace has calls, a file of events slices. */
export function thing(trace: TraceLine): 'call' | 'slice' {
  return /trace event|ftrace/i.test(trace.format ?? '') ? 'slice' : 'call';
}

/** Calls where it has them, else events. */
export function countWords(trace: TraceLine): string {
  if (trace.calls !== null && trace.calls > 0) return plural(trace.calls, thing(trace));
  return trace.events === null ? '' : plural(trace.events, 'event');
}

export function sizeWords(trace: TraceLine): string {
  return formatBytes(trace.bytes);
}

export function percent(progress: number | null): number | null {
  if (progress === null || !Number.isFinite(progress)) return null;
  return Math.floor(Math.min(1, Math.max(0, progress)) * 100);
}

export function stateWords(trace: TraceLine): string {
  const share = trace.state === 'reading' ? percent(trace.progress) : null;
  return share === null ? trace.state : `${trace.state} ${share} %`;
}

export function unsettled(trace: TraceLine): boolean {
  return trace.state === 'waiting' || trace.state === 'reading';
}

export function offsetWords(offset: number): string {
  return `byte ${formatCount(offset)} (0x${offset.toString(16)})`;
}

/** A label as the server keeps it; empty: there is none. */
export function cleanLabel(text: string): string {
  return text.trim().replace(/\s+/g, ' ');
}

/** Those of its processes that have names. */
export function processNames(trace: TraceLine): string[] {
  return trace.processes.filter((name) => name.trim() !== '');
}
