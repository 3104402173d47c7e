// SPDX-License-Identifier: Apache-2.0
// Export the methods of the profile table.

import { profileCellText, type Column } from './profileColumns';
import type { ProfileAnswer } from './engine';
import type { Scale } from './measure';
import type { Frames } from './names';
import { methodName, type RankedMethod } from './profileRows';
import type { Sheet, SheetValue } from './sheet';

const PROFILE_KEYS = [
  ...['class', 'method', 'signature', 'source', 'calls', 'recursive_calls'],
  ...['incl_real_ns', 'excl_real_ns', 'incl_cpu_ns', 'excl_cpu_ns'],
];

const SAMPLE_KEYS = ['class', 'function', 'signature', 'source', 'samples', 'total', 'self'];

function exactMethod(
  { frame, figures: f }: RankedMethod,
  frames: Frames,
  ofSamples: boolean,
): SheetValue[] {
  const names =
    frame >= 0
      ? [
          ...[frames.className(frame), frames.method(frame)],
          ...[frames.rawSignature(frame), frames.source(frame)],
        ]
      : ['', methodName(frame, frames), '', ''];
  const times = [f.incl_real, f.excl_real, f.incl_cpu, f.excl_cpu];
  if (ofSamples) return [...names, f.calls, f.incl_real, f.excl_real];
  return [...names, f.calls, f.recursive, ...times];
}

function profileSheetHead(column: Column, scale: Scale): string {
  if (column.kind === 'samples') return column.group;
  const below = column.kind === 'figure' ? column.head || scale.unit : column.head;
  return `${column.group} ${below}`.trim();
}

/** Return the profile as a sheet for copying and export. */
export function profileSheet(
  methods: readonly RankedMethod[],
  columns: readonly Column[],
  answer: ProfileAnswer,
  frames: Frames,
  scale: Scale,
): Sheet {
  const nameOf = ({ frame }: RankedMethod): string =>
    `${methodName(frame, frames)} ${frame >= 0 ? frames.signature(frame) : ''}`.trim();
  const method = (line: number): RankedMethod => methods[line] as RankedMethod;
  const cost = answer.compensated?.cost_ns;
  const ofSamples = answer.measure !== undefined && answer.measure.of !== 'calls';
  const keys = ofSamples ? SAMPLE_KEYS : PROFILE_KEYS;
  return {
    heads: columns.map((c) => ({ text: profileSheetHead(c, scale), number: c.kind !== 'name' })),
    keys: cost === undefined ? keys : [...keys, 'compensated_ns'],
    count: methods.length,
    shown: (line) =>
      columns.map((c) =>
        c.kind === 'name'
          ? nameOf(method(line))
          : profileCellText(method(line).figures, c, answer, scale),
      ),
    exact: (line) => [
      ...exactMethod(method(line), frames, ofSamples),
      ...(cost === undefined ? [] : [cost]),
    ],
  };
}
