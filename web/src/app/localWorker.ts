// SPDX-License-Identifier: Apache-2.0
// The workers of this page. Each worker is one engine, and ends with its trace.

import { EngineError } from '../model/engine';
import type { ErrorKind } from '../model/opening';
import type { FromWorker, ToWorker, UnpackedFile } from '../engine/messages';

/** The bundled text of engine/worker.ts, inserted by the build. */
declare const WORKER_TEXT: string;

/** The last message of an engine that ran out of memory. */
const EXHAUSTED = /out of memory/;

/** Start a worker from the bundled text. */
export function startWorker(): Worker {
  const address = URL.createObjectURL(new Blob([WORKER_TEXT], { type: 'text/javascript' }));
  const worker = new Worker(address);
  URL.revokeObjectURL(address);
  return worker;
}

/** Return why an engine ended, given its last message. */
export function engineEndReason(words: string): { message: string; kind: ErrorKind } {
  return EXHAUSTED.test(words)
    ? { message: 'the memory that a page can have is not enough for it', kind: 'memory' }
    : { message: `the engine in this page has ended: ${words}`, kind: 'other' };
}

export const NOT_STARTED = 'the engine in this page could not be started';

/** Unpack the traces in a file. `onProgress` receives the number of bytes processed. */
export function unpackApart(
  code: WebAssembly.Module,
  file: { name: string; data: Blob },
  onProgress: (bytes: number) => void,
  signal: AbortSignal,
): Promise<UnpackedFile> {
  const worker = startWorker();
  let bytes = 0;
  const found = new Promise<UnpackedFile>((done, failed) => {
    const refuse = (message: string, kind: ErrorKind): void =>
      failed(new EngineError(message, false, null, kind));
    worker.onerror = () => refuse(NOT_STARTED, 'other');
    worker.onmessage = ({ data }: MessageEvent<FromWorker>) => {
      if (data.kind === 'unpacked') done(data);
      else if (data.kind === 'gone over')
        onProgress(Math.min((bytes += data.bytes), file.data.size));
      else if (data.kind === 'refused') refuse(data.message, data.why);
      else if (data.kind === 'end') {
        const { message, kind } = engineEndReason(data.message);
        refuse(message, kind);
      }
    };
    signal.addEventListener('abort', () => failed(new DOMException('stopped', 'AbortError')));
    const message: ToWorker = { kind: 'unpack', code, name: file.name, data: file.data };
    worker.postMessage(message);
  });
  return found.finally(() => worker.terminate());
}
