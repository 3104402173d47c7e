// SPDX-License-Identifier: Apache-2.0
// Opens files over HTTP. Each file is sent in chunks, so that Cancel and errors take effect in
// between, and no file is held in memory as a whole.

import { nameOrPlaceholder, visibleTexts } from '../base/visible';
import { EngineError } from '../model/engine';
import type { ChosenFile, OpeningEngine, LoadingStatus } from '../model/opening';
import { requestEngineJson } from './http';
import type { Query } from './query';

/**
 * The chunk size doubles while chunks take less than SOON ms, because each request has a fixed
 * cost. Cancel and errors take effect between chunks, so no chunk should take long.
 */
const FIRST_CHUNK = 4 * 1024 * 1024;
const LARGEST_CHUNK = 64 * 1024 * 1024;
const SOON = 250;
const LONGEST_NAME = 200;

/** The status as JSON: numbers of up to 19 digits are strings. */
export interface StatusAnswer extends Omit<LoadingStatus, 'inputs' | 'start'> {
  inputs: { input: number; name: string; offset_ns: string }[];
  start: { input: number; offset_ns: string }[];
}

/** Convert the JSON status. */
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

function postOpening<T>(question: string, query: Query): Promise<T> {
  return requestEngineJson(`api/${question}`, { query, method: 'POST', changing: true });
}

/**
 * Read one byte of a file. Without this check an unreadable file looks like a server that is down.
 */
async function checkReadable(file: File, at: number): Promise<void> {
  try {
    await file.slice(at, at + 1).arrayBuffer();
  } catch {
    const why = 'the browser cannot read it: it may have changed, be a folder, or not be allowed';
    throw new EngineError(why, false, null, 'io');
  }
}

/** The client that uploads and opens files. */
export class HttpOpening implements OpeningEngine {
  async take(
    file: File,
    onProgress: (bytes: number) => void,
    signal: AbortSignal,
  ): Promise<number> {
    // Shorten the name: the server rejects names that would be too long elsewhere.
    const name = [...file.name].slice(0, LONGEST_NAME).join('');
    const query = { name: visibleTexts(name) || '(no name)', bytes: file.size };
    await checkReadable(file, 0);
    const { input } = await postOpening<{ input: number }>('upload', query);
    let size = FIRST_CHUNK;
    try {
      for (let held = 0; held < file.size; onProgress(held)) {
        signal.throwIfAborted();
        const start = performance.now();
        held = await this.put(input, held, file, size, signal);
        if (performance.now() - start < SOON) size = Math.min(LARGEST_CHUNK, 2 * size);
      }
    } catch (error) {
      await this.drop(input).catch(() => undefined);
      throw error;
    }
    return input;
  }

  /**
   * Send one chunk. The browser reads the file while sending, which is ten times as fast as sending
   * bytes from the memory of the page.
   */
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
      const { held } = await requestEngineJson<{ held: number }>('api/upload', asked);
      if (held > offset) return held;
    } catch (error) {
      await checkReadable(file, offset);
      throw error;
    }
    throw new EngineError('the file got shorter while it was read', false, null, 'io');
  }

  async drop(input: number): Promise<void> {
    await postOpening('drop', { input });
  }

  async open(files: readonly ChosenFile[]): Promise<number> {
    const inputs = files.map((file) => file.input).join(',');
    const offsets = files.map((file) => file.offset).join(',');
    const { trace } = await postOpening<{ trace: number }>('open', { inputs, offsets });
    return trace;
  }

  async cancel(trace: number): Promise<void> {
    await postOpening('cancel', { trace });
  }
}
