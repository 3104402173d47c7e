// SPDX-License-Identifier: Apache-2.0
// Opening files behind HTTP: each goes over in pieces, so that Cancel and errors come through, and
// nobody holds a file whole.

import { named, visibleTexts } from '../base/visible';
import { EngineError, isAbort } from '../model/engine';
import type { Chosen, OpeningEngine, Status } from '../model/opening';
import { json } from './http';
import type { Query } from './query';

const PIECE = 8 * 1024 * 1024;
const LONGEST_NAME = 200;

/** As it comes: numbers of 19 digits are texts. */
export interface StatusAnswer extends Omit<Status, 'inputs' | 'start'> {
  inputs: { input: number; name: string; offset_ns: string }[];
  start: { input: number; offset_ns: string }[];
}

export function readStatus(answer: StatusAnswer): Status {
  return visibleTexts({
    ...answer,
    inputs: answer.inputs.map(({ input, name, offset_ns }) => ({
      ...{ input, name: named(name) },
      offset: BigInt(offset_ns),
    })),
    start: answer.start.map(({ input, offset_ns }) => ({ input, offset: BigInt(offset_ns) })),
  });
}

function post<T>(question: string, query: Query): Promise<T> {
  return json(`api/${question}`, { query, method: 'POST', changing: true });
}

async function read(file: File, from: number): Promise<ArrayBuffer> {
  try {
    return await file.slice(from, from + PIECE).arrayBuffer();
  } catch (error) {
    if (isAbort(error)) throw error;
    const why = 'the browser cannot read it: it may have changed, be a folder, or not be allowed';
    throw new EngineError(why, false, null, 'io');
  }
}

export class HttpOpening implements OpeningEngine {
  async take(file: File, told: (bytes: number) => void, signal: AbortSignal): Promise<number> {
    // What no name has elsewhere would be refused.
    const name = [...file.name].slice(0, LONGEST_NAME).join('');
    const query = { name: visibleTexts(name) || '(no name)', bytes: file.size };
    // A folder has a size as well, but nothing to read.
    const first = await read(file, 0);
    const { input } = await post<{ input: number }>('upload', query);
    try {
      for (let held = 0; held < file.size; told(held)) {
        const body = held === 0 ? first : await read(file, held);
        signal.throwIfAborted();
        held = await this.put(input, held, body, signal);
      }
    } catch (error) {
      await this.drop(input).catch(() => undefined);
      throw error;
    }
    return input;
  }

  private async put(
    input: number,
    offset: number,
    body: ArrayBuffer,
    signal: AbortSignal,
  ): Promise<number> {
    const asked = {
      query: { input, offset },
      method: 'PUT',
      changing: true,
      body,
      signal,
    } as const;
    const { held } = await json<{ held: number }>('api/upload', asked);
    if (held <= offset) throw new EngineError('the file got shorter while it was read', false);
    return held;
  }

  async drop(input: number): Promise<void> {
    await post('drop', { input });
  }

  async open(files: readonly Chosen[]): Promise<void> {
    const inputs = files.map((file) => file.input).join(',');
    await post('open', { inputs, offsets: files.map((file) => file.offset).join(',') });
  }

  async cancel(): Promise<void> {
    await post('cancel', {});
  }
}
