// Tests of the page with real keys, clicks, touches and files.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { readFileSync } from 'node:fs';
import { inflateSync } from 'node:zlib';
import { Game, launch, serve, sleep } from './browser.mjs';

let server;
let browser;

before(async () => {
  server = await serve();
  browser = await launch();
});

after(async () => {
  await browser?.close();
  server?.stop();
});

// Opens the page, runs a test, and asserts that the console has no errors.
async function play(query, options, run) {
  const game = await Game.open(browser, server.address, query, options);
  try {
    await game.drawn();
    await run(game);
    assert.deepEqual(game.errors, []);
  } finally {
    await game.close();
  }
}

// Decodes a PNG written by Chromium: one byte per channel, filtered rows.
function pixels(png) {
  const parts = [];
  let width, height, channels;
  for (let at = 8; at < png.length; ) {
    const length = png.readUInt32BE(at);
    const type = png.toString('latin1', at + 4, at + 8);
    const data = png.subarray(at + 8, at + 8 + length);
    if (type === 'IHDR') {
      [width, height] = [data.readUInt32BE(0), data.readUInt32BE(4)];
      channels = data[9] === 6 ? 4 : 3;
    }
    if (type === 'IDAT') parts.push(data);
    at += length + 12;
  }
  const raw = inflateSync(Buffer.concat(parts));
  const stride = width * channels;
  const out = Buffer.alloc(stride * height);
  for (let y = 0; y < height; y += 1) {
    const filter = raw[y * (stride + 1)];
    for (let x = 0; x < stride; x += 1) {
      const left = x >= channels ? out[y * stride + x - channels] : 0;
      const up = y > 0 ? out[(y - 1) * stride + x] : 0;
      const corner = x >= channels && y > 0 ? out[(y - 1) * stride + x - channels] : 0;
      const estimate = left + up - corner;
      const [a, b, c] = [left, up, corner].map((value) => Math.abs(estimate - value));
      const paeth = a <= b && a <= c ? left : b <= c ? up : corner;
      const predicted = [0, left, up, (left + up) >> 1, paeth][filter];
      out[y * stride + x] = raw[y * (stride + 1) + 1 + x] + predicted;
    }
  }
  return { width, at: (x, y) => [...out.subarray((y * width + x) * channels, (y * width + x) * channels + 3)] };
}

// Counts the pixels in a part of the screenshot that satisfy `isSo`.
function count(picture, [left, top, right, bottom], isSo) {
  let found = 0;
  for (let y = top; y < bottom; y += 1) {
    for (let x = left; x < right; x += 1) found += isSo(picture.at(x, y)) ? 1 : 0;
  }
  return found;
}

const isBlue = ([r, g, b]) => b > 120 && b > 1.8 * r && b > 1.4 * g;
const isRed = ([r, g, b]) => r > 120 && r > 2 * g && r > 2 * b;
const isGrey = ([r, g, b]) => Math.max(r, g, b) - Math.min(r, g, b) < 40 && g > 60 && g < 190;

// Positions to click in the panel of a 1280 × 720 window.
const PANEL = {
  smallestThree: [960, 317],
  network: [1150, 215],
  save: [1226, 697],
  copyAddress: [1150, 632],
  csv: [1150, 664],
};

test('the page loads, and draws the cubes of both halves and the panel', async () => {
  await play('?calm&report', { width: 1280, height: 720 }, async (game) => {
    await game.until('the player has landed', (report) => report.simulation_tick > 60);
    const picture = pixels(await game.picture('first'));
    for (const half of [
      [60, 170, 430, 540],
      [440, 170, 860, 540],
    ]) {
      assert.ok(count(picture, half, isBlue) > 2_000, 'the player');
      assert.ok(count(picture, half, isGrey) > 8_000, 'cubes');
    }
    assert.ok(count(picture, [900, 250, 1270, 600], isGrey) < 20_000, 'the panel');
    const seconds = await game.page.evaluate(() =>
      ['loaded', 'compiled', 'drawn'].map((name) => performance.getEntriesByName(name)[0].startTime / 1_000),
    );
    const [loaded, compiled, drawn] = seconds.map((second) => second.toFixed(1));
    console.log(`# loaded after ${loaded} s, compiled after ${compiled} s, the second frame after ${drawn} s`);
  });
});

test('the arrow keys roll the player, and the page does not scroll', async () => {
  await play('?calm&report&quality=low', {}, async (game) => {
    await game.hold('ArrowRight', 'the player rolls', (report) => report.player_distance_m > 2);
    await game.hold('Space', 'the player hovers', (report) => report.player_height_m > 1.5);
    assert.equal(await game.page.evaluate(() => window.scrollX + window.scrollY), 0);
  });
});

test('a click in the panel switches a rung, and the kilobits drop', async () => {
  const size = { width: 1280, height: 720 };
  await play('?calm&report&quality=low&right=rung:uncompressed', size, async (game) => {
    const before = await game.until('a second of snapshots', (report) => report.article_kbps > 15_000);
    assert.equal(before.rung, 'uncompressed');
    await game.page.mouse.click(...PANEL.smallestThree);
    const after = await game.until('fewer kilobits', (report) => report.article_kbps < 13_000);
    assert.equal(after.rung, 'smallest-three');
    await game.page.mouse.click(...PANEL.network);
    await game.until('the tab opens', (report) => report.panel.page === 'Link');
  });
});

test('a link with a script and lanes plays to its end, and says so', async () => {
  const query = '?left=rung:delta&right=rung:predicted,link:4g&script=katamari&seconds=20&report&quality=low';
  await play(query, {}, async (game) => {
    const report = await game.until('cubes are gathered', (report) => report.interacting > 20);
    assert.ok(report.plays_script && report.compared > 0 && report.wrong === 0, JSON.stringify(report));
    await game.page.waitForFunction(() => document.getElementById('message').textContent.includes('has ended'));
    await game.picture('ended');
  });
});

test('where less motion is wished for, a script waits for a click', async () => {
  await play('?script=ball&report&quality=low', { reducedMotion: 'reduce' }, async (game) => {
    assert.equal(await game.page.evaluate(() => window.cubewire.asleep), true);
    await game.page.mouse.click(400, 225);
    await game.until('the script plays', (report) => report.plays_script && report.simulation_tick > 60);
  });
});

test('without JavaScript there is a text, a picture and the ladder', async () => {
  const game = await Game.open(browser, server.address, '', { javaScriptEnabled: false });
  try {
    await game.page.locator('#still img').waitFor();
    assert.ok((await game.page.locator('#still th[scope=row]').count()) > 15);
    await game.picture('still');
  } finally {
    await game.close();
  }
});

test('a replay is downloaded, dropped on the page again, and every state is the same', async () => {
  let replay;
  await play('?calm&report&quality=low', {}, async (game) => {
    await game.page.keyboard.press('F9');
    await game.hold('ArrowUp', 'the player rolls', (report) => report.player_distance_m > 2);
    const download = game.page.waitForEvent('download');
    await game.page.keyboard.press('F9');
    const file = await download;
    assert.equal(file.suggestedFilename(), 'cubewire-1.ron');
    replay = readFileSync(await file.path(), 'utf8');
    await drop(game.page, 'not-a-script.ron', 'hello');
    await game.until('the refusal', () => game.dialogs.length > 0);
    await drop(game.page, 'mine.ron', replay);
    await game.page.waitForURL(/script=file/);
    await game.drawn();
    const report = await game.until('the replay is over', (report) => report.replay !== null);
    assert.equal(report.replay, 'same');
    assert.deepEqual(game.dialogs, [
      'not-a-script.ron:1:1: not a script or a replay, which are RON files, for example `(ticks: 240, steps: [(at: 60, hold: [Right])])`',
    ]);
  });
});

// Drops a file on the page.
async function drop(page, name, text) {
  const transfer = await page.evaluateHandle(
    ([name, text]) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([text], name));
      return transfer;
    },
    [name, text],
  );
  await page.dispatchEvent('#game', 'drop', { dataTransfer: transfer });
}

test('a screenshot and a table are downloaded, and a link is copied that leads back', async () => {
  const size = { width: 1280, height: 720, permissions: ['clipboard-read', 'clipboard-write'] };
  await play('?calm&report&quality=low&left=rung:delta', size, async (game) => {
    await game.until('something to save', (report) => report.simulation_tick > 60);
    let download = game.page.waitForEvent('download');
    await game.page.keyboard.press('F12');
    let file = await download;
    assert.match(file.suggestedFilename(), /\.png$/);
    assert.equal(readFileSync(await file.path()).readUInt32BE(16), 1280);
    // A list is laid out one frame after the click that opens or closes it, and accepts clicks one frame later.
    const frames = async () => {
      const before = (await game.report()).frames;
      await game.until('more frames', (report) => report.frames > before + 3);
    };
    const save = async (entry) => {
      await game.page.mouse.click(...PANEL.save);
      await frames();
      await game.page.mouse.click(...entry);
      await frames();
    };
    download = game.page.waitForEvent('download');
    await save(PANEL.csv);
    file = await download;
    assert.match(file.suggestedFilename(), /\.csv$/);
    assert.match(readFileSync(await file.path(), 'utf8'), /^tick,/);
    await save(PANEL.copyAddress);
    const copied = () => game.page.evaluate(() => navigator.clipboard.readText());
    let link;
    await game.until('the link', async () => (link = await copied()));
    assert.match(link, /^http:.*\?left=rung:delta&right=rung:changed-flags$/);
    await game.page.goto(`${link}&report`);
    await game.drawn();
    await game.until('the same lane', (report) => report.rung === 'changed-flags');
  });
});

test('the canvas follows the size of the window and its pixel ratio', async () => {
  // Two pixels per point. Playwright's emulation does not change the sizes that elements report.
  const other = await launch(['--force-device-scale-factor=2']);
  const game = await Game.open(other, server.address, '?calm&report&quality=low', { width: 500, height: 300 });
  try {
    await game.drawn();
    await game.page.waitForFunction(() => window.game.width === 1_000 && window.game.height === 600);
    await game.page.setViewportSize({ width: 600, height: 340 });
    await game.page.waitForFunction(() => window.game.width === 1_200 && window.game.height === 680);
    assert.deepEqual(game.errors, []);
  } finally {
    await other.close();
  }
});

test('without the focus a hint says how to play', async () => {
  await play('?calm&report&quality=low', {}, async (game) => {
    const hint = (state) => game.page.waitForSelector('#hint', { state });
    await hint('hidden');
    await game.page.evaluate(() => document.activeElement.blur());
    await hint('visible');
    await game.page.mouse.click(100, 300);
    await hint('hidden');
  });
});

test('what the address says wrong is said in a sentence', async () => {
  for (const [query, sentence] of [
    ['?rung=predictd', 'predictd'],
    ['?script=nothing', 'unknown script `nothing`; choose one of ball, blow, calm, katamari, mix, rolling'],
    ['?lefd=simulation', 'unknown setting `lefd`'],
    ['?graphics=cga', 'graphics=cga'],
  ]) {
    const game = await Game.open(browser, server.address, query);
    await game.page.waitForFunction(() => window.cubewire.error);
    const message = await game.page.textContent('#message');
    assert.ok(message.includes(sentence), message);
    await game.close();
  }
});

test('without WebGL 2 a sentence says so', async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.addInitScript(() => {
    HTMLCanvasElement.prototype.getContext = () => null;
  });
  await page.goto(server.address);
  await page.waitForFunction(() => window.cubewire?.error);
  assert.match(await page.textContent('#message'), /WebGL 2 is not available/);
  await context.close();
});

test('asleep nothing runs, and awake it goes on where it stopped', async () => {
  await play('?calm&report&quality=low', {}, async (game) => {
    await game.until('it runs', (report) => report.simulation_tick > 30);
    const tell = (wish) => game.page.evaluate((wish) => window.postMessage({ cubewire: wish }, '*'), wish);
    await tell('sleep');
    // Wait several seconds, because a frame can take more than one on a busy machine.
    let before;
    let still = 0;
    await game.until('it stands still', async (report) => {
      still = report.simulation_tick === before ? still + 1 : 0;
      before = report.simulation_tick;
      await sleep(1_000);
      return still === 8;
    });
    await sleep(4_000);
    assert.equal((await game.report()).simulation_tick, before);
    // These events must not wake the game.
    for (let x = 100; x < 300; x += 10) await game.page.mouse.move(x, 200);
    // The first tick reported after waking. A frame simulates at most a quarter of a second, and a report comes every
    // 0.2 s.
    const first = game.page.waitForFunction((before) => {
      const { simulation_tick: tick } = window.cubewire.report;
      return tick > before && tick;
    }, before);
    await tell('wake');
    const after = await (await first).jsonValue();
    assert.ok(after < before + 90, `${before}, ${after}`);
    // One update per frame, as before.
    const updates = await game.page.evaluate(async () => {
      const request = window.requestAnimationFrame;
      const frame = () => new Promise((resolve) => request(resolve));
      await frame();
      let requested = 0;
      window.requestAnimationFrame = (callback) => {
        requested += 1;
        return request(callback);
      };
      for (let frames = 0; frames < 10; frames += 1) await frame();
      window.requestAnimationFrame = request;
      return requested / 10;
    });
    assert.ok(updates < 2.5, `${updates}`);
  });
});

test('on a phone one finger rolls, two turn the cameras, and buttons press keys', async () => {
  const phone = { width: 390, height: 844, hasTouch: true, isMobile: true, deviceScaleFactor: 1 };
  await play('?calm&report&quality=low', phone, async (game) => {
    const session = await game.context.newCDPSession(game.page);
    const touch = (type, ...points) =>
      session.send('Input.dispatchTouchEvent', { type, touchPoints: points.map(([x, y], id) => ({ x, y, id })) });
    await game.until('the player has landed', (report) => report.simulation_tick > 60);
    assert.equal((await game.report()).panel.size, 'Slim');
    await touch('touchStart', [150, 300]);
    await touch('touchMove', [230, 300]);
    await game.until('the player rolls', (report) => report.player_distance_m > 2);
    await touch('touchEnd');
    await game.picture('phone');
    await game.page.locator('#touch button', { hasText: 'Blow' }).dispatchEvent('pointerdown', { pointerId: 1 });
    await game.until('the player hovers', (report) => report.player_height_m > 1.5);
    await game.page.locator('#touch button', { hasText: 'Blow' }).dispatchEvent('pointerup', { pointerId: 1 });
    await touch('touchStart', [150, 300], [250, 300]);
    await touch('touchMove', [150, 340], [250, 340]);
    await touch('touchEnd');
  });
});

test('between paragraphs one frame at a time is awake', async () => {
  const game = await Game.open(browser, server.address, '', { path: 'embed.html', height: 700 });
  const [first, second] = await game.page.$$('iframe');
  const frame = async (element) => element.contentFrame();
  await first.scrollIntoViewIfNeeded();
  await first.waitForElementState('visible');
  await game.page.waitForFunction(() => document.querySelector('iframe').hasAttribute('src'));
  const drawn = async (element) =>
    (await frame(element)).waitForFunction(() => window.cubewire?.drawn, null, { timeout: 180_000 });
  await drawn(first);
  assert.equal(await second.getAttribute('src'), null);
  await second.evaluate((element) => element.scrollIntoView({ block: 'center' }));
  await drawn(second);
  assert.equal(await (await frame(first)).evaluate(() => window.cubewire.asleep), true);
  assert.equal(await (await frame(second)).evaluate(() => window.cubewire.asleep), false);
  await game.picture('embed');
  // The first game continues when it is visible again.
  await first.evaluate((element) => element.scrollIntoView({ block: 'center' }));
  await (await frame(first)).waitForFunction(() => window.cubewire.asleep === false);
  assert.equal(await (await frame(second)).evaluate(() => window.cubewire.asleep), true);
  assert.deepEqual(game.errors, []);
  await game.close();
});

test('a step of the tour that is read changes the settings of the game next to it', async () => {
  const game = await Game.open(browser, server.address, '', { path: 'tour.html', width: 1280, height: 1000 });
  const element = await game.page.$('.stage iframe');
  const stage = await element.contentFrame();
  await stage.waitForFunction(() => window.cubewire?.drawn, null, { timeout: 180_000 });
  await game.page.locator('section[data-step="3"]').click();
  await stage.waitForFunction(() => window.cubewire.report?.rung === 'smallest-three', null, { timeout: 60_000 });
  await game.picture('tour');
  // A click selects a step, also the last one, but not the steps that the page scrolls past. The second click comes while
  // the page still scrolls.
  await game.page.evaluate(() => {
    window.selected = [];
    new MutationObserver(() => {
      window.selected.push(document.querySelector('section[aria-current]').dataset.step);
    }).observe(document.body, { subtree: true, attributeFilter: ['aria-current'] });
  });
  for (const step of ['5', '16']) {
    await game.page.$eval(`section[data-step="${step}"]`, (section) => section.click());
    assert.equal(await game.page.getAttribute('section[aria-current]', 'data-step'), step);
  }
  await game.stopped();
  assert.deepEqual(await game.page.evaluate(() => window.selected), ['5', '16']);
  // Manual scrolling selects again. Event and position are set directly, because a slow browser can continue its smooth
  // scrolling after a real wheel event.
  await game.page.evaluate(() => {
    window.dispatchEvent(new WheelEvent('wheel', { deltaY: -1 }));
    window.scrollTo({ top: 0, behavior: 'instant' });
  });
  await game.page.waitForSelector('section[data-step="1"][aria-current]');
  assert.deepEqual(game.errors, []);
  await game.close();
});

test('with WebGPU the same program draws the same cubes', async () => {
  const flags = ['--enable-unsafe-webgpu', '--use-webgpu-adapter=swiftshader', '--enable-features=Vulkan', '--use-vulkan=swiftshader'];
  const other = await launch(flags);
  const game = await Game.open(other, server.address, '?calm&report&quality=high', { width: 400, height: 240 });
  try {
    await game.drawn();
    assert.equal(await game.page.evaluate(() => window.cubewire.hasWebGpu), true);
    // Hides the cards that explain the screen.
    await game.page.keyboard.press('F1');
    await game.until('the cards are gone', (report) => !report.panel.explaining);
    await game.until('the player has landed', (report) => report.simulation_tick > 60);
    const picture = pixels(await game.picture('webgpu'));
    assert.ok(count(picture, [0, 0, 200, 150], isBlue) > 100, 'the player');
    assert.ok(count(picture, [0, 0, 200, 150], isGrey) > 500, 'cubes');
    assert.deepEqual(game.errors, []);
  } finally {
    await other.close();
  }
});
