import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import type { FolderView } from '../../../src/core/directory/documents/folder-views.ts'
import { directoryLimits } from '../../../src/core/directory/limits.ts'
import type { BatchResults } from '../../../src/core/directory/store/batch.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { directoryOn, type TestDirectory, tenant } from '../../support/data/directory.ts'

const scope = { ...tenant, organizationId: 'acme' }
const folderIds = ['a', 'b', 'c', 'd', 'e', 'f']
const documentIds = ['x', 'y', 'z']

/** A simple model of folders and documents. */
class Model {
  readonly folders = new Map<string, string>()
  readonly documents = new Map<string, string>()

  /** The folder and those above it; null for a missing folder. */
  path(folderId: string): string[] | null {
    if (folderId === 'root') return []
    const parent = this.folders.get(folderId)
    const above = parent === undefined ? null : this.path(parent)
    return above && [folderId, ...above]
  }

  add(folderId: string, parent: string): boolean {
    if (this.folders.has(folderId) || this.path(parent) === null) return false
    this.folders.set(folderId, parent)
    return true
  }

  move(folderId: string, parent: string): boolean {
    const target = this.path(parent)
    if (!this.folders.has(folderId) || target === null || target.includes(folderId)) return false
    this.folders.set(folderId, parent)
    return true
  }

  delete(folderId: string): boolean {
    if (!this.folders.has(folderId)) return false
    const gone = [...this.folders.keys()].filter((id) => this.path(id)?.includes(folderId))
    for (const id of gone) this.folders.delete(id)
    for (const [id, parent] of this.documents) if (gone.includes(parent)) this.documents.delete(id)
    return true
  }

  put(documentId: string, folderId: string): boolean {
    if (this.path(folderId) === null) return false
    this.documents.set(documentId, folderId)
    return true
  }
}

const folder = fc.constantFrom(...folderIds)
const parent = fc.constantFrom('root', ...folderIds)
const document = fc.constantFrom(...documentIds)
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('add' as const), folder, parent }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('move' as const), folder, parent }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete' as const), folder }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('put' as const), document, parent }) },
)
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

const success = (results: BatchResults): boolean => Object.values(results).every((each) => each.success)

/** Runs a step on the services. Returns whether it succeeded. */
async function done({ folders, documents }: TestDirectory, model: Model, step: Step): Promise<boolean> {
  if (step.kind === 'add')
    return success(await folders.add(scope, [{ folderId: step.folder, parentFolderId: step.parent }]))
  if (step.kind === 'move')
    return success(await folders.update(scope, [{ folderId: step.folder, parentFolderId: step.parent }]))
  if (step.kind === 'put') {
    const change = { documentId: step.document, folderId: step.parent }
    if (model.documents.has(step.document)) return success(await documents.update(scope, [change]))
    return success((await documents.add(scope, [change], { createFolder: false })).results)
  }
  return folders.delete(scope, step.folder).then(
    () => true,
    () => false,
  )
}

function expected(model: Model, step: Step): boolean {
  if (step.kind === 'add') return model.add(step.folder, step.parent)
  if (step.kind === 'move') return model.move(step.folder, step.parent)
  if (step.kind === 'put') return model.put(step.document, step.parent)
  return model.delete(step.folder)
}

const flat = (view: FolderView): [string, readonly string[]][] => [
  [view.record.folderId, view.ancestors],
  ...(view.subFolders ?? []).flatMap(flat),
]

async function allOf(folders: TestDirectory['folders']): Promise<readonly FolderView[]> {
  const all: FolderView[] = []
  for await (const page of (await folders.all(scope))()) all.push(...page)
  return all
}

/** Checks that every listing equals the model. */
async function compare({ folders, documents }: TestDirectory, model: Model): Promise<void> {
  const pathOf = (id: string) => ['root', ...(model.path(id) ?? []).slice(1).toReversed()]
  const all = (await allOf(folders)).flatMap(flat)
  expect(all).toEqual([...model.folders.keys()].toSorted().map((id) => [id, pathOf(id)]))
  for (const id of model.folders.keys()) {
    const below = [...model.folders.keys()].filter((each) => model.path(each)?.includes(id))
    const found = flat(await folders.below(scope, id, directoryLimits.folderDepth))
    expect(found.toSorted()).toEqual(below.map((each) => [each, pathOf(each)]).toSorted())
  }
  for (const folderId of ['root', ...model.folders.keys()]) {
    const { items } = await documents.list(scope, { folderId, limit: 100, after: undefined })
    const inside = [...model.documents].filter(([, parent]) => parent === folderId).map(([id]) => id)
    expect(items.map(({ record }) => record.documentId)).toEqual(inside.toSorted())
  }
  const { items } = await documents.list(scope, { limit: 100, after: undefined })
  expect(items.map(({ record }) => record.documentId)).toEqual([...model.documents.keys()].toSorted())
}

it('[FOLD-15] after any additions, moves and deletions, has the same folders as a simple model', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const directory = directoryOn(await openMemoryEngine())
      const model = new Model()
      await directory.organizations.ensure(scope)
      for (const step of steps) {
        const wasDone = await done(directory, model, step)
        expect(wasDone, JSON.stringify(step)).toBe(expected(model, step))
      }
      await compare(directory, model)
      await directory.removals.stop()
    }),
    { numRuns: process.env.WEFT_TEST_LONG === '1' ? 1_200 : 200 },
  )
})

it('[FOLD-15] after concurrent additions, moves and deletions, has a valid tree of folders', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(step, { maxLength: 6 }), { maxLength: 5 }), async (rounds) => {
      const directory = directoryOn(await openMemoryEngine())
      await directory.organizations.ensure(scope)
      for (const steps of rounds) await Promise.all(steps.map((step) => done(directory, new Model(), step)))
      const all = (await allOf(directory.folders)).map(({ record }) => record)
      const model = new Model()
      for (const { folderId, parentFolderId } of all) model.folders.set(folderId, parentFolderId)
      const { items } = await directory.documents.list(scope, { limit: 100, after: undefined })
      for (const { record } of items) model.documents.set(record.documentId, record.folderId)
      await compare(directory, model)
      const stored = await directory.store.read(scope).scan({ prefix: ['folders'], limit: 100 })
      expect(stored).toHaveLength(all.length)
      await directory.removals.stop()
    }),
    { numRuns: process.env.WEFT_TEST_LONG === '1' ? 1_200 : 200 },
  )
})
