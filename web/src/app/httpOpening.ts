// SPDX-License-Identifier: Apache-2.0
// Opening files behind HTTP: each goes over in pieces, so that Cancel and errors come through, and
// nobody holds a file whole.

import { nameOrPlaceholder, visibleTexts } from '../base/visible';
import { EngineError } from '../model/engine';
import type { ChosenFile, OpeningEngine, LoadingStatus } from '../model/opening';
import { json } from './http';
import type { Query } from './query';

/** Pieces grow while they go over soon: each has a cost of its own, and none shall take long. */
const FIRST_PIECE = 4 * 1024 * 1024;
const LARGEST_PIECE = 64 * 1024 * 1024;
const SOON = 250;
const LONGEST_NAME = 200;

/** As it comes: numbers of 19 digits are texts. */
export interface StatusAnswer extends Omit<LoadingStatus, 'inputs' | 'start'> {
  inputs: { input: number; name: string; offset_ns: string }[];
  start: { input: number; offset_ns: string }[];
}

export function readStatus(answer: StatusAnswer): LoadingStatus {
  return visibleTexts({
    ...answer,
    inputs: answer.inputs.map(({ input, name, offset_ns }) => ({
      ...{ input, name: nameOrPlaceholder(name) },
      offset: BigInt(offset_ns),
    })),
    start: answer.start.map(({ input, offset_ns }) => ({ input, offset: BigInt(offset_ns) })),
  });
}

function post<T>(question: string, query: Query): Promise<T> {
  return json(`api/${question}`, { query, method: 'POST', changing: true });
}

/** A file that the browser cannot read would look as if nobody answered. */
async function checkReadable(file: File, at: number): Promise<void> {
  try {
    await file.slice(at, at + 1).arrayBuffer();
  } catch {
    const why = 'the browser cannot read it: it may have changed, be a folder, or not be allowed';
    throw new EngineError(why, false, null, 'io');
  }
}

export class HttpOpening implements OpeningEngine {
  async take(file: File, told: (bytes: number) => void, signal: AbortSignal): Promise<number> {
    // What no name has elsewhere would be refused.
    const name = [...file.name].slice(0, LONGEST_NAME).join('');
    const query = { name: visibleTexts(name) || '(no name)', bytes: file.size };
    await checkReadable(file, 0);
    const { input } = await post<{ input: number }>('upload', query);
    let size = FIRST_PIECE;
    try {
      for (let held = 0; held < file.size; told(held)) {
        signal.throwIfAborted();
        const start = performance.now();
        held = await this.put(input, held, file, size, signal);
        if (performance.now() - start < SOON) size = Math.min(LARGEST_PIECE, 2 * size);
      }
    } catch (error) {
      await this.drop(input).catch(() => undefined);
      throw error;
    }
    return input;
  }

  /** The piece itself is read on its way: as bytes of the page it would take ten times as long. */
  private async put(
    input: number,
    offset: number,
    file: File,
    size: number,
    signal: AbortSignal,
  ): Promise<number> {
    const body = file.slice(offset, offset + size);
    const asked = {
      query: { input, offset },
      method: 'PUT',
      changing: true,
      body,
      signal,
    } as const;
    try {
      const { held } = await json<{ held: number }>('api/upload', asked);
      if (held > offset) return held;
    } catch (error) {
      await checkReadable(file, offset);
      throw error;
    }
    throw new EngineError('the file got shorter while it was read', false, null, 'io');
  }

  async drop(input: number): Promise<void> {
    await post('drop', { input });
  }

  async open(files: readonly ChosenFile[]): Promise<void> {
    const inputs = files.map((file) => file.input).join(',');
    await post('open', { inputs, offsets: files.map((file) => file.offset).join(',') });
  }

  async cancel(): Promise<void> {
    await post('cancel', {});
  }
}
