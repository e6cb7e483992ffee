import { gzipSync } from 'node:zlib'
import type { Browser, BrowserContext, Locator, Page } from 'playwright-core'
import { eventually } from '../support/clients/clients.ts'
import { type CuttingRelay, startCuttingRelay } from '../support/faults/cutting-relay.ts'
import type { TemplateCase } from './templates.ts'

/**
 * Warnings of ProseMirror and BlockNote at a click right after an undo that has emptied the text, before the browser
 * has the new selection. The editors correct the selection. With the same build, they come in some runs only.
 */
const selectionNote =
  /^(TextSelection endpoint not pointing into a node with inline|Position \d+ is not within a block)/

/** Runs in a page. Resolves when IndexedDB has stored what was written before, which a closed page would lose. */
async function stored(): Promise<void> {
  for (const { name = '' } of await indexedDB.databases()) {
    const opening = indexedDB.open(name)
    await new Promise((resolve, reject) => {
      opening.addEventListener('success', resolve)
      opening.addEventListener('error', reject)
    })
    const database = opening.result
    // A transaction waits for those that write to its store.
    for (const store of database.objectStoreNames) {
      const reading = database.transaction(store).objectStore(store).count()
      await new Promise((resolve, reject) => {
        reading.addEventListener('success', resolve)
        reading.addEventListener('error', reject)
      })
    }
    database.close()
  }
}

/** A browser profile of one user with a network of its own, and with one page of an app at a time. */
export class PageOfUser {
  readonly name: string
  readonly #template: TemplateCase
  readonly #context: BrowserContext
  readonly #relay: CuttingRelay
  readonly #errors: string[] = []
  readonly #scripts = new Map<string, Promise<Buffer | null>>()
  #page: Page
  #tokens = 0
  #sockets = 0
  #hasNetwork = true

  private constructor(
    name: string,
    template: TemplateCase,
    context: BrowserContext,
    relay: CuttingRelay,
    page: Page,
  ) {
    this.name = name
    this.#template = template
    this.#context = context
    this.#relay = relay
    this.#page = page
    this.#watch(page)
  }

  /** Opens the page, and waits until everything is saved. @param url address of the app */
  static async open(
    browser: Browser,
    url: string,
    template: TemplateCase,
    user: { readonly name: string; readonly role?: string },
  ): Promise<PageOfUser> {
    const context = await browser.newContext()
    const relay = await startCuttingRelay(url, () => 0)
    context.once('close', () => relay.stop())
    const opened = new PageOfUser(user.name, template, context, relay, await context.newPage())
    await opened.#page.goto(`${relay.url}/?${new URLSearchParams({ role: 'editor', ...user })}`)
    return opened
  }

  #watch(page: Page): void {
    page.on('pageerror', (error) => this.#errors.push(error.message))
    page.on('console', (message) => {
      // Chromium reports each failed request. A server that ends or starts answers 503.
      const isNetwork = /net::ERR_|WebSocket connection to|status of 503/.test(message.text())
      // Warnings are, for example, about hydration, keys, StrictMode or a second copy of Yjs.
      const isProblem = ['error', 'warning'].includes(message.type()) && !selectionNote.test(message.text())
      // A request of the time without a network can be reported after it.
      const isLate = message.text().includes('net::ERR_INTERNET_DISCONNECTED')
      if (isProblem && !isLate && (this.#hasNetwork || !isNetwork))
        this.#errors.push(`${message.text()} ${message.location().url}`)
    })
    page.on('websocket', (socket) => {
      if (socket.url().includes('/sync/')) this.#sockets += 1
    })
    page.on('request', (request) => {
      if (request.method() === 'POST' && new URL(request.url()).pathname.endsWith('/token')) this.#tokens += 1
    })
    page.on('response', (response) => {
      if (response.ok() && response.request().resourceType() === 'script')
        this.#scripts.set(
          response.url(),
          response.body().catch(() => null),
        )
    })
  }

  /** Tokens that the page has requested, and websockets that it has opened, so far. */
  get counts(): { readonly tokens: number; readonly sockets: number } {
    return { tokens: this.#tokens, sockets: this.#sockets }
  }

  /** Types at the end of the document. */
  async type(text: string): Promise<void> {
    // A page in the background has no focus.
    await this.#page.bringToFront()
    await this.#page.locator(this.#template.editor).first().click()
    await this.#page.keyboard.press('Control+End')
    await this.#page.keyboard.type(text)
  }

  /** Returns the text of the editor without the carets of other users. */
  text(): Promise<string> {
    const { editor, caret } = this.#template
    return this.#page
      .locator(editor)
      .first()
      .evaluate((element, carets) => {
        const copy = element.cloneNode(true) as HTMLElement
        for (const each of copy.querySelectorAll(carets)) each.remove()
        return copy.textContent ?? ''
      }, caret)
  }

  /** Waits until the editor has the text. */
  has(text: string): Promise<void> {
    return this.#eventually(`the text ${JSON.stringify(text)}`, async () =>
      (await this.text()).includes(text),
    )
  }

  /** Waits until the editor does not have the text. */
  lacks(text: string): Promise<void> {
    return this.#eventually(
      `no text ${JSON.stringify(text)}`,
      async () => !(await this.text()).includes(text),
    )
  }

  /** Selects the text at the end of the document, and adds a comment about it. */
  async commentOnEnd(end: string, text: string): Promise<void> {
    await this.#page.bringToFront()
    await this.#page.locator(this.#template.editor).first().click()
    await this.#page.keyboard.press('Control+End')
    for (let count = 0; count < end.length; count += 1) await this.#page.keyboard.press('Shift+ArrowLeft')
    await this.#page.locator('#selected').getByText(end).waitFor()
    await this.#send(this.#page.locator('#comments'), 'Comment', text)
  }

  /** Adds a comment about the whole document. */
  async comment(text: string): Promise<void> {
    await this.#send(this.#page.locator('#comments'), 'Comment', text)
  }

  /** Replies to the thread that has the text. */
  async reply(thread: string, text: string): Promise<void> {
    await this.#send(this.#thread(thread), 'Reply', text)
  }

  /** Resolves the thread that has the text. */
  async resolve(thread: string): Promise<void> {
    await this.#thread(thread).getByRole('button', { name: 'Resolve' }).click()
  }

  /** Waits until the page shows a thread that has all the texts and the status. */
  async showsThread(status: 'open' | 'resolved', ...texts: readonly string[]): Promise<void> {
    const shown = async (): Promise<string> =>
      (await this.#page.locator(`#comments article.${status}`).allTextContents()).find((each) =>
        texts.every((text) => each.includes(text)),
      ) ?? ''
    await this.#eventually(`the ${status} thread ${texts.join(', ')}`, async () => (await shown()) !== '')
  }

  /** Begins or ends to suggest, and waits until everything is saved. */
  async suggest(isOn: boolean): Promise<void> {
    await this.#page.getByLabel('Suggesting').click()
    await this.#eventually(
      `suggesting ${isOn}`,
      async () => (await this.#page.getByLabel('Suggesting').isChecked()) === isOn,
    )
    await this.shows('saved')
  }

  /** Accepts the only suggestion in the text, and waits until the editor no longer shows it. */
  async accept(inserted: string): Promise<void> {
    const suggestion = this.#page.locator('.weft-suggestion-widget')
    await suggestion.locator('ins').getByText(inserted).waitFor()
    await suggestion.getByRole('button', { name: 'Accept' }).click()
    await this.#eventually('no suggestion', async () => (await suggestion.count()) === 0)
  }

  /** Returns the number of fields for comments and replies. */
  commentFields(): Promise<number> {
    return this.#page.locator('#comments input').count()
  }

  #thread(text: string): Locator {
    return this.#page.locator('#comments article').filter({ hasText: text })
  }

  async #send(place: Locator, field: 'Comment' | 'Reply', text: string): Promise<void> {
    await place.getByRole('textbox', { name: field }).fill(text)
    await place.getByRole('button', { name: field, exact: true }).click()
  }

  /** Undoes changes by the keyboard until the text is gone. On a slow machine, one text is several changes. */
  async undo(text: string): Promise<void> {
    await this.#page.bringToFront()
    for (let before = await this.text(); before.includes(text); before = await this.text()) {
      await this.#page.keyboard.press('Control+z')
      // A second undo before the page shows the first one could remove the paragraph, and its editor warns about that.
      await this.#eventually(`undo of ${JSON.stringify(text)}`, async () => (await this.text()) !== before)
    }
  }

  /** Waits until the page shows that everything is saved, or that it is offline. */
  shows(status: 'saved' | 'offline'): Promise<void> {
    return this.#eventually(`the status ${status}`, async () => {
      const shown = await this.#textOf('#status')
      return status === 'saved' ? shown === status : shown.startsWith(status)
    })
  }

  /** Waits until the page shows the user with the name. */
  showsUser(name: string): Promise<void> {
    return this.#eventually(`the user ${name}`, async () => (await this.#textOf('#users')).includes(name))
  }

  /** Waits until the editor shows the caret of the user with the name. */
  showsCaretOf(name: string): Promise<void> {
    const carets = this.#page.locator(this.#template.caret)
    return this.#eventually(`the caret of ${name}`, async () =>
      (await carets.allTextContents()).some((text) => text.includes(name)),
    )
  }

  /** Waits until the page shows the role, and the user can write, or not. */
  showsRole(role: string, canWrite: boolean): Promise<void> {
    const editor = this.#page.locator(this.#template.editor).first()
    return this.#eventually(`the role ${role}`, async () => {
      const isEditable = (await editor.getAttribute('contenteditable')) === 'true'
      return (await this.#textOf('#role')) === role && isEditable === canWrite
    })
  }

  /** The app gives the user another role from the next token on. */
  async changeRole(from: string, to: string): Promise<void> {
    await this.#page.route(/\/token\?/, (route) =>
      route.continue({ url: route.request().url().replace(`role=${from}`, `role=${to}`) }),
    )
  }

  /** Waits until the page has requested more tokens, over the websocket that it had. */
  async renews(): Promise<void> {
    const { tokens, sockets } = this.counts
    await this.#eventually('a renewed token', () => this.#tokens > tokens)
    if (this.#sockets !== sockets) throw new Error(`${this.name}: the token was renewed by a new connection`)
  }

  async setNetwork(isOn: boolean): Promise<void> {
    if (!isOn) this.expectNetwork(false)
    // Chromium would use half of a core while a page is offline with an open websocket.
    if (isOn) this.#relay.heal()
    else this.#relay.reject()
    await this.#context.setOffline(!isOn)
    if (isOn) this.expectNetwork(true)
  }

  /** Sets whether the page can have failed requests, because the network or the server is off. */
  expectNetwork(isThere: boolean): void {
    this.#hasNetwork = isThere
  }

  /** Closes the page, and opens it again in the same profile when the network is back. */
  async reopen(): Promise<void> {
    const url = this.#page.url()
    await this.#page.evaluate(stored)
    await this.#page.close({ runBeforeUnload: false })
    await this.setNetwork(true)
    this.#page = await this.#context.newPage()
    this.#watch(this.#page)
    await this.#page.goto(url)
  }

  /**
   * Returns the size of all scripts that the page has loaded, in kilobytes.
   * @throws Error if the page was closed while it loaded one
   */
  async scriptSize(): Promise<{ readonly plain: number; readonly gzip: number }> {
    const bodies = await Promise.all(this.#scripts.values())
    const complete = bodies.filter((body) => body !== null)
    if (complete.length < bodies.length) throw new Error(`${this.name}: the page has not loaded all scripts`)
    const kilobytes = (sizes: readonly number[]): number =>
      Math.round(sizes.reduce((sum, size) => sum + size, 0) / 1000)
    return {
      plain: kilobytes(complete.map((body) => body.length)),
      gzip: kilobytes(complete.map((body) => gzipSync(body).length)),
    }
  }

  /** Closes the profile. @throws Error if the page had errors or warnings */
  async close(): Promise<void> {
    await this.#context.close()
    if (this.#errors.length > 0) throw new Error(`page of ${this.name}: ${this.#errors.join('\n')}`)
  }

  async #textOf(selector: string): Promise<string> {
    return ((await this.#page.locator(selector).textContent()) ?? '').trim()
  }

  #eventually(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
    const describe = () => `${this.name}: ${what}; errors: ${this.#errors.join('\n')}`
    return eventually(holds, describe, 90_000)
  }
}
