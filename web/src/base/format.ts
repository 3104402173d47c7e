// SPDX-License-Identifier: Apache-2.0
// Formatting of numbers. Times are whole nanoseconds below 2^53; places on an axis of weights are
// whole bytes, samples or other units of the file.

/** Units of times; "auto" chooses a unit for each time and writes it. */
export const UNITS = ['ns', 'us', 'ms', 's', 'auto'] as const;
export const BYTE_UNITS = ['bytes', 'KiB', 'MiB', 'GiB'] as const;
/**
 * Units of an axis of weights. "weight": numbers whose unit the page does not know; "thousandths":
 * such numbers with fractions.
 */
const WEIGHT_UNITS = ['samples', ...BYTE_UNITS, 'weight', 'thousandths'] as const;
export const ALL_UNITS: readonly Unit[] = [...UNITS, ...WEIGHT_UNITS];

/** Unit of a time, or of a place on an axis of weights. */
export type Unit = (typeof UNITS)[number] | (typeof WEIGHT_UNITS)[number];
export type FixedUnit = Exclude<Unit, 'auto'>;

const NS_PER: Record<FixedUnit, number> = {
  ...{ ns: 1, us: 1e3, ms: 1e6, s: 1e9 },
  ...{ bytes: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 },
  ...{ samples: 1, weight: 1, thousandths: 1e3 },
};
/** Decimals by unit. */
const DIGITS: Record<FixedUnit, number> = {
  ...{ ns: 0, us: 3, ms: 3, s: 6 },
  ...{ bytes: 0, KiB: 1, MiB: 2, GiB: 2 },
  ...{ samples: 0, weight: 0, thousandths: 3 },
};

/** Return the length of a unit on the axis. */
export function unitLength(unit: Unit): number {
  return unit === 'auto' ? 1 : NS_PER[unit];
}

/** Tell whether lengths in the unit are times. */
export function isTimeUnit(unit: Unit): boolean {
  return UNITS.some((time) => time === unit);
}

/** Return the unit of bytes in which a number is at least 1. */
export function byteUnit(bytes: number): (typeof BYTE_UNITS)[number] {
  return [...BYTE_UNITS].reverse().find((unit) => bytes >= NS_PER[unit]) ?? 'bytes';
}

/** Return the symbol of a unit; "auto" has none. */
export function unitLabel(unit: Unit): string {
  if (unit === 'us') return 'µs';
  return unit === 'auto' || unit === 'weight' || unit === 'thousandths' ? '' : unit;
}

/** Return the head of a column of times: its name and unit. */
export function unitHead(what: string, unit: Unit): string {
  return `${what} ${unitLabel(unit)}`.trim();
}

/** Return a unit that all times of a column can have, for export. */
export function fixedUnit(unit: Unit): FixedUnit {
  return unit === 'auto' ? 'ms' : unit;
}

/** Insert commas: 1234567 becomes 1,234,567. */
export function groupDigits(digits: string): string {
  return digits.replace(/\B(?=(\d{3})+(?!\d))/g, ',');
}

export function formatCount(n: number): string {
  return groupDigits(String(n));
}

/**
 * Format a time without its unit (except "auto"). Halves are rounded up in whole nanoseconds
 * instead of in a floating-point quotient, so that the text is the same everywhere.
 */
export function formatTime(ns: number, unit: Unit): string {
  if (unit === 'auto') return formatShort(ns);
  const digits = DIGITS[unit];
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

/** Format a time with its unit. */
export function formatTimeUnit(ns: number, unit: Unit): string {
  if ((unit === 'samples' || unit === 'bytes') && ns === NS_PER[unit])
    return `1 ${unit.slice(0, -1)}`;
  return `${formatTime(ns, unit)} ${unitLabel(unit)}`.trim();
}

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Format a point in time from a minute on: "7 min 49.25 s", "12 d 23 h 47 min". */
function formatMinutes(seconds: number, digits: number): string {
  const rest = (seconds % MINUTE).toFixed(digits);
  const parts: [count: number, text: string][] = [
    [Math.floor(seconds / DAY), 'd'],
    [Math.floor((seconds % DAY) / HOUR), 'h'],
    [Math.floor((seconds % HOUR) / MINUTE), 'min'],
  ];
  const words = parts.filter(([n]) => n > 0).map(([n, text]) => `${formatCount(n)} ${text}`);
  return [...words, ...(Number(rest) > 0 ? [`${rest} s`] : [])].join(' ');
}

/** Format whole seconds from a minute on with two units: "7 min 49 s", "2 h 13 min", "3 d 4 h". */
function formatLong(seconds: number): string {
  const two = (size: number, unit: string, less: number, lessUnit: string): string => {
    const [whole, rest] = [Math.floor(seconds / size), Math.floor((seconds % size) / less)];
    return `${formatCount(whole)} ${unit}${rest > 0 ? ` ${rest} ${lessUnit}` : ''}`;
  };
  if (seconds >= DAY) return two(DAY, 'd', HOUR, 'h');
  return seconds >= HOUR ? two(HOUR, 'h', MINUTE, 'min') : two(MINUTE, 'min', 1, 's');
}

/**
 * Format a length with about four digits, in a unit that suits it. A length that would be rounded
 * up to the next unit has that unit: 999.96 ms are 1.000 s.
 */
export function formatShort(ns: number): string {
  const a = Math.abs(ns);
  if (a >= 59.95e9) return `${ns < 0 ? '-' : ''}${formatLong(Math.round(a / 1e9))}`;
  if (a >= 999.95e6) return `${(ns / 1e9).toFixed(a >= 9.9995e9 ? 1 : 3)} s`;
  if (a >= 999_999.5) return `${(ns / 1e6).toFixed(a >= 99.9995e6 ? 1 : 3)} ms`;
  if (a >= 999.5) return `${(ns / 1e3).toFixed(3)} µs`;
  return a < 0.5 ? '0' : `${Math.round(ns)} ns`;
}

/** Format a time with few digits, for a label with little room. */
export function formatRough(ns: number, unit: Unit): string {
  if (!isTimeUnit(unit)) return formatTimeUnit(ns, unit);
  if (unit === 'auto' && ns >= 59.95e9) return formatShort(ns);
  const fits = ns >= 1e9 ? 's' : ns >= 1e6 ? 'ms' : ns >= 1e3 ? 'us' : 'ns';
  // A time that would read "0.0" gets a smaller unit.
  const none = unit !== 'auto' && ns > 0 && ns < NS_PER[unit] / (unit === 's' ? 2000 : 20);
  const fixed = unit === 'auto' || none ? fits : unit;
  const digits = fixed === 'ns' ? 0 : fixed === unit && unit === 's' ? 3 : 1;
  return `${groupDigitsBeforePoint((ns / NS_PER[fixed]).toFixed(digits))} ${unitLabel(fixed)}`;
}

/** Format a percentage with one decimal; a share of nothing is 0.0. */
export function formatPercent(part: number, whole: number): string {
  return (whole > 0 ? (100 * part) / whole : 0).toFixed(1);
}

/** Format the value of a counter: integers in full, others with up to six digits. */
export function formatValue(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 1e15) {
    return `${value < 0 ? '-' : ''}${groupDigits(String(Math.abs(value)))}`;
  }
  // All digits before the point, and six significant ones in total, as the command line does.
  if (Math.abs(value) >= 1e5 && Math.abs(value) < 1e15)
    return formatValue(Math.sign(value) * Math.round(Math.abs(value)));
  const text = String(Number(value.toPrecision(6)));
  return text.includes('e') ? text : groupDigitsBeforePoint(text);
}

/** Format the size of a file, in powers of 1,000 as the messages of the command line do. */
export function formatBytes(n: number): string {
  if (n >= 1e9) return `${(n / 1e9).toFixed(2)} GB`;
  if (n >= 1e6) return `${(n / 1e6).toFixed(1)} MB`;
  if (n >= 1e3) return `${(n / 1e3).toFixed(1)} kB`;
  return plural(n, 'byte');
}

/** Format a size of memory, in powers of 1,024 as the tables of the command line do. */
export function formatMemory(bytes: number): string {
  return formatTimeUnit(bytes, byteUnit(bytes));
}

/** Format a large number in short, as in "1.2 M". */
export function formatBig(n: number): string {
  if (n >= 1e6) return `${(n / 1e6).toFixed(1)} M`;
  if (n >= 1e4) return `${(n / 1e3).toFixed(1)} k`;
  return formatCount(n);
}

/** Return the last component of a path. */
export function fileName(path: string): string {
  return path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1) || path;
}

/** Count things: "1 thread", "2 threads". */
export function plural(n: number, one: string, many = one + 's'): string {
  return `${formatCount(n)} ${n === 1 ? one : many}`;
}

function unitOfStep(ns: number, step: number): FixedUnit {
  if (step >= 1e8 || Math.abs(ns) >= 1e9) return 's';
  return step >= 1e5 ? 'ms' : step >= 1e2 ? 'us' : 'ns';
}

/** Format a mark of the ruler, with as many digits as the distance of the marks needs. */
export function formatTick(ns: number, step: number, unit: Unit): string {
  const fixed = unit === 'auto' ? unitOfStep(ns, step) : unit;
  const seconds = Math.abs(ns) / 1e9;
  if (unit === 'auto' && seconds >= MINUTE) {
    const digits = Math.max(0, Math.min(9, Math.ceil(Math.log10(1e9 / step) - 1e-9)));
    const rounded = Number(seconds.toFixed(digits));
    return `${ns < 0 ? '-' : ''}${formatMinutes(rounded, digits)}`;
  }
  const digits = Math.max(0, Math.min(9, Math.ceil(Math.log10(NS_PER[fixed] / step) - 1e-9)));
  const number = groupDigitsBeforePoint((ns / NS_PER[fixed]).toFixed(digits));
  return `${number} ${unitLabel(fixed)}`.trim();
}

/** Format a time with the digits of its unit, or more if a pixel is shorter than the last digit. */
export function formatFine(ns: number, nsPerPixel: number, unit: Unit): string {
  const most = unit === 'auto' ? 1e6 : NS_PER[unit] / 10 ** DIGITS[unit];
  return formatTick(ns, Math.max(1, Math.min(nsPerPixel, most)), unit);
}

function groupDigitsBeforePoint(text: string): string {
  const [whole = '', rest] = text.split('.');
  return groupDigits(whole) + (rest === undefined ? '' : '.' + rest);
}

/**
 * Describe the version of a file. "0xF3" is version 3 of the streaming format, written while the
 * program ran.
 */
export function versionWords(version: string): string {
  if (!version) return '';
  const streaming = /^0xF(\d)$/i.exec(version);
  return streaming ? `version ${streaming[1]}, streamed (${version})` : `version ${version}`;
}
