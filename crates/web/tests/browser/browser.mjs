// Functions for the tests: a headless browser with software rendering, and the server of the page.

import { spawn } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { PAGE } from './folder.mjs';

const here = dirname(fileURLToPath(import.meta.url));

// Folder for screenshots to look at.
const PICTURES = process.env.CUBEWIRE_PICTURES;

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);

const FLAGS = [
  '--no-sandbox',
  '--use-angle=swiftshader',
  '--enable-unsafe-swiftshader',
  '--ignore-gpu-blocklist',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
  '--disable-quic',
];

export async function launch(extra = []) {
  if (!CHROMIUM) throw new Error('chromium is missing: `apt-get install chromium` installs it');
  return chromium.launch({ executablePath: CHROMIUM, args: [...FLAGS, ...extra] });
}

// Starts `cargo web serve` on a free port. Returns its address, and a function that stops it.
export async function serve() {
  const program = process.env.CUBEWIRE_WEB ?? `${here}/../../target/debug/cubewire-web`;
  const server = spawn(program, ['serve', '--no-build', '--port', '0', '--out', PAGE]);
  server.stderr.pipe(process.stderr);
  const address = await new Promise((resolve, reject) => {
    server.on('error', reject);
    server.on('exit', (code) => reject(new Error(`the server ended with ${code}`)));
    server.stdout.on('data', (text) => {
      const found = String(text).match(/http:\/\/\S+/);
      if (found) resolve(found[0]);
    });
  });
  return { address, stop: () => server.kill() };
}

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

// The page of the game. Collects errors of its console and uncaught errors.
export class Game {
  errors = [];
  dialogs = [];

  static async open(browser, address, query, options = {}) {
    const game = new Game();
    const { width = 800, height = 450, path = 'index.html', ...others } = options;
    game.context = await browser.newContext({ viewport: { width, height }, acceptDownloads: true, ...others });
    game.page = await game.context.newPage();
    game.page.setDefaultTimeout(180_000);
    game.watch(game.page);
    await game.page.goto(`${address}${path}${query}`);
    return game;
  }

  watch(page) {
    page.on('console', (message) => {
      if (message.type() === 'error') this.errors.push(message.text());
    });
    page.on('dialog', (dialog) => {
      this.dialogs.push(dialog.message());
      dialog.accept();
    });
    page.on('pageerror', (error) => this.errors.push(error.message));
  }

  async drawn() {
    await this.page.waitForFunction(() => window.cubewire?.drawn || window.cubewire?.error, null, { timeout: 180_000 });
    const error = await this.page.evaluate(() => window.cubewire.error);
    if (error) throw new Error(error);
  }

  report() {
    return this.page.evaluate(() => window.cubewire.report);
  }

  // Waits for a report that satisfies `isSo`, and returns it.
  async until(what, isSo, seconds = 180) {
    const end = Date.now() + 1_000 * seconds;
    let report;
    while (Date.now() < end) {
      report = await this.report();
      if (report && (await isSo(report))) return report;
      await sleep(200);
    }
    throw new Error(`not within ${seconds} s: ${what}; ${JSON.stringify(report)}`);
  }

  // Waits until the page has not scrolled for a second.
  async stopped() {
    const position = () => this.page.evaluate(() => window.scrollY);
    for (let last; last !== (last = await position()); ) await sleep(1_000);
  }

  // Holds a key until a report satisfies `isSo`.
  async hold(key, what, isSo) {
    await this.page.keyboard.down(key);
    try {
      return await this.until(what, isSo);
    } finally {
      await this.page.keyboard.up(key);
    }
  }

  async picture(name) {
    const png = await this.page.screenshot({ timeout: 120_000 });
    if (PICTURES) {
      mkdirSync(PICTURES, { recursive: true });
      await this.page.screenshot({ path: `${PICTURES}/${name}.png`, timeout: 120_000 });
    }
    return png;
  }

  async close() {
    await this.context.close();
  }
}
