// SPDX-License-Identifier: Apache-2.0
// Where the engine is: behind HTTP, or in a worker of this page (docs/view-protocol.md).  Questions
// have the same addresses and answers the same bytes wherever they go.

import type { OpeningEngine } from '../model/opening';
import { overHttp, type Send } from './http';
import { HttpOpening } from './httpOpening';
import { LocalHost } from './localHost';
import { findReport } from './report';

export interface Host {
  readonly send: Send;
  readonly opening: OpeningEngine;
  /** What the trace that it begins with lacks, in words; empty: nothing. */
  readonly note: string;
  /** There is a program behind the page, which can be ended. */
  readonly ends: boolean;
}

export function httpHost(): Host {
  return { send: overHttp, opening: new HttpOpening(), note: '', ends: true };
}

/** A page that has an engine inside asks that one. */
export function hostOfPage(): Host {
  const report = findReport(document);
  return report ? new LocalHost(report) : httpHost();
}
