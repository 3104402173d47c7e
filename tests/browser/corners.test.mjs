// SPDX-License-Identifier: Apache-2.0
// Corners of the page: hostile and missing names, traces without calls, widths at which something
// gives way, keys that two views could take.
import { strict as assert } from 'node:assert';
import { place, until } from './browser.mjs';
import { test } from './suite.mjs';
import { onPage } from './made-up.mjs';

const box = (page, selector) => page.locator(selector).first().boundingBox();

/** Whether a text is cut: its element is narrower than what it holds. */
const cut = (locator) => locator.evaluate((e) => e.scrollWidth > e.clientWidth);

test("a thread's name stays while its rows are scrolled", async () => {
  await onPage(
    async (page) => {
      const before = await box(page, '.label .name');
      const tracks = await box(page, '.tracks');
      await page.evaluate(() => {
        document.querySelector('.tracks').scrollTop = 90;
      });
      await until(
        () => page.evaluate(() => document.querySelector('.tracks').scrollTop),
        90,
        'the scrolled tracks',
      );
      const after = await box(page, '.label .name');
      assert.ok(after.y >= tracks.y && after.y <= before.y, `${after.y} from ${tracks.y} on`);
    },
    { options: { viewport: { width: 1200, height: 520 } } },
  );
});

test('a narrow label drops the time, then the number, before it cuts the name', async () => {
  const shown = (page, part) =>
    page.evaluate((name) => {
      const line = document.querySelector('.label .line').getBoundingClientRect();
      const element = document.querySelector(`.label .${name}`).getBoundingClientRect();
      return element.top < line.bottom - 2 && element.bottom > line.top + 2;
    }, part);
  const cases = [
    ['main', [true, true, true]],
    ['a-name-of-28-letters-in-all', [true, true, false]],
    ['a-name-of-32-letters-this-is-it.', [true, false, false]],
  ];
  for (const [name, expected] of cases) {
    await onPage(
      async (page) => {
        const parts = [];
        for (const part of ['name', 'tid', 'side']) parts.push(await shown(page, part));
        assert.deepEqual(parts, expected, name);
        assert.equal(await cut(page.locator('.label .name').first()), false);
      },
      {
        change: (trace) => {
          trace.tracks[0].name = name;
        },
        options: { viewport: { width: 1300, height: 900 } },
      },
    );
  }
});

test('the details are beside the table from 1240 pixels on; below that a line leads to them', async () => {
  for (const [width, beside, labels] of [
    [1240, true, 236],
    [1239, false, 236],
    [1099, false, 148],
  ]) {
    await onPage(
      async (page) => {
        const details = page.locator('.details.beside');
        assert.equal(await details.isVisible(), false, 'nothing is selected');
        assert.equal((await box(page, '.labels')).width, labels);
        const hint = page.locator('.details-hint');
        assert.equal(await hint.isVisible(), false, 'nothing is selected');
        await page.locator('.profile .row.method').first().click();
        const name = await details.locator('h2').textContent();
        assert.equal(await details.isVisible(), beside, `${width}`);
        await until(() => hint.isVisible(), !beside, 'the line under the table');
        if (beside) return;
        assert.equal(await hint.locator('.text').innerText(), name.trim());
        await hint.click();
        await until(async () => (await place(page)).tab, 'selection', 'the tab of details');
      },
      { options: { viewport: { width, height: 800 } } },
    );
  }
});

test('the find box takes pasted text and searches from the first letter', async () => {
  await onPage(async (page) => {
    const cursor = page.locator('.profile .row.cursor .cell.name');
    const find = page.getByLabel('Find in table');
    await page.locator('.profile .scroller').focus();
    await page.keyboard.press('q');
    assert.match(await cursor.innerText(), /q/i);
    assert.match(await page.locator('.find .count').innerText(), /^1 of/);
    await find.fill('');
    await page.keyboard.insertText('getResponse');
    assert.match(await cursor.innerText(), /getResponseWithInterceptorChain/);
    assert.equal(await page.locator('.find .count').innerText(), '1 of 1');
  });
});

test('a name that does not fit loses its whole package before any of its letters', async () => {
  const narrow = `${'N'.repeat(18)}.${'n'.repeat(8)}`;
  for (const [own, least] of [
    [`${'N'.repeat(10)}.run`, 20],
    [narrow, 0],
  ]) {
    await onPage(
      async (page) => {
        const cell = page.locator('.profile .row.method[data-frame="0"] .cell.name');
        assert.equal(await cut(cell.locator('.own')), false);
        const [room, gap] = await cell.locator('.path').evaluate((e) => {
          const [shown, name] = [...e.children].map((part) => part.getBoundingClientRect());
          const all = e.getBoundingClientRect();
          const room = shown.top < all.bottom - 2 ? shown.width : 0;
          return [room, name.left - all.left - room];
        });
        assert.ok(least === 0 ? room === 0 : room >= least, `${own}: ${room}`);
        assert.ok(gap < 1, `${own} begins where its package ends, or where the path does: ${gap}`);
      },
      {
        change: (trace) => {
          const [className, method] = own.split('.');
          trace.frames[0].splice(0, 2, `org.example.a.long.enough.package.${className}`, method);
        },
        options: { viewport: { width: 770, height: 800 } },
      },
    );
  }
});

test('a link to a method scrolls the table to its row', async () => {
  const least = 19; // of the made-up trace's methods the next one
  for (const tab of ['profile', 'info']) {
    await onPage(
      async (page) => {
        await page.getByRole('tab', { name: 'Profile' }).click();
        await until(
          () => page.locator('.profile .row.selected').count(),
          (n) => n === 1,
          'the selected row',
        );
        const row = await box(page, '.profile .row.selected');
        const table = await box(page, '.profile .scroller');
        assert.ok(row.y > table.y && row.y + row.height <= table.y + table.height, tab);
        assert.equal(await page.locator('.row.selected').getAttribute('data-frame'), `${least}`);
        assert.ok(
          await page.evaluate(() => document.querySelector('.profile .scroller').scrollTop > 0),
        );
      },
      {
        change: (trace) => {
          assert.equal(trace.frames.length, least);
          trace.frames.push(['z.Last', 'least', '()V', '', 0, least]);
          trace.tracks[2].calls.at(-1).frame = least;
        },
        hash: `#tab=${tab}&method=${least}`,
        options: { viewport: { width: 1300, height: 480 } },
        waits: (page) => page.waitForSelector('.page'),
      },
    );
  }
});

test('a trace without calls has no times and no rows', async () => {
  await onPage(
    async (page) => {
      assert.match(await page.locator('.overview .key').innerText(), /no calls/);
      assert.doesNotMatch(await page.locator('.page').innerText(), /\d ns/);
      assert.match(await page.locator('.profile .empty').innerText(), /has no call/);
      assert.equal(await page.locator('.profile .row.method').count(), 0);
      assert.equal(await page.locator('.ruler canvas').isVisible(), false);
    },
    {
      change: (trace) => {
        Object.assign(trace, { tracks: [], rows: [], length: 0, facts: { max_depth: 0 } });
      },
      // It opens on Info.
      hash: '#tab=profile',
      waits: (page) => page.waitForSelector('.profile .empty:not([hidden])'),
    },
  );
});

test('a hostile name cannot reverse, hide or move the text beside it', async () => {
  const names = ['a\u202egpj.exe', 'line\none', 'X'.repeat(65536), '', ' \u200b', 'z\u2066y'];
  await onPage(
    async (page) => {
      const rows = await page.locator('.profile .row.method .own').allInnerTexts();
      const all = rows.join('\n');
      assert.ok(all.includes('a\ufffdgpj.exe') && all.includes('line␊one'), all.slice(0, 999));
      assert.ok(all.includes('(no name)'));
      assert.doesNotMatch(all, /[\u202e\u2066\u200b]/);
      assert.ok((await page.locator('.label .name').nth(1).innerText()).includes('(no name)'));
      // The longest one, selected: details and readout stay where they are.
      await page.getByLabel('Find in table').fill('XXX');
      await page.getByLabel('Find in table').press('Enter');
      const details = page.locator('.details.beside');
      await until(
        () => details.innerText(),
        (text) => text.includes('XXX'),
        'the details',
      );
      const head = await box(page, '.details.beside h2');
      assert.ok(head.height < 400, `the name is ${head.height} high`);
      assert.equal(
        await page.evaluate(() => document.documentElement.scrollWidth > innerWidth),
        false,
      );
      assert.ok((await box(page, '.readout')).height < 30);
      for (const tab of ['Flame', 'Selection', 'Info'])
        await page.getByRole('tab', { name: tab }).click();
    },
    {
      change: (trace) => {
        names.forEach((name, i) => {
          trace.frames[i + 2][1] = name;
        });
        trace.tracks[0].name = `main\u202e${'T'.repeat(9000)}`;
        trace.tracks[1].name = '';
      },
      options: { viewport: { width: 1300, height: 900 } },
    },
  );
});

test('letters go where the hint says: to the find box of the table, or to the line under the pointer', async () => {
  await onPage(async (page) => {
    const hint = page.locator('.readout .hint');
    const find = page.getByLabel('Find in table');
    const view = async () => new URL(page.url()).hash;
    assert.match(await hint.innerText(), /W\s*S\s*zoom/);
    await page.locator('.profile .row.method').nth(1).click();
    assert.match(await hint.innerText(), /type to find/);
    await page.keyboard.press('d');
    assert.equal(await find.inputValue(), 'd');
    await find.fill('');
    await page.locator('.profile .row.method').nth(1).click();
    const lanes = await box(page, '.lanes');
    await page.mouse.move(lanes.x + 300, lanes.y + 40);
    assert.match(await hint.innerText(), /W\s*S\s*zoom/);
    const before = await view();
    await page.keyboard.press('w');
    await until(view, (hash) => hash !== before && /view=/.test(hash), 'the zoomed view');
    assert.equal(await find.inputValue(), '');
  });
});

test('a zoomed flame graph keeps the shares of the whole graph', async () => {
  await onPage(
    async (page) => {
      const canvas = page.locator('.flame canvas');
      const { width } = await canvas.boundingBox();
      const about = page.locator('.flame .about');
      const at = { x: width * 0.97, y: 27 };
      await canvas.hover({ position: at });
      const before = await until(
        () => about.innerText(),
        (text) => /%/.test(text),
        'the share',
      );
      const [, share] = /([\d.]+) %/.exec(before);
      assert.ok(Number(share) < 90, before);
      await canvas.click({ position: at });
      await until(() => page.locator('.crumbs .link').count(), 2, 'the way back');
      await page.mouse.move(0, 0);
      await canvas.hover({ position: { x: width / 2, y: 27 } });
      await until(
        () => about.innerText(),
        (text) => text.includes(`${share} % of all`),
        `the same share, ${share}`,
      );
    },
    { hash: '#tab=flame', waits: (page) => page.waitForSelector('.flame canvas') },
  );
});

test('a number key opens the flame graph in that order', async () => {
  await onPage(async (page) => {
    const on = page.locator('.flame .segments [aria-pressed=true] kbd');
    for (const key of ['1', '2', '3', '4']) {
      await page.keyboard.press(key);
      await until(() => on.innerText(), key, 'the order of the flame graph');
    }
  });
});

test('the keyboard position moves from a waiting line to the answer that replaces it', async () => {
  await onPage(async (page) => {
    let answer;
    const held = new Promise((done) => (answer = done));
    await page.route('**/api/relations*', async (route) => {
      await held;
      await route.continue();
    });
    const under = () =>
      page.evaluate(() => {
        const scroller = document.querySelector('.profile .scroller');
        const row = document.getElementById(scroller.getAttribute('aria-activedescendant'));
        return row && ['method', 'pending', 'group'].find((kind) => row.classList.contains(kind));
      });
    await page.locator('.profile .scroller').focus();
    for (const key of ['Home', 'ArrowDown', 'ArrowRight', 'ArrowRight'])
      await page.keyboard.press(key);
    await until(under, 'pending', 'the line that waits');
    answer();
    await until(under, 'group', 'the line that came');
    await page.keyboard.press('ArrowLeft');
    await until(under, 'method', 'the method again');
  });
});
