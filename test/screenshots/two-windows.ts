import type { Browser, Page } from 'playwright-core'
import type { Site } from '../support/servers/examples.ts'
import type { ServerProcess } from '../support/servers/process.ts'
import { animatedPng, type Frame } from './apng.ts'

/** Size of a window, and of the whole picture in CSS pixels. */
const view = { width: 480, height: 330 }
const stage = { width: 1020, height: 452 }
const scale = 1.5

/** Durations of frames, in ms. */
const shown = { key: 90, pause: 1_100, change: 1_800, end: 2_600 }

const style = `
  body { margin: 0; width: ${stage.width}px; height: ${stage.height}px; background: #e7eeec; color: #134e4a;
    font: 600 15px system-ui, sans-serif; display: grid; grid-template-columns: 480px 480px; gap: 14px 20px;
    justify-content: center; align-content: center }
  figure { margin: 0 }
  figcaption { background: #134e4a; color: #f0fdfa; padding: 6px 14px; border-radius: 9px 9px 0 0 }
  img { display: block; width: 480px; height: 330px; border-radius: 0 0 9px 9px }
  p { grid-column: 1 / span 2; margin: 0; text-align: center; font-size: 17px }
`

const document = { organizationId: 'example', documentId: 'animation', editorId: 'main' }
const contentOf = (title: string): string =>
  [
    `<heading level="2">${title}</heading>`,
    '<paragraph>The beta opens on Monday.</paragraph>',
    '<bulletList>',
    '<listItem><paragraph>Ada writes the announcement</paragraph></listItem>',
    '<listItem><paragraph>Grace looks after the servers</paragraph></listItem>',
    '</bulletList>',
  ].join('')

/** Records two windows in which two users and a backend edit one document. Returns an animated PNG. */
export async function recordTwoWindows(browser: Browser, weft: ServerProcess, site: Site): Promise<Buffer> {
  const data = contentOf('Launch plan')
  await weft.post('/v2/crdt/add', { ...document, contentKey: 'default', type: 'xml', data, userId: 'ada' })
  const ada = await openWindow(browser, site, 'Ada', 'Ada writes')
  const grace = await openWindow(browser, site, 'Grace', 'Grace looks after')
  const recorder = await Recorder.open(browser, [ada, grace])

  await recorder.add('Ada and Grace write in one document', shown.pause)
  const typed = { ada: ' tonight', grace: ' and the backups' }
  for (let index = 0; index < typed.grace.length; index += 1) {
    const letter = typed.ada[index]
    if (letter !== undefined) await ada.keyboard.type(letter)
    await grace.keyboard.type(typed.grace[index] ?? '')
    const [left, right] = [typed.ada.slice(0, index + 1), typed.grace.slice(0, index + 1)]
    await recorder.until(`announcement${left}`, `servers${right}`)
    await recorder.add('Ada and Grace write in one document', shown.key)
  }
  await recorder.add('Ada and Grace write in one document', shown.pause)
  await rename(weft, 'Launch plan: Monday, 9:00')
  await recorder.until('Monday, 9:00', 'Monday, 9:00')
  await recorder.add('A backend changes the title by REST. The cursors stay', shown.change)
  const more = ' again'
  for (let index = 0; index < more.length; index += 1) {
    await grace.keyboard.type(more[index] ?? '')
    const text = `backups${more.slice(0, index + 1)}`
    await recorder.until(text, text)
    await recorder.add('A backend changes the title by REST. The cursors stay', shown.key)
  }
  await recorder.add('A backend changes the title by REST. The cursors stay', shown.end)
  return animatedPng(recorder.frames)
}

/** Opens the example in a window, with the cursor at the end of a line. */
async function openWindow(browser: Browser, { url }: Site, name: string, line: string): Promise<Page> {
  const context = await browser.newContext({ viewport: view, deviceScaleFactor: scale })
  const page = await context.newPage()
  await page.goto(`${url}/?name=${name}&room=${Object.values(document).join('/')}`)
  await page.getByText(line).click()
  await page.keyboard.press('End')
  return page
}

/** Replaces the title as a backend does, and keeps everything that users have written. */
async function rename(weft: ServerProcess, title: string): Promise<void> {
  const editor = { ...document, contentKey: 'default' }
  const { data: read } = await weft.post('/v2/crdt/get', { ...editor, format: 'xml' })
  const [{ data, version }] = read as readonly [{ readonly data: string; readonly version: string }]
  const changed = { ...editor, type: 'xml', data: data.replace('Launch plan', title), baseVersion: version }
  const { status } = await weft.post('/v2/crdt/update', changed)
  if (status !== 200) throw new Error(`the title was not changed: ${status}`)
}

/** The part of a picture that differs from the one before. */
interface Difference {
  readonly x: number
  readonly y: number
  readonly png: string
}

/** Puts pictures of the windows side by side, and collects them as frames. */
class Recorder {
  readonly frames: Frame[] = []
  readonly #windows: readonly Page[]
  readonly #stage: Page

  private constructor(windows: readonly Page[], stagePage: Page) {
    this.#windows = windows
    this.#stage = stagePage
  }

  static async open(browser: Browser, windows: readonly Page[]): Promise<Recorder> {
    const page = await browser.newPage({ viewport: stage, deviceScaleFactor: scale })
    const figures = ['Ada', 'Grace'].map((title) => `<figure><figcaption>${title}</figcaption><img></figure>`)
    await page.setContent(`<style>${style}</style>${figures.join('')}<p></p>`)
    return new Recorder(windows, page)
  }

  /** Waits until each window shows both texts. The names at cursors do not count. */
  async until(...texts: readonly [string, string]): Promise<void> {
    for (const page of this.#windows)
      await page.waitForFunction((wanted) => {
        const copy = window.document.querySelector('.ProseMirror')?.cloneNode(true) as HTMLElement
        for (const cursor of copy.querySelectorAll('[class*="collaboration-carets"]')) cursor.remove()
        return wanted.every((text) => copy.textContent.replaceAll('\u2060', '').includes(text))
      }, texts)
  }

  /** Adds a frame. A frame that differs in nothing makes the one before longer. */
  async add(caption: string, ms: number): Promise<void> {
    const pictures = await Promise.all(this.#windows.map((page) => page.screenshot()))
    await this.#stage.evaluate(showPictures, {
      caption,
      pictures: pictures.map((picture) => picture.toString('base64')),
    })
    const picture = (await this.#stage.screenshot()).toString('base64')
    const difference = await this.#stage.evaluate(differenceFromLast, picture)
    const last = this.frames.at(-1)
    if (difference === null && last !== undefined) this.frames.splice(-1, 1, { ...last, ms: last.ms + ms })
    else if (difference !== null)
      this.frames.push({ ...difference, png: Buffer.from(difference.png, 'base64'), ms })
  }
}

/** Runs in the page. */
async function showPictures({ caption, pictures }: { caption: string; pictures: string[] }): Promise<void> {
  const text = window.document.querySelector('p')
  if (text !== null) text.textContent = caption
  const images = [...window.document.querySelectorAll('img')]
  for (const [index, image] of images.entries()) image.src = `data:image/png;base64,${pictures[index] ?? ''}`
  await Promise.all(images.map((image) => image.decode()))
}

/** Runs in the page, which keeps the last picture. Returns the part that differs; null: nothing differs. */
async function differenceFromLast(picture: string): Promise<Difference | null> {
  const kept = window as unknown as { last?: ImageData }
  const image = new Image()
  image.src = `data:image/png;base64,${picture}`
  await image.decode()
  const { width, height } = image
  const canvas = Object.assign(window.document.createElement('canvas'), { width, height })
  const context = canvas.getContext('2d', { alpha: false })
  if (context === null) throw new Error('no canvas')
  context.drawImage(image, 0, 0)
  const now = context.getImageData(0, 0, width, height)
  const { last } = kept
  kept.last = now
  let [left, top, right, bottom] = [width, height, -1, -1]
  if (last === undefined) [left, top, right, bottom] = [0, 0, width - 1, height - 1]
  else {
    const [before, after] = [new Uint32Array(last.data.buffer), new Uint32Array(now.data.buffer)]
    for (let at = 0; at < after.length; at += 1) {
      if (before[at] === after[at]) continue
      const [x, y] = [at % width, Math.floor(at / width)]
      left = Math.min(left, x)
      right = Math.max(right, x)
      top = Math.min(top, y)
      bottom = Math.max(bottom, y)
    }
  }
  if (right < left) return null
  const part = Object.assign(window.document.createElement('canvas'), {
    width: right - left + 1,
    height: bottom - top + 1,
  })
  part.getContext('2d', { alpha: false })?.drawImage(canvas, -left, -top)
  return { x: left, y: top, png: part.toDataURL('image/png').split(',')[1] ?? '' }
}
