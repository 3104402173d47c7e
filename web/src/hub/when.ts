// SPDX-License-Identifier: Apache-2.0
// Formats points in time in the user's time zone.

const two = (n: number): string => String(n).padStart(2, '0');

/** Return "2026-11-21 21:54", or an empty text if `iso` is not a time. */
export function whenText(iso: string | null): string {
  const at = new Date(iso ?? NaN);
  if (Number.isNaN(at.getTime())) return '';
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${day} ${two(at.getHours())}:${two(at.getMinutes())}`;
}

const STEPS: readonly [seconds: number, name: string][] = [
  [86400 * 365, 'year'],
  [86400 * 30, 'month'],
  [86400 * 7, 'week'],
  [86400, 'day'],
  [3600, 'hour'],
  [60, 'minute'],
];

/** Return "3 days ago", "in 2 hours" or "just now". */
export function agoText(iso: string, now: number): string {
  const seconds = (now - new Date(iso).getTime()) / 1000;
  const size = Math.abs(seconds);
  const [step, name] = STEPS.find(([least]) => size >= least) ?? [];
  if (!step || !name) return seconds >= 0 ? 'just now' : 'in a moment';
  const n = Math.floor(size / step);
  const words = `${n} ${name}${n === 1 ? '' : 's'}`;
  return seconds >= 0 ? `${words} ago` : `in ${words}`;
}

/** Return a retention time such as "30 days". */
export function retentionText(seconds: number): string {
  const [step, name] = STEPS.slice(3).find(([least]) => seconds >= least) ?? [60, 'minute'];
  const n = Math.round(seconds / step);
  return `${n} ${name}${n === 1 ? '' : 's'}`;
}
