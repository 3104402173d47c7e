// SPDX-License-Identifier: Apache-2.0
// The service worker of a site: keeps its one page, so that it opens without a network.  A new page
// comes with a new worker, which takes the place of the old when the page is whole: the visit after
// the one that found it shows it.

/** What service workers have and pages do not. */
interface Lasting extends Event {
  waitUntil(until: Promise<unknown>): void;
}
interface Asked extends Event {
  readonly request: Request;
  respondWith(answer: Promise<Response>): void;
}
interface Own {
  readonly registration: { readonly scope: string };
  skipWaiting(): Promise<void>;
  addEventListener(what: 'install' | 'activate', act: (e: Lasting) => void): void;
  addEventListener(what: 'fetch', act: (e: Asked) => void): void;
}
declare const self: Own;

/** SHA-256 of the page that this worker came with, in hex; the build puts it here. */
declare const PAGE_DIGEST: string;

/** Other sites of the same host, below other paths, have names of their own. */
const OURS = `traceview ${self.registration.scope} `;
const KEPT = OURS + PAGE_DIGEST;

function hex(bytes: ArrayBuffer): string {
  return [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** While a host is given a new version its files may be of two: no such pair is kept. */
async function keep(): Promise<void> {
  const answer = await fetch('./', { cache: 'no-cache' });
  const page = await answer.arrayBuffer();
  if (hex(await crypto.subtle.digest('SHA-256', page)) !== PAGE_DIGEST)
    throw new Error('the page is of another version than its worker');
  const headers = { 'Content-Type': 'text/html; charset=utf-8' };
  await (await caches.open(KEPT)).put('./', new Response(page, { headers }));
  await self.skipWaiting();
}

async function forgetOthers(): Promise<void> {
  const names = await caches.keys();
  const old = names.filter((name) => name.startsWith(OURS) && name !== KEPT);
  await Promise.all(old.map((name) => caches.delete(name)));
}

async function page(request: Request): Promise<Response> {
  return (await (await caches.open(KEPT)).match('./')) ?? (await fetch(request));
}

function isPage({ mode, url }: Request): boolean {
  const place = new URL(url).pathname;
  const root = new URL(self.registration.scope).pathname;
  return mode === 'navigate' && (place === root || place === `${root}index.html`);
}

self.addEventListener('install', (e) => e.waitUntil(keep()));
self.addEventListener('activate', (e) => e.waitUntil(forgetOthers()));
self.addEventListener('fetch', (e) => {
  if (isPage(e.request)) e.respondWith(page(e.request));
});

export {};
