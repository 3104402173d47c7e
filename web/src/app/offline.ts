// SPDX-License-Identifier: Apache-2.0
// A site that was visited once opens without a network: a service worker beside the page keeps it.

/**
 * Register the service worker. A page from disk, or from a host without TLS, cannot have one and
 * works only while it is open.
 */
export function keepOffline(): void {
  if (!('serviceWorker' in navigator) || !location.protocol.startsWith('http')) return;
  addEventListener('load', () => {
    navigator.serviceWorker.register('sw.js').catch(() => undefined);
  });
}
