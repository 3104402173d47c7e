// SPDX-License-Identifier: Apache-2.0
// One trace in an engine of this page. Its worker first loads the trace and then answers requests.

import type { FromWorker, ToWorker, WorkerInput } from '../engine/messages';
import type { ChosenFile } from '../model/opening';
import { NOT_STARTED, engineEndReason, startWorker } from './localWorker';

type LoadState = 'loading' | 'ready' | 'error';

interface Waiting {
  answered: (answer: Response) => void;
  failed: (error: unknown) => void;
}

function sessionName(files: readonly { name: string }[]): string {
  const [first] = files;
  return files.length > 1 ? `${first?.name} and ${files.length - 1} more` : (first?.name ?? '');
}

/** A trace and its worker. */
export class LocalSession {
  private readonly worker = startWorker();
  private readonly waiting = new Map<number, Waiting>();
  private last = 0;
  private over = false;
  state: LoadState = 'loading';
  /** The members of the answer to api/status. */
  members: Record<string, unknown>;

  /** The files as the page knows them. */
  get chosen(): readonly ChosenFile[] {
    return this.files.map(({ number, offset }) => ({ input: number, offset }));
  }

  /** `done` is called when the trace is loaded or has failed. */
  constructor(
    readonly trace: number,
    readonly files: readonly { number: number; name: string; offset: bigint }[],
    private readonly done: () => void,
  ) {
    this.members = {
      ...{ state: 'loading', name: sessionName(files), bytes: 0, total_bytes: 0, records: 0 },
      inputs: files.map(({ number, name, offset }) => ({
        ...{ input: number, name },
        offset_ns: String(offset),
      })),
    };
    this.worker.onmessage = ({ data }: MessageEvent<FromWorker>) => this.hear(data);
    this.worker.onerror = () => this.fail(NOT_STARTED, 'other');
  }

  open(code: WebAssembly.Module, inputs: WorkerInput[]): void {
    this.post({ kind: 'open', code, inputs });
  }

  private post(message: ToWorker): void {
    if (!this.over) this.worker.postMessage(message);
  }

  private hear(message: FromWorker): void {
    if (message.kind === 'answer') {
      const waiting = this.waiting.get(message.id);
      this.waiting.delete(message.id);
      waiting?.answered(new Response(message.bytes, { status: message.status }));
    } else if (message.kind === 'status') {
      // The engine writes the members of a JSON object.
      this.members = JSON.parse(`{${message.members}}`) as Record<string, unknown>;
      this.state = this.members['state'] as LoadState;
      if (this.state !== 'loading') this.done();
    } else if (message.kind === 'end') {
      const { message: why, kind } = engineEndReason(message.message);
      this.fail(why, kind);
    }
  }

  fail(message: string, kind: string): void {
    if (this.over) return;
    this.state = 'error';
    this.members = { ...this.members, state: 'error', error: { message, kind } };
    this.end();
    this.done();
  }

  ask(question: string, signal: AbortSignal | null | undefined): Promise<Response> {
    const id = ++this.last;
    return new Promise((answered, failed) => {
      if (this.over) return failed(new Error('the engine has ended'));
      if (signal?.aborted) return failed(new DOMException('stopped', 'AbortError'));
      this.waiting.set(id, { answered, failed });
      this.post({ kind: 'ask', id, question });
      signal?.addEventListener('abort', () => {
        if (!this.waiting.delete(id)) return;
        this.post({ kind: 'forget', id });
        failed(new DOMException('stopped', 'AbortError'));
      });
    });
  }

  end(): void {
    if (this.over) return;
    this.over = true;
    this.worker.terminate();
    for (const { failed } of this.waiting.values()) failed(new Error('the engine has ended'));
    this.waiting.clear();
  }
}
