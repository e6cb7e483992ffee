import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import * as Y from 'yjs'
import { openOfflineStore } from '../../../src/capabilities/backups/storage/offline-store.ts'
import { mapName } from '../../../src/capabilities/transfer/name-mapping.ts'
import { readCredentials } from '../../../src/core/directory/tenants/credentials-file.ts'
import { addressKey, type DocumentPath, documentAddress } from '../../../src/core/model/address.ts'
import { loadRoom } from '../../../src/core/rooms/log/load-room.ts'
import { type Ran, runCli } from '../servers/cli.ts'
import { startTestServer } from '../servers/server.ts'
import { storedContent } from '../stores/stored-content.ts'
import { editRandomly, Random } from './random-doc.ts'

/**
 * Documents of another server by name. The updates of each document are in the order in which they arrived.
 */
export type Moved = ReadonlyMap<string, readonly Uint8Array[]>

/** Names that documents of other servers may have: addresses, and any text that users type. */
export const oddNames = [
  'acme/plan/main',
  'acme/%C3%A4%20b%2Fc/main',
  'acme/ä b/ü?#',
  'my room',
  'with/four/parts/of it',
  '100%',
  'o\'brien"; DROP TABLE documents; --',
  'emoji 😀 漢字',
  '__proto__',
  'v1_sv',
  'x'.repeat(255),
]

export const flat = { organizationId: 'old', editorId: 'main' }

export function pathOf(name: string): DocumentPath {
  const named = mapName(name, { map: new Map(), ...flat })
  if ('problem' in named) throw new Error(named.problem)
  return named.path
}

/** Returns documents with all kinds of content and with deletions. One document has more than 1 MB. */
export function sampleDocuments(seed: number): Moved {
  const random = new Random(seed)
  const some = oddNames.map((name) => {
    const edits = 40 + random.below(60)
    const updates = updatesOf((doc) => {
      for (let edit = 0; edit < edits; edit++) editRandomly(doc, random)
    })
    return [name, updates] as const
  })
  return new Map([...some, ['acme/big/main', bigDocument()]])
}

function bigDocument(): readonly Uint8Array[] {
  return updatesOf((doc) => {
    const text = doc.getText('content')
    for (let part = 0; part < 300; part++) text.insert(text.length, `${part} `.repeat(1_000))
    for (let part = 0; part < 50; part++) text.delete(part * 1_000, 500)
  })
}

export function updatesOf(edit: (doc: Y.Doc) => void, before: readonly Uint8Array[] = []): Uint8Array[] {
  const doc = docOf(before)
  const updates: Uint8Array[] = []
  doc.on('update', (update: Uint8Array) => void updates.push(update))
  edit(doc)
  return updates
}

/** Returns the updates `before`, followed by an update that adds `text` at the end. */
export const typedAfter = (before: readonly Uint8Array[], text: string): Uint8Array[] =>
  updatesOf((doc) => doc.getText('content').insert(doc.getText('content').length, text), before)

export function docOf(updates: readonly Uint8Array[]): Y.Doc {
  const doc = new Y.Doc()
  for (const update of updates) Y.applyUpdate(doc, update)
  return doc
}

/** Returns all properties in which two copies of a document must be equal. */
export function allOf(doc: Y.Doc): unknown {
  const vector = Y.encodeStateVector(doc)
  const deletions = Y.encodeStateAsUpdate(doc, vector)
  return {
    vector: Buffer.from(vector).toString('hex'),
    deletions: Buffer.from(deletions).toString('hex'),
    content: storedContent(doc),
  }
}

/** Returns the data directory of a server that was started once. */
export async function newStore(): Promise<string> {
  const data = await mkdtemp(join(tmpdir(), 'weft-moving-'))
  await (await startTestServer({ engine: 'level', dataDir: data })).stop()
  return data
}

export const forget = (path: string): Promise<void> =>
  rm(path, { recursive: true, force: true, maxRetries: 20 })

/** Runs `weft import` in the directory `data`, into the store in this directory. */
export const runImport = (data: string, ...args: readonly string[]): Promise<Ran> =>
  runCli(['import', ...args, '--data-dir', data], data)

/** Returns the number of log entries and the content of each document in the store of a stopped server. */
export async function storedOf(
  data: string,
  paths: readonly DocumentPath[],
): Promise<readonly ({ readonly head: number; readonly doc: Y.Doc } | null)[]> {
  const { workspaceId = '', apiKey = '' } = (await readCredentials(data)) ?? {}
  const engine = await openOfflineStore(data, 'refuse')
  try {
    return await Promise.all(
      paths.map(async (path) => {
        const { loaded, state } = await loadRoom(
          engine.log,
          addressKey(documentAddress({ workspaceId, apiKey }, path)),
        )
        return loaded.state === 'live' ? { head: loaded.head, doc: docOf([state.encode()]) } : null
      }),
    )
  } finally {
    await engine.close()
  }
}

/**
 * Checks that the store contains these documents. Each must have the content of its updates, and the same
 * bytes of the state vector and the deletions.
 */
export async function expectStored(data: string, documents: Moved): Promise<void> {
  const stored = await storedOf(data, [...documents.keys()].map(pathOf))
  const found = stored.map((each) => each && allOf(each.doc))
  expect(found).toEqual([...documents.values()].map((updates) => allOf(docOf(updates))))
}

/** Parses the output of a command that was run with `--json`. */
export const summary = ({ out }: Ran): unknown => JSON.parse(out)

/** Returns the names and contents of all files in a folder. */
export function filesOf(folder: string): ReadonlyMap<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  )
  return new Map(
    files
      .map((entry) => join(entry.parentPath, entry.name))
      .sort()
      .map((path) => [path, readFileSync(path).toString('base64')]),
  )
}
