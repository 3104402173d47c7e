// SPDX-License-Identifier: Apache-2.0
// Measures of the tables and the flame graph: times of calls, or a value of samples; and the unit
// that their figures are written in.
//
//   file's unit       written in
//   nanoseconds, ms   the page's unit of times
//   bytes, KiB        bytes, kB or MB, one of them for all figures of a table
//   count, objects    a number, with the name of the value or of the unit

import { formatCount, formatTime, groupDigits, unitLabel, type Unit } from '../base/format';
import type { FlameOf } from './address';

/** A measure, and the value type if it is the weight of samples. */
export interface Measure {
  of: FlameOf;
  /** Name of the value type. */
  name: string;
  /** Unit of the value type, as in the file. */
  unit: string;
}

/** The unit of all figures of a table. */
export interface Scale {
  /** True: times in the page's unit, or numbers of samples on the time axis. */
  isTime: boolean;
  /** Name of the unit: "ms", "kB", "samples"; empty if each figure has its own. */
  unit: string;
  text: (figure: number) => string;
  /** The widest text that is possible, if the greatest figure need not have it. */
  widest?: string;
}

/** Nanoseconds of the units of time that files use. */
const NS_OF_UNITS: Readonly<Record<string, number>> = {
  ...{ ns: 1, nanosecond: 1, nanoseconds: 1 },
  ...{ us: 1e3, microsecond: 1e3, microseconds: 1e3 },
  ...{ ms: 1e6, millisecond: 1e6, milliseconds: 1e6 },
  ...{ s: 1e9, second: 1e9, seconds: 1e9 },
};

/** Bytes of the units of memory that files use. */
const BYTES_OF_UNITS: Readonly<Record<string, number>> = {
  ...{ bytes: 1, byte: 1, B: 1 },
  ...{ kilobytes: 1024, kilobyte: 1024, kb: 1024, KiB: 1024 },
  ...{ megabytes: 1024 ** 2, megabyte: 1024 ** 2, MiB: 1024 ** 2 },
};

/** Return the scale of times: the page's unit. */
export function timeScale(unit: Unit, nsPer = 1): Scale {
  const scale = {
    isTime: true,
    unit: unit === 'auto' ? '' : unit,
    text: (figure: number) => formatTime(figure * nsPer, unit),
  };
  return unit === 'auto' ? { ...scale, widest: '999.999 ms' } : scale;
}

function countScale(unit: string): Scale {
  return { isTime: false, unit, text: formatCount };
}

function byteScale(bytesPer: number, most: number): Scale {
  const unit = most >= 1e6 ? 'MB' : most >= 1e3 ? 'kB' : 'bytes';
  const bytes = { MB: 1e6, kB: 1e3, bytes: 1 }[unit];
  const text = (figure: number): string => {
    const [whole = '', rest] = ((figure * bytesPer) / bytes)
      .toFixed(bytes === 1 ? 0 : 3)
      .split('.');
    return groupDigits(whole) + (rest === undefined ? '' : `.${rest}`);
  };
  return { isTime: false, unit, text };
}

function weightScale({ name, unit }: Measure, time: Unit, most: number): Scale {
  const ns = NS_OF_UNITS[unit];
  const bytes = BYTES_OF_UNITS[unit];
  if (ns !== undefined) return timeScale(time === 'samples' ? 'ms' : time, ns);
  if (bytes !== undefined) return byteScale(bytes, most * bytes);
  return countScale(unit === 'count' ? name : unit === '' ? 'weight' : unit);
}

/** Return the scale of a measure; `most` is the greatest figure. */
export function scaleOf(measure: Measure, time: Unit, most: number): Scale {
  if (measure.of === 'weight') return weightScale(measure, time, most);
  return measure.of === 'count' ? countScale('samples') : timeScale(time);
}

/** Return the name of the unit as the page writes it. */
export function scaleLabel(scale: Scale): string {
  return scale.isTime ? unitLabel(scale.unit as Unit) : scale.unit;
}

/** Format a figure with its unit: "12.5 ms", "1 sample", "30 of weight". */
export function figureWithUnit(scale: Scale, figure: number): string {
  const text = scale.text(figure);
  if (text === '1' && ['samples', 'bytes'].includes(scale.unit))
    return `1 ${scale.unit.slice(0, -1)}`;
  if (scale.unit === 'weight') return `${text} of weight`;
  return `${text} ${scaleLabel(scale)}`.trim();
}
