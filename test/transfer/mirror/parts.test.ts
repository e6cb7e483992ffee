import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { coverageOf, missing, proofQuestion, takeProof, undeleted } from '../../../src/mirror/coverage.ts'
import { MirrorClient } from '../../../src/mirror/mirror-client.ts'
import { readNameMap } from '../../../src/transfer/import/name-map.ts'
import { mapName } from '../../../src/transfer/import/name-mapping.ts'
import { readStateVector } from '../../../src/update/state-vector.ts'
import { startTestServer } from '../../support/servers/server.ts'
import { HeldClock } from '../../support/time/clock.ts'

/** The client, position and length of an edit. A negative `length` deletes. */
const edits = fc.array(
  fc.record({
    client: fc.integer({ min: 1, max: 4 }),
    at: fc.nat(50),
    length: fc.integer({ min: -4, max: 4 }),
  }),
  { maxLength: 40 },
)

/** Updates of several clients that receive all edits of each other, one for each edit. */
function updatesOf(script: readonly { client: number; at: number; length: number }[]): Uint8Array[] {
  const doc = new Y.Doc()
  const updates: Uint8Array[] = []
  doc.on('update', (update: Uint8Array) => updates.push(update))
  for (const { client, at, length } of script) {
    doc.clientID = client
    const text = doc.getText('content')
    const from = at % (text.length + 1)
    if (length > 0) text.insert(from, 'x'.repeat(length))
    else if (from < text.length) text.delete(from, Math.min(-length, text.length - from))
  }
  return updates
}

/** A document in the form of Weft: pending updates are not part of it (SYNC-6). */
function docOf(updates: readonly Uint8Array[]): Y.Doc {
  const doc = new Y.Doc()
  for (const update of updates) Y.applyUpdate(doc, update)
  doc.store.pendingStructs = null
  doc.store.pendingDs = null
  return doc
}

describe('coverage of an original by a copy', () => {
  it('[MIRROR-11] the proof that a copy covers its original is complete exactly when the copy has everything', () => {
    const some = fc.array(fc.boolean(), { minLength: 40, maxLength: 40 })
    fc.assert(
      fc.property(edits, some, fc.nat(40), (script, kept, knownOf) => {
        const updates = updatesOf(script)
        const original = docOf(updates)
        const copy = docOf(updates.filter((_, index) => kept[index]))
        const [wanted, has] = [original, copy].map((doc) => readStateVector(Y.encodeStateVector(doc)))
        if (wanted === undefined || has === undefined) return
        // The known state of the copy may be old.
        const known = readStateVector(
          Y.encodeStateVector(docOf(updates.slice(0, knownOf).filter((_, index) => kept[index]))),
        )
        const answer = coverageOf(Y.encodeStateAsUpdate(copy, proofQuestion(wanted, known)))
        takeProof(known, wanted, answer.blocks)
        for (const [client, clock] of known) expect(clock).toBeLessThanOrEqual(has.get(client) ?? 0)
        const covered = [...wanted].every(([client, clock]) => (has.get(client) ?? 0) >= clock)
        expect(missing(wanted, known) === 0).toBe(covered)
        const { deletions } = coverageOf(Y.encodeStateAsUpdate(original))
        const lacking = undeleted(deletions, wanted, answer.deletions)
        if (covered)
          expect(lacking === 0).toBe(copy.getText('content').length === original.getText('content').length)
      }),
      { numRuns: 300 },
    )
  })
})

it('[MIRROR-12] takes the address of a document from the name map, and reports the first invalid line of a map file', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'weft-names-'))
  const file = join(folder, 'map.jsonl')
  try {
    await writeFile(file, '{"name":"a/b/c","organizationId":"o","documentId":"d","editorId":"e"}\n\n')
    const naming = { map: await readNameMap(file), organizationId: 'acme', editorId: 'main' }
    const places = ['a/b/c', 'a/b%2F%20/c', 'a/b'].map((name) => mapName(name, naming))
    expect(places).toEqual([
      { path: { organizationId: 'o', documentId: 'd', editorId: 'e' } },
      { path: { organizationId: 'a', documentId: 'b/ ', editorId: 'c' } },
      { path: { organizationId: 'acme', documentId: 'a/b', editorId: 'main' } },
    ])
    expect(mapName('y', { ...naming, organizationId: null })).toHaveProperty('problem')
    for (const line of ['{', '[]', 'null', '{"name":"x","organizationId":"o","documentId":"d"}']) {
      await writeFile(file, `\n${line}`)
      await expect(readNameMap(file)).rejects.toThrow('line 2')
    }
  } finally {
    await rm(folder, { recursive: true })
  }
})

it('[MIRROR-13] reuses its token for Weft, and creates a new token before the old one expires', async () => {
  const clock = new HeldClock()
  const weft = await startTestServer({}, { clock })
  try {
    const { apiKey, authToken } = weft.credentials
    const access = { url: new URL(weft.url), apiKey, authToken, messageBytesMax: 1024 }
    const server = new MirrorClient(access, clock)
    const path = { organizationId: 'a b', documentId: 'd/e', editorId: 'main' }
    const first = await server.syncUrl(path)
    expect(first.href).toContain(`${weft.wsUrl}/sync/a%20b/d%2Fe/main?token=`)
    expect((await server.syncUrl(path)).href).toBe(first.href)
    clock.advance(172_800_000 - 300_000)
    expect((await server.syncUrl(path)).href).not.toBe(first.href)
    server.forgetToken()
    clock.advance(1000)
    const again = (await server.syncUrl(path)).href
    expect((await server.syncUrl(path)).href).toBe(again)
  } finally {
    await weft.stop()
  }
})
