// SPDX-License-Identifier: Apache-2.0
// Question and answer of the tree tables; decodes the binary answer (docs/view-protocol.md).

import { ByteReader } from '../base/bytes';
import type { SampleMeasure } from './nonSliceEvents';
import type { Scope } from './engine';

/** A question for lines of a call tree. */
export interface TreeQuestion extends Scope {
  /** Calls, or samples by a measure. */
  of: 'calls' | SampleMeasure;
  /** Number of the value type, as in SampleFlameQuestion. */
  value?: number;
  bottomUp: boolean;
  /** The lines to expand: "12", or "12.3" with the level in a bottom-up tree. "0": the root. */
  nodes?: readonly string[];
  /** Return all levels below the nodes. */
  below?: boolean;
  /** Instead of nodes: return the path to the longest call path of this frame. */
  reveal?: number;
}

/** Times in one clock, by line. */
export interface TreeTimes {
  total: number;
  incl: Float64Array;
  self: Float64Array;
}

/** Flags of a line. */
export const TREE_LINE = { hasChildren: 1, opened: 2 } as const;

/** Lines of a call tree, in columns with one entry per line. */
export interface TreeAnswer {
  count: number;
  /** Nodes of the expanded lines, in the order of the question. */
  opened: Uint32Array;
  real: TreeTimes | null;
  cpu: TreeTimes | null;
  calls: Float64Array;
  frame: Uint32Array;
  node: Uint32Array;
  /** Index of an expanded line; or that number plus the index of a line in this answer. */
  parent: Uint32Array;
  flags: Uint32Array;
}

function readPadded(reader: ByteReader, n: number): Uint32Array {
  const array = reader.u32s(n);
  reader.align(8);
  return array;
}

/** Decode the answer to `tree`. */
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
    frame: readPadded(reader, count),
    node: readPadded(reader, count),
    parent: readPadded(reader, count),
    flags: readPadded(reader, count),
    opened: reader.u32s(opened),
  };
}
