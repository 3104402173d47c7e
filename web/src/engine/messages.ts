// SPDX-License-Identifier: Apache-2.0
// What the page and the worker that holds an engine say to each other.

import type { Refusal } from '../unpack/streams';
import type { ModuleFile, ModuleInput } from './module';

export interface WorkerFile extends ModuleFile {
  data: Blob;
}

export type WorkerInput = ModuleInput<WorkerFile>;

/** A trace that was found in a file; null: of a machine of its own. */
export interface UnpackedPart {
  name: string;
  data: Blob;
  machine: number | null;
  /** That a report adds to its times, in nanoseconds. */
  offset: bigint;
}

/** What was found in a file. */
export interface UnpackedFile {
  parts: UnpackedPart[];
  /** What was left out, or is not whole, in words. */
  notes: string[];
  /** So many containers end early or are damaged. */
  cut: number;
}

export type ToWorker =
  | { kind: 'open'; code: WebAssembly.Module; inputs: WorkerInput[] }
  /** Instead of that: what traces are in the file?  Answered by "unpacked" or "refused". */
  | { kind: 'unpack'; code: WebAssembly.Module; name: string; data: Blob }
  | { kind: 'ask'; id: number; question: string }
  /** Nobody waits for that answer any more. */
  | { kind: 'forget'; id: number };

export type FromWorker =
  /** Members of the answer to api/status. */
  | { kind: 'status'; members: string }
  | { kind: 'answer'; id: number; status: number; bytes: Uint8Array<ArrayBuffer> }
  | ({ kind: 'unpacked' } & UnpackedFile)
  | { kind: 'refused'; message: string; why: Refusal['kind'] }
  /** So many bytes of the file were gone over. */
  | { kind: 'gone over'; bytes: number }
  /** Nothing comes any more. */
  | { kind: 'end'; message: string };
