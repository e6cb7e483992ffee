/**
 * Follows the README as a new user, with nothing else: from an empty folder to a document that two windows
 * share and a backend rewrites by REST. Then follows the contributing guide in the same clone. Prints the time of each
 * step. Exits with 1 if a step fails or the steps of the README take more than five minutes.
 *
 *   npm run test:walk
 *
 * It needs git, npm and Chromium. Its only difference from the README is that it uses free ports.
 */
import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { errorMessage } from '../../src/core/base/errors.ts'
import { openBrowser } from '../support/servers/browser.ts'
import { freePort } from '../support/servers/process.ts'
import { removeLater, Shell } from '../support/servers/shell.ts'
import { Stopwatch } from '../support/time/stopwatch.ts'
import { type Block, shellBlocks } from './blocks.ts'
import { contribute } from './contributing.ts'
import { fetchRepository } from './fetch-repository.ts'

const walkMsMax = 300_000
const watch = new Stopwatch()

/** Returns all commands of the README in the folder. */
function readmeBlocks(folder: string): readonly [Block, ...Block[]] {
  const [first, ...others] = shellBlocks(readFileSync(join(folder, 'README.md'), 'utf8'))
  if (first === undefined) throw new Error('the README has no commands')
  return [first, ...others]
}

/** Returns the commands below a heading of the README in the folder. */
function commandsUnder(folder: string, heading: string): readonly string[] {
  const found = readmeBlocks(folder)
    .filter((block) => block.heading === heading)
    .map(({ text }) => text)
  if (found.length === 0) throw new Error(`the README has no commands under “${heading}”`)
  return found
}

const editorOf = (page: Page) => page.locator('[contenteditable=true]')

async function walk(folder: string): Promise<void> {
  watch.lap(fetchRepository(folder))

  const port = await freePort()
  // The first command of the README must work for a reader who has nothing but the clone.
  const [{ text: typed }] = readmeBlocks(folder)
  // A pseudo terminal as for a reader, because the link is printed only to a terminal.
  const start = `script -qec '${typed.trim()}' /dev/null`
  const server = Shell.start(start, folder, { WEFT_PORT: String(port) })
  const browser = await openBrowser()
  try {
    const [link] = await server.printed(/http:\/\/localhost:\d+\/console#\S+/)
    watch.lap('installed, built and started; it has printed a link')

    const context = await browser.newContext()
    const overview = await context.newPage()
    await overview.goto(link)
    await overview.getByRole('button', { name: 'Sign in with this key' }).click()
    const [first] = await Promise.all([
      context.waitForEvent('page'),
      overview.getByRole('button', { name: 'Open the playground' }).click(),
    ])
    const [second] = await Promise.all([
      context.waitForEvent('page'),
      first.getByRole('button', { name: 'Open a second window' }).click(),
    ])
    await editorOf(first).click()
    await first.keyboard.press('Control+End')
    await first.keyboard.type(' Typed in one window.')
    await editorOf(second).getByText('Typed in one window.').waitFor()
    watch.lap('two windows share a document')

    const commands = ['Connect an editor', 'Write from a backend']
      .flatMap((heading) => commandsUnder(folder, heading))
      .join('\n')
    const { out } = await Shell.run(commands.replaceAll('localhost:8787', `localhost:${port}`), folder)
    if (!out.includes('"changed":true')) throw new Error(`the replacement has answered ${out}`)
    await editorOf(first).getByText('Written by a backend.').waitFor()
    await editorOf(second).getByText('Written by a backend.').waitFor()
    watch.lap('a backend has rewritten it by REST; both windows show it')
  } finally {
    await browser.close()
    await server.end()
  }
}

const folder = mkdtempSync(join(tmpdir(), 'weft-walk-'))
try {
  const clone = join(folder, 'weft')
  await walk(clone)
  if (watch.end() > walkMsMax) throw new Error('that is more than five minutes')
  await contribute(clone, watch)
} catch (error) {
  console.error(`failed: ${errorMessage(error)}`)
  process.exitCode = 1
} finally {
  removeLater(folder)
}
