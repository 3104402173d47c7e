// SPDX-License-Identifier: Apache-2.0
// What the page does by itself, on the made-up engine of web/tools: states the example cannot
// show, hostile names, the keyboard, roles, narrow windows.
import { strict as assert } from 'node:assert';
import { makeTrace } from '../../web/tools/mock-engine.mjs';
import { serve } from '../../web/tools/mock-server.mjs';
import {
  colours,
  computed,
  openPage,
  place,
  ready,
  rested,
  tableLines,
  until,
} from './browser.mjs';
import { test } from './suite.mjs';
import { onPage } from './made-up.mjs';
import { example, view, viewAgain } from './program.mjs';

const heading = (page) => page.waitForSelector('.screen h1');

test('names of a trace stay text, whatever they look like', async () => {
  const evil = '<img src=x onerror="document.title=1">';
  await onPage(
    async (page) => {
      const name = await page.locator('.profile .row.method .cell.name').first().innerText();
      assert.ok(name.includes(evil), name);
      await page.locator('.profile .row.method').first().click();
      await page.getByRole('tab', { name: 'Selection' }).click();
      await page.getByRole('tab', { name: 'Info' }).click();
      assert.equal(await page.locator('img, script:not(:last-child)').count(), 0);
      assert.ok((await page.locator('.label .pick').first().innerText()).includes('<b>'));
      assert.match(await page.title(), /traceview$/);
    },
    {
      change: (trace) => {
        for (const frame of trace.frames) if (frame[1] === 'main') frame[1] = evil;
        trace.tracks[0].name = '<b>main</b>';
        trace.facts = { metadata: [['<script>x</script>', '<i>y</i>']], name: '<u>z</u>.trace' };
      },
    },
  );
});

test('the page shows the progress of reading, then opens by itself', async () => {
  const status = {
    state: 'loading',
    name: 'big.trace',
    bytes: 412600000,
    total_bytes: 980000000,
    records: 29400000,
  };
  await onPage(
    async (page, { trace }) => {
      const text = await page.locator('.screen main').innerText();
      assert.match(text, /42 %[^]*412\.6 MB[^]*of 980\.0 MB[^]*29\.4 M/);
      trace.status.records = 31400000;
      await until(
        () => page.locator('.screen main').innerText(),
        (t) => /[\d.]+ [kM]\s+events a second/.test(t),
        'the rate',
      );
      trace.status = undefined;
      await ready(page);
    },
    {
      change: (trace) => {
        trace.status = status;
      },
      waits: heading,
    },
  );
});

test('Cancel ends the reading and says so', async () => {
  await onPage(
    async (page, { server }) => {
      await page.getByRole('button', { name: 'Cancel' }).click();
      await page.getByRole('heading', { name: 'Drop traces here' }).waitFor();
      assert.equal(
        await page.locator('.screen .said').innerText(),
        'Reading a.trace was cancelled.',
      );
      assert.equal(server.asked.cancel, 1);
      await page.getByRole('button', { name: 'Quit' }).click();
      await page.getByRole('heading', { name: 'traceview has ended' }).waitFor();
      assert.equal(server.asked.quit, 1);
    },
    {
      change: (trace) => {
        trace.status = { state: 'loading', name: 'a.trace', bytes: 0, total_bytes: 0, records: 0 };
      },
      waits: heading,
    },
  );
});

test('a file that cannot be read shows an error with its place, not an empty page', async () => {
  await onPage(
    async (page) => {
      const text = await page.locator('.screen').innerText();
      assert.match(
        text,
        /bad\.trace could not be opened[^]*line 3 should be a thread[^]*byte 311,284/,
      );
      assert.equal(await page.getByRole('alert').innerText(), 'line 3 should be a thread');
    },
    {
      change: (trace) => {
        trace.status = {
          state: 'error',
          name: '/tmp/bad.trace',
          bytes: 0,
          total_bytes: 0,
          records: 0,
          error: { message: 'line 3 should be a thread', offset: 311284 },
        };
      },
      waits: heading,
    },
  );
});

test('when the program does not answer the page stays, and continues when it answers', async () => {
  const server = await serve(makeTrace({ busy: 0.1 }));
  const { page, close } = await openPage(server.address);
  await ready(page);
  const methods = page.locator('.profile .row.method');
  const names = await methods.allInnerTexts();
  server.hangUp();
  await methods.nth(2).click();
  const bar = page.locator('.silence');
  await bar.waitFor();
  assert.match(await bar.innerText(), /^traceview does not answer\. What is shown stays/);
  assert.deepEqual(await methods.allInnerTexts(), names);

  const again = bar.getByRole('button', { name: 'Try again' });
  await again.waitFor();
  server.answer();
  // The page asks by itself, too, every ten seconds: the button may have gone.
  await page.evaluate(() => document.querySelector('.silence button')?.click());
  await bar.waitFor({ state: 'detached' });
  await ready(page);
  await methods.nth(2).click();
  await page.locator('.profile .row.method.selected').waitFor();
  server.close();
  await close();
});

test('a page at rest says that its program has ended, and after a restart what to open', async () => {
  const viewer = await view(example());
  const { page, close } = await openPage(viewer.address);
  await ready(page);
  const methods = page.locator('.profile .row.method');
  const names = await methods.allInnerTexts();
  await viewer.stop();
  const bar = page.locator('.silence');
  const later = async () => {
    // The page asks every ten seconds, and when its tab becomes visible.
    await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
    return (await bar.count()) > 0 ? await bar.innerText() : '';
  };
  await until(later, (text) => text.startsWith('traceview does not answer.'), 'the bar');

  const again = await viewAgain(viewer.address, example());
  const other =
    'Another traceview answers here. What is shown stays; to go on, open the address that it printed.';
  await until(later, other, 'the bar');
  assert.deepEqual(await methods.allInnerTexts(), names);
  await page.reload();
  assert.match(await page.locator('body').innerText(), /open the address that it printed/);
  await page.goto(again.address);
  await ready(page);
  await again.stop();
  await close();
});

test('a trace with one clock has no columns of the other and no switch', async () => {
  await onPage(
    async (page) => {
      const heads = await page
        .locator('.profile .column')
        .evaluateAll((all) => all.map((e) => e.dataset.column));
      assert.deepEqual(heads, [
        'name',
        'incl_cpu_pct',
        'incl_cpu',
        'excl_cpu_pct',
        'excl_cpu',
        'calls',
        'cpu_per_call',
      ]);
      assert.equal(await page.locator('.segments[aria-label=Clock]').count(), 0);
    },
    {
      change: (trace) => {
        trace.facts = { clocks: ['cpu'], axis: 'cpu' };
      },
    },
  );
});

test('a sampled trace is labelled with its interval', async () => {
  await onPage(
    async (page) =>
      assert.equal(
        await page.locator('.top .facts .sampled').innerText(),
        'sampled (inferred), interval ≤ 1.000 ms',
      ),
    {
      change: (trace) => {
        trace.facts = { sampled: { interval_ns: 1e6 } };
      },
    },
  );
});

test('the interval of samples comes first, and is whole in a small window', async () => {
  await onPage(
    async (page) => {
      const label = page.locator('.top .facts > :first-child');
      assert.equal(await label.innerText(), 'sampled every 10.000 ms');
      await page.setViewportSize({ width: 1280, height: 800 });
      assert.ok(await label.evaluate((e) => e.scrollWidth <= e.clientWidth), 'the label is cut');
      // Samples cost a method nothing, so nothing is said of distorted times.
      assert.match(await page.locator('.profile .name.dim').innerText(), /^[\d,]+ methods$/);
    },
    {
      change: (trace) => {
        trace.facts = { sampled: { interval_ns: 1e7, inferred: false } };
      },
    },
  );
});

test('a range without calls says so and offers the way out', async () => {
  await onPage(
    async (page) => {
      await until(
        () => page.locator('.profile .empty').innerText(),
        (t) => t.startsWith('No call lies'),
        'the words',
      );
      await page.getByRole('button', { name: 'Compute for the whole trace' }).click();
      await page.waitForSelector('.profile .row.method');
    },
    // The disk thread sleeps for the first fifth of the trace.
    {
      hash: '#range=1000-200000&threads=2',
      waits: (page) => page.waitForSelector('.profile .empty:not([hidden])'),
    },
  );
});

test('the health button opens Health, which lists diagnostics with their places', async () => {
  await onPage(
    async (page) => {
      const button = page.getByRole('button', { name: /^Health/ });
      assert.match(await button.innerText(), /Health\s*1,203/);
      await button.click();
      const rows = page.locator('#health .grid-row');
      await until(() => rows.count(), 4, 'two kinds, two places');
      const text = (await rows.allInnerTexts()).map((row) => row.replace(/\s+/g, ' ').trim());
      assert.deepEqual(text, [
        'broken things, the first 2 places are kept Warning x 1,200',
        'byte 17 17',
        'byte 41 41',
        'odd things Note y 3',
      ]);
      // Without the file's bytes at hand a place is no link.
      assert.equal(await rows.locator('.link').count(), 0);
    },
    {
      change: (trace) => {
        trace.facts = {
          diagnostics: [
            {
              kind: 'x',
              text: 'broken things',
              severity: 'warning',
              count: 1200,
              offsets: [17, 41],
            },
            { kind: 'y', text: 'odd things', severity: 'note', count: 3, offsets: [] },
          ],
        };
      },
    },
  );
});

test('the keyboard uses the table as a tree', async () => {
  await onPage(async (page) => {
    await page.locator('.profile .scroller').focus();
    await page.keyboard.press('Home');
    await page.keyboard.press('ArrowDown');
    const current = () =>
      page.evaluate(() => {
        const id = document
          .querySelector('.profile .scroller')
          .getAttribute('aria-activedescendant');
        const row = document.getElementById(id);
        return [
          row?.getAttribute('aria-level'),
          row?.getAttribute('aria-expanded'),
          row?.querySelector('.name').textContent,
        ];
      });
    const [, closed, name] = await current();
    assert.equal(closed, 'false');
    await page.keyboard.press('ArrowRight');
    await until(async () => (await current())[1], 'true', 'the opened row');
    await page.keyboard.press('ArrowRight');
    assert.equal((await current())[0], '2');
    await page.keyboard.press('ArrowLeft');
    assert.equal((await current())[2], name);
    await page.keyboard.press('ArrowLeft');
    await until(async () => (await current())[1], 'false', 'the closed row');
    await page.keyboard.press('Enter');
    await until(
      async () => (await place(page)).method,
      (m) => m !== undefined,
      'the selected method',
    );
    await page.waitForSelector('.profile .row.relation');
    await page.keyboard.press('End');
    await page.keyboard.press('Shift+ArrowUp');
    assert.equal(await page.locator('.profile .row.marked').count(), 2);
  });
});

test('the tabs have the roles of tabs, every control has a name, and all can be focused', async () => {
  await onPage(async (page) => {
    await page.getByRole('tab', { name: 'Profile' }).focus();
    await page.keyboard.press('ArrowRight');
    assert.equal(
      await page.getByRole('tab', { name: 'Flame' }).getAttribute('aria-selected'),
      'true',
    );
    await page.keyboard.press('End');
    assert.ok(await page.getByRole('tabpanel', { name: 'Info' }).isVisible());
    await page.keyboard.press('Home');
    const nameless = await page.evaluate(() =>
      [...document.querySelectorAll('button, input, select, canvas, .list-view, [role=separator]')]
        .filter(
          (e) => !(e.getAttribute('aria-label') || e.textContent.trim() || e.closest('label')),
        )
        // The canvases of the time line have one name together: that of their view.
        .filter((e) => !e.closest('[aria-hidden=true]'))
        .map((e) => e.outerHTML),
    );
    assert.deepEqual(nameless, []);
    const stops = new Set();
    await page.evaluate(() => document.activeElement.blur());
    for (let i = 0; i < 60; i++) {
      await page.keyboard.press('Tab');
      stops.add(
        await page.evaluate(
          () => document.activeElement.className || document.activeElement.tagName,
        ),
      );
    }
    // Names of tracks are one stop, where arrows go on.
    for (const wanted of ['twist', 'splitter', 'scroller', 'column', 'list-view']) {
      assert.ok(
        [...stops].some((stop) => stop.includes(wanted)),
        `${wanted} is not reached: ${[...stops].join(' | ')}`,
      );
    }
  });
});

test('a search without hits turns pink, and hits dim the rest while the box has the focus', async () => {
  await onPage(async (page) => {
    await page.keyboard.press('Control+f');
    await page.keyboard.type('hashmap');
    await until(
      () => page.locator('.search .count').innerText(),
      (t) => / in 1 method$/.test(t),
      'the count',
    );
    await page.keyboard.press('Enter');
    const words = await until(
      () => page.locator('.search .count').innerText(),
      (t) => /^\d+ of [\d,]+$/.test(t),
      'the position',
    );
    assert.match(words, /^1 of /);
    await page.keyboard.type('zzz');
    await page.waitForSelector('.search.miss');
    assert.equal(await page.locator('.search .count').innerText(), '0 of 0');
    await page.keyboard.press('Escape');
    assert.equal(await page.getByLabel('Search method names').inputValue(), '');
  });
});

test('theme, palette and row height switch without a request', async () => {
  await onPage(async (page, { server }) => {
    await until(
      () => colours(page, '.list-view'),
      (n) => n > 8,
      'a drawn time line',
    );
    await until(() => server.asked.findings, 1, 'the last question of an idle page');
    const before = { ...server.asked };
    const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
    const old = await theme();
    await page.getByRole('button', { name: 'Light or dark' }).click();
    assert.notEqual(await theme(), old);
    await page.getByRole('button', { name: 'Colour-blind-safe palette' }).click();
    assert.equal(
      await page
        .getByRole('button', { name: 'Colour-blind-safe palette' })
        .getAttribute('aria-pressed'),
      'true',
    );
    await page.getByRole('button', { name: 'Compact rows' }).click();
    await rested(page);
    assert.deepEqual({ ...server.asked, tiles: 0 }, { ...before, tiles: 0 });
    assert.ok((await page.locator('.profile .row').first().boundingBox()).height <= 18);
  });
});

test('the unit switch rewrites the figures', async () => {
  await onPage(async (page) => {
    const cell = () =>
      page.locator('.profile .row.method [data-column=incl_real]').first().innerText();
    const inMs = Number((await cell()).replaceAll(',', ''));
    await page.getByLabel('Unit of times').selectOption('ns');
    const inNs = Number((await cell()).replaceAll(',', ''));
    assert.ok(Math.abs(inNs / 1e6 - inMs) <= 0.0005, `${inNs} ns is ${inMs} ms`);
    assert.ok((await page.locator('.chip, .scope').first().innerText()).includes('whole trace'));
  });
});

test('a narrow window keeps clock, search, health and chip, and drops the details', async () => {
  await onPage(
    async (page) => {
      for (const selector of ['.segments', '.search', '.text-button >> text=Health', '.chip']) {
        assert.ok(await page.locator(selector).first().isVisible(), selector);
      }
      assert.equal(await page.locator('.details.beside').isVisible(), false);
      assert.equal(
        await page.evaluate(() => document.documentElement.scrollWidth > innerWidth),
        false,
        'the page itself never scrolls sideways',
      );
    },
    { options: { viewport: { width: 900, height: 1000 } }, hash: '#range=100000000-600000000' },
  );
});

test('the page follows forced colours and reduced motion', async () => {
  await onPage(
    async (page) => {
      const before = await place(page);
      await page.keyboard.press('w');
      await rested(page);
      const after = await until(
        () => place(page),
        (p) => p.view !== before.view,
        'the zoomed view',
      );
      assert.ok(after.view);
      await until(
        () => colours(page, '.list-view'),
        (n) => n > 8,
        'a drawn time line',
      );
    },
    { options: { forcedColors: 'active', reducedMotion: 'reduce' } },
  );
});

test('the time line has forced colours, and text is readable on its bars', async () => {
  const options = { forcedColors: 'active', colorScheme: 'dark' };
  await onPage(
    async (page) => {
      // Chosen for another ground.
      await page.evaluate(() => localStorage.setItem('traceview.shade', 'light'));
      await page.reload();
      await ready(page);
      assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark');
      assert.equal(await page.getByRole('button', { name: 'Light or dark' }).isVisible(), false);
      const { x, y, width } = await page.locator('.ruler .canvas').boundingBox();
      await page.mouse.move(x + width / 2, y + 200);
      // The pill of the pointer's time, in the text's colour, with letters in that of the ground.
      const pill = () =>
        page.evaluate((middle) => {
          const canvas = document.querySelector('.ruler canvas');
          const ratio = canvas.width / canvas.clientWidth;
          const { data } = canvas
            .getContext('2d')
            .getImageData(Math.round((middle + 2) * ratio), Math.round(10 * ratio), 1, 1);
          const probe = document.createElement('i');
          probe.style.cssText = 'forced-color-adjust: none; color: CanvasText';
          document.body.append(probe);
          const text = getComputedStyle(probe).color.match(/\d+/g).map(Number);
          probe.remove();
          return text.every((part, i) => part === data[i]);
        }, width / 2);
      await until(pill, true, 'the colour of the pointer’s time');
    },
    { options },
  );
});

test('help lists the keys and closes with Escape', async () => {
  await onPage(async (page) => {
    await page.keyboard.press('?');
    assert.ok(await page.getByRole('dialog').isVisible());
    await page.keyboard.press('Escape');
    assert.equal(await page.getByRole('dialog').isVisible(), false);
    await page.keyboard.press('q');
    await page.waitForSelector('.page.closed');
  });
});

test('the overview window moves the view, and so does a click beside it', async () => {
  await onPage(
    async (page) => {
      const box = await page.locator('.overview canvas').boundingBox();
      const at = (share) => [box.x + box.width * share, box.y + 30];
      await page.mouse.move(...at(0.55));
      await page.mouse.down();
      await page.mouse.move(...at(0.65), { steps: 3 });
      await page.mouse.up();
      const moved = await until(
        () => place(page),
        (p) => p.view !== '1000000000-1200000000',
        'the moved view',
      );
      const [from, to] = moved.view.split('-').map(Number);
      assert.ok(Math.abs(from - 1.2e9) < 5e6 && Math.abs(to - from - 2e8) <= 2, moved.view);
      await page.mouse.click(...at(0.2));
      await until(
        () => place(page),
        (p) => Math.abs(Number(p.view.split('-')[0]) - 0.3e9) < 5e6,
        'the view around the click',
      );
    },
    { hash: '#view=1000000000-1200000000' },
  );
});

test('panning and zooming never leave the tracks blank', async () => {
  await onPage(
    async (page) => {
      await until(
        () => colours(page, '.list-view'),
        (n) => n > 8,
        'a drawn time line',
      );
      const box = await page.locator('.list-view').boundingBox();
      await page.mouse.move(box.x + 500, box.y + 60);
      await page.keyboard.down('Control');
      for (let i = 0; i < 12; i++) {
        await page.mouse.wheel(0, i < 8 ? -300 : 300);
        await page.evaluate(
          () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
        );
        assert.ok((await colours(page, '.list-view')) > 4, `frame ${i}`);
      }
      await page.keyboard.up('Control');
    },
    { hash: '#view=600000000-700000000' },
  );
});

test('a click on the name of a thread selects it, and the chip removes it', async () => {
  await onPage(async (page) => {
    const all = (await tableLines(page)).length;
    await page.locator('.label .pick').nth(2).click();
    await computed(page);
    assert.ok((await tableLines(page)).length < all);
    assert.equal(await page.locator('.chip').innerText(), 'arch_disk_io_0');
    await page.getByRole('button', { name: 'All threads again' }).click();
    await computed(page);
    assert.equal((await tableLines(page)).length, all);
  });
});

test('the visible calls are a list for the keyboard', async () => {
  await onPage(
    async (page) => {
      await until(
        () => colours(page, '.list-view'),
        (n) => n > 8,
        'a drawn time line',
      );
      await page.locator('.list-view').focus();
      await page.keyboard.press('Tab');
      const grid = page.getByRole('grid', { name: 'Visible calls' });
      assert.ok(await grid.evaluate((e) => e === document.activeElement));
      assert.match(
        await grid.innerText(),
        /ActivityThread\.main\s+0\s+0\.000\s+2,000\.000\s+entered before the trace, open at the end/,
      );
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Enter');
      await until(
        () => page.locator('.details.beside h2').innerText(),
        'Looper.loop',
        'the details',
      );
    },
    { hash: '#view=600000000-700000000' },
  );
});

test('a thread is found by its name', async () => {
  await onPage(async (page) => {
    await page.keyboard.press('Control+p');
    await page.keyboard.type('disk');
    assert.equal(await page.locator('.finder [role=option]').count(), 1);
    await page.keyboard.press('Enter');
    await until(
      () => page.evaluate(() => document.activeElement.textContent),
      '[28] arch_disk_io_0',
      'the focused name',
    );
    assert.equal(await page.locator('.label .twist[aria-expanded=true]').count(), 3);
  });
});

test('dragging pans and zooms as in other viewers', async () => {
  await onPage(
    async (page) => {
      const view = async () => (await place(page)).view?.split('-').map(Number);
      const reset = async () => {
        await page.goto(page.url().replace(/#.*/, '#view=600000000-700000000'));
        await page.reload();
        await ready(page);
      };
      const lanes = await page.locator('.list-view').boundingBox();
      const ruler = await page.locator('.ruler canvas').boundingBox();
      const drag = async (box, from, to, y, button = 'left') => {
        await page.mouse.move(box.x + box.width * from, box.y + y);
        await page.mouse.down({ button });
        await page.mouse.move(box.x + box.width * to, box.y + y, { steps: 4 });
        await page.mouse.up({ button });
      };
      const near = (a, b) => Math.abs(a - b) < 4e5;

      await page.keyboard.down('Shift');
      await drag(lanes, 0.5, 0.25, 100);
      await page.keyboard.up('Shift');
      await until(view, (v) => near(v[0], 625e6) && near(v[1], 725e6), 'after Shift+drag');
      await reset();
      await drag(lanes, 0.25, 0.5, 100, 'right');
      await until(view, (v) => near(v[0], 575e6), 'after a drag with the right button');
      await reset();
      await drag(ruler, 0.2, 0.6, 8);
      await until(view, (v) => near(v[0], 620e6) && near(v[1], 660e6), 'after a drag on the ruler');
      await reset();
      await drag(lanes, 0.2, 0.6, 100, 'middle');
      await until(view, (v) => near(v[0], 620e6) && near(v[1], 660e6), 'after a middle drag');
      assert.equal((await place(page)).range, undefined, 'none of them selects a range');
      await page.mouse.dblclick(ruler.x + 300, ruler.y + 8);
      await until(
        view,
        (v) => v === undefined,
        'the whole trace after a double click on the ruler',
      );
      await reset();
      await page.mouse.dblclick(lanes.x + lanes.width * 0.3, lanes.y + 12);
      await until(
        view,
        (v) => v === undefined || v[1] - v[0] > 1e9,
        'the double-clicked call fills the view',
      );
    },
    { hash: '#view=600000000-700000000' },
  );
});

test('a link to a missing call says so and changes nothing else', async () => {
  const server = await serve(makeTrace({ busy: 0.1 }));
  const { page, close } = await openPage(`${server.address}#call=9999.9`);
  await ready(page);
  await until(() => page.locator('.notice').innerText(), 'there is no such call', 'the notice');
  await page.keyboard.press('Escape');
  await until(() => page.locator('.notice').innerText(), '', 'no notice after Escape');
  await close();
  server.close();
});
