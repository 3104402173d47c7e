// SPDX-License-Identifier: Apache-2.0
// Export the methods of the profile table.

import type { FixedUnit } from '../base/format';
import { profileCellText, type Column } from './profileColumns';
import type { ProfileAnswer } from './engine';
import type { Frames } from './names';
import { methodName, type RankedMethod } from './profileRows';
import type { Sheet, SheetValue } from './sheet';

const PROFILE_KEYS = [
  ...['class', 'method', 'signature', 'source', 'calls', 'recursive_calls'],
  ...['incl_real_ns', 'excl_real_ns', 'incl_cpu_ns', 'excl_cpu_ns'],
];

function exactMethod({ frame, figures: f }: RankedMethod, frames: Frames): SheetValue[] {
  const names =
    frame >= 0
      ? [
          ...[frames.className(frame), frames.method(frame)],
          ...[frames.rawSignature(frame), frames.source(frame)],
        ]
      : ['', methodName(frame, frames), '', ''];
  const times = [f.incl_real, f.excl_real, f.incl_cpu, f.excl_cpu];
  return [...names, f.calls, f.recursive, ...times];
}

function profileSheetHead(column: Column, unit: FixedUnit): string {
  const below = column.kind === 'time' ? column.head || unit : column.head;
  return `${column.group} ${below}`.trim();
}

/** Return the profile as a sheet for copying and export. */
export function profileSheet(
  methods: readonly RankedMethod[],
  columns: readonly Column[],
  answer: ProfileAnswer,
  frames: Frames,
  unit: FixedUnit,
): Sheet {
  const nameOf = ({ frame }: RankedMethod): string =>
    `${methodName(frame, frames)} ${frame >= 0 ? frames.signature(frame) : ''}`.trim();
  const method = (line: number): RankedMethod => methods[line] as RankedMethod;
  const cost = answer.compensated?.cost_ns;
  return {
    heads: columns.map((c) => ({ text: profileSheetHead(c, unit), number: c.kind !== 'name' })),
    keys: cost === undefined ? PROFILE_KEYS : [...PROFILE_KEYS, 'compensated_ns'],
    count: methods.length,
    shown: (line) =>
      columns.map((c) =>
        c.kind === 'name'
          ? nameOf(method(line))
          : profileCellText(method(line).figures, c, answer, unit),
      ),
    exact: (line) => [...exactMethod(method(line), frames), ...(cost === undefined ? [] : [cost])],
  };
}
