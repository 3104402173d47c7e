// SPDX-License-Identifier: Apache-2.0
// Makes docs/viewer.png, the picture in the README:
//
//     TRACEVIEW=... TRACEVIEW_EXAMPLE=... npm --prefix tests/browser run picture
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { example, view } from './program.mjs';

const out = fileURLToPath(new URL('../../docs/viewer.png', import.meta.url));
const viewer = await view(example());
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--headless', '--no-sandbox', '--disable-gpu'],
});
const page = await browser.newPage({ viewport: { width: 1600, height: 1000 } });
await page.goto(`${viewer.address}#view=235000000-395000000&range=258000000-359000000`);
await page.waitForSelector('.profile .row.method');
// The letters of this picture are the same wherever it is made; the theme reads them anew.
await page.evaluate(() =>
  document.documentElement.style.setProperty('--font', '"Liberation Sans", sans-serif'),
);
const shade = page.getByRole('button', { name: 'Light or dark' });
await shade.click();
await shade.click();
await page.keyboard.press('/');
await page.keyboard.type('LayoutInflater.inflate');
await page.waitForTimeout(600);
await page.locator('.search input').blur();
const box = await page.locator('.lanes canvas').boundingBox();
await page.mouse.click(box.x + 500, box.y + 3 + 13 * 18 + 8);
await page.waitForTimeout(600);
await page.mouse.move(box.x + 330, box.y + 205);
await page.waitForTimeout(700);
await page.screenshot({ path: out });
await browser.close();
await viewer.stop();
console.log(out);
