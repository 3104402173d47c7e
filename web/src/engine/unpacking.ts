// SPDX-License-Identifier: Apache-2.0
// Unpacking of one file in a worker. An engine that does nothing else recognizes the formats.

import type { Bytes } from '../unpack/bytes';
import { Refusal } from '../unpack/streams';
import { Unpacking, type Judge, type PageContents } from '../unpack/unpack';
import { BlobBytes, blobOf, blobStorage, UnpackedBytes } from './blobs';
import type { UnpackedFile } from './messages';
import { Module } from './module';

/** Number of bytes that suffice to recognize a format. */
const PREFIX_LENGTH = 4096;
/** The file number under which the module reads a page. */
const PAGE_FILE = 0;

class ModuleJudge implements Judge {
  constructor(
    private readonly module: Module,
    private readonly lay: (bytes: Bytes) => void,
  ) {}

  knows(head: Uint8Array, size: number): boolean {
    return this.module.knows(head, size);
  }

  isPage(head: Uint8Array): boolean {
    return this.module.isPage(head);
  }

  foreign(head: Uint8Array): string {
    return this.module.foreign(head);
  }

  page(page: Bytes): PageContents {
    this.lay(page);
    const found = this.module.page(PAGE_FILE, page.size);
    if ('message' in found) throw new Refusal(found.message, found.kind);
    const traces = found.traces.map(({ offset_ns, ...trace }) => ({
      ...trace,
      offset: BigInt(offset_ns),
    }));
    return { ...found, traces };
  }

  traceText(page: Bytes, trace: number, take: (bytes: Uint8Array) => boolean): boolean {
    this.lay(page);
    return this.module.traceText(trace, take);
  }
}

/** Longer results are left to the other unpacker, which enforces the limits. */
const LONGEST_GUNZIP = 2 ** 30;

/**
 * Unpack a gzip file with the browser, which is twice as fast. null: not gzip, too long, or not
 * exactly one complete stream (the browser then returns nothing).
 */
async function gunzipWithBrowser(file: Blob, told: (bytes: number) => void): Promise<Blob | null> {
  const head = new Uint8Array(await file.slice(0, 2).arrayBuffer());
  if (head[0] !== 0x1f || head[1] !== 0x8b) return null;
  let length = 0;
  const counted = new TransformStream<Uint8Array, Uint8Array>({
    transform(bytes, to) {
      length += bytes.length;
      if (length > LONGEST_GUNZIP) to.error(new Error('too long'));
      else to.enqueue(bytes);
    },
  });
  const stream = file.stream().pipeThrough(new DecompressionStream('gzip')).pipeThrough(counted);
  const whole = await new Response(stream).blob().catch(() => null);
  if (whole) told(file.size);
  return whole;
}

/** Return the traces in a file. `told` receives the number of bytes processed. */
export async function unpackFile(
  code: WebAssembly.Module,
  file: { name: string; data: Blob },
  told: (bytes: number) => void,
): Promise<UnpackedFile> {
  let page: Bytes | null = null;
  const module = await Module.start(code, {
    begin: () => undefined,
    read: (_number, offset, into) => {
      if (page) into.set(page.read(offset, into.length));
      return page !== null;
    },
  });
  const judge = new ModuleJudge(module, (bytes) => (page = bytes));
  const inside = await gunzipWithBrowser(file.data, told);
  // If no reader knows the content, the file is examined again in the other way, which names its
  // format. The same happens if the browser ran out of memory, so that the content cannot be read.
  const first = await inside
    ?.slice(0, PREFIX_LENGTH)
    .arrayBuffer()
    .catch(() => null);
  const head = new Uint8Array(first ?? []);
  const known = inside !== null && first && (judge.knows(head, inside.size) || judge.isPage(head));
  const bytes = known ? new UnpackedBytes(inside, told) : new BlobBytes(file.data, told);
  const unpacking = new Unpacking(judge, blobStorage, { name: file.name, bytes });
  const { parts, notes, cut } = unpacking.run();
  return {
    ...{ notes, cut },
    parts: parts.map(({ name, bytes, machine, offset }) => ({
      ...{ name, machine, offset },
      data: blobOf(bytes),
    })),
  };
}
