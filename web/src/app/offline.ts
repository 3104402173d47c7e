// SPDX-License-Identifier: Apache-2.0
// A site that was visited once opens without a network: a service worker beside the page keeps it.

/** A page from a disk, or from a host without TLS, has none, and works as long as it is open. */
export function keepOffline(): void {
  if (!('serviceWorker' in navigator) || !location.protocol.startsWith('http')) return;
  addEventListener('load', () => {
    navigator.serviceWorker.register('sw.js').catch(() => undefined);
  });
}
