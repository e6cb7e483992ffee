import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { WebsocketProvider } from 'y-websocket'
import * as Y from 'yjs'
import { type Editor, eventually, openEditor, RawClient } from '../support/clients/clients.ts'
import { Random } from '../support/data/random-doc.ts'
import { cutPower } from '../support/faults/power-loss.ts'
import type { ServerProcess } from '../support/servers/process.ts'
import { startLasting } from './support/server.ts'

export interface CrashOptions {
  readonly rounds: number
  readonly seed: number
  /** After a power loss the files have the synced bytes, and only some of the others. */
  readonly by: 'SIGKILL' | 'power'
  /** `disk` by default, as in production. */
  readonly durability?: 'disk' | 'process'
  readonly say: (line: string) => void
}

export interface Crashes {
  /** Updates that a client received, by broadcast or in an answer. */
  readonly shown: number
  /** Replacements with the response 200. */
  readonly answered: number
  /** The number of both that are missing after the restart. */
  readonly lost: number
  /** Bytes of the files that the power loss removed. */
  readonly cutBytes: number
}

const writers = 4
const stockEditors = 2
/** Rounds per document: an old document takes time to read and adds nothing to the test. */
const roundsPerDocument = 10
/** Maximum time from the first shown update to the crash. */
const loadMsMax = 300

const hook = new URL('support/synced-bytes.mjs', import.meta.url).href

const digest = (doc: Y.Doc): string => Buffer.from(Y.encodeSnapshot(Y.snapshot(doc))).toString('base64')

/** A document that outlives several servers. */
class Document {
  readonly #number: number
  #editors: readonly Editor[] = []

  constructor(number: number) {
    this.#number = number
  }

  get address() {
    return { organizationId: 'acme', documentId: `crash-${this.#number}`, editorId: 'main' }
  }

  get #path(): string {
    return `acme/crash-${this.#number}/main`
  }

  async connect(server: ServerProcess): Promise<RawClient> {
    return RawClient.connect(`${server.wsUrl}/sync/${this.#path}?token=${await server.token()}`)
  }

  /** Returns the document as a new client gets it. */
  async stateOn(server: ServerProcess): Promise<Y.Doc> {
    const client = await this.connect(server)
    await client.roundTrip()
    client.end()
    const doc = new Y.Doc()
    for (const update of client.offers()) Y.applyUpdate(doc, update)
    return doc
  }

  /** Opens stock clients, which stay over the crash and reconnect to `server`. */
  async edit(server: ServerProcess): Promise<void> {
    const token = await server.token()
    if (this.#editors.length === 0)
      this.#editors = Array.from({ length: stockEditors }, () => openEditor(server.wsUrl, this.#path, token))
    for (const { provider } of this.#editors) Object.assign(provider, reached(provider, server, token))
    await eventually(() => this.#editors.every(({ provider }) => provider.synced))
  }

  type(random: Random): void {
    for (const { text } of this.#editors) text.insert(random.below(text.length + 1), 'stock')
  }

  async converge(server: ServerProcess): Promise<void> {
    await this.edit(server)
    await eventually(async () => {
      const state = digest(await this.stateOn(server))
      return this.#editors.every(({ doc }) => digest(doc) === state)
    })
  }

  close(): void {
    for (const editor of this.#editors) editor.close()
  }
}

const reached = (provider: WebsocketProvider, { wsUrl }: ServerProcess, token: string) => ({
  serverUrl: `${wsUrl}/sync`,
  params: { ...provider.params, token },
})

/** Types about one letter per millisecond into the document until the connection is lost. */
async function write(client: RawClient, random: Random): Promise<void> {
  await Promise.race([client.roundTrip(), client.closed])
  const doc = new Y.Doc()
  for (const update of client.offers()) Y.applyUpdate(doc, update)
  doc.on('update', (update: Uint8Array) => client.sendUpdate(update))
  const text = doc.getText('content')
  while (client.socket.readyState === client.socket.OPEN) {
    if (text.length > 0 && random.below(8) === 0) text.delete(random.below(text.length), 1)
    else text.insert(random.below(text.length + 1), String.fromCharCode(97 + random.below(26)))
    // The answer contains the stored state, which therefore also counts as shown.
    if (random.below(20) === 0) client.sendVector(Uint8Array.of(0))
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
}

/**
 * Appends one line after the other by REST until a call fails. Collects the versions of the responses with
 * 200.
 */
async function replace({ address }: Document, server: ServerProcess, versions: number[]): Promise<void> {
  for (;;) {
    const { data } = await server.post('/v2/crdt/get', address)
    const target = `${(data as [{ data: string }])[0].data}\n${versions.length}`
    const answer = await server.post('/v2/crdt/update', { ...address, type: 'text', data: target })
    if (answer.status === 200) versions.push(numberOf((answer.data as { version: string }).version))
  }
}

/** Returns the number of updates in the log of a version. */
const numberOf = (version: string): number => Number(version.split('.')[1])

/** Everything that was shown until the server was killed. */
interface Shown {
  readonly updates: readonly Uint8Array[]
  readonly versions: readonly number[]
}

async function loadUntilKilled(document: Document, server: ServerProcess, random: Random): Promise<Shown> {
  const reader = await document.connect(server)
  await reader.roundTrip()
  const versions: number[] = []
  const clients = await Promise.all(Array.from({ length: writers }, () => document.connect(server)))
  const writing = Promise.all(clients.map((client) => write(client, random)))
  const replacing = replace(document, server, versions).catch(() => {})
  await document.edit(server)
  document.type(random)
  await eventually(() => reader.updates().length > 0)
  await new Promise((resolve) => setTimeout(resolve, random.below(loadMsMax)))
  document.type(random)
  await server.end('SIGKILL')
  await Promise.all([writing, replacing, reader.closed])
  const updates = [reader, ...clients].flatMap((client) => [...client.offers(), ...client.updates()])
  return { updates, versions }
}

/** Returns how much of what was shown the server lacks. */
async function lostOn(server: ServerProcess, document: Document, shown: Shown): Promise<number> {
  const kept = await document.stateOn(server)
  const last = await lastVersionOn(server, document)
  const unanswered = shown.versions.filter((number) => number > last).length
  const all = new Y.Doc()
  Y.applyUpdate(all, Y.mergeUpdates([Y.encodeStateAsUpdate(kept), ...shown.updates]))
  const isWhole = all.store.pendingStructs === null && digest(all) === digest(kept)
  return unanswered + (isWhole ? 0 : shown.updates.filter((update) => isNew(kept, update)).length)
}

/** Returns 0 if the document itself is lost. */
async function lastVersionOn(server: ServerProcess, { address }: Document): Promise<number> {
  const { data } = await server.post('/v2/crdt/get', address)
  return data === undefined ? 0 : numberOf((data as [{ version: string }])[0].version)
}

/** Returns whether the update adds anything to the document. */
function isNew(doc: Y.Doc, update: Uint8Array): boolean {
  const before = digest(doc)
  Y.applyUpdate(doc, update)
  return digest(doc) !== before || doc.store.pendingStructs !== null
}

/** Returns the bytes of each log that are on disk, from the notes of the server. */
function syncedBytes(notes: string): ReadonlyMap<string, number> {
  const lines = existsSync(notes) ? readFileSync(notes, 'utf8').split('\n') : []
  return new Map(lines.map((line) => line.split(' ')).map(([name = '', bytes]) => [name, Number(bytes)]))
}

/**
 * Kills a server at random moments under load, starts it again, and counts what is lost of what it had shown.
 */
export async function crashes({
  rounds,
  seed,
  by,
  durability = 'disk',
  say,
}: CrashOptions): Promise<Crashes> {
  const random = new Random(seed)
  const data = mkdtempSync(join(tmpdir(), 'weft-crash-'))
  const notes = `${data}.synced`
  const hooked = by === 'power' ? { NODE_OPTIONS: `--import ${hook}`, SYNCED_BYTES: notes } : {}
  const options = { WEFT_DURABILITY: durability, ...hooked }
  const start = (): Promise<ServerProcess> => {
    writeFileSync(notes, '')
    return startLasting(data, options)
  }
  const all = { shown: 0, answered: 0, lost: 0, cutBytes: 0 }
  let server = await start()
  let document = new Document(0)
  try {
    for (let round = 0; round < rounds; round++) {
      if (round % roundsPerDocument === 0) {
        document.close()
        document = new Document(round)
        await server.post('/v2/crdt/add', { ...document.address, type: 'text', data: 'start' })
      }
      const shown = await loadUntilKilled(document, server, random)
      if (by === 'power') all.cutBytes += await cutPower(join(data, 'store'), syncedBytes(notes), random)
      server = await start()
      const lost = await lostOn(server, document, shown)
      if (lost > 0) say(`round ${round}, seed ${seed}: ${lost} lost`)
      await document.converge(server)
      all.shown += shown.updates.length
      all.answered += shown.versions.length
      all.lost += lost
      if ((round + 1) % 20 === 0)
        say(`${round + 1} of ${rounds} rounds: ${all.shown} shown, ${all.lost} lost`)
    }
    return all
  } finally {
    document.close()
    await server.end('SIGKILL')
    for (const path of [data, notes]) rmSync(path, { recursive: true, force: true, maxRetries: 5 })
  }
}
