// SPDX-License-Identifier: Apache-2.0
// Parses addresses: which of the two pages an address means, and the base path of the server, which
// a proxy may have set.

export interface PagePath {
  /** Ends with "/". Everything of the server is below it. */
  base: string;
  /** The trace of a trace page; null on the list. */
  trace: string | null;
}

const TRACE_PAGE = /^(.*\/)t\/([0-9a-f]{32})\/?$/;
const TRACE_PART = /(?:^|\/)t\/([0-9a-f]{32})\/?$/;

export function readPath(path: string): PagePath {
  const [, base, trace] = TRACE_PAGE.exec(path) ?? [];
  if (base !== undefined && trace !== undefined) return { base, trace };
  return { base: path.slice(0, path.lastIndexOf('/') + 1) || '/', trace: null };
}

/** Return the trace that an address of the server names, whatever its base path. */
export function traceOfAddress(address: string | null): string | null {
  return TRACE_PART.exec(address ?? '')?.[1] ?? null;
}

/** Return the last part of an address, which names an upload. */
export function lastPathPart(address: string | null): string | null {
  return /([\w-]+)\/?$/.exec(address ?? '')?.[1] ?? null;
}

/** Return the address of a trace page, or of something below it. */
export function traceAddress(base: string, id: string, rest = ''): string {
  return `${base}t/${id}/${rest}`;
}

/** Return the command that uploads a file to this address. */
export function curlLine(origin: string, base: string, login: string | null): string {
  const words = ['curl -T app.trace'];
  if (login === 'token') words.push("-H 'Authorization: Bearer TOKEN'");
  if (login === 'basic') words.push('-u NAME');
  return [...words, origin + base].join(' ');
}
