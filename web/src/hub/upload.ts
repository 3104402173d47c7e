// SPDX-License-Identifier: Apache-2.0
// Uploads one file to the server in chunks, starting at the offset that the server already has.
// After an interruption the upload resumes, until the server names the trace that the file has
// become.
//
//    waiting --> sending --> done                    (the server named the trace)
//                  |   ^
//                  v   | after a delay
//               resting                              (a PASSING failure, up to TRIES times)
//                  |
//                  v
//               stopped                              (any other failure; the user may resume)
//    any phase --> cancelled                         (the server discards the file)
//
// The offset comes from the server before the first chunk and after each chunk, so the client never
// guesses which bytes have arrived. Memory (fingerprint.ts) stores the upload in the browser, and a
// reloaded page resumes it when the user chooses the same file.

import { formatBytes } from '../base/format';
import { signal } from '../base/signal';
import { fingerprint, type Known, type Memory } from './fingerprint';
import {
  HubError,
  isHubAbort,
  LOGIN_WANTED,
  messageOf,
  NO_ANSWER,
  NO_ROOM,
  TOO_LARGE,
} from './http';
import { Rate } from './rate';

/** The state of an upload on the server. */
export interface Standing {
  uid: string;
  offset: number;
  trace: string | null;
}

/** The transport of uploads; tus.ts implements it. */
export interface Wire {
  create(name: string, size: number, signal: AbortSignal): Promise<Standing>;
  /** Return the offset that the server has. */
  look(uid: string, signal: AbortSignal): Promise<Standing>;
  send(
    uid: string,
    offset: number,
    piece: ArrayBuffer,
    onProgress: (bytes: number) => void,
    signal: AbortSignal,
  ): Promise<Standing>;
  drop(uid: string): Promise<void>;
  /** Return true if the server has that trace. */
  known(trace: string): Promise<boolean>;
}

/** The environment of an upload, replaced in tests. */
export interface World {
  wire: Wire;
  memory: Memory;
  now: () => number;
  /** Wait; resolves early when the network is back. */
  wait: (ms: number, signal: AbortSignal) => Promise<void>;
}

export type Phase = 'waiting' | 'sending' | 'resting' | 'stopped' | 'done' | 'cancelled';

export const CHUNK = 8 * 1024 * 1024;
/** The number of attempts without progress before the upload stops. */
const TRIES = 8;
const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 15_000;
const LONGEST_ASKED_MS = 60_000;
/** The interval at which a running upload marks itself as active in the memory. */
const BEAT_MS = 5000;

/** Failures that may go away without user action. */
const PASSING = new Set([NO_ANSWER, 408, 409, 423, 429, 500, 502, 503, 504]);
/** Failures that a retry cannot fix. */
const FINAL = new Set([TOO_LARGE, 415, 422]);

/** One file being uploaded. */
export class Upload {
  readonly phase = signal<Phase>('waiting');
  readonly sent = signal(0);
  /** The reason for resting or stopping. */
  readonly message = signal('');
  /** The user may resume the upload. */
  readonly resumable = signal(true);
  readonly trace = signal<string | null>(null);
  readonly rate = new Rate();
  private key = '';
  private uid: string | null = null;
  private promised: string | null = null;
  private tries = 0;
  /** The offset that the server has confirmed. */
  private confirmed = 0;
  private beat = 0;
  private controller = new AbortController();

  constructor(
    readonly file: Known,
    private readonly world: World,
    /** The only file the user chose: the page of its trace opens at the end. */
    readonly alone = false,
  ) {}

  /** Return true if the upload runs or will run without user action. */
  active(): boolean {
    return ['waiting', 'sending', 'resting'].includes(this.phase.get());
  }

  /** Run the upload. Resolves when it is done, stopped or cancelled. */
  async run(): Promise<void> {
    this.controller = new AbortController();
    this.tries = 0;
    this.resumable.set(true);
    while (this.phase.peek() !== 'cancelled') {
      this.phase.set('sending');
      this.message.set('');
      try {
        await this.attempt();
        return;
      } catch (error) {
        if (isHubAbort(error)) return;
        if (!(await this.rested(error))) return;
      }
    }
  }

  /** Wait if a retry may help, and return true. Otherwise stop the upload. */
  private async rested(error: unknown): Promise<boolean> {
    const status = error instanceof HubError ? error.status : null;
    const asked = error instanceof HubError ? error.retryAfter : null;
    this.rate.reset();
    this.sent.set(this.confirmed);
    if (status === null || !PASSING.has(status) || ++this.tries > TRIES) {
      this.stop(error, status);
      return false;
    }
    const own = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (this.tries - 1));
    const ms = asked === null ? own : Math.min(LONGEST_ASKED_MS, asked * 1000);
    this.message.set(`${messageOf(error)} Trying again.`);
    this.phase.set('resting');
    try {
      await this.world.wait(ms, this.controller.signal);
    } catch {
      return false; // The upload was cancelled meanwhile.
    }
    return true;
  }

  private stop(error: unknown, status: number | null): void {
    if (this.phase.peek() === 'cancelled') return;
    this.resumable.set(status === null || !FINAL.has(status));
    this.message.set(stopWords(messageOf(error), status, this.sent.peek()));
    this.phase.set('stopped');
    this.leave();
  }

  private async attempt(): Promise<void> {
    const { signal } = this.controller;
    this.key ||= await readFileOrExplain(fingerprint(this.file));
    let standing = await this.standing(signal);
    this.arrived(standing);
    while (standing.offset < this.file.size) {
      const from = standing.offset;
      const piece = await readFileOrExplain(this.file.slice(from, from + CHUNK).arrayBuffer());
      const onProgress = (bytes: number): void => this.progress(from + bytes);
      standing = await this.world.wire.send(standing.uid, from, piece, onProgress, signal);
      if (standing.offset <= from) throw new HubError('The server takes nothing.', 503);
      this.tries = 0;
      this.arrived(standing);
    }
    if (this.promised === null) throw new HubError('The server names no trace.', 502);
    this.world.memory.forget(this.key);
    this.trace.set(this.promised);
    this.phase.set('done');
  }

  /** Return the state on the server. Create the upload if the server does not know it. */
  private async standing(signal: AbortSignal): Promise<Standing> {
    const { wire, memory } = this.world;
    const old = memory.find(this.key);
    const uid = this.uid ?? old?.uid ?? null;
    this.promised ??= old?.trace ?? null;
    if (uid !== null) {
      try {
        return await wire.look(uid, signal);
      } catch (error) {
        if (!(error instanceof HubError) || !error.absent) throw error;
      }
      // The answer to the last chunk may have been lost. Then the trace already exists.
      const trace = this.promised;
      if (trace !== null && (await wire.known(trace)))
        return { uid, offset: this.file.size, trace };
      this.promised = null;
    }
    return await wire.create(this.file.name, this.file.size, signal);
  }

  private arrived({ uid, offset, trace }: Standing): void {
    this.uid = uid;
    this.promised = trace ?? this.promised;
    this.beat = 0;
    this.confirmed = offset;
    this.progress(offset);
  }

  private progress(sent: number): void {
    const now = this.world.now();
    this.sent.set(sent);
    this.rate.add(now, sent);
    if (this.uid === null || now - this.beat < BEAT_MS) return;
    this.beat = now;
    this.remember(now);
  }

  private remember(at: number): void {
    if (this.uid === null || !this.key) return;
    const { name, size } = this.file;
    this.world.memory.keep(this.key, { uid: this.uid, name, size, trace: this.promised, at });
  }

  /**
   * Release the upload when the page closes or the upload stops, so that another page can resume
   * it.
   */
  leave(): void {
    if (['sending', 'resting', 'stopped'].includes(this.phase.peek())) this.remember(0);
  }

  /** Cancel the upload and discard the part on the server. */
  async cancel(): Promise<void> {
    this.phase.set('cancelled');
    this.controller.abort();
    if (this.key) this.world.memory.forget(this.key);
    if (this.uid === null) return;
    try {
      await this.world.wire.drop(this.uid);
    } catch {
      // The server expires abandoned uploads by itself.
    }
  }
}

async function readFileOrExplain<T>(reading: Promise<T>): Promise<T> {
  try {
    return await reading;
  } catch {
    throw new Error(
      'The file cannot be read any more: it has changed or is gone. Choose it again.',
    );
  }
}

function stopWords(message: string, status: number | null, sent: number): string {
  const kept = sent > 0 ? ` ${formatBytes(sent)} are there and stay.` : '';
  if (status === NO_ROOM) return `${message}${kept} Continue when there is room.`;
  if (status === LOGIN_WANTED) return `The server requires you to log in.${kept}`;
  return status === null || FINAL.has(status) ? message : `${message}${kept}`;
}

/** Return why a file cannot be uploaded at all, or null. */
export function whyNotUploadable(
  file: Pick<File, 'name' | 'size'>,
  most: number | null,
): string | null {
  if (file.size === 0) return 'The file is empty.';
  if (most !== null && file.size > most)
    return `The file is larger than this server accepts, ${formatBytes(most)}.`;
  return null;
}
