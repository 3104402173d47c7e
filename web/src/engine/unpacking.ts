// SPDX-License-Identifier: Apache-2.0
// What traces are in a file, as an engine that reads nothing else judges it.

import type { Bytes } from '../unpack/bytes';
import { Refusal } from '../unpack/streams';
import { Unpacking, type Block, type Judge } from '../unpack/unpack';
import { BlobBytes, blobOf, blobRoom } from './blobs';
import type { UnpackedPart } from './messages';
import { Module } from './module';

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

  blocks(page: Bytes): Block[] {
    this.lay(page);
    const found = this.module.page(PAGE, page.size);
    if (typeof found === 'string') throw new Refusal(found, 'limit');
    return found;
  }

  blockText(page: Bytes, block: number, take: (bytes: Uint8Array) => boolean): boolean {
    this.lay(page);
    return this.module.blockText(block, take);
  }
}

/** `told` hears how many bytes of the file were gone over. */
export async function unpackFile(
  code: WebAssembly.Module,
  file: { name: string; data: Blob },
  told: (bytes: number) => void,
): Promise<{ parts: UnpackedPart[]; notes: string[] }> {
  let page: Bytes | null = null;
  const module = await Module.start(code, {
    begin: () => undefined,
    read: (_number, offset, into) => {
      if (page) into.set(page.read(offset, into.length));
      return page !== null;
    },
  });
  const judge = new ModuleJudge(module, (bytes) => (page = bytes));
  const bytes = new BlobBytes(file.data, told);
  const { parts, notes } = new Unpacking(judge, blobRoom, { name: file.name, bytes }).run();
  return {
    notes,
    parts: parts.map(({ name, bytes, machine }) => ({ name, machine, data: blobOf(bytes) })),
  };
}
