// SPDX-License-Identifier: Apache-2.0
// The service worker of the site. It caches the one page, so that the page opens offline. A new
// page has a new worker, which replaces the old one when the page is completely cached; the next
// visit shows the new page.

/** Types that exist in service workers only. */
interface ExtendableWorkerEvent extends Event {
  waitUntil(until: Promise<unknown>): void;
}
interface WorkerFetchEvent extends Event {
  readonly request: Request;
  respondWith(answer: Promise<Response>): void;
}
interface WorkerScope {
  readonly registration: { readonly scope: string };
  skipWaiting(): Promise<void>;
  addEventListener(what: 'install' | 'activate', act: (e: ExtendableWorkerEvent) => void): void;
  addEventListener(what: 'fetch', act: (e: WorkerFetchEvent) => void): void;
}
declare const self: WorkerScope;

/** The SHA-256 of the page of this worker, in hex, inserted by the build. */
declare const PAGE_DIGEST: string;

/** Other sites of the same host have other paths, and so other cache names. */
const OURS = `traceview ${self.registration.scope} `;
const KEPT = OURS + PAGE_DIGEST;

function hexOf(bytes: ArrayBuffer): string {
  return [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/**
 * Cache the page. During a deployment the host may serve files of two versions; a mixed pair is not
 * cached.
 */
async function cachePage(): Promise<void> {
  const answer = await fetch('./', { cache: 'no-cache' });
  const page = await answer.arrayBuffer();
  if (hexOf(await crypto.subtle.digest('SHA-256', page)) !== PAGE_DIGEST)
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

async function answerWithPage(request: Request): Promise<Response> {
  return (await (await caches.open(KEPT)).match('./')) ?? (await fetch(request));
}

function isPage({ mode, url }: Request): boolean {
  const place = new URL(url).pathname;
  const root = new URL(self.registration.scope).pathname;
  return mode === 'navigate' && (place === root || place === `${root}index.html`);
}

self.addEventListener('install', (e) => e.waitUntil(cachePage()));
self.addEventListener('activate', (e) => e.waitUntil(forgetOthers()));
self.addEventListener('fetch', (e) => {
  if (isPage(e.request)) e.respondWith(answerWithPage(e.request));
});

export {};
