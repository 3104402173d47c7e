// SPDX-License-Identifier: Apache-2.0
// The engine inside the page, which replaces server and program. Each trace has its own worker. The
// open trace stays open until the next one is loaded; a page has no memory for more.
//
//   take(file)  --> unpacked in a worker --> files by number, until they are dropped
//   open(files) --> next: a session that loads --ready--> current, and the session before ends
//   send(query) --> current, or the session that `trace` names; api/status prefers next
//
// Answers have the status codes of a server, so the engine's client cannot tell the two apart.

import { EngineError } from '../model/engine';
import { MOST_FILES, sameFiles, type ChosenFile, type OpeningEngine } from '../model/opening';
import type { UnpackedFile } from '../engine/messages';
import { joinHalves } from '../unpack/unpack';
import type { Host, HostNote } from './host';
import { LocalSession } from './localSession';
import { NOT_STARTED, unpackApart } from './localWorker';
import type { Carried, CarriedExample } from './report';

interface LocalFile {
  number: number;
  name: string;
  parts: Promise<UnpackedTrace[]>;
  /** Messages about the file. */
  notes: readonly string[];
  /** The number of containers in the file that end early or are damaged. */
  cut: number;
  /**
   * The unpacked size of a file embedded in the page, or null if it is unknown before unpacking.
   */
  bytes: number | null;
}

interface UnpackedTrace {
  name: string;
  machine: number;
  /** An offset that the enclosing report adds to the times. */
  offset: bigint;
  data: Blob;
}

const FOUND = 200;
const NOT_READY = 409;
const GONE = 410;

function jsonResponse(status: number, answer: unknown): Response {
  return new Response(JSON.stringify(answer), { status });
}

function asSentence(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
}

/** Join the two halves of a split trace that were opened together. */
function joinSplitTraces<T extends UnpackedTrace>(parts: T[]): T[] {
  return joinHalves(parts, (key, { data }) => ({ ...key, data: new Blob([key.data, data]) }));
}

export class LocalHost implements Host {
  readonly ends = false;
  readonly example: number | null = null;
  private readonly note: string;
  private readonly code: Promise<WebAssembly.Module>;
  private readonly files: LocalFile[] = [];
  private readonly start: ChosenFile[] = [];
  private current: LocalSession | null = null;
  /** The trace that is loading or failed to load. */
  private next: LocalSession | null = null;
  private traces = 0;
  private inputs = 0;
  private machines = 0;

  constructor(carried: Carried) {
    this.code = carried.code;
    this.code.catch(() => undefined); // the error is reported when a file is opened
    this.note = carried.note;
    this.machines = Math.max(0, ...carried.files.map(({ machine }) => machine + 1));
    for (const { name, machine, offset, data } of carried.files) {
      const parts = data.then((blob) => [{ name, machine, offset: 0n, data: blob }]);
      this.start.push({
        input: this.addFile({ name, parts, notes: [], cut: 0, bytes: null }),
        offset,
      });
    }
    if (carried.example) this.example = this.addExample(carried.example);
    if (this.start.length > 0) this.openFiles(this.start);
  }

  /**
   * Add a file under a number of its own; numbers are never used again, so a request
   * about a file that was dropped cannot mean another.
   */
  private addFile(file: Omit<LocalFile, 'number'>): number {
    const number = this.inputs++;
    file.parts.catch(() => undefined); // the error is reported when the file is opened
    this.files.push({ number, ...file });
    return number;
  }

  private addExample({ name, data }: CarriedExample): number {
    const machine = this.machines++;
    const parts = data.then((blob) => [{ name, machine, offset: 0n, data: blob }]);
    return this.addFile({ name, parts, notes: [], cut: 0, bytes: null });
  }

  /** Return the traces in a file, with machine numbers that no other open trace uses. */
  private placed({ parts }: UnpackedFile): UnpackedTrace[] {
    const first = this.machines;
    const shared = parts.map(({ machine }) => (machine ?? -1) + 1);
    this.machines += Math.max(0, ...shared);
    return parts.map((part) => ({
      ...part,
      machine: part.machine === null ? this.machines++ : first + part.machine,
    }));
  }

  /**
   * Return what is to be said of the files. The report's own note is about the trace as it was
   * saved, so it is said only while just these files are open.
   */
  notesOf(inputs: readonly ChosenFile[]): HostNote[] {
    const alone = inputs.length === 1;
    const notes = inputs.flatMap(({ input }) => {
      const file = this.files.find(({ number }) => number === input);
      return (file?.notes ?? []).map((note): HostNote => ({
        of: 'unpacking',
        text: alone ? asSentence(note) : `${file?.name}: ${note}.`,
      }));
    });
    const begun = this.note !== '' && sameFiles(inputs, this.start);
    return begun ? [{ of: 'report', text: this.note }, ...notes] : notes;
  }

  readonly send = async (address: string, init: RequestInit): Promise<Response> => {
    const [path = '', query = ''] = address.split('?', 2);
    const number = new URLSearchParams(query).get('trace');
    const latest = path === 'api/status' ? (this.next ?? this.current) : this.current;
    const trace = number === null ? latest : this.find(Number(number));
    if (path === 'api/status') return jsonResponse(FOUND, this.status(trace));
    if (number !== null && !trace)
      return jsonResponse(GONE, { error: 'that trace is not open any more' });
    if (trace?.state !== 'ready')
      return jsonResponse(NOT_READY, { error: 'the trace is not loaded yet' });
    return await trace.ask(address.slice('api/'.length), init.signal);
  };

  /** Return an open trace by its number: the one being loaded, or the one that is shown. */
  private find(number: number): LocalSession | null {
    return [this.next, this.current].find((session) => session?.trace === number) ?? null;
  }

  /** Return the answer to api/status, as a server would give it. */
  private status(shown: LocalSession | null): unknown {
    const empty = { state: 'empty', name: '', bytes: 0, total_bytes: 0, records: 0, inputs: [] };
    return {
      ...(shown?.members ?? empty),
      trace: shown?.trace ?? 0,
      files: this.files.map(({ number, name, bytes }) => ({ input: number, name, bytes })),
      start: this.start.map(({ input, offset }) => ({ input, offset_ns: String(offset) })),
    };
  }

  /** Return the number of the trace. */
  private openFiles(chosen: readonly ChosenFile[]): number {
    const open = [this.next, this.current].find(
      (session) => session && session.state !== 'error' && sameFiles(session.chosen, chosen),
    );
    if (open) return open.trace;
    const opened = chosen.map(({ input, offset }) => {
      const file = this.files.find(({ number }) => number === input);
      if (!file) throw new EngineError(`file ${input} is not here (any more)`, false);
      return { ...file, offset };
    });
    this.next?.end();
    const session: LocalSession = new LocalSession(++this.traces, opened, () =>
      this.arrived(session),
    );
    this.next = session;
    void this.fill(session, opened);
    return session.trace;
  }

  /**
   * Wait for the code and for the files to be unpacked, then start the session. Whatever fails is
   * told as the state of this session, which the page asks for anyway.
   */
  private async fill(
    session: LocalSession,
    opened: readonly (LocalFile & { offset: bigint })[],
  ): Promise<void> {
    try {
      const code = await this.code;
      const found = opened.map(async ({ number, parts }) =>
        (await parts).map((part) => ({ ...part, input: number })),
      );
      const files = joinSplitTraces((await Promise.all(found)).flat()).map((part, number) => ({
        ...part,
        number,
        bytes: part.data.size,
      }));
      const inputs = opened.map(({ number, name, offset, cut }) => ({
        ...{ number, name, offset, cut },
        files: files.filter(({ input }) => input === number),
      }));
      session.open(code, inputs);
    } catch (error) {
      session.fail(`it cannot be unpacked: ${String(error)}`, 'io');
    }
  }

  /**
   * Replace the shown trace by the one that is ready. Until then it stays: a file that cannot be
   * read must not take away what is on the screen. A session that another has overtaken changes
   * nothing.
   */
  private arrived(session: LocalSession): void {
    if (session !== this.next || session.state !== 'ready') return;
    this.current?.end();
    this.current = session;
    this.next = null;
  }

  readonly opening: OpeningEngine = {
    take: async (file, onProgress, signal) => {
      const code = await this.code.catch((error: unknown) => {
        throw new EngineError(`${NOT_STARTED}: ${String(error)}`, false);
      });
      signal.throwIfAborted();
      const found = await unpackApart(code, { name: file.name, data: file }, onProgress, signal);
      onProgress(file.size);
      const bytes = found.parts.reduce((sum, { data }) => sum + data.size, 0);
      const parts = Promise.resolve(this.placed(found));
      const { notes, cut } = found;
      return this.addFile({ name: file.name, parts, notes, cut, bytes });
    },
    drop: (input) => {
      const at = this.files.findIndex(({ number }) => number === input);
      if (at >= 0) this.files.splice(at, 1);
      return Promise.resolve();
    },
    open: (files) => {
      if (files.length > MOST_FILES)
        return Promise.reject(new EngineError('too many files', false, null, 'many'));
      try {
        return Promise.resolve(this.openFiles(files));
      } catch (error) {
        return Promise.reject(error as Error);
      }
    },
    cancel: (trace) => {
      if (this.next?.trace !== trace) return Promise.resolve();
      this.next.end();
      this.next = null;
      return Promise.resolve();
    },
  };
}
