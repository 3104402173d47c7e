// SPDX-License-Identifier: Apache-2.0
// Sends one request and reads its answer. Every failure becomes an EngineError.

import { visibleLines } from '../base/visible';
import { EngineError, isAbort } from '../model/engine';
import type { Query } from './query';

export type Send = (address: string, init: RequestInit) => Promise<Response>;

export interface Ask {
  /** The transport; HTTP by default. */
  send?: Send;
  query?: Query;
  signal?: AbortSignal | undefined;
  method?: 'GET' | 'POST' | 'PUT';
  /**
   * True for a request that changes state. It carries a header that proves it comes from this page.
   */
  changing?: boolean;
  body?: Blob | string;
  /** Called if the trace of the request was closed. */
  changed?: () => void;
}

const GONE = 410;
const TOO_LARGE = 413;
const NO_ROOM = 507;

function engineAddress(path: string, query: Query): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) search.set(name, String(value));
  }
  const text = search.toString().replaceAll('%2C', ',');
  return text ? `${path}?${text}` : path;
}

async function engineErrorOf(response: Response): Promise<EngineError> {
  const { status } = response;
  const kind = status === NO_ROOM ? 'room' : status === TOO_LARGE ? 'limit' : 'other';
  let message = `${status} ${response.statusText}`;
  try {
    const body = (await response.json()) as Record<string, unknown>;
    const { error, column, picture } = body;
    if (typeof error === 'string') message = error;
    if (typeof column === 'number') return new EngineError(message, false, column);
    if (typeof picture === 'string')
      return new EngineError(message, false, null, kind, visibleLines(picture));
  } catch {
    // The answer has no message of the engine, so use the HTTP status.
  }
  return new EngineError(message, false, null, kind);
}

export const overHttp: Send = (address, init) => fetch(address, init);

/**
 * Send a request to the engine. An answer that the trace was closed ends it like a cancelled one,
 * after `changed` was told.
 */
export async function sendEngineRequest(path: string, asked: Ask): Promise<Response> {
  const { query = {}, signal, method = 'GET', changing, body, changed, send = overHttp } = asked;
  let response: Response;
  try {
    response = await send(engineAddress(path, query), {
      method,
      ...(changing ? { headers: { 'X-Traceview': '1' } } : {}),
      ...(body ? { body } : {}),
      ...(signal ? { signal } : {}),
    });
  } catch (error) {
    if (isAbort(error)) throw error;
    throw new EngineError('the program does not answer', true);
  }
  if (response.status === GONE && changed) {
    changed();
    throw new DOMException('the trace was closed', 'AbortError');
  }
  if (!response.ok) throw await engineErrorOf(response);
  return response;
}

export async function requestEngineJson<T>(path: string, asked: Ask): Promise<T> {
  return (await (await sendEngineRequest(path, asked)).json()) as T;
}

export async function requestEngineBytes(path: string, asked: Ask): Promise<ArrayBuffer> {
  return await (await sendEngineRequest(path, asked)).arrayBuffer();
}
