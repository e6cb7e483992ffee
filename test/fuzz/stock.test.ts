import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import * as Y from 'yjs'
import { exportedRoots } from '../../src/capabilities/transfer/export/document-files.ts'
import { eventually } from '../support/clients/clients.ts'
import { dialects, type Person } from '../support/clients/protocol-clients.ts'
import { seed } from '../support/data/seed.ts'
import {
  type RequestContents,
  requestContents,
  StockEditor,
  type StockStep,
  stockRoots,
  stockStep,
} from '../support/data/stock-edits.ts'
import { stock } from '../support/data/stock-yjs.ts'
import { type Answer, dataOf, startTestServer, type TestServer } from '../support/servers/server.ts'
import { times } from '../support/time/full-run.ts'

const cases = Number(process.env.WEFT_FUZZ_CASES ?? times(8, 50))

let data: string
let server: TestServer
let documents = 0
const start = (): Promise<TestServer> =>
  startTestServer({ engine: 'level', dataDir: data, idleUnloadSeconds: 0, compactAfterUpdates: 10 })
beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), 'weft-stock-'))
  server = await start()
})
afterAll(async () => {
  await server?.stop()
  await rm(data, { recursive: true, force: true, maxRetries: 20 })
})

interface Entry {
  readonly data: unknown
  readonly type: string
  readonly contentKey: string
}

const addressOf = (documentId: string) => ({ organizationId: 'acme', documentId, editorId: 'main' })

const call = (operation: string, documentId: string, more: object = {}): Promise<Answer> =>
  server.post(`/v2/crdt/${operation}`, { ...addressOf(documentId), ...more })

async function read(documentId: string, more: object): Promise<Entry> {
  const [entry] = dataOf(await call('get', documentId, more)) as readonly Entry[]
  return entry as Entry
}

/** Null if the document does not exist yet. */
async function stored(documentId: string): Promise<Uint8Array | null> {
  const answer = await call('get', documentId, { format: 'update' })
  if (answer.status === 404) return null
  const [entry] = dataOf(answer) as readonly [Entry]
  return Buffer.from(entry.data as string, 'base64')
}

/** All that a published Yjs reads in a state: live values exactly, by the ids of their items. */
function meaning(state: Uint8Array): string {
  const doc = new stock.Doc()
  stock.applyUpdate(doc, state)
  const live: string[] = []
  for (const [client, structs] of doc.store.clients)
    for (const each of structs) {
      if (each.deleted || !(each instanceof stock.Item)) continue
      const { content, parentSub } = each
      const units = content.getContent()
      const format = content instanceof stock.ContentFormat ? [content.key, content.value] : []
      const values = content instanceof stock.ContentType ? [content.type.constructor.name] : units
      let at = each.id.clock
      for (const value of values.length === 0 ? [null] : values) {
        live.push(`${client}:${at} ${inspect([parentSub, shown(value), ...format], exactly)}`)
        at += typeof value === 'string' ? value.length : 1
      }
    }
  const order = [...doc.share].map(([name, root]) => [name, idsIn(root)])
  return inspect([live.sort(), order.sort()], exactly)
}

const exactly = { depth: 100, maxArrayLength: null, maxStringLength: null, breakLength: 1_000, sorted: true }

/**
 * Returns a value without the effect of a key `__proto__`: Yjs sets it as the prototype of an object until it
 * encodes the object again.
 */
function shown(value: unknown): unknown {
  if (value instanceof stock.Doc) return { subdocument: value.guid, meta: shown(value.meta) }
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value
  if (Array.isArray(value)) return value.map(shown)
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, shown(each)]))
}

function idsIn({ _start }: Pick<Y.AbstractType<unknown>, '_start'>): string[] {
  const ids: string[] = []
  for (let item = _start; item !== null; item = item.right)
    if (!item.deleted)
      for (let at = 0; at < item.length; at++) ids.push(`${item.id.client}:${item.id.clock + at}`)
  return ids
}

/** The first line that differs, in both, or null. */
function firstDifference(a: string, b: string): readonly unknown[] | null {
  const [left, right] = [a.split('\n'), b.split('\n')]
  const at = left.findIndex((line, index) => line !== right[index])
  return a === b
    ? null
    : [
        at,
        left
          .slice(at - 3, at + 4)
          .join('\n')
          .slice(0, 500),
        right
          .slice(at - 3, at + 4)
          .join('\n')
          .slice(0, 500),
      ]
}

/** Waits until all clients and the server are equal. */
async function settled(documentId: string, people: readonly Person[]): Promise<string> {
  const seen = async () => [
    meaning((await stored(documentId)) ?? Y.encodeStateAsUpdate(new Y.Doc())),
    ...people.map(({ doc }) => meaning(Y.encodeStateAsUpdate(doc))),
  ]
  let states: readonly string[] = []
  await eventually(
    async () => {
      states = await seen()
      return new Set(states).size === 1
    },
    () => states.slice(1).map((state) => firstDifference(states[0] as string, state)),
    30_000,
  )
  return states[0] as string
}

/** Reads every root in every format, and writes each result back. */
async function expectReadable(documentId: string): Promise<void> {
  const { data: roots } = await read(documentId, { format: 'roots' })
  for (const { contentKey, type } of roots as readonly Entry[]) {
    for (const format of ['json', 'text', 'xml', 'delta', 'xmltext', 'update']) {
      const { body } = await call('get', documentId, { contentKey, format })
      const { status, message = '' } = body.error ?? {}
      if (status !== undefined)
        expect([format === 'json' || format === 'update' || format === type, status, message]).toEqual([
          false,
          'INVALID_ARGUMENT',
          expect.stringMatching(/ is of type "/),
        ])
    }
    const { type: readType, data: content } = await read(documentId, { contentKey })
    const again = await call('update', documentId, { contentKey, type: readType, data: content })
    if (isRefused(again)) continue
    const what = JSON.stringify([contentKey, type, content])
    const unchanged = { result: { data: { changed: false, bytes: 0 } } }
    if (type !== 'none') expect(again.body, what).toMatchObject(unchanged)
  }
}

/** Returns whether a write was refused, because the root has content that its type cannot represent. */
const isRefused = ({ body }: Answer): boolean => body.error?.details?.code === 'crdt/unsupported-content'

/**
 * Returns JSON in lines, without irrelevant differences: order of keys, empty members of texts, split pieces.
 */
function canonical(json: unknown): string {
  const plain = (key: string, value: unknown): unknown => {
    if (typeof value === 'string') return value.toWellFormed()
    if (key === 'delta' || (key === '' && Array.isArray(value))) return joined(value as readonly Piece[])
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
    const members = Object.entries(value).filter(([name, each]) => !isEmptyMember(name, each))
    return { members: members.sort(([a], [b]) => (a < b ? -1 : 1)) }
  }
  return JSON.stringify(json, plain, 1)
}

function isEmptyMember(name: string, value: unknown): boolean {
  if (name === 'attributes') return Object.keys(value ?? {}).length === 0
  return name === 'delta' && (value as readonly Piece[]).every(({ insert }) => insert === '')
}

interface Piece {
  readonly insert?: unknown
  readonly attributes?: object
}

/** Joins adjacent texts of the same formatting, and removes empty ones. */
function joined(pieces: readonly Piece[]): unknown {
  const list: Piece[] = []
  for (const piece of pieces) {
    const isPiece = typeof piece === 'object' && piece !== null && 'insert' in piece
    const { attributes = {}, insert } = isPiece ? piece : {}
    const last = list.at(-1)
    const joins = typeof insert === 'string' && typeof last?.insert === 'string'
    if (insert === '') continue
    if (joins && canonical(last.attributes ?? {}) === canonical(attributes))
      list[list.length - 1] = { ...last, insert: [last.insert, insert].join('') }
    else list.push(isPiece && Object.keys(attributes).length === 0 ? { insert } : piece)
  }
  return { pieces: list }
}

/** Writes generated content of each root's kind by REST. */
async function expectWritable(documentId: string, contents: RequestContents): Promise<void> {
  const { data: listed } = await read(documentId, { format: 'roots' })
  const ofRest = { name: contents.contentKey, kind: 'map' } as const
  for (const { name: contentKey, kind } of [...stockRoots, ofRest]) {
    const type = (listed as readonly Entry[]).find((root) => root.contentKey === contentKey)?.type ?? kind
    const types = type === 'none' ? [kind] : type === 'text' ? (['text', 'delta'] as const) : [type]
    for (const each of types) {
      const data = contents[each as keyof RequestContents]
      const request = { contentKey, type: each, data, newRoot: true }
      const written = await call('update', documentId, request)
      if (isRefused(written)) continue
      const { body } = written
      // A string for a fragment must be XML.
      if (/not well-formed XML/.test(body.error?.message ?? '')) {
        const empty = each === 'array' ? [] : {}
        dataOf(await call('update', documentId, { contentKey, type: each, data: empty, newRoot: true }))
        dataOf(await call('update', documentId, request))
      } else expect(body.error, JSON.stringify(request)).toBeUndefined()
      const format = each === 'map' || each === 'array' ? 'json' : each
      const { data: content } = await read(documentId, { contentKey, format })
      if (each !== 'xml')
        expect(firstDifference(canonical(content), canonical(data)), JSON.stringify(request)).toBeNull()
      // An empty element with the name of a mark of the text is that mark without content. When no text has
      // the mark any more, it is an element.
      if (each === 'xml' && content === '') await call('update', documentId, request)
      const again = await call('update', documentId, request)
      expect(again.body, JSON.stringify(request)).toMatchObject({
        result: { data: { changed: false, bytes: 0 } },
      })
    }
  }
  dataOf(await call('update', documentId, { contentKey: 'kept', type: 'array', data: [], newRoot: true }))
}

const someSteps = fc.array(stockStep, { minLength: 20, maxLength: 60 })
const someContents = fc.array(requestContents, { minLength: 1, maxLength: 3 })

async function play(
  steps: readonly StockStep[],
  contents: readonly RequestContents[],
  run: number,
): Promise<string> {
  const documentId = `stock-${run}-${++documents}`
  const token = await server.token('ada')
  const [one, two] = [dialects[run % dialects.length], dialects[(run + 1) % dialects.length]]
  const people = await Promise.all(
    [one, two].map((each) => (each as (typeof dialects)[0]).open(server, documentId, token)),
  )
  const editors = people.map(({ doc }) => new StockEditor(doc))
  try {
    // The document always exists and has a map.
    editors[0]?.doc.getMap(stockRoots[5].name).set('', undefined)
    for (const [index, step] of steps.entries()) {
      editors[step.who % editors.length]?.do(step)
      if (index % 8 === 7) await new Promise((resolve) => setTimeout(resolve, 2))
    }
    const before = await settled(documentId, people)
    await expectReadable(documentId)
    expect(await settled(documentId, people)).toBe(before)
    for (const each of contents) {
      await expectWritable(documentId, each)
      await settled(documentId, people)
    }
    await expectReadable(documentId)
    return documentId
  } finally {
    for (const editor of editors) editor.close()
    for (const person of people) person.close()
  }
}

it(
  `[FUZZ-10] stores, relays, reads and writes the content of stock clients of all protocols (WEFT_FUZZ_SEED=${seed})`,
  async () => {
    const played: string[] = []
    let run = seed
    const deadline = Date.now() + times(8_000, 15_000)
    await fc.assert(
      fc.asyncProperty(someSteps, someContents, async (steps, contents) => {
        // The remaining cases are skipped, not interrupted.
        if (played.length < 2 || Date.now() < deadline) played.push(await play(steps, contents, run++))
      }),
      { seed, numRuns: cases, endOnFailure: true },
    )
    const states = new Map<string, string>()
    for (const documentId of played) {
      const state = (await stored(documentId)) as Uint8Array
      states.set(documentId, meaning(state))
      const copy = `${documentId}-copy`
      const applied = await call('apply', copy, {
        update: Buffer.from(state).toString('base64'),
        create: true,
      })
      expect(applied.body.error).toBeUndefined()
      expect(meaning((await stored(copy)) as Uint8Array)).toBe(states.get(documentId))
      const doc = new Y.Doc()
      Y.applyUpdate(doc, state)
      expect(exportedRoots(doc).map(({ contentKey }) => contentKey)).toContain(stockRoots[5].name)
      expect(await read(copy, { contentKey: 'kept' })).toMatchObject({ type: 'array', data: [] })
      const { versionId } = dataOf(await call('versions/create', documentId)) as { versionId: string }
      const version = await call('versions/get', documentId, { versionId, format: 'update' })
      const kept = (dataOf(version) as Entry).data as string
      expect(meaning(Buffer.from(kept, 'base64'))).toBe(states.get(documentId))
    }
    await server.stop()
    server = await start()
    for (const [documentId, state] of states) {
      expect(meaning((await stored(documentId)) as Uint8Array)).toBe(state)
      expect(await read(documentId, { contentKey: 'kept' })).toMatchObject({ type: 'array', data: [] })
      await expectReadable(documentId)
    }
  },
  times(120_000, 400_000),
)
