// SPDX-License-Identifier: Apache-2.0
// What axe-core finds fault with on the real page: in every tab on the three formats; in both
// themes, and with every dialog and menu open, on that format which has all of them.  Nothing.
import { strict as assert } from 'node:assert';
import { COLOUR_RULES, faults } from './axe.mjs';
import { computed, until } from './browser.mjs';
import { Hand } from './hand.mjs';
import { test } from './suite.mjs';
import { FORMATS } from './three-formats.mjs';

/** Dialogs lie over a page whose faults are known; what opens without one is a part of the page. */
const DIALOG = 'dialog[open]';
const PANEL = '[role=tabpanel]:not([hidden])';
const MENU = '[role=menu]:not([hidden])';

/** What can be open over the page: how it is opened; Escape closes it. */
const OPEN = {
  help: (hand) => hand.press('?'),
  'the finder of threads': (hand) => hand.press('Control+p'),
  'the range': (hand) => hand.press('r'),
  'a wrong range': async (hand) => {
    await hand.press('r');
    await hand.page.keyboard.type('soon');
  },
  'a wrong filter': async (hand) => {
    await hand.press('Shift+Control+f');
    await hand.page.keyboard.type('dur>');
    await hand.press('Enter');
    await hand.page.locator('#filter-fault:not([hidden])').waitFor();
  },
  'a search without a hit': async (hand) => {
    await hand.press('/');
    await hand.page.keyboard.type('no such name');
    await hand.page.locator('.search.miss, .search .count').first().waitFor();
  },
  'the box of tracks': (hand) => hand.page.getByRole('button', { name: 'Show only some' }).click(),
  'the list of calls': (hand) => hand.page.locator('.call-list [role=grid]').focus(),
  'a note that is written': async (hand) => {
    await hand.at({ range: '5000000-6000000' });
    await hand.press('Shift+M');
  },
};

for (const format of Object.keys(FORMATS))
  for (const colorScheme of format === 'JSON' ? ['light', 'dark'] : ['dark'])
    test(`accessible: every tab of ${format}, ${colorScheme}`, () =>
      // The test's own script is not in the page's content policy.
      Hand.holds(format, { colorScheme, bypassCSP: true }, async (hand) => {
        const { page } = hand;
        const found = [];
        // Rules that read no colours find the same in both themes.
        const rules = format === 'JSON' && colorScheme === 'dark' ? COLOUR_RULES : undefined;
        const look = async (what, within) => {
          for (const fault of await faults(page, { rules, within }))
            found.push(`${what}: ${fault}`);
        };
        await hand.at({ call: hand.id(1, 21), range: '5000000-15000000' });
        const tabs = await page.getByRole('tab').count();
        assert.ok(tabs >= 9, `${tabs} tabs`);
        for (let i = 0; i < tabs; i++) {
          const tab = page.getByRole('tab').nth(i);
          await tab.click();
          await until(() => tab.getAttribute('aria-selected'), 'true', 'the tab');
          await computed(page);
          await look(await tab.innerText(), i > 0 ? PANEL : undefined);
        }
        if (format !== 'JSON') return assert.deepEqual(found, []);
        await page.getByRole('tab', { name: 'Profile' }).click();
        for (const [what, open] of Object.entries(OPEN)) {
          await open(hand);
          await hand.drawn();
          await look(what, DIALOG);
          await hand.press('Escape', 'Escape');
          // The box of a filter that was written slowly asks for parts of it, and then for none.
          await computed(page);
        }
        // The server refuses the wrong filter.
        const { troubles } = hand.opened;
        troubles.splice(
          0,
          troubles.length,
          ...troubles.filter((text) => !/status of 400/.test(text)),
        );
        // Menus stand open until their button is pressed again.
        const menus = page.locator('button[aria-haspopup]:visible');
        for (let i = 0; i < (await menus.count()); i++) {
          await menus.nth(i).click();
          await hand.drawn();
          await look(`menu ${await menus.nth(i).innerText()}`, MENU);
          await hand.press('Escape');
        }
        assert.deepEqual(found, []);
      }));
