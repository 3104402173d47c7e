// SPDX-License-Identifier: Apache-2.0
// Tables as the page exports them, and the profile held against the command line's.
import { strict as assert } from 'node:assert';
import { readFileSync } from 'node:fs';
import { rested, until } from './browser.mjs';
import { json } from './program.mjs';

/** The table of a place, as it is exported. */
export async function exported(page, hash, tab) {
  await page.evaluate((text) => (location.hash = text), hash);
  await until(() => page.locator(`#pane-${tab}`).isVisible(), true, tab);
  await rested(page);
  return await shown(page, tab);
}

/** The table that is shown, as it is exported. */
export async function shown(page, tab) {
  const pane = page.locator(`#pane-${tab}`);
  await pane.locator('[data-line]').first().waitFor();
  await until(() => pane.locator('.pending, [aria-busy=true]').count(), 0, `${tab} computed`);
  await page.getByRole('button', { name: 'Export' }).click();
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('menuitem', { name: 'JSON' }).click(),
  ]);
  return JSON.parse(readFileSync(await file.path(), 'utf8'));
}

export const sorted = (lines) => lines.map((line) => JSON.stringify(line)).sort();

/** Event files have names where method traces have classes and methods. */
export const nameOf = (m) => m.name ?? (m.class ? `${m.class}.${m.method}` : m.method);

/**
 * Rows of the command line as the page exports them: counts of samples, which the command line tells
 * as calls and as times of 1 us each, are samples and no calls there.
 */
export function asExported(theirs, ours) {
  if (!ours.some((row) => 'incl_samples' in row)) return theirs;
  return theirs.map(({ calls, recursive_calls, incl_real_ns, excl_real_ns, ...names }) => ({
    ...names,
    incl_samples: incl_real_ns / 1000,
    excl_samples: excl_real_ns / 1000,
  }));
}

export async function profile(page, hash, file, range) {
  const keys = ['calls', 'recursive_calls'];
  keys.push('incl_real_ns', 'excl_real_ns', 'incl_cpu_ns', 'excl_cpu_ns');
  keys.push('incl_samples', 'excl_samples');
  const figures = (m) => [nameOf(m), m.signature ?? '', ...keys.map((k) => m[k] ?? null)];
  const ours = await exported(page, `${hash}&tab=profile`, 'profile');
  const theirs = json('profile', '--format', 'json', '--context-switch', ...range, file);
  const called = theirs.filter((m) => m.calls > 0);
  assert.deepEqual(sorted(ours.map(figures)), sorted(asExported(called, ours).map(figures)));
  return ours.length;
}
