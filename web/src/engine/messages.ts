// SPDX-License-Identifier: Apache-2.0
// Messages between the page and the worker that runs an engine.

import type { Refusal } from '../unpack/streams';
import type { ModuleFile, ModuleInput } from './module';

export interface WorkerFile extends ModuleFile {
  data: Blob;
}

export type WorkerInput = ModuleInput<WorkerFile>;

/** A trace inside a file. `machine` is null if the trace shares its machine with no other. */
export interface UnpackedPart {
  name: string;
  data: Blob;
  machine: number | null;
  /** Time offset from a report, in nanoseconds. */
  offset: bigint;
}

/** The traces inside a file. */
export interface UnpackedFile {
  parts: UnpackedPart[];
  /** Messages about parts that were skipped or are incomplete. */
  notes: string[];
  /** Number of containers that are truncated or damaged. */
  cut: number;
}

/** Messages to the worker. */
export type ToWorker =
  | { kind: 'open'; code: WebAssembly.Module; inputs: WorkerInput[] }
  /** Used instead of "open": list the traces in a file. Answered by "unpacked" or "refused". */
  | { kind: 'unpack'; code: WebAssembly.Module; name: string; data: Blob }
  | { kind: 'ask'; id: number; question: string }
  /** Cancel a question. */
  | { kind: 'forget'; id: number };

/** Messages from the worker. */
export type FromWorker =
  /** Members of the answer to api/status. */
  | { kind: 'status'; members: string }
  | { kind: 'answer'; id: number; status: number; bytes: Uint8Array<ArrayBuffer> }
  | ({ kind: 'unpacked' } & UnpackedFile)
  | { kind: 'refused'; message: string; why: Refusal['kind'] }
  /** Progress: number of bytes of the file that were processed. */
  | { kind: 'gone over'; bytes: number }
  /** The engine has ended; no further message follows. */
  | { kind: 'end'; message: string };
