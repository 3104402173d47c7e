// SPDX-License-Identifier: Apache-2.0
// The host of the engine: an HTTP server, or a worker of this page (docs/view-protocol.md).
// Requests and answers are the same for both.

import type { ChosenFile, OpeningEngine } from '../model/opening';
import { overHttp, type Send } from './http';
import { HttpOpening } from './httpOpening';
import { LocalHost } from './localHost';
import { findReport } from './report';

/** A message for the user about some files. */
export interface HostNote {
  /** About the report that this page is, or about unpacking a file. */
  of: 'report' | 'unpacking';
  text: string;
}

/** The place where the engine runs. */
export interface Host {
  readonly send: Send;
  readonly opening: OpeningEngine;
  /** Return what is missing from these files. */
  notesOf(inputs: readonly ChosenFile[]): HostNote[];
  /** The size of an example file in bytes, or null if there is none. */
  readonly example: number | null;
  /** True if a program serves the page and can be ended. */
  readonly ends: boolean;
}

/** Return the host behind HTTP. */
export function httpHost(): Host {
  return {
    send: overHttp,
    opening: new HttpOpening(),
    ends: true,
    example: null,
    notesOf: () => [],
  };
}

/**
 * Register the service worker, which keeps the page so that it opens without a network. A page from
 * disk, or from a host without TLS, cannot have one and works only while it is open.
 */
function keepOffline(): void {
  if (!('serviceWorker' in navigator) || !location.protocol.startsWith('http')) return;
  addEventListener('load', () => {
    navigator.serviceWorker.register('sw.js').catch(() => undefined);
  });
}

/** Return the host of this page: the engine inside the page if there is one, else HTTP. */
export function hostOfPage(): Host {
  const report = findReport(document);
  if (report?.site) keepOffline();
  return report ? new LocalHost(report) : httpHost();
}
