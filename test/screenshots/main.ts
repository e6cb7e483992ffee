/**
 * Takes the pictures of the README and the documentation from running programs: the Tiptap example in two
 * windows with the console next to it, the playground, and the overview.
 *
 *   npm run pictures                  all pictures
 *   npm run pictures -- two-windows   one of them: weft, two-windows, overview
 *
 * Writes `src/docs/pictures/*.png`; `two-windows.png` is an animation. It needs Chromium, and `npm ci` in `examples/tiptap`.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { openBrowser } from '../support/servers/browser.ts'
import { openConsole } from '../support/servers/console.ts'
import { type Site, startExample } from '../support/servers/examples.ts'
import { type ServerProcess, startProcess } from '../support/servers/process.ts'
import { type Shot, sideBySide } from './side-by-side.ts'
import { recordTwoWindows } from './two-windows.ts'

const folder = new URL('../../src/docs/pictures/', import.meta.url)
const plan = { organizationId: 'example', documentId: 'plan', editorId: 'main' }
const text = [
  '<heading level="2">Launch plan</heading>',
  '<paragraph>The beta opens on Monday. Everybody who has asked for it gets a link.</paragraph>',
  '<bulletList>',
  '<listItem><paragraph>Ada writes the announcement</paragraph></listItem>',
  '<listItem><paragraph>Grace looks after the servers</paragraph></listItem>',
  '<listItem><paragraph>The backend keeps this list up to date</paragraph></listItem>',
  '</bulletList>',
].join('')

function keep(name: string, picture: Buffer): void {
  writeFileSync(new URL(`${name}.png`, folder), picture)
  console.log(`${name}.png, ${Math.round(picture.length / 1024)} KB`)
}

/** Opens the example in a window, with the cursor at the end of a line. */
async function editor(browser: Browser, { url }: Site, name: string, line: string): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 800, height: 480 }, deviceScaleFactor: 1.5 })
  const page = await context.newPage()
  await page.goto(`${url}/?name=${name}&room=${Object.values(plan).join('/')}`)
  await page.getByText(line).click()
  await page.keyboard.press('End')
  return page
}

async function liveDocument(browser: Browser, weft: ServerProcess, site: Site): Promise<void> {
  await weft.post('/v2/crdt/add', { ...plan, contentKey: 'default', type: 'xml', data: text, userId: 'ada' })
  const ada = await editor(browser, site, 'Ada', 'Ada writes')
  const grace = await editor(browser, site, 'Grace', 'Grace looks after')
  const { page: onlooker } = await openConsole(browser, weft, {
    route: `/documents/${Object.values(plan).join('/')}`,
    width: 900,
  })
  await grace.keyboard.type(', and the backups')
  await ada.getByText('and the backups').waitFor()
  await ada.keyboard.type(' tonight')
  await onlooker.getByText('tonight').first().waitFor()
  // The names at cursors appear and disappear with them.
  await grace.waitForTimeout(1_000)
  const shots: readonly Shot[] = [
    { title: 'Ada', place: 'upper', picture: await ada.screenshot() },
    { title: 'Grace', place: 'lower', picture: await grace.screenshot() },
    { title: 'Console', place: 'right', picture: await onlooker.screenshot() },
  ]
  keep('weft', await sideBySide(browser, shots))
}

/** Duration of the activity in the overview, because a chart of a minute shows more than one of a second. */
const overviewMs = 60_000

async function overview(browser: Browser, weft: ServerProcess): Promise<void> {
  const { page } = await openConsole(browser, weft, { route: '/overview' })
  const until = Date.now() + overviewMs
  for (let count = 1; Date.now() < until; count += 1) {
    const data = `Written ${count} times.`
    await weft.post('/v2/crdt/update', { ...plan, editorId: 'notes', type: 'text', data, upsert: true })
    await page.waitForTimeout(20 + 180 * Math.random())
  }
  keep('overview', await page.screenshot({ fullPage: true }))
}

const pictures: Readonly<
  Record<string, (browser: Browser, weft: ServerProcess, site: Site) => Promise<void>>
> = {
  weft: liveDocument,
  'two-windows': async (...running) => keep('two-windows', await recordTwoWindows(...running)),
  overview,
}
const wanted = process.argv.slice(2)
const unknown = wanted.find((name) => !Object.hasOwn(pictures, name))
if (unknown !== undefined)
  throw new Error(`no picture ${unknown}: there are ${Object.keys(pictures).join(', ')}`)

mkdirSync(folder, { recursive: true })
const data = mkdtempSync(join(tmpdir(), 'weft-pictures-'))
const weft = await startProcess(data)
const site = await startExample('tiptap', weft)
const browser = await openBrowser()
try {
  for (const [name, take] of Object.entries(pictures))
    if (wanted.length === 0 || wanted.includes(name)) await take(browser, weft, site)
} finally {
  await browser.close()
  site.child.kill()
  await weft.end('SIGTERM')
  rmSync(data, { recursive: true, force: true, maxRetries: 20 })
}
