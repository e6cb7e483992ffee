import { expect, it } from 'vitest'
import * as Y from 'yjs'
import {
  type Archive,
  decodeArchive,
  encodeArchive,
  Generations,
  rebasesMax,
} from '../../../src/core/content/generations/generations.ts'
import { pruneState } from '../../../src/core/content/generations/prune-state.ts'
import { rebase } from '../../../src/core/content/generations/rebase.ts'
import { toJson } from '../../../src/core/content/json/json.ts'
import { GenerationStore } from '../../../src/core/rooms/log/generation-store.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { withoutKnownDeletions } from '../../../src/core/update/deletions.ts'
import { readUpdate } from '../../../src/core/update/read-update.ts'
import { missingClocks } from '../../../src/core/update/summary.ts'
import { Random } from '../../support/data/random-doc.ts'
import { seed } from '../../support/data/seed.ts'
import { times } from '../../support/time/full-run.ts'

const stateOf = (doc: Y.Doc): Uint8Array => Y.encodeStateAsUpdate(doc)

function loaded(...states: readonly Uint8Array[]): Y.Doc {
  const doc = new Y.Doc()
  for (const state of states) Y.applyUpdate(doc, state)
  return doc
}

/** The server of a document: rebases edits of earlier generations, as a room does. */
class ModelServer {
  /** Without types, as in a room: Yjs would delete formatting marks in a typed text, which no client would learn. */
  doc = new Y.Doc()
  archives: Archive[] = []
  readonly items = new Map<number, Uint8Array>()
  readonly unplaced: Y.Doc[] = []
  readonly clients: ModelClient[] = []
  rebases = 0

  get content(): unknown {
    return contentOf(loaded(stateOf(this.doc)))
  }

  get generations(): Generations {
    return new Generations(this.archives)
  }

  /** Updates that depend on missing ones. */
  #pending: { readonly bytes: Uint8Array; readonly from: ModelClient }[] = []

  receive(bytes: Uint8Array, from: ModelClient): void {
    if (!this.#take(bytes, from)) return void this.#pending.push({ bytes, from })
    for (const each of this.#pending.splice(0)) this.receive(each.bytes, each.from)
  }

  #take(bytes: Uint8Array, from: ModelClient): boolean {
    const clocks = Y.decodeStateVector(Y.encodeStateVector(this.doc))
    if (!this.generations.concern(bytes, clocks)) {
      if (missingClocks(readUpdate(bytes), clocks).length > 0) return false
      // A room sends offers on without the deletions that it knows, so that no client gets those of a prune by them.
      const sent = withoutKnownDeletions(bytes, readUpdate(bytes), this.doc.store)
      Y.applyUpdate(this.doc, bytes)
      this.send(sent, from)
      return true
    }
    const needs = this.generations.neededBy(bytes, clocks)
    const items = new Map([...this.items].filter(([client]) => needs.includes(client)))
    const rebased = rebase(this.generations, items, stateOf(this.doc), bytes)
    if (rebased === 'incomplete') return false
    if (rebased === null) return true
    this.rebases += 1
    if (rebased.archive !== null) this.#archive(rebased.archive, bytes)
    if (rebased.unplaced !== null) this.unplaced.push(loaded(rebased.unplaced))
    Y.applyUpdate(this.doc, rebased.update)
    expect(this.content).toEqual(contentOf(loaded(rebased.state)))
    this.send(rebased.update, null)
    return true
  }

  #archive(archive: Archive, items: Uint8Array): void {
    this.archives.push(decodeArchive(encodeArchive(archive)))
    this.items.set(archive.client, items)
  }

  prune(isCompacted: boolean): void {
    const { update, state, archive } = pruneState(stateOf(this.doc), this.generations)
    const before = this.content
    this.#archive(archive, stateOf(this.doc))
    if (isCompacted) this.doc = loaded(state)
    else Y.applyUpdate(this.doc, update)
    expect(this.content).toEqual(before)
    this.send(update, null)
  }

  send(bytes: Uint8Array, except: ModelClient | null): void {
    const replaces = except === null
    for (const client of this.clients)
      if (client.isSynced && client !== except) client.down.push({ bytes, replaces })
  }
}

type Message =
  | { readonly bytes: Uint8Array; readonly replaces?: boolean; readonly isOffer?: boolean }
  | { readonly vector: Uint8Array }

/** A stock client: sends its edits while it is connected, and synchronizes when it connects. */
class ModelClient {
  readonly doc: Y.Doc
  readonly server: ModelServer
  isOnline = false
  up: Message[] = []
  down: Message[] = []
  /** The number of edits that were on their way when items were replaced. If they were lost, so was their text. */
  #underWay = 0
  #vector: Uint8Array | null = null
  #hasOffered = false

  constructor(server: ModelServer, gc: boolean) {
    this.server = server
    this.doc = new Y.Doc({ gc })
    this.doc.on('update', (bytes: Uint8Array, origin: unknown) => {
      if (this.isOnline && origin !== this) this.up.push({ bytes })
    })
    server.clients.push(this)
  }

  /** A client that may have edits from before a prune gets no updates before it has offered them. */
  get isSynced(): boolean {
    return this.isOnline && this.#hasOffered && this.#vector === null
  }

  /** Disconnects a connected client, and connects another one. */
  toggle(): void {
    if (this.isOnline) this.disconnect()
    else this.connect()
  }

  connect(): void {
    this.isOnline = true
    this.#hasOffered = false
    this.#vector = null
    this.down = [{ vector: Y.encodeStateVector(this.server.doc) }]
    this.up = [{ vector: Y.encodeStateVector(this.doc) }]
  }

  disconnect(): void {
    while (this.#underWay > 0) this.step('up')
    this.isOnline = false
    this.up = []
    this.down = []
  }

  /** Handles the oldest message of one direction. */
  step(direction: 'up' | 'down'): boolean {
    const message = this[direction].shift()
    if (message === undefined) return false
    if (direction === 'up') {
      this.#underWay = Math.max(0, this.#underWay - 1)
      if ('vector' in message) this.#vector = message.vector
      else {
        this.server.receive(message.isOffer ? message.bytes : this.#joined(message.bytes), this)
        this.#hasOffered ||= message.isOffer === true
      }
      // A client that has not received a prune must offer its edits before it receives it.
      if (this.#hasOffered && this.#vector !== null) {
        this.down.push({ bytes: Y.encodeStateAsUpdate(this.server.doc, this.#vector), replaces: true })
        this.#vector = null
      }
    } else if ('vector' in message)
      this.up.push({ bytes: Y.encodeStateAsUpdate(this.doc, message.vector), isOffer: true })
    else {
      if (message.replaces === true) this.#underWay = this.up.length
      Y.applyUpdate(this.doc, message.bytes, this)
    }
    return true
  }

  /** Joins an update that must be rebased, in some histories, with those behind it, as a room does. */
  #joined(first: Uint8Array): Uint8Array {
    const { generations, doc, rebases } = this.server
    const clocks = Y.decodeStateVector(Y.encodeStateVector(doc))
    const updates = [first]
    if (rebases % 2 === 1 || !generations.concern(first, clocks)) return first
    for (let [next] = this.up; next !== undefined && !('vector' in next) && !next.isOffer; [next] = this.up) {
      updates.push(next.bytes)
      this.up.shift()
      this.#underWay = Math.max(0, this.#underWay - 1)
    }
    return Y.mergeUpdates(updates)
  }
}

const roots = (doc: Y.Doc) => ({
  text: doc.getText('text'),
  list: doc.getArray<string>('list'),
  map: doc.getMap('map'),
  xml: doc.getXmlFragment('xml'),
})

const contentOf = (doc: Y.Doc): unknown => {
  const { text, list, map, xml } = roots(doc)
  const characters = text
    .toDelta()
    .flatMap(({ insert, attributes = {} }: { insert: string; attributes?: object }) =>
      insert.split('').map((character) => [character, attributes]),
    )
  return { text: characters, list: list.toJSON(), map: toJson(map.toJSON()), xml: xml.toString() }
}

const visible = (doc: Y.Doc): string => {
  const { text, list, xml } = roots(doc)
  return `${text.toString()}${list.toJSON().join('')}${xml.toString()}`
}

/** Makes random edits with characters that occur once. */
class ModelUser {
  readonly inserted: Map<string, string>
  readonly deleted: Set<string>
  readonly client: ModelClient
  readonly random: Random

  constructor(client: ModelClient, random: Random, inserted: Map<string, string>, deleted: Set<string>) {
    this.client = client
    this.random = random
    this.inserted = inserted
    this.deleted = deleted
  }

  #mark(place: string): string {
    const mark = String.fromCodePoint(0x4e00 + this.inserted.size)
    this.inserted.set(mark, place)
    return mark
  }

  edit(): void {
    const { random } = this
    const { text, list, map, xml } = roots(this.client.doc)
    const kind = random.below(10)
    if (kind < 3) text.insert(random.below(text.length + 1), this.#mark('text') + this.#mark('text'))
    else if (kind === 3) this.#delete(text.toString(), (at) => text.delete(at, 1))
    else if (kind === 4) list.insert(random.below(list.length + 1), [this.#mark('list')])
    else if (kind === 5) this.#delete(list.toJSON(), (at) => list.delete(at, 1))
    else if (kind === 6) map.set(`k${random.below(3)}`, random.below(1_000))
    else if (kind === 7 && text.length > 1)
      text.format(random.below(text.length - 1), 2, { bold: random.below(2) === 0 ? true : null })
    else if (random.below(4) === 0 || xml.length === 0) this.#paragraph(xml)
    else this.#inParagraph(xml, random.below(xml.length))
  }

  #paragraph(xml: Y.XmlFragment): void {
    const paragraph = new Y.XmlElement('p')
    const name = `p${this.random.below(1_000_000)}`
    paragraph.setAttribute('name', name)
    paragraph.insert(0, [new Y.XmlText(this.#mark(name))])
    xml.insert(this.random.below(xml.length + 1), [paragraph])
  }

  #inParagraph(xml: Y.XmlFragment, at: number): void {
    const paragraph = xml.get(at) as Y.XmlElement
    const name = paragraph.getAttribute('name') as string
    if (this.random.below(8) === 0) {
      for (const mark of paragraph.toString()) this.deleted.add(mark)
      this.deleted.add(name)
      return xml.delete(at, 1)
    }
    const text = paragraph.get(0) as Y.XmlText
    if (this.random.below(3) > 0) text.insert(this.random.below(text.length + 1), this.#mark(name))
    else this.#delete(text.toString(), (index) => text.delete(index, 1))
  }

  #delete(marks: string | readonly string[], remove: (at: number) => void): void {
    if (marks.length === 0) return
    const at = this.random.below(marks.length)
    const mark = marks[at] as string
    if (!this.inserted.has(mark)) return
    this.deleted.add(mark)
    remove(at)
  }
}

function run(history: number): number {
  const random = new Random(history)
  const server = new ModelServer()
  const inserted = new Map<string, string>()
  const deleted = new Set<string>()
  const users = [0, 1, 2, 3].map(
    (at) => new ModelUser(new ModelClient(server, at % 2 === 0), random, inserted, deleted),
  )
  const steps = 60 + random.below(200)
  for (let step = 0; step < steps; step += 1) {
    const user = random.pick(users)
    const { client } = user
    const kind = random.below(20)
    if (kind === 0) client.toggle()
    else if (kind === 1 && random.below(2) === 0) server.prune(random.below(4) > 0)
    else if (kind < 10) user.edit()
    else if (client.isOnline)
      for (let n = random.below(6); n >= 0; n -= 1) client.step(random.pick(['up', 'down']))
  }
  for (const { client } of users) if (!client.isOnline) client.connect()
  for (let more = true; more; ) {
    more = false
    for (const { client } of users)
      for (const direction of ['up', 'down'] as const) while (client.step(direction)) more = true
  }
  expect(server.doc.store.pendingStructs).toBeNull()
  for (const { client } of users) expect(contentOf(client.doc), `seed ${history}`).toEqual(server.content)
  const shown = visible(loaded(stateOf(server.doc)))
  for (const [mark, place] of inserted) {
    const count = shown.split(mark).length - 1
    const branched = server.unplaced.some((doc) => visible(doc).includes(mark))
    if (deleted.has(mark)) expect(count, `seed ${history}: deleted ${mark} of ${place}`).toBe(0)
    else if (deleted.has(place)) expect(count).toBe(0)
    else expect(count, `seed ${history}: ${mark} of ${place}, branched ${branched}`).toBe(1)
  }
  return server.rebases
}

/** Histories that lost or doubled text with earlier code. */
const onceFailed = [8675483, 31337609]

it('[PRUNE-1] after random edits, prunes and reconnects, all clients have the same content, and each edit once', () => {
  let rebases = 0
  for (const history of onceFailed) rebases += run(history)
  for (let at = 0; at < times(3, 400); at += 1) rebases += run(seed + at)
  expect(rebases).toBeGreaterThan(0)
})

it('[PRUNE-12] reads only the replaced content that an edit needs, and rebases no more from a number on', () => {
  const server = new ModelServer()
  const client = new ModelClient(server, false)
  server.doc.getText('text').insert(0, 'one two')
  for (let round = 0; round < 3; round += 1) {
    if (round === 1) Y.applyUpdate(client.doc, stateOf(server.doc))
    server.prune(true)
  }
  const [, second] = server.archives.map((archive) => archive.client)
  const clocksOf = (doc: Y.Doc) => Y.decodeStateVector(Y.encodeStateVector(doc))
  const edit = (): Uint8Array => {
    const before = Y.encodeStateVector(client.doc)
    client.doc.getText('text').insert(3, ' and')
    return Y.encodeStateAsUpdate(client.doc, before)
  }
  const first = edit()
  expect(server.generations.neededBy(first, clocksOf(server.doc))).toEqual([second])
  server.receive(first, client)
  const rebased = server.archives.at(-1)
  expect(server.generations.neededBy(edit(), clocksOf(server.doc))).toEqual([rebased?.client, second])
  expect(server.doc.getText('text').toJSON()).toBe('one and two')
  const full = Array.from({ length: rebasesMax }, () => rebased as Archive)
  expect(server.generations.isFull).toBe(false)
  expect(new Generations([...server.archives, ...full]).isFull).toBe(true)
})

it('[PRUNE-13] reads only the archives of a document when its clients have many ids as large as those of copies', async () => {
  const { blobs } = await openMemoryEngine()
  let reads = 0
  const get: typeof blobs.get = (key) => {
    reads += 1
    return blobs.get(key)
  }
  const store = new GenerationStore({
    put: (...given) => blobs.put(...given),
    delete: (key) => blobs.delete(key),
    list: (...given) => blobs.list(...given),
    get,
  })
  const address = {
    workspaceId: 'w',
    apiKey: 'k',
    organizationId: 'acme',
    documentId: 'many',
    editorId: 'main',
  }
  const doc = new Y.Doc()
  doc.getText('text').insert(0, 'one two')
  const clients: number[] = []
  let generations = new Generations([])
  // The keys of the blobs take several pages.
  for (let round = 0; round < 110; round += 1) {
    const { state, archive } = pruneState(stateOf(doc), generations)
    await store.add(address, archive, state)
    clients.push(archive.client)
    generations = generations.with(archive)
  }
  const max = Math.max(...clients)
  const present = [...clients.slice(1), ...Array.from({ length: 100_000 }, (_, at) => max + 1 + at)]
  const loaded = await store.load(address, new Map(present.map((client) => [client, 1])))
  expect(loaded.archives.map((each) => each.client)).toEqual(clients.slice(1).toSorted((a, b) => a - b))
  expect(reads).toBe(clients.length - 1)
})

it('[PRUNE-10] refuses a document whose client ids leave none for a copy, and still rebases its edits', () => {
  const doc = new Y.Doc()
  doc.getText('text').insert(0, 'one two')
  const archive = pruneState(stateOf(doc), new Generations([]))
  const [pruned, client] = [loaded(archive.state), loaded(stateOf(doc))]
  const huge = new Y.Doc()
  huge.clientID = Number.MAX_SAFE_INTEGER
  Y.applyUpdate(huge, stateOf(pruned))
  huge.getText('text').insert(0, 'zero ')
  expect(() => pruneState(stateOf(huge), new Generations([archive.archive]))).toThrow('client ids')
  const before = Y.encodeStateVector(client)
  client.getText('text').insert(3, ' and')
  const update = Y.encodeStateAsUpdate(client, before)
  const generations = new Generations([archive.archive])
  const rebased = rebase(
    generations,
    new Map([[archive.archive.client, stateOf(doc)]]),
    stateOf(huge),
    update,
  )
  if (rebased === null || rebased === 'incomplete') throw new Error('not rebased')
  Y.applyUpdate(client, stateOf(huge))
  Y.applyUpdate(client, rebased.update)
  expect(contentOf(client)).toEqual(contentOf(loaded(rebased.state)))
  expect(client.getText('text').toJSON()).toBe('zero one and two')
  expect(rebased.archive?.client).toBeGreaterThan(archive.archive.client)
})

it('[PRUNE-1] sets a key again that was deleted before a prune, for all clients', () => {
  const doc = new Y.Doc()
  doc.clientID = 900
  const map = doc.getMap('map')
  map.set('k', 1)
  map.delete('k')
  const pruned = pruneState(stateOf(doc), new Generations([]))
  Y.applyUpdate(doc, pruned.update)
  const later = loaded(pruned.state)
  // Smaller than the client id of the deleted entry, which only the first client has.
  later.clientID = 800
  later.getMap('map').set('k', 2)
  Y.applyUpdate(doc, stateOf(later))
  expect(map.toJSON()).toEqual({ k: 2 })
})
