// SPDX-License-Identifier: Apache-2.0
// An instance of the engine's WebAssembly module (src/wasm/host.h) and its few imports: reading
// files, and writing to standard error. The module gets no access to any other system interface.

import { Refusal } from '../unpack/streams';

/** Gives the module access to files. */
export interface Reading {
  /** Called before each read; the module can report its status at this point. */
  begin(): void;
  /** Read bytes of a file by its number; false: the file cannot be read. */
  read(file: number, offset: number, into: Uint8Array): boolean;
}

/** A file to read. */
export interface ModuleFile {
  number: number;
  name: string;
  bytes: number;
  /** Files with equal numbers come from one machine. */
  machine: number;
  /** Added to its times, in addition to the offset of the input, in nanoseconds. */
  offset: bigint;
}

/** A file that the user opened, or the files that were packed in it. */
export interface ModuleInput<File extends ModuleFile = ModuleFile> {
  number: number;
  name: string;
  /** Added to its times, in nanoseconds. */
  offset: bigint;
  /** Number of containers in it that are truncated or damaged. */
  cut: number;
  files: readonly File[];
}

/** A trace in an HTML page, as in src/wasm/host.h. */
export interface ModulePageTrace {
  start: number;
  end: number;
  bytes: number;
  plain: boolean;
  open: boolean;
  name: string;
  machine: number;
  offset_ns: string;
}

/** The traces in an HTML page, or the reason why they cannot be listed. */
export interface FoundPage {
  traces: ModulePageTrace[];
  notes: string[];
  cut: boolean;
}
export interface RefusedPage {
  message: string;
  kind: 'limit' | 'syntax';
}

/** An answer of the engine. */
export interface ModuleAnswer {
  /** HTTP status. */
  status: number;
  bytes: Uint8Array<ArrayBuffer>;
}

/** The engine has ended and answers no more; the message is its last output. */
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

function bytesAt(
  memory: WebAssembly.Memory,
  place: number,
  length: number,
): Uint8Array<ArrayBuffer> {
  // Pointers and lengths above 2 GiB arrive as negative numbers.
  return new Uint8Array(memory.buffer as ArrayBuffer, place >>> 0, length >>> 0);
}

/**
 * A running module. It is single-threaded: methods must not be called from `Reading`, except
 * status.
 */
export class Module {
  private constructor(
    private readonly calls: Exports,
    private readonly said: { text: string },
  ) {}

  static async start(code: WebAssembly.Module, files: Reading): Promise<Module> {
    const said = { text: '' };
    const memory = (): WebAssembly.Memory => calls.memory;
    const words = new TextDecoder();
    /** WASI fd_write: append the chunks, each a pointer and a length, to the last output. */
    const write = (to: number, pieces: number, count: number, written: number): number => {
      const view = new DataView(memory().buffer);
      if (to !== STDERR) return NO_SUCH_FILE;
      let total = 0;
      for (let i = 0; i < count; i++) {
        const place = view.getUint32((pieces >>> 0) + 8 * i, true);
        const length = view.getUint32((pieces >>> 0) + 8 * i + 4, true);
        said.text += words.decode(bytesAt(memory(), place, length));
        total += length;
      }
      view.setUint32(written >>> 0, total, true);
      return 0;
    };
    const instance = await WebAssembly.instantiate(code, {
      traceview: {
        read: (file: number, offset: number, place: number, size: number): number => {
          files.begin();
          // Create the view only now: memory that grew has a new buffer.
          return files.read(file, offset, bytesAt(memory(), place, size)) ? 1 : 0;
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
    // This project builds the module together with the page, so the exports match src/wasm/host.h.
    const calls = instance.exports as WebAssembly.Exports & Exports;
    calls._initialize();
    return new Module(calls, said);
  }

  private put(text: string | Uint8Array): number {
    const bytes = typeof text === 'string' ? new TextEncoder().encode(text) : text;
    const place = this.calls.room(bytes.length);
    bytesAt(this.calls.memory, place, bytes.length).set(bytes);
    return bytes.length;
  }

  private take(): Uint8Array<ArrayBuffer> {
    const place = this.calls.answer();
    return bytesAt(this.calls.memory, place, this.calls.answer_length()).slice();
  }

  /** Treat a trap (out of memory, stack overflow) as the end of the engine. */
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

  /** Read the files as one trace; false: failed, and the status tells why. */
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

  /** Tell whether a reader knows a file by its first bytes. */
  knows(head: Uint8Array, size: number): boolean {
    return this.call(() => this.calls.knows(this.put(head), size) !== 0);
  }

  isPage(head: Uint8Array): boolean {
    return this.call(() => this.calls.is_page(this.put(head)) !== 0);
  }

  /** Name the format of a file that no reader knows; empty: unknown. */
  foreign(head: Uint8Array): string {
    return this.call(() => {
      this.calls.foreign(this.put(head));
      return this.takeText();
    });
  }

  /** List the traces in an HTML page. */
  page(file: number, bytes: number): FoundPage | RefusedPage {
    return this.call(() => {
      this.calls.page(file, bytes);
      return JSON.parse(this.takeText()) as FoundPage | RefusedPage;
    });
  }

  /** Pass the text of one of these traces to `take`; false: it is damaged. */
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

  /** Return members of the answer to api/status, without braces; callable while `load` reads. */
  status(): string {
    return this.call(() => {
      this.calls.status();
      return this.takeText();
    });
  }

  /** Answer a question: the part of the address after "api/", with its parameters. */
  ask(question: string): ModuleAnswer {
    return this.call(() => {
      const status = this.calls.ask(this.put(question));
      return { status, bytes: this.take() };
    });
  }
}
