// SPDX-License-Identifier: Apache-2.0
// Where the engine is: behind HTTP, or in a worker of this page (docs/view-protocol.md).  Questions
// have the same addresses and answers the same bytes wherever they go.

import type { ChosenFile, OpeningEngine } from '../model/opening';
import { overHttp, type Send } from './http';
import { HttpOpening } from './httpOpening';
import { LocalHost } from './localHost';
import { keepOffline } from './offline';
import { findReport } from './report';

/** What is to be said of files, in words. */
export interface HostNote {
  /** Of the report that the page is, or of what was found in a file. */
  of: 'report' | 'unpacking';
  text: string;
}

export interface Host {
  readonly send: Send;
  readonly opening: OpeningEngine;
  /** What these files lack. */
  notesOf(inputs: readonly ChosenFile[]): HostNote[];
  /** A file for those who have nothing to open. */
  readonly example: number | null;
  /** There is a program behind the page, which can be ended. */
  readonly ends: boolean;
}

export function httpHost(): Host {
  return {
    send: overHttp,
    opening: new HttpOpening(),
    ends: true,
    example: null,
    notesOf: () => [],
  };
}

/** A page that has an engine inside asks that one. */
export function hostOfPage(): Host {
  const report = findReport(document);
  if (report?.site) keepOffline();
  return report ? new LocalHost(report) : httpHost();
}
