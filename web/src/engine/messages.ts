// SPDX-License-Identifier: Apache-2.0
// What the page and the worker that holds an engine say to each other.

import type { ModuleFile } from './module';

export interface WorkerFile extends ModuleFile {
  data: Blob;
}

export type ToWorker =
  | { kind: 'open'; code: WebAssembly.Module; files: WorkerFile[] }
  | { kind: 'ask'; id: number; question: string }
  /** Nobody waits for that answer any more. */
  | { kind: 'forget'; id: number };

export type FromWorker =
  /** Members of the answer to api/status. */
  | { kind: 'status'; members: string }
  | { kind: 'answer'; id: number; status: number; bytes: Uint8Array<ArrayBuffer> }
  /** Nothing comes any more. */
  | { kind: 'end'; message: string };
