// SPDX-License-Identifier: Apache-2.0
// Answers of the engine about flows, the arrows between two events.

import type { Call, EventAnswer } from './engine';

/** The call at one end of an arrow, and the time where the arrow touches it; row -1: an instant. */
export interface FlowEnd extends Call {
  time: number;
  track: number;
  frame: number;
  /** Index of the thread; only for an instant, which has no track. */
  thread?: number;
}

/** A flow: an arrow between two events. */
export interface Flow {
  flow: number;
  frame: number;
  id: string;
  from: FlowEnd;
  to: FlowEnd;
  /** Number of flows that share these pixels; this flow is the first. */
  count: number;
}

/** The details of the two events of a flow. */
export interface FlowDetails extends EventAnswer {
  flow: number;
}

/**
 * The flows of a call. The engine cuts the lists at some hundred entries; the counts are of all.
 */
export interface FlowsOfCall {
  in: Flow[];
  out: Flow[];
  inCount: number;
  outCount: number;
}

/** The arrows in a range of time. */
export interface Arrows {
  list: Flow[];
  /** Number of flows that the list stands for, and number of flows that it left out. */
  flows: number;
  leftOut: number;
}

/** A category of flows. */
export interface FlowCategory {
  name: string;
  count: number;
}
