import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { WebSocket } from 'ws'
import { WebsocketProvider } from 'y-websocket'
import * as Y from 'yjs'
import { eventually, openEditor } from '../clients/clients.ts'
import { type Running, startCli } from './cli.ts'
import type { OldServerProcess } from './legacy-servers.ts'
import { freePort, headers, type ServerProcess, startProcess } from './process.ts'

/** Opens a client that edits a document on an old y-websocket server. */
export function visitor(url: string, name: string) {
  const doc = new Y.Doc()
  const provider = new WebsocketProvider(url, name, doc, {
    WebSocketPolyfill: WebSocket as never,
    disableBc: true,
    maxBackoffTime: 200,
  })
  const close = (): void => {
    provider.destroy()
    doc.destroy()
  }
  return { doc, text: doc.getText('content'), provider, close }
}

/**
 * Function that starts an old server with its data in `directory`. The port is free to choose unless `atPort`
 * is given.
 */
type StartOld = (directory: string, atPort?: number) => Promise<OldServerProcess>

/**
 * Environment of a mirror test: an old server and a Weft server in separate processes, and a temporary
 * folder.
 */
export class MirrorSetting {
  readonly path: string
  readonly #startOld: StartOld
  readonly #options: Readonly<Record<string, string>>
  readonly #weftPort: number
  readonly #started: (() => unknown)[] = []
  old!: OldServerProcess
  weft!: ServerProcess

  private constructor(
    path: string,
    startOld: StartOld,
    options: Readonly<Record<string, string>>,
    weftPort: number,
  ) {
    this.path = path
    this.#startOld = startOld
    this.#options = options
    this.#weftPort = weftPort
  }

  /** Starts both servers. @param options environment variables for the Weft server and for the mirrors */
  static async open(
    startOld: StartOld,
    options: Readonly<Record<string, string>> = {},
  ): Promise<MirrorSetting> {
    const path = await mkdtemp(join(tmpdir(), 'weft-mirror-'))
    const setting = new MirrorSetting(path, startOld, options, await freePort())
    await mkdir(join(path, 'old'))
    setting.old = await startOld(join(path, 'old'))
    await setting.startWeft()
    return setting
  }

  /** Starts the old server again after it was ended, on the same port and with its stored data. */
  async startOld(): Promise<void> {
    this.old = await this.#startOld(join(this.path, 'old'), this.old.port)
  }

  /** Starts the Weft server again after it was ended, on the same port and with its stored data. */
  async startWeft(): Promise<void> {
    this.weft = await startProcess(join(this.path, 'weft'), this.#options, this.#weftPort)
  }

  /** Registers an object that is closed at the end of the test. */
  keep<T extends { close(): unknown }>(started: T): T {
    this.#started.push(() => started.close())
    return started
  }

  /** Starts `weft mirror` for the documents with these names. The mirror ends with the test. */
  async mirror(
    names: readonly string[],
    more: readonly string[] = [],
    from = this.old.url,
    to = this.weft.wsUrl,
  ): Promise<Running> {
    await writeFile(join(this.path, 'names'), names.map((name) => `${name}\n`).join(''))
    const args = ['mirror', from, '--documents', 'names', '--to', to, '--check', '1', '--json', ...more]
    const running = startCli(args, this.path, {
      ...this.#options,
      WEFT_API_KEY: headers['x-service-api-key'],
      WEFT_AUTH_TOKEN: headers['x-service-auth-token'],
    })
    this.#started.push(() => {
      running.child.kill('SIGKILL')
      return running.ended
    })
    return running
  }

  async endTest(): Promise<void> {
    for (const end of this.#started.splice(0).reverse()) await end()
  }

  async end(): Promise<void> {
    await this.old.end()
    await this.weft.end('SIGKILL')
    await rm(this.path, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** Returns a pattern that matches the line in which the mirror reports a document as `inStep`. */
export const inStep = (name: string): RegExp => new RegExp(`"name":"${name}","kind":"inStep"`)

/**
 * Waits until the document in Weft is equal to `doc`. Both must have the same bytes of the state vector and
 * the same content.
 */
export async function sameInWeft(weft: ServerProcess, path: string, doc: Y.Doc): Promise<void> {
  const editor = openEditor(weft.wsUrl, path, await weft.token())
  try {
    await eventually(
      () => Buffer.from(stateOf(editor.doc)).equals(stateOf(doc)),
      () => [editor.text.toJSON().slice(-100), doc.getText('content').toJSON().slice(-100)],
      20_000,
    )
  } finally {
    editor.close()
  }
}

/** Returns the state vector and the content of a document as bytes. */
export function stateOf(doc: Y.Doc): Buffer {
  const content = Object.fromEntries(
    ['content', 'list', 'map'].map((name) => [name, doc.share.has(name) ? contentOf(doc, name) : null]),
  )
  return Buffer.concat([Y.encodeStateVector(doc), Buffer.from(JSON.stringify(content))])
}

function contentOf(doc: Y.Doc, name: string): unknown {
  if (name === 'list') return doc.getArray(name).toJSON()
  return name === 'map' ? doc.getMap(name).toJSON() : doc.getText(name).toJSON()
}

/** Parses the output of a command that prints one JSON object per line. */
export const linesOf = (out: string): Readonly<Record<string, unknown>>[] =>
  out
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>)

/** Starts typing, with an occasional deletion. Returns a function that stops it. */
export function keepTyping({ doc, text }: { readonly doc: Y.Doc; readonly text: Y.Text }): () => void {
  let strokes = 0
  const timer = setInterval(() => {
    strokes += 1
    if (strokes % 7 === 0 && text.length > 3) return text.delete(strokes % (text.length - 2), 2)
    if (strokes % 11 === 0) doc.getMap('map').set(`at${strokes % 5}`, strokes)
    text.insert((strokes * 31) % (text.length + 1), `${strokes} `)
  }, 5)
  return () => clearInterval(timer)
}
