// SPDX-License-Identifier: Apache-2.0
// Ask axe-core what it finds fault with on a page as it stands.  The page must have been opened
// with bypassCSP: axe is not in its content policy.
import { strict as assert } from 'node:assert';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { until } from './browser.mjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** The rules that read colours. Every other rule finds the same in both themes. */
export const COLOUR_RULES = ['color-contrast', 'link-in-text-block'];

/**
 * Return the faults of the page in its present theme, one line each. `rules`: these alone; `within`:
 * only in the elements of this selector, if there are any: the whole page takes three times as long.
 */
export async function faults(page, { rules, within } = {}) {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe);
  return page.evaluate(
    async ({ chosen, selector }) => {
      const part = selector && document.querySelector(selector) ? selector : document;
      // What passes is not told in full and no element gets a selector: that saves a third.
      const told = { resultTypes: ['violations'], selectors: false };
      const { violations } = await globalThis.axe.run(
        part,
        chosen ? { runOnly: chosen, ...told } : told,
      );
      return violations.map(
        (v) => `${v.id}: ${v.help}: ${v.nodes.map((n) => n.html.slice(0, 160)).join(' ')}`,
      );
    },
    { chosen: rules, selector: within },
  );
}

const ground = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);

async function showTheme(page, colorScheme, before) {
  await page.emulateMedia({ colorScheme });
  await until(
    () => ground(page),
    (colour) => colour !== before,
    `the ground of the ${colorScheme} theme`,
  );
  // A page that asks its server again and again is never at rest.
  await page.evaluate(() =>
    Promise.all(
      document
        .getAnimations()
        .filter((animation) => animation instanceof CSSTransition)
        .map(({ finished }) => finished),
    ),
  );
}

/**
 * Return the faults of a light page in both themes: every rule in the light one, the rules of
 * colours in the dark one.  The page is light again afterwards.
 */
export async function faultsInBothThemes(page) {
  const found = await faults(page);
  const light = await ground(page);
  await showTheme(page, 'dark', light);
  const dark = await faults(page, { rules: COLOUR_RULES });
  await showTheme(page, 'light', await ground(page));
  return [...found, ...dark.map((fault) => `dark: ${fault}`)];
}

/** Fail if axe finds fault with the page, in one theme or the other. */
export async function assertAccessible(page) {
  assert.deepEqual(await faultsInBothThemes(page), []);
}
