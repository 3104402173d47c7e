// SPDX-License-Identifier: Apache-2.0
// Sends one request to the server. Every failure becomes a HubError whose message is a sentence for
// the user.

/** The status of a request without an answer. */
export const NO_ANSWER = 0;
export const LOGIN_WANTED = 401;
export const FORBIDDEN = 403;
export const NOT_THERE = 404;
export const GONE = 410;
export const TOO_LARGE = 413;
export const NO_ROOM = 507;

/** A failed request. */
export class HubError extends Error {
  constructor(
    message: string,
    readonly status: number,
    /** The delay in seconds that the server asks for. */
    readonly retryAfter: number | null = null,
  ) {
    super(message);
  }

  /** True if the requested thing does not exist, or not any more. */
  get absent(): boolean {
    return this.status === NOT_THERE || this.status === GONE;
  }
}

export function isHubAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export const noAnswer = (): HubError =>
  new HubError('The server does not answer.', NO_ANSWER, null);

/**
 * Create the error of a rejected request: the message of the server, or the meaning of its status.
 */
export function hubErrorOf(status: number, body: string, retryAfter: string | null): HubError {
  const seconds = /^\d{1,5}$/.test(retryAfter ?? '') ? Number(retryAfter) : null;
  let message = `The server answers with ${status}.`;
  try {
    const said = (JSON.parse(body) as { error?: unknown } | null)?.error;
    if (typeof said === 'string' && said) message = asHubSentence(said);
  } catch {
    // A proxy may have answered, so use only the status.
  }
  return new HubError(message, status, seconds);
}

function asHubSentence(text: string): string {
  const capital = text.slice(0, 1).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(capital) ? capital : `${capital}.`;
}

export interface HubRequest {
  method?: 'GET' | 'POST' | 'PATCH' | 'DELETE' | 'HEAD';
  headers?: Record<string, string>;
  body?: string;
  signal?: AbortSignal | undefined;
}

export async function sendHubRequest(address: string, asked: HubRequest = {}): Promise<Response> {
  const { method = 'GET', headers = {}, body, signal } = asked;
  let response: Response;
  try {
    response = await fetch(address, {
      method,
      cache: 'no-store',
      // The header of a changing request proves that it comes from this page.
      headers: method === 'GET' ? headers : { 'X-Traceview': '1', ...headers },
      ...(body === undefined ? {} : { body }),
      ...(signal ? { signal } : {}),
    });
  } catch (error) {
    if (isHubAbort(error)) throw error;
    throw noAnswer();
  }
  if (response.ok) return response;
  throw hubErrorOf(response.status, await response.text(), response.headers.get('Retry-After'));
}
