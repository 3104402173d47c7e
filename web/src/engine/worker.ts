// SPDX-License-Identifier: Apache-2.0
// The worker that holds an engine: it reads one trace, telling how far it is, and then answers one
// question after the other.

import type { FromWorker, ToWorker, WorkerFile } from './messages';
import { Module, ModuleEnd, type Reading } from './module';

/** Workers alone have it, and the page's types do not know it. */
declare const FileReaderSync: new () => { readAsArrayBuffer(blob: Blob): ArrayBuffer };

/** How often the page hears how far the reading is. */
const TELL = 50;
/** Of a file on the disk so much is read at once: each reading has a cost of its own. */
const PIECE = 4 * 1024 * 1024;

function tell(message: FromWorker): void {
  const transfer = message.kind === 'answer' ? [message.bytes.buffer] : [];
  self.postMessage(message, { transfer });
}

/** The files, and the piece of one of them that was read last. */
class Files implements Reading {
  private piece = { file: -1, start: 0, bytes: new Uint8Array(0) };
  begin: () => void = () => undefined;

  constructor(private readonly files: readonly WorkerFile[]) {}

  read(number: number, offset: number, into: Uint8Array): boolean {
    const data = this.files.find((file) => file.number === number)?.data;
    if (!data) return false;
    try {
      into.set(this.ofBlob(number, data, offset, into.length));
      return true;
    } catch {
      return false; // The file has changed, or has gone.
    }
  }

  private ofBlob(file: number, blob: Blob, offset: number, size: number): Uint8Array {
    const { piece } = this;
    const inside =
      piece.file === file &&
      offset >= piece.start &&
      offset + size <= piece.start + piece.bytes.length;
    if (!inside) {
      const whole = blob.slice(offset, offset + Math.max(PIECE, size));
      const bytes = new Uint8Array(new FileReaderSync().readAsArrayBuffer(whole));
      this.piece = { file, start: offset, bytes };
    }
    const from = offset - this.piece.start;
    return this.piece.bytes.subarray(from, from + size);
  }
}

let module: Module | null = null;
const waiting = new Map<number, string>();
/** A question is answered when those that came with it are known: one of them may be forgotten. */
const turn = new MessageChannel();

function end(error: unknown): void {
  const message = error instanceof ModuleEnd ? error.message : String(error);
  tell({ kind: 'end', message });
  self.close();
}

async function open(code: WebAssembly.Module, given: readonly WorkerFile[]): Promise<void> {
  const files = new Files(given);
  const started = await Module.start(code, files);
  let told = performance.now();
  files.begin = () => {
    const now = performance.now();
    if (now - told < TELL) return;
    told = now;
    tell({ kind: 'status', members: started.status() });
  };
  started.load(given);
  files.begin = () => undefined;
  module = started;
  tell({ kind: 'status', members: started.status() });
}

function answerNext(): void {
  const [next] = waiting;
  if (!next || !module) return;
  const [id, question] = next;
  waiting.delete(id);
  try {
    const { status, bytes } = module.ask(question);
    tell({ kind: 'answer', id, status, bytes });
  } catch (error) {
    end(error);
  }
}

turn.port1.onmessage = answerNext;
self.onmessage = ({ data }: MessageEvent<ToWorker>) => {
  if (data.kind === 'open') {
    open(data.code, data.files).catch(end);
  } else if (data.kind === 'ask') {
    waiting.set(data.id, data.question);
    turn.port2.postMessage(null);
  } else {
    waiting.delete(data.id);
  }
};
