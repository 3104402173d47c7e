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

/** Event files and samples have names where method traces have classes and methods. */
export const nameOf = (m) => {
  const own = m.name ?? m.method ?? m.function;
  return m.class ? `${m.class}.${own}` : own;
};

/** The figures of calls, and those of samples. */
export const FIGURES = [
  ...['calls', 'recursive_calls'],
  ...['incl_real_ns', 'excl_real_ns', 'incl_cpu_ns', 'excl_cpu_ns'],
  ...['samples', 'total', 'self'],
];

export async function profile(page, hash, file, range) {
  const figures = (m) => [nameOf(m), m.signature ?? '', ...FIGURES.map((k) => m[k] ?? null)];
  const ours = await exported(page, `${hash}&tab=profile`, 'profile');
  const theirs = json('profile', '--format', 'json', '--context-switch', ...range, file);
  const called = theirs.filter((m) => m.calls !== 0);
  assert.deepEqual(sorted(ours.map(figures)), sorted(called.map(figures)));
  return ours.length;
}
