// SPDX-License-Identifier: Apache-2.0
// Measures of the tables and the flame graph: times of calls, or a value of samples; and the unit
// that their figures are written in.
//
//   file's unit       written in
//   nanoseconds, ms   the page's unit of times
//   thousandths       numbers with three decimals
//   bytes, KiB        bytes, KiB, MiB or GiB, one of them for all figures of a table
//   count, objects    a number, with the name of the value or of the unit

import {
  BYTE_UNITS,
  byteUnit,
  formatCount,
  formatTime,
  isTimeUnit,
  unitLabel,
  UNITS,
  type Unit,
} from '../base/format';
import type { FlameOf } from './address';
import type { TraceFacts } from './traceFacts';

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
  /** True: times in the page's unit. */
  isTime: boolean;
  /** Name of the unit: "ms", "KiB", "samples"; empty if each figure has its own. */
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

type AxisFacts = Pick<TraceFacts, 'axis' | 'axis_unit'>;

/** Return the units of the time line: those of times, or those of the weights on its axis. */
export function axisUnits(facts: AxisFacts): readonly Unit[] {
  if (facts.axis !== 'weight') return UNITS;
  const unit = facts.axis_unit ?? '';
  if (unit === 'samples' || unit === 'thousandths') return [unit];
  if (NS_OF_UNITS[unit] === 1) return UNITS;
  return BYTES_OF_UNITS[unit] === 1 ? BYTE_UNITS : ['weight'];
}

/** Return the unit of the time line that is shown first; `preferred` is that of the reader. */
export function usualUnit(
  facts: AxisFacts & Pick<TraceFacts, 'end_ns'>,
  preferred: Unit | null = null,
): Unit {
  const units = axisUnits(facts);
  const bytes = byteUnit(facts.end_ns);
  if (units.includes(bytes)) return bytes;
  if (!units.includes('auto')) return units[0] ?? 'weight';
  return preferred !== null && units.includes(preferred) ? preferred : 'auto';
}

/** Return the scale of times: the page's unit. */
export function timeScale(unit: Unit, nsPer = 1): Scale {
  const scale = {
    isTime: true,
    unit: unit === 'auto' ? '' : unit,
    text: (figure: number) => formatTime(figure * nsPer, unit),
  };
  return unit === 'auto' ? { ...scale, widest: '59 min 59 s' } : scale;
}

function countScale(unit: string): Scale {
  return { isTime: false, unit, text: formatCount };
}

function byteScale(bytesPer: number, most: number): Scale {
  const unit = byteUnit(most);
  return { isTime: false, unit, text: (figure) => formatTime(figure * bytesPer, unit) };
}

function weightScale({ name, unit }: Measure, time: Unit, most: number): Scale {
  const ns = NS_OF_UNITS[unit];
  const bytes = BYTES_OF_UNITS[unit];
  if (ns !== undefined) return timeScale(isTimeUnit(time) ? time : 'auto', ns);
  if (bytes !== undefined) return byteScale(bytes, most * bytes);
  if (unit === 'thousandths')
    return { isTime: false, unit: 'weight', text: (figure) => formatTime(figure, unit) };
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
