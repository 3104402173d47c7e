// SPDX-License-Identifier: Apache-2.0
// The choice on the page of the fleet, which is in the address, and questions to the server.

import { HubError, sendHubRequest } from '../hub/http';
import { labelOf } from './model';

/** The address of the server, up to the page. */
export const base = location.pathname.replace(/fleet\/?$/, '');

export type Choice =
  'figure' | 'base' | 'new' | (typeof LABELS)[number] | 'method' | 'version' | 'flame';

/** The choices that select traces. */
const LABELS = ['device', 'scenario', 'program', 'host', 'unit'] as const;

export class Place {
  private readonly words = new URLSearchParams(location.hash.slice(1));

  get(name: Choice): string {
    return this.words.get(name) ?? (name === 'figure' ? 'excl' : '');
  }

  set(name: Choice, value: string): void {
    if (value === '') this.words.delete(name);
    else this.words.set(name, value);
    history.replaceState(null, '', `#${this.words.toString()}`);
  }

  /** The parameter `where` of all questions. */
  where(...more: string[]): string {
    const labels = LABELS.filter((name) => this.get(name) !== '');
    return [...labels.map((name) => labelOf(name, this.get(name))), ...more].join(' ');
  }

  /** The parameters of a comparison; null: there are no two versions. */
  sides(): { base: string; new: string } | null {
    const [old, fresh] = [this.get('base'), this.get('new')];
    if (old === '' || fresh === '' || old === fresh) return null;
    return { base: labelOf('version', old), new: labelOf('version', fresh) };
  }
}

/** The reason why a question was not asked: its answer is not wanted any more. */
export class Superseded extends Error {}

/** Maximum number of tries of a question while the server answers those of others. */
const MOST_TRIES = 20;

async function request(question: string, query: string): Promise<Response> {
  for (let tries = 1; ; tries++) {
    try {
      return await sendHubRequest(`${base}api/fleet/${question}?${query}`, {});
    } catch (error) {
      const wait = error instanceof HubError && error.status === 503 ? error.retryAfter : null;
      if (wait === null || tries === MOST_TRIES) throw error;
      await new Promise((done) => setTimeout(done, 1000 * wait));
    }
  }
}

/** Questions about one method, which must not wait for those about all. */
const QUICK = new Set(['versions', 'labels', 'trend', 'traces']);

/** The last question of each kind. */
const last: Record<'quick' | 'slow', Promise<unknown>> = {
  quick: Promise.resolve(),
  slow: Promise.resolve(),
};

/**
 * Ask the fleet a question; empty parameters are left out. The server answers two questions at a
 * time, of all pages together, so a page asks one quick and one slow one, and only what is still
 * `wanted`.
 */
export async function ask<T>(
  question: string,
  parameters: Record<string, string>,
  wanted: () => boolean,
): Promise<T> {
  const words = Object.entries(parameters).filter(([, value]) => value !== '');
  const query = new URLSearchParams(words).toString();
  const kind = QUICK.has(question) ? 'quick' : 'slow';
  const answer = last[kind].then(async () => {
    if (!wanted()) throw new Superseded();
    return (await (await request(question, query)).json()) as T;
  });
  last[kind] = answer.catch(() => undefined);
  const found = await answer;
  if (!wanted()) throw new Superseded();
  return found;
}
