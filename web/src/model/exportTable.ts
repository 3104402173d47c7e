// SPDX-License-Identifier: Apache-2.0
// The profile table as text for other programs: TSV for the clipboard, CSV, JSON and Markdown as
// files.  Times are whole nanoseconds, except in Markdown, which is for reading.

import type { Unit } from '../base/format';
import { cellText, type Column } from './columns';
import type { ProfileAnswer } from './engine';
import type { Frames } from './names';
import { methodName, WAITS, type Method } from './profileRows';

export type ExportFormat = 'csv' | 'tsv' | 'json' | 'markdown';

export function tsvCell(text: string): string {
  return text.replace(/[\t\n\r]/g, ' ');
}

/** What stands on the screen, with a line of heads. */
export function toTsv(
  methods: readonly Method[],
  columns: readonly Column[],
  answer: ProfileAnswer,
  frames: Frames,
  unit: Unit,
): string {
  const head = columns.map((c) =>
    c.kind === 'time' ? `${c.group} ${c.head || unit}` : `${c.group} ${c.head}`.trim(),
  );
  const lines = methods.map((m) =>
    columns.map((c) =>
      c.kind === 'name'
        ? tsvCell(
            `${methodName(m.frame, frames)} ${m.frame >= 0 ? frames.signature(m.frame) : ''}`.trim(),
          )
        : cellText(m.figures, c, answer, unit).replaceAll(',', ''),
    ),
  );
  return [head, ...lines].map((cells) => cells.join('\t')).join('\n') + '\n';
}

interface Record_ {
  class: string;
  method: string;
  signature: string;
  source: string;
  calls: number;
  recursive_calls: number;
  incl_real_ns: number | null;
  excl_real_ns: number | null;
  incl_cpu_ns: number | null;
  excl_cpu_ns: number | null;
}

function record(m: Method, frames: Frames): Record_ {
  const f = m.figures;
  const named = m.frame >= 0;
  return {
    class: named ? frames.className(m.frame) : '',
    method: named ? frames.method(m.frame) : methodName(m.frame, frames),
    signature: named ? frames.rawSignature(m.frame) : '',
    source: named ? frames.source(m.frame) : '',
    calls: f.calls,
    recursive_calls: f.recursive,
    incl_real_ns: f.incl_real,
    excl_real_ns: f.excl_real,
    incl_cpu_ns: f.incl_cpu,
    excl_cpu_ns: f.excl_cpu,
  };
}

export function csvCell(value: string | number | null): string {
  const text = value === null ? '' : String(value);
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function toCsv(methods: readonly Method[], frames: Frames): string {
  const records = methods.map((m) => record(m, frames));
  const keys = Object.keys(records[0] ?? {}) as (keyof Record_)[];
  return (
    [keys.join(','), ...records.map((r) => keys.map((k) => csvCell(r[k])).join(','))].join('\r\n') +
    '\r\n'
  );
}

export function toJson(methods: readonly Method[], frames: Frames): string {
  const records = methods
    .filter((m) => m.frame !== WAITS)
    .map((m) => JSON.stringify(record(m, frames)));
  return `[\n${records.join(',\n')}\n]\n`;
}

export function toMarkdown(
  methods: readonly Method[],
  columns: readonly Column[],
  answer: ProfileAnswer,
  frames: Frames,
  unit: Unit,
): string {
  const head = columns.map((c) =>
    `${c.group} ${c.kind === 'time' ? c.head || unit : c.head}`.trim(),
  );
  const rule = columns.map((c) => (c.kind === 'name' ? '---' : '---:'));
  const lines = methods.map((m) =>
    columns.map((c) => {
      if (c.kind !== 'name') return cellText(m.figures, c, answer, unit);
      return '`' + methodName(m.frame, frames).replaceAll('|', '\\|').replaceAll('`', "'") + '`';
    }),
  );
  return [head, rule, ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n') + '\n';
}
