// SPDX-License-Identifier: Apache-2.0
// The engine in this page: what HTTP and the program do elsewhere.  Each trace has a worker of its
// own; what lies open stays until the next one is there.

import { EngineError } from '../model/engine';
import { MOST_FILES, type Chosen, type OpeningEngine } from '../model/opening';
import type { Host } from './host';
import { LocalSession } from './localSession';
import { unpacked, type Carried } from './report';

interface Shelved {
  number: number;
  name: string;
  machine: number;
  data: Promise<Blob>;
  /** Of what the page brings with it that is not known before it is unpacked. */
  bytes: number | null;
}

const FOUND = 200;
const NOT_READY = 409;
const GONE = 410;

function json(status: number, answer: unknown): Response {
  return new Response(JSON.stringify(answer), { status });
}

/** A file as the engine can read it: gzip is the browser's. */
async function plain(file: File): Promise<Blob> {
  const head = new Uint8Array(await file.slice(0, 2).arrayBuffer());
  return head[0] === 0x1f && head[1] === 0x8b ? await unpacked(file) : file;
}

export class LocalHost implements Host {
  readonly ends = false;
  readonly note: string;
  private readonly code: Promise<WebAssembly.Module>;
  private readonly shelf: Shelved[] = [];
  private readonly start: Chosen[] = [];
  private current: LocalSession | null = null;
  /** What is being read, or could not be. */
  private next: LocalSession | null = null;
  private traces = 0;
  private inputs = 0;

  constructor(carried: Carried) {
    this.code = carried.code;
    this.note = carried.note;
    for (const { name, machine, offset, data } of carried.files) {
      this.start.push({ input: this.shelve(name, machine, data, null), offset });
    }
    if (this.start.length > 0) this.openFiles(this.start);
  }

  private shelve(
    name: string,
    machine: number | null,
    data: Promise<Blob>,
    bytes: number | null,
  ): number {
    const number = this.inputs++;
    data.catch(() => undefined); // whoever opens it hears of that
    this.shelf.push({ number, name, machine: machine ?? number, data, bytes });
    return number;
  }

  readonly send = async (address: string, init: RequestInit): Promise<Response> => {
    const [path = '', query = ''] = address.split('?', 2);
    if (path === 'api/status') return json(FOUND, this.status());
    const asked = new URLSearchParams(query).get('trace');
    if (!this.current) return json(NOT_READY, { error: 'the trace is not there yet' });
    if (asked !== null && Number(asked) !== this.current.trace)
      return json(GONE, { error: 'another trace lies open now' });
    return await this.current.ask(address.slice('api/'.length), init.signal);
  };

  private status(): unknown {
    const shown = this.next ?? this.current;
    const empty = { state: 'empty', name: '', bytes: 0, total_bytes: 0, records: 0, inputs: [] };
    return {
      ...(shown?.members ?? empty),
      trace: shown?.trace ?? 0,
      behind: this.next !== null && this.current !== null,
      files: this.shelf.map(({ number, name, bytes }) => ({ input: number, name, bytes })),
      start: this.start.map(({ input, offset }) => ({ input, offset_ns: String(offset) })),
    };
  }

  private openFiles(chosen: readonly Chosen[]): void {
    const shelved = chosen.map(({ input, offset }) => {
      const file = this.shelf.find(({ number }) => number === input);
      if (!file) throw new EngineError(`file ${input} is not here (any more)`, false);
      return { ...file, offset };
    });
    this.next?.end();
    const session: LocalSession = new LocalSession(++this.traces, shelved, () =>
      this.arrived(session),
    );
    this.next = session;
    void this.fill(session, shelved);
  }

  private async fill(
    session: LocalSession,
    shelved: readonly (Shelved & { offset: bigint })[],
  ): Promise<void> {
    try {
      const code = await this.code;
      const files = shelved.map(async ({ number, name, machine, offset, data }) => {
        const blob = await data;
        return { ...{ number, name, machine, offset }, bytes: blob.size, data: blob };
      });
      session.open(code, await Promise.all(files));
    } catch (error) {
      session.fail(`it cannot be unpacked: ${String(error)}`, 'io');
    }
  }

  private arrived(session: LocalSession): void {
    if (session !== this.next || session.state !== 'ready') return;
    this.current?.end();
    this.current = session;
    this.next = null;
  }

  readonly opening: OpeningEngine = {
    take: async (file, told, signal) => {
      const data = await plain(file).catch((error: unknown) => {
        throw new EngineError(`the browser cannot read it: ${String(error)}`, false, null, 'io');
      });
      signal.throwIfAborted();
      told(file.size);
      return this.shelve(file.name, null, Promise.resolve(data), data.size);
    },
    drop: (input) => {
      const at = this.shelf.findIndex(({ number }) => number === input);
      if (at >= 0) this.shelf.splice(at, 1);
      return Promise.resolve();
    },
    open: (files) => {
      if (files.length > MOST_FILES)
        return Promise.reject(new EngineError('too many files', false, null, 'many'));
      try {
        this.openFiles(files);
      } catch (error) {
        return Promise.reject(error as Error);
      }
      return Promise.resolve();
    },
    cancel: () => {
      this.next?.end();
      this.next = null;
      return Promise.resolve();
    },
  };
}
