// SPDX-License-Identifier: Apache-2.0
// Numbers as text.  Times are whole nanoseconds below 2^53.

/** In "auto" each time has the unit that suits it, and says which. */
export type FixedUnit = 'ns' | 'us' | 'ms' | 's' | 'samples';
export type Unit = FixedUnit | 'auto';
/** The units of times. Samples are the only unit of traces that have no times. */
export const UNITS: readonly Unit[] = ['ns', 'us', 'ms', 's', 'auto'];

/** A sample is a microsecond long on the axis. */
const NS_PER: Record<FixedUnit, number> = { ns: 1, us: 1e3, ms: 1e6, s: 1e9, samples: 1e3 };
/** Digits behind the point: three, but a nanosecond has no parts and a second has more of them. */
const DIGITS: Record<FixedUnit, number> = { ns: 0, us: 3, ms: 3, s: 6, samples: 0 };

/** Parts of a sample, which few files have, are shown where there are some. */
function digitsOf(ns: number, unit: FixedUnit): number {
  return unit === 'samples' && ns % NS_PER.samples !== 0 ? 3 : DIGITS[unit];
}

/** How a unit is written; "auto" has no name of its own to stand behind a number. */
export function unitLabel(unit: Unit): string {
  return unit === 'auto' ? '' : unit === 'us' ? 'µs' : unit;
}

/** The head of a column of times: what they are, and their unit where all have one. */
export function unitHead(what: string, unit: Unit): string {
  return `${what} ${unitLabel(unit)}`.trim();
}

/** For what is read by other programs, where all times of a column have one unit. */
export function fixedUnit(unit: Unit): FixedUnit {
  return unit === 'auto' ? 'ms' : unit;
}

/** 1234567 becomes 1,234,567. */
export function groupDigits(digits: string): string {
  return digits.replace(/\B(?=(\d{3})+(?!\d))/g, ',');
}

export function formatCount(n: number): string {
  return groupDigits(String(n));
}

/**
 * A time in a unit, without the unit's name (but with it in "auto").  Half a last digit is rounded up, from the whole
 * number of nanoseconds and not from a quotient, so that the text is the same everywhere.
 */
export function formatTime(ns: number, unit: Unit): string {
  if (unit === 'auto') return formatShort(ns);
  const digits = digitsOf(ns, unit);
  const step = NS_PER[unit] / 10 ** digits;
  const size = Math.abs(ns);
  const below = Math.floor(size / step);
  const whole = String((size - below * step) * 2 >= step ? below + 1 : below).padStart(
    digits + 1,
    '0',
  );
  const cut = whole.length - digits;
  const text = groupDigits(whole.slice(0, cut)) + (digits ? '.' + whole.slice(cut) : '');
  return ns < 0 && /[1-9]/.test(text) ? `-${text}` : text;
}

export function formatTimeUnit(ns: number, unit: Unit): string {
  if (unit === 'samples' && ns === NS_PER.samples) return '1 sample';
  return `${formatTime(ns, unit)} ${unitLabel(unit)}`.trim();
}

/** A length for reading, not for comparing: the unit that suits it, about four digits. */
export function formatShort(ns: number): string {
  const a = Math.abs(ns);
  if (a >= 1e9) return `${(ns / 1e9).toFixed(a >= 1e10 ? 1 : 3)} s`;
  if (a >= 1e6) return `${(ns / 1e6).toFixed(a >= 1e8 ? 1 : 3)} ms`;
  if (a >= 1e3) return `${(ns / 1e3).toFixed(3)} µs`;
  return `${Math.round(ns)} ns`;
}

/** A time beside a name, where there is little room: fewer digits. */
export function formatRough(ns: number, unit: Unit): string {
  if (unit === 'samples') return formatTimeUnit(ns, unit);
  const fits = ns >= 1e9 ? 's' : ns >= 1e6 ? 'ms' : ns >= 1e3 ? 'us' : 'ns';
  // What would be "0.0" has the unit that suits it.
  const none = unit !== 'auto' && ns > 0 && ns < NS_PER[unit] / (unit === 's' ? 2000 : 20);
  const fixed = unit === 'auto' || none ? fits : unit;
  const digits = fixed === 'ns' ? 0 : fixed === unit && unit === 's' ? 3 : 1;
  return `${groupDigitsBeforePoint((ns / NS_PER[fixed]).toFixed(digits))} ${unitLabel(fixed)}`;
}

/** One decimal; nothing to take a share of gives 0.0. */
export function formatPercent(part: number, whole: number): string {
  return (whole > 0 ? (100 * part) / whole : 0).toFixed(1);
}

/** A value of a counter: whole numbers as they are, others with up to six digits. */
export function formatValue(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 1e15) {
    return `${value < 0 ? '-' : ''}${groupDigits(String(Math.abs(value)))}`;
  }
  return String(Number(value.toPrecision(6)));
}

export function formatBytes(n: number): string {
  if (n >= 1e9) return `${(n / 1e9).toFixed(2)} GB`;
  if (n >= 1e6) return `${(n / 1e6).toFixed(1)} MB`;
  if (n >= 1e3) return `${(n / 1e3).toFixed(1)} kB`;
  return plural(n, 'byte');
}

export function formatBig(n: number): string {
  if (n >= 1e6) return `${(n / 1e6).toFixed(1)} M`;
  if (n >= 1e4) return `${(n / 1e3).toFixed(1)} k`;
  return formatCount(n);
}

/** The last part of a path. */
export function fileName(path: string): string {
  return path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1) || path;
}

/** 1 thread, 2 threads. */
export function plural(n: number, one: string, many = one + 's'): string {
  return `${formatCount(n)} ${n === 1 ? one : many}`;
}

function unitOfStep(ns: number, step: number): FixedUnit {
  if (step >= 1e8 || Math.abs(ns) >= 1e9) return 's';
  return step >= 1e5 ? 'ms' : step >= 1e2 ? 'us' : 'ns';
}

/** A mark of the ruler: with no more digits than the step asks for. */
export function formatTick(ns: number, step: number, unit: Unit): string {
  const fixed = unit === 'auto' ? unitOfStep(ns, step) : unit;
  const digits = Math.max(0, Math.min(9, Math.ceil(Math.log10(NS_PER[fixed] / step) - 1e-9)));
  return `${groupDigitsBeforePoint((ns / NS_PER[fixed]).toFixed(digits))} ${unitLabel(fixed)}`;
}

/** A time with the unit's digits, and more of them where a pixel is shorter than the last one. */
export function formatFine(ns: number, nsPerPixel: number, unit: Unit): string {
  const most = unit === 'auto' ? 1e6 : NS_PER[unit] / 10 ** DIGITS[unit];
  return formatTick(ns, Math.max(1, Math.min(nsPerPixel, most)), unit);
}

function groupDigitsBeforePoint(text: string): string {
  const [whole = '', rest] = text.split('.');
  return groupDigits(whole) + (rest === undefined ? '' : '.' + rest);
}

/** "0xF3" is a version of the streaming format, written while the program ran. */
export function versionWords(version: string): string {
  if (!version) return '';
  const streaming = /^0xF(\d)$/i.exec(version);
  return streaming ? `version ${streaming[1]}, streamed (${version})` : `version ${version}`;
}
