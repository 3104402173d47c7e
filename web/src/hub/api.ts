// SPDX-License-Identifier: Apache-2.0
// The requests of the upload server and the types of its answers.

import { sendHubRequest, type HubRequest } from './http';
import type { Severity } from '../model/severity';

/** The description and limits of the server. */
export interface Hub {
  version: string;
  name: string;
  may: { upload: boolean; list: boolean; change: boolean };
  /** The kind of login; null if none is needed. */
  login: 'token' | 'basic' | null;
  sample: string | null;
  /** True if traces can be downloaded as reports. */
  reports: boolean;
  /** True if there is a fleet that the user may ask. */
  fleet?: boolean;
  limits: { upload_bytes: number | null; keep_seconds: number | null; store_bytes: number | null };
  /** Null if the user may not list traces. */
  store: { traces: number; bytes: number } | null;
}

export type TraceState = 'waiting' | 'reading' | 'ready' | 'failed';

export interface ReadError {
  message: string;
  offset: number | null;
  remedy: string | null;
}

/** A trace in the list. */
export interface TraceLine {
  id: string;
  name: string;
  bytes: number;
  uploaded: string;
  state: TraceState;
  error: ReadError | null;
  progress: number | null;
  format: string | null;
  version: string | null;
  length_ns: number | null;
  events: number | null;
  calls: number | null;
  processes: string[];
  recorded: string | null;
  labels: string[];
  note: string;
  pinned: boolean;
  expires: string | null;
  warnings?: number;
  finding_count?: number;
}

export interface Thread {
  index: number;
  name: string;
  id: number | null;
  /** The index of the process in the trace. */
  process: number | null;
  calls: number;
  /** Number of samples, in a trace that has nothing else; absent in traces read by an older server. */
  samples?: number;
}

export interface HealthLine {
  kind: string;
  text: string;
  severity: Severity;
  count: number;
}

export interface FindingLine {
  title: string;
  severity: Severity;
  text: string;
}

/** A trace on its own page. */
export interface Trace extends TraceLine {
  threads: Thread[];
  health: HealthLine[];
  findings: FindingLine[];
}

export interface TraceList {
  traces: TraceLine[];
  total: number;
  after: string | null;
}

export type Change = Partial<Pick<Trace, 'name' | 'note' | 'labels' | 'pinned'>>;

/** The client of the upload server. */
export class Api {
  constructor(private readonly base: string) {}

  private async json<T>(path: string, asked: HubRequest = {}): Promise<T> {
    return (await (await sendHubRequest(this.base + path, asked)).json()) as T;
  }

  private write(method: 'PATCH', body: object): HubRequest {
    return {
      method,
      body: JSON.stringify(body),
      headers: { 'Content-Type': 'application/json' },
    };
  }

  hub(): Promise<Hub> {
    return this.json('api/hub');
  }

  list(query: string, signal?: AbortSignal): Promise<TraceList> {
    return this.json(`api/traces?${query}`, { signal });
  }

  trace(id: string, signal?: AbortSignal): Promise<Trace> {
    return this.json(`api/traces/${id}`, { signal });
  }

  change(id: string, change: Change): Promise<Trace> {
    return this.json(`api/traces/${id}`, this.write('PATCH', change));
  }

  async remove(id: string): Promise<void> {
    await sendHubRequest(`${this.base}api/traces/${id}`, { method: 'DELETE' });
  }

  /** Let the server read the trace again, as if it had just been uploaded. */
  readAgain(id: string): Promise<Trace> {
    return this.json(`api/traces/${id}/read`, { method: 'POST' });
  }

  async login(token: string): Promise<void> {
    const headers = { 'Content-Type': 'text/plain' };
    await sendHubRequest(`${this.base}login`, { method: 'POST', headers, body: token });
  }

  async logout(): Promise<void> {
    await sendHubRequest(`${this.base}logout`, { method: 'POST' });
  }
}
