// SPDX-License-Identifier: Apache-2.0
// Which of the two pages an address means, and below which folder the server stands: a proxy may
// have given it one.

export interface Place {
  /** Ends with "/"; everything the server has is below it. */
  base: string;
  /** The trace whose page it is; null: the list. */
  trace: string | null;
}

const TRACE_PAGE = /^(.*\/)t\/([0-9a-f]{32})\/?$/;
const TRACE_PART = /(?:^|\/)t\/([0-9a-f]{32})\/?$/;

export function readPath(path: string): Place {
  const [, base, trace] = TRACE_PAGE.exec(path) ?? [];
  if (base !== undefined && trace !== undefined) return { base, trace };
  return { base: path.slice(0, path.lastIndexOf('/') + 1) || '/', trace: null };
}

/** The trace that an address of the server names, wherever the server thinks that it stands. */
export function traceOf(address: string | null): string | null {
  return TRACE_PART.exec(address ?? '')?.[1] ?? null;
}

/** The last part of an address: the name of an upload. */
export function lastPart(address: string | null): string | null {
  return /([\w-]+)\/?$/.exec(address ?? '')?.[1] ?? null;
}

/** The address of a trace's page, or of something below it. */
export function traceAddress(base: string, id: string, rest = ''): string {
  return `${base}t/${id}/${rest}`;
}

/** The command that uploads a file to this address. */
export function curlLine(origin: string, base: string, login: string | null): string {
  const words = ['curl -T app.trace'];
  if (login === 'token') words.push("-H 'Authorization: Bearer TOKEN'");
  if (login === 'basic') words.push('-u NAME');
  return [...words, origin + base].join(' ');
}
