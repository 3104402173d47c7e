// SPDX-License-Identifier: Apache-2.0
// An instance of the engine's module (src/wasm/host.h) and the little that it needs around it: the
// bytes of files, and a place for its last words.  No system is offered to it.

import { Refusal } from '../unpack/streams';

export interface Reading {
  /** Called before each reading: the module can be asked for its status then. */
  begin(): void;
  /** The bytes of a file, by its number; false: they cannot be read. */
  read(file: number, offset: number, into: Uint8Array): boolean;
}

/** A file of the trace that is to be read. */
export interface ModuleFile {
  number: number;
  name: string;
  bytes: number;
  /** Files of one number are of one machine. */
  machine: number;
  /** Added to its times beside that of its input, in nanoseconds. */
  offset: bigint;
}

/** What somebody opened: a file, or those that were packed in it. */
export interface ModuleInput<File extends ModuleFile = ModuleFile> {
  number: number;
  name: string;
  /** Added to its times, in nanoseconds. */
  offset: bigint;
  /** So many containers in it end early or are damaged. */
  cut: number;
  files: readonly File[];
}

/** A trace in an HTML page, as src/wasm/host.h has it. */
export interface PageTrace {
  start: number;
  end: number;
  bytes: number;
  plain: boolean;
  open: boolean;
  name: string;
  machine: number;
  offset_ns: string;
}

/** What an HTML page has inside, or why that cannot be told. */
export interface FoundPage {
  traces: PageTrace[];
  notes: string[];
  cut: boolean;
}
export interface RefusedPage {
  message: string;
  kind: 'limit' | 'syntax';
}

export interface ModuleAnswer {
  /** As of HTTP. */
  status: number;
  bytes: Uint8Array<ArrayBuffer>;
}

/** The engine has ended and answers nothing any more; the message is what it said. */
export class ModuleEnd extends Error {}

interface Exports {
  memory: WebAssembly.Memory;
  _initialize(): void;
  room(size: number): number;
  input(number: number, nameLength: number, offset: bigint): void;
  add(file: number, nameLength: number, size: number, machine: number, offset: bigint): void;
  cut(containers: number): void;
  load(): number;
  status(): void;
  ask(length: number): number;
  knows(length: number, size: number): number;
  is_page(length: number): number;
  foreign(length: number): void;
  page(file: number, size: number): number;
  trace(trace: number): void;
  trace_more(): number;
  answer(): number;
  answer_length(): number;
}

const NO_SUCH_FILE = 8; // of WASI: bad file descriptor
const STDERR = 2;

function at(memory: WebAssembly.Memory, place: number, length: number): Uint8Array<ArrayBuffer> {
  // What the instance hands over as a number above 2 GiB arrives as a negative one.
  return new Uint8Array(memory.buffer as ArrayBuffer, place >>> 0, length >>> 0);
}

export class Module {
  private constructor(
    private readonly calls: Exports,
    private readonly said: { text: string },
  ) {}

  static async start(code: WebAssembly.Module, files: Reading): Promise<Module> {
    const said = { text: '' };
    const memory = (): WebAssembly.Memory => calls.memory;
    const words = new TextDecoder();
    /** Sums up the pieces of what is written, each a pointer and a length. */
    const write = (to: number, pieces: number, count: number, written: number): number => {
      const view = new DataView(memory().buffer);
      if (to !== STDERR) return NO_SUCH_FILE;
      let total = 0;
      for (let i = 0; i < count; i++) {
        const place = view.getUint32((pieces >>> 0) + 8 * i, true);
        const length = view.getUint32((pieces >>> 0) + 8 * i + 4, true);
        said.text += words.decode(at(memory(), place, length));
        total += length;
      }
      view.setUint32(written >>> 0, total, true);
      return 0;
    };
    const instance = await WebAssembly.instantiate(code, {
      traceview: {
        read: (file: number, offset: number, place: number, size: number): number => {
          files.begin();
          // Not before: memory that grows is another buffer.
          return files.read(file, offset, at(memory(), place, size)) ? 1 : 0;
        },
      },
      wasi_snapshot_preview1: {
        proc_exit: (): never => {
          throw new ModuleEnd(said.text.trim());
        },
        fd_write: write,
        fd_close: () => NO_SUCH_FILE,
        fd_seek: () => NO_SUCH_FILE,
      },
    });
    // The exports are those of src/wasm/host.h, which this project builds together with the page.
    const calls = instance.exports as WebAssembly.Exports & Exports;
    calls._initialize();
    return new Module(calls, said);
  }

  private put(text: string | Uint8Array): number {
    const bytes = typeof text === 'string' ? new TextEncoder().encode(text) : text;
    const place = this.calls.room(bytes.length);
    at(this.calls.memory, place, bytes.length).set(bytes);
    return bytes.length;
  }

  private take(): Uint8Array<ArrayBuffer> {
    const place = this.calls.answer();
    return at(this.calls.memory, place, this.calls.answer_length()).slice();
  }

  /** A trap (memory or a stack that is full) is an end as well. */
  private call<T>(what: () => T): T {
    try {
      return what();
    } catch (error) {
      if (error instanceof ModuleEnd || error instanceof Refusal) throw error;
      throw new ModuleEnd(this.said.text.trim() || String(error));
    }
  }

  private takeText(): string {
    return new TextDecoder().decode(this.take());
  }

  /** Reads the files as one trace; false: it cannot, and the status tells why. */
  load(inputs: readonly ModuleInput[]): boolean {
    return this.call(() => {
      for (const { number, name, offset, cut, files } of inputs) {
        this.calls.input(number, this.put(name), offset);
        for (const { number, name, bytes, machine, offset } of files)
          this.calls.add(number, this.put(name), bytes, machine, offset);
        this.calls.cut(cut);
      }
      return this.calls.load() !== 0;
    });
  }

  /** Whether a reader knows what begins so. */
  knows(head: Uint8Array, size: number): boolean {
    return this.call(() => this.calls.knows(this.put(head), size) !== 0);
  }

  isPage(head: Uint8Array): boolean {
    return this.call(() => this.calls.is_page(this.put(head)) !== 0);
  }

  /** What it is that no reader knows, in words; empty: it does not know either. */
  foreign(head: Uint8Array): string {
    return this.call(() => {
      this.calls.foreign(this.put(head));
      return this.takeText();
    });
  }

  /** The traces in the page that a file is. */
  page(file: number, bytes: number): FoundPage | RefusedPage {
    return this.call(() => {
      this.calls.page(file, bytes);
      return JSON.parse(this.takeText()) as FoundPage | RefusedPage;
    });
  }

  /** The text of one of them; false: it is damaged where it ends. */
  traceText(trace: number, take: (bytes: Uint8Array) => boolean): boolean {
    return this.call(() => {
      this.calls.trace(trace);
      for (;;) {
        const good = this.calls.trace_more() !== 0;
        const bytes = this.take();
        if (bytes.length === 0 || !take(bytes) || !good) return good;
      }
    });
  }

  /** Members of the answer to api/status, without braces; also while `load` reads. */
  status(): string {
    return this.call(() => {
      this.calls.status();
      return this.takeText();
    });
  }

  /** What stands behind "api/", with its parameters. */
  ask(question: string): ModuleAnswer {
    return this.call(() => {
      const status = this.calls.ask(this.put(question));
      return { status, bytes: this.take() };
    });
  }
}
