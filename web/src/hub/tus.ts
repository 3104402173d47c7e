// SPDX-License-Identifier: Apache-2.0
// Uploads over HTTP with the tus 1.0 protocol (core, creation, termination).

import { sendHubRequest, HubError, noAnswer, hubErrorOf } from './http';
import { lastPathPart, traceOfAddress } from './route';
import type { Standing, Wire } from './upload';

const VERSION = { 'Tus-Resumable': '1.0.0', 'X-Traceview': '1' };
/** A connection without traffic for this long is dead. */
const SILENT_MS = 60_000;
/** The server may have to write gigabytes to disk before it answers. */
const WRITING_MS = 600_000;

export function base64OfText(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}

function parseUploadOffset(text: string | null): number {
  if (!/^\d{1,15}$/.test(text ?? '')) throw new HubError('The server names no offset.', 502);
  return Number(text);
}

/** The tus client. */
export class Tus implements Wire {
  private readonly uploads: string;

  constructor(private readonly base: string) {
    this.uploads = `${base}api/uploads`;
  }

  async create(name: string, size: number, signal: AbortSignal): Promise<Standing> {
    const { headers } = await sendHubRequest(this.uploads, {
      method: 'POST',
      signal,
      headers: {
        ...VERSION,
        'Upload-Length': String(size),
        'Upload-Metadata': `filename ${base64OfText(name)}`,
      },
    });
    const uid = lastPathPart(headers.get('Location'));
    if (uid === null) throw new HubError('The server names no upload.', 502);
    return { uid, offset: 0, trace: traceOfAddress(headers.get('Traceview-Location')) };
  }

  async look(uid: string, signal: AbortSignal): Promise<Standing> {
    const asked = { method: 'HEAD' as const, headers: VERSION, signal };
    const { headers } = await sendHubRequest(`${this.uploads}/${uid}`, asked);
    const offset = parseUploadOffset(headers.get('Upload-Offset'));
    return { uid, offset, trace: traceOfAddress(headers.get('Traceview-Location')) };
  }

  /** Send a chunk with XMLHttpRequest, because fetch does not report upload progress. */
  send(
    uid: string,
    offset: number,
    piece: ArrayBuffer,
    onProgress: (bytes: number) => void,
    signal: AbortSignal,
  ): Promise<Standing> {
    return new Promise((done, failed) => {
      const request = new XMLHttpRequest();
      let timer: ReturnType<typeof setTimeout> | undefined;
      const watch = (ms: number): void => {
        clearTimeout(timer);
        timer = setTimeout(() => request.abort(), ms);
      };
      const aborted = (): void => request.abort();
      signal.addEventListener('abort', aborted);
      request.upload.addEventListener('progress', ({ loaded }) => {
        watch(SILENT_MS);
        onProgress(Math.min(loaded, piece.byteLength));
      });
      request.upload.addEventListener('load', () => watch(WRITING_MS));
      request.addEventListener('loadend', () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', aborted);
        if (signal.aborted) failed(new DOMException('it was cancelled', 'AbortError'));
        else {
          try {
            done(uploadStanding(uid, request));
          } catch (error) {
            failed(error instanceof HubError ? error : noAnswer());
          }
        }
      });
      request.open('PATCH', `${this.uploads}/${uid}`);
      const headers = {
        ...VERSION,
        'Upload-Offset': String(offset),
        'Content-Type': 'application/offset+octet-stream',
      };
      for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
      watch(SILENT_MS);
      request.send(piece);
    });
  }

  async drop(uid: string): Promise<void> {
    await sendHubRequest(`${this.uploads}/${uid}`, { method: 'DELETE', headers: VERSION });
  }

  async known(trace: string): Promise<boolean> {
    try {
      await sendHubRequest(`${this.base}api/traces/${trace}`);
      return true;
    } catch (error) {
      if (error instanceof HubError && error.absent) return false;
      throw error;
    }
  }
}

function uploadStanding(uid: string, request: XMLHttpRequest): Standing {
  const { status } = request;
  if (status === 0) throw noAnswer();
  if (status < 200 || status > 299) {
    throw hubErrorOf(status, request.responseText, request.getResponseHeader('Retry-After'));
  }
  return {
    uid,
    offset: parseUploadOffset(request.getResponseHeader('Upload-Offset')),
    trace: traceOfAddress(request.getResponseHeader('Traceview-Location')),
  };
}
