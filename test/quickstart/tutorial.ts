/**
 * Follows the section "Start from a template" of the chapter on the library with nothing but its text: from an empty folder to two windows that
 * edit one document, and an edit by the backend. Prints the time of each step. Exits with 1 if a step fails.
 *
 *   npm run test:walk
 *
 * It needs npm and Chromium. Its only differences from the section are that it uses a free port, and that it installs
 * the package from its tarball.
 */
import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { errorMessage } from '../../src/core/base/errors.ts'
import { openBrowser } from '../support/servers/browser.ts'
import { freePort } from '../support/servers/process.ts'
import { removeLater, Shell } from '../support/servers/shell.ts'
import { Stopwatch } from '../support/time/stopwatch.ts'
import { install, PackageFolder } from '../templates/package-folder.ts'
import { commandsBelow } from './blocks.ts'

const chapter = new URL('../../src/docs/library.md', import.meta.url)
/** The command that serves the page until it is stopped. */
const serving = 'npm run dev'
const watch = new Stopwatch()

async function open(browser: Browser, url: string): Promise<Page> {
  const context = await browser.newContext()
  // Next.js compiles the page for the first window, which takes long on a busy machine.
  context.setDefaultTimeout(180_000)
  const page = await context.newPage()
  await page.goto(url)
  await page.getByText('saved', { exact: true }).waitFor()
  return page
}

const editorOf = (page: Page) => page.locator('[contenteditable=true]')

async function typeAtEnd(page: Page, text: string): Promise<void> {
  await editorOf(page).click()
  await page.keyboard.press('Control+End')
  await page.keyboard.type(text)
}

async function walk(folder: string): Promise<void> {
  const installed = await PackageFolder.create(folder)
  const port = String(await freePort())
  const environment = { PORT: port, NEXT_TELEMETRY_DISABLED: '1' }
  const commands = commandsBelow(readFileSync(chapter, 'utf8'), 'Start from a template').map((text) =>
    text.replaceAll('localhost:3000', `localhost:${port}`).replace('npm install', install),
  )
  const served = commands.indexOf(serving)
  if (served === -1) throw new Error(`the section does not have the command ${serving}`)
  watch.lap('the tarball is packed')

  const page = Shell.start(
    ['set -e', ...commands.slice(0, served + 1)].join('\n'),
    installed.path,
    environment,
  )
  const browser = await openBrowser()
  try {
    await page.printed(/Open http/)
    watch.lap('installed; the page is served')

    const url = `http://localhost:${port}`
    const ada = await open(browser, `${url}/?name=Ada`)
    const grace = await open(browser, `${url}/?name=Grace`)
    watch.lap('two windows are open')

    await typeAtEnd(ada, 'Buy milk.')
    await editorOf(grace).getByText('Buy milk.').waitFor()
    await typeAtEnd(grace, ' And bread.')
    await editorOf(ada).getByText('And bread.').waitFor()
    await ada.locator('.collaboration-carets__label').getByText('Grace').waitFor({ state: 'attached' })
    await ada.reload()
    await editorOf(ada).getByText('And bread.').waitFor()
    watch.lap('both edit together, and a reload keeps the text')

    const { out } = await Shell.run(commands.slice(served + 1).join('\n'), join(installed.path, 'my-app'))
    if (!out.includes('"changed":true')) throw new Error(`the backend got ${out}`)
    for (const window of [ada, grace]) await editorOf(window).getByText('Written by a backend.').waitFor()
    watch.lap('a backend has rewritten it; both windows show it')
  } catch (error) {
    console.error(page.out)
    throw error
  } finally {
    await browser.close()
    await page.end()
  }
}

const folder = mkdtempSync(join(tmpdir(), 'weft-tutorial-'))
try {
  await walk(folder)
  watch.end()
} catch (error) {
  console.error(`failed: ${errorMessage(error)}`)
  process.exitCode = 1
} finally {
  removeLater(folder)
}
