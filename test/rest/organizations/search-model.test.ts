import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { searchFor } from '../../../src/core/directory/store/list-page.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { directoryOn, type TestDirectory, tenant } from '../../support/data/directory.ts'

const scope = { ...tenant, organizationId: 'acme' }

/** Names by id. Many ids contain `B`. The searched text differs in case and encoding. */
type Model = Map<string, { name: string; folderId: string }>
const documentId = fc.nat(60).map((at) => `${at % 3 === 0 ? 'B' : 'd'}${String(at).padStart(2, '0')}`)
const name = fc.constantFrom('', 'Abba', 'e\u0301tude', 'ÉTUDE', 'bc', '%', '0')
const change = fc.record({ documentId, name, folderId: fc.constantFrom('root', 'f'), deletes: fc.boolean() })
const wanted = fc.constantFrom('b', 'B', 'É', 'e\u0301', 'bb', '0', 'nowhere', '%')
const folderId = fc.constantFrom(undefined, 'root', 'f')
const walk = fc.record({
  before: fc.array(change, { maxLength: 40 }),
  /** Changes made between the pages. */
  meanwhile: fc.array(fc.array(change, { maxLength: 3 }), { maxLength: 30 }),
  wanted,
  folderId,
  limit: fc.integer({ min: 1, max: 4 }),
  lookedAtMax: fc.integer({ min: 1, max: 9 }),
})

type Change = typeof change extends fc.Arbitrary<infer C> ? C : never

async function carryOut({ documents }: TestDirectory, model: Model, { documentId, deletes, ...to }: Change) {
  const document = { documentId, documentName: to.name, folderId: to.folderId }
  if (!model.has(documentId)) await documents.add(scope, [document], { createFolder: false })
  else if (deletes) await documents.delete(scope, [documentId])
  else await documents.update(scope, [document])
  if (deletes && model.has(documentId)) model.delete(documentId)
  else model.set(documentId, to)
}

const plain = (text: string): string => text.normalize('NFC').toLowerCase()

function idsIn(model: Model, folderId: string | undefined, wanted = ''): string[] {
  return [...model]
    .filter(([, document]) => folderId === undefined || document.folderId === folderId)
    .filter(([id, { name }]) => plain(`${id}\n${name}`).includes(plain(wanted)))
    .map(([id]) => id)
    .sort()
}

it('[DOC-16] a search finds the same documents as a simple model, even if records change between two pages', async () => {
  await fc.assert(
    fc.asyncProperty(walk, async ({ before, meanwhile, wanted, folderId, limit, lookedAtMax }) => {
      const engine = await openMemoryEngine()
      const directory = directoryOn(engine)
      const model: Model = new Map()
      await directory.organizations.ensure(scope)
      await directory.folders.ensure(scope, 'f')
      for (const each of before) await carryOut(directory, model, each)
      const search = searchFor(wanted, lookedAtMax)
      const found: string[] = []
      let always = idsIn(model, folderId, wanted)
      const ever = new Set(always)
      let after: string | undefined
      for (const steps of [...meanwhile, ...Array.from({ length: 200 }, () => [])]) {
        const page = await directory.documents.list(scope, { limit, after, folderId, search })
        found.push(...page.items.map(({ record }) => record.documentId))
        expect(page.items.length).toBeLessThanOrEqual(limit)
        const passed = idsIn(model, folderId).filter(
          (id) => (after === undefined || id > after) && (page.next === null || id <= page.next),
        )
        expect(passed.length).toBeLessThanOrEqual(lookedAtMax)
        if (page.next === null) break
        after = page.next
        for (const step of steps) await carryOut(directory, model, step)
        const now = idsIn(model, folderId, wanted)
        always = always.filter((id) => now.includes(id))
        for (const id of now) ever.add(id)
      }
      expect(found).toEqual([...new Set(found)].sort())
      expect(found).toEqual(expect.arrayContaining(always))
      expect(found.filter((id) => !ever.has(id))).toEqual([])
      await directory.removals.stop()
      await engine.close()
    }),
    { numRuns: 60 },
  )
})
