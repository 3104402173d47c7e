// SPDX-License-Identifier: Apache-2.0
// The worker that runs an engine. It reads one trace, reporting the progress, and then answers one
// question after the other; or it unpacks one file and ends.

import { Refusal } from '../unpack/streams';
import { BlobBytes } from './blobs';
import type { FromWorker, ToWorker, WorkerFile, WorkerInput } from './messages';
import { Module, ModuleEnd, type Reading } from './module';
import { unpackFile } from './unpacking';

/** Interval of progress reports in milliseconds. */
const REPORT_INTERVAL = 50;
function postToPage(message: FromWorker): void {
  const transfer = message.kind === 'answer' ? [message.bytes.buffer] : [];
  self.postMessage(message, { transfer });
}

class WorkerFiles implements Reading {
  private readonly bytes: Map<number, BlobBytes>;
  begin: () => void = () => undefined;

  constructor(files: readonly WorkerFile[]) {
    this.bytes = new Map(files.map(({ number, data }) => [number, new BlobBytes(data)]));
  }

  read(number: number, offset: number, into: Uint8Array): boolean {
    try {
      const bytes = this.bytes.get(number)?.read(offset, into.length);
      if (bytes) into.set(bytes);
      return bytes !== undefined;
    } catch {
      return false; // The file has changed, or has gone.
    }
  }
}

let module: Module | null = null;
const pendingQuestions = new Map<number, string>();
/**
 * Questions are answered in a later task, when the messages that arrived with them are known: one
 * of them may cancel a question.
 */
const nextTurn = new MessageChannel();

function endWorker(error: unknown): void {
  const message = error instanceof ModuleEnd ? error.message : String(error);
  postToPage({ kind: 'end', message });
  self.close();
}

async function openTrace(code: WebAssembly.Module, given: readonly WorkerInput[]): Promise<void> {
  const files = new WorkerFiles(given.flatMap(({ files }) => files));
  const started = await Module.start(code, files);
  let told = performance.now();
  files.begin = () => {
    const now = performance.now();
    if (now - told < REPORT_INTERVAL) return;
    told = now;
    postToPage({ kind: 'status', members: started.status() });
  };
  started.load(given);
  files.begin = () => undefined;
  module = started;
  postToPage({ kind: 'status', members: started.status() });
}

async function unpackInWorker(
  code: WebAssembly.Module,
  file: { name: string; data: Blob },
): Promise<void> {
  try {
    const tellBytes = (bytes: number): void => postToPage({ kind: 'gone over', bytes });
    postToPage({ kind: 'unpacked', ...(await unpackFile(code, file, tellBytes)) });
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    postToPage({ kind: 'refused', message: error.message, why: error.kind });
  }
}

function answerNext(): void {
  const [next] = pendingQuestions;
  if (!next || !module) return;
  const [id, question] = next;
  pendingQuestions.delete(id);
  try {
    const { status, bytes } = module.ask(question);
    postToPage({ kind: 'answer', id, status, bytes });
  } catch (error) {
    endWorker(error);
  }
}

nextTurn.port1.onmessage = answerNext;
self.onmessage = ({ data }: MessageEvent<ToWorker>) => {
  if (data.kind === 'open') {
    openTrace(data.code, data.inputs).catch(endWorker);
  } else if (data.kind === 'unpack') {
    unpackInWorker(data.code, data).catch(endWorker);
  } else if (data.kind === 'ask') {
    pendingQuestions.set(data.id, data.question);
    nextTurn.port2.postMessage(null);
  } else {
    pendingQuestions.delete(data.id);
  }
};
