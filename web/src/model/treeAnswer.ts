// SPDX-License-Identifier: Apache-2.0
// What is asked for the tree tables, and the binary answer (docs/view-protocol.md) as typed arrays.

import { ByteReader } from '../base/bytes';
import type { SampleMeasure } from './beside';
import type { Scope } from './engine';

export interface TreeQuestion extends Scope {
  /** Calls, or samples by a measure. */
  of: 'calls' | SampleMeasure;
  bottomUp: boolean;
  /** The opened lines: "12"; from the bottom up with the level, "12.3".  "0": what has no parent. */
  nodes?: readonly string[];
  /** All levels below them. */
  below?: boolean;
  /** Instead of the nodes: what stands above the longest call path of this frame. */
  reveal?: number;
}

/** The figures of one clock. */
export interface TreeTimes {
  total: number;
  incl: Float64Array;
  self: Float64Array;
}

export const LINE = { hasChildren: 1, opened: 2 } as const;

export interface TreeAnswer {
  count: number;
  /** Nodes of the opened lines, in the order of the question. */
  opened: Uint32Array;
  real: TreeTimes | null;
  cpu: TreeTimes | null;
  calls: Float64Array;
  frame: Uint32Array;
  node: Uint32Array;
  /** Below the number of opened lines: one of these; else a line of the answer, from there on. */
  parent: Uint32Array;
  flags: Uint32Array;
}

function padded(reader: ByteReader, n: number): Uint32Array {
  const array = reader.u32s(n);
  reader.align(8);
  return array;
}

export function decodeTree(bytes: ArrayBuffer): TreeAnswer {
  const reader = new ByteReader(bytes);
  reader.magic('TVN1');
  const count = reader.u32();
  const opened = reader.u32();
  const clocks = reader.u32();
  const totals = [reader.f64(), reader.f64()];
  const times = (bit: number, total = 0): TreeTimes | null =>
    (clocks & bit) !== 0 ? { total, incl: reader.f64s(count), self: reader.f64s(count) } : null;
  return {
    count,
    real: times(1, totals[0]),
    cpu: times(2, totals[1]),
    calls: reader.f64s(count),
    frame: padded(reader, count),
    node: padded(reader, count),
    parent: padded(reader, count),
    flags: padded(reader, count),
    opened: reader.u32s(opened),
  };
}
