// SPDX-License-Identifier: Apache-2.0
// What traces are in a file, as an engine that reads nothing else judges it.

import type { Bytes } from '../unpack/bytes';
import { Refusal } from '../unpack/streams';
import { Unpacking, type Judge, type Page } from '../unpack/unpack';
import { BlobBytes, blobOf, blobRoom, UnpackedBytes } from './blobs';
import type { UnpackedFile } from './messages';
import { Module } from './module';

/** As much as tells what a file is. */
const HEAD = 4096;
/** The file that the module is asked about: a page. */
const PAGE = 0;

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

  page(page: Bytes): Page {
    this.lay(page);
    const found = this.module.page(PAGE, page.size);
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

/** Longer ones are left to what looks at ceilings. */
const LONGEST = 2 ** 30;

/**
 * What a file of gzip has inside, by the browser, which is twice as fast; null: it is no
 * such file, too long, or not one whole stream, of which the browser gives nothing.
 */
async function gunzipped(file: Blob, told: (bytes: number) => void): Promise<Blob | null> {
  const head = new Uint8Array(await file.slice(0, 2).arrayBuffer());
  if (head[0] !== 0x1f || head[1] !== 0x8b) return null;
  let length = 0;
  const counted = new TransformStream<Uint8Array, Uint8Array>({
    transform(bytes, to) {
      length += bytes.length;
      if (length > LONGEST) to.error(new Error('too long'));
      else to.enqueue(bytes);
    },
  });
  const stream = file.stream().pipeThrough(new DecompressionStream('gzip')).pipeThrough(counted);
  const whole = await new Response(stream).blob().catch(() => null);
  if (whole) told(file.size);
  return whole;
}

/** `told` hears how many bytes of the file were gone over. */
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
  const inside = await gunzipped(file.data, told);
  // One of nothing known is said to be packed: it is looked at again.
  // Where the browser had no room for it nothing can be read, and the other way says so.
  const first = await inside
    ?.slice(0, HEAD)
    .arrayBuffer()
    .catch(() => null);
  const head = new Uint8Array(first ?? []);
  const known = inside !== null && first && (judge.knows(head, inside.size) || judge.isPage(head));
  const bytes = known ? new UnpackedBytes(inside, told) : new BlobBytes(file.data, told);
  const unpacking = new Unpacking(judge, blobRoom, { name: file.name, bytes });
  const { parts, notes, cut } = unpacking.run();
  return {
    ...{ notes, cut },
    parts: parts.map(({ name, bytes, machine, offset }) => ({
      ...{ name, machine, offset },
      data: blobOf(bytes),
    })),
  };
}
