import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { DocumentLog } from '../../../src/core/store/engine.ts'
import { StoreUnavailableError } from '../../../src/core/store/engine.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { type Editor, eventually, syncedEditor } from '../../support/clients/clients.ts'
import { type Answer, dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { withLog } from '../../support/stores/pausable-engine.ts'

/** While true, the store accepts no append to a branch. */
let isBranchAway = false
/** While true, the store appends to branches after a delay. */
let isBranchSlow = false
let server: TestServer
beforeAll(async () => {
  const engine = withLog(await openMemoryEngine(), (log) => ({
    append: async (...parameters: Parameters<DocumentLog['append']>) => {
      if (isBranchAway && parameters[0].some((part) => part.endsWith('@draft')))
        throw new StoreUnavailableError('the test has the branch be away')
      if (isBranchSlow && parameters[0].some((part) => part.endsWith('@draft'))) await setTimeout(100)
      return log.append(...parameters)
    },
  }))
  server = await startTestServer({}, { engine })
})
afterAll(() => server.stop())

let documents = 0
const call = (operation: string, data: object): Promise<Answer> => server.post(`/v2/crdt/${operation}`, data)
const done = async (operation: string, data: object): Promise<unknown> => dataOf(await call(operation, data))

interface HunkView {
  readonly hunkId: string
  readonly deleted: string
  readonly inserted: string
  readonly formatting: readonly object[]
}

type EditorIds = Record<'organizationId' | 'documentId' | 'editorId', string>

const open = async ({ organizationId, documentId, editorId }: EditorIds): Promise<Editor> => {
  const path = [organizationId, documentId, editorId].map(encodeURIComponent).join('/')
  return syncedEditor(server.wsUrl, path, await server.token('ann'))
}

/** Creates an editor with a branch that replaces two words. */
async function suggested() {
  documents += 1
  const main = { organizationId: 'acme', documentId: `decided ${documents}`, editorId: 'main' }
  const branch = { ...main, editorId: 'main@draft' }
  await done('update', { ...main, type: 'text', data: 'on Monday in the hall at noon', upsert: true })
  await done('branches/create', { ...main, name: 'draft', userId: 'ann' })
  const replace = (find: string, text: string) => ({ replace: { find, with: text } })
  await done('edit', {
    ...branch,
    userId: 'ann',
    edits: [replace('Monday', 'Friday'), replace('hall', 'barn')],
  })
  const hunks = async () =>
    ((await done('branches/diff', { ...main, name: 'draft' })) as { hunks: HunkView[] }).hunks
  return {
    main,
    hunks,
    ids: (await hunks()).map(({ hunkId }) => hunkId),
    texts: async () => (await hunks()).map(({ deleted, inserted }) => [deleted, inserted]),
    text: async (editor: object = main) => ((await done('get', editor)) as { data: unknown }[])[0]?.data,
    branch,
    decide: (how: 'merge' | 'reject', more: object = {}) =>
      call(`branches/${how}`, { ...main, name: 'draft', userId: 'rex', ...more }),
    accepted: async () =>
      dataOf(
        await server.post('/v2/activities/get', {
          organizationId: main.organizationId,
          documentId: main.documentId,
          actionTypes: ['comment_annotation.suggestion_accept'],
        }),
      ) as object[],
  }
}

interface Outcome {
  readonly decided: readonly string[]
  readonly unknown: readonly string[]
}

it('[BRANCH-60] decides each hunk once, if calls decide it at the same time', async () => {
  for (let run = 0; run < 10; run += 1) {
    const { ids, decide, text, texts, branch } = await suggested()
    const [first, second] = ids as [string, string]
    const answers = await Promise.all([
      decide('merge', { hunks: [first] }),
      decide('reject', { hunks: [first] }),
      decide('merge', { hunks: [first, second] }),
      decide('reject', { hunks: [second] }),
    ])
    const decided = answers.flatMap((answer) => (dataOf(answer) as Outcome).decided)
    expect(decided.toSorted()).toEqual([first, second].toSorted())
    expect(await texts()).toEqual([])
    expect(await text(branch)).toBe(await text())
  }
})

it('[BRANCH-61] finishes an interrupted merge of hunks before the next call on the branch', async () => {
  for (const next of ['branches/diff', 'branches/merge', 'branches/reject']) {
    const { main, ids, decide, text, texts, branch, accepted } = await suggested()
    const [first] = ids as [string]
    isBranchAway = true
    const interrupted = await decide('merge', { hunks: [first] })
    isBranchAway = false
    expect(interrupted.status).toBe(503)
    const again = {
      ...main,
      name: 'draft',
      ...(next !== 'branches/diff' && { userId: 'rex', hunks: [first] }),
    }
    const answer = await done(next, again)
    if (next !== 'branches/diff') expect(answer).toMatchObject({ decided: [], unknown: [first] })
    expect(await text()).toBe('on Friday in the hall at noon')
    expect(await text(branch)).toBe('on Friday in the barn at noon')
    expect(await texts()).toEqual([['hall', 'barn']])
    expect(await accepted()).toMatchObject([{ actionUser: { userId: 'rex' }, changes: { hunks: 1 } }])
    await decide('merge')
    expect(await text()).toBe('on Friday in the barn at noon')
  }
})

it('[BRANCH-62] keeps the formatting of a merged hunk in a branch that clients have open', async () => {
  for (let run = 0; run < 10; run += 1) {
    const { main, branch, hunks, texts, decide } = await suggested()
    const [reader, writer] = await Promise.all([main, branch].map(open))
    if (reader === undefined || writer === undefined) throw new Error('a client is missing')
    writer.text.format(0, 2, { bold: true })
    const bold = async () => (await hunks()).find(({ formatting }) => formatting.length > 0)
    await eventually(async () => (await bold()) !== undefined)
    dataOf(await decide('merge', { hunks: [(await bold())?.hunkId] }))
    const [first] = [{ insert: 'on', attributes: { bold: true } }]
    await eventually(() => JSON.stringify(reader.text.toDelta()[0]) === JSON.stringify(first))
    // A client of the branch reacts to an update with an update of its own.
    await setTimeout(100)
    expect(writer.text.toDelta()[0]).toEqual(first)
    expect(await texts()).toEqual([
      ['Mon', 'Fri'],
      ['hall', 'barn'],
    ])
    reader.close()
    writer.close()
  }
})

it('[BRANCH-63] deletes a branch before or after a merge, not during it', async () => {
  for (let run = 0; run < 5; run += 1) {
    const { main, ids, decide, text } = await suggested()
    isBranchSlow = true
    const [merged, deleted] = await Promise.all([
      decide('merge', { hunks: ids.slice(0, 1) }),
      call('branches/delete', { ...main, name: 'draft' }),
    ])
    isBranchSlow = false
    expect(deleted.status).toBe(200)
    expect([200, 404]).toContain(merged.status)
    const day = merged.status === 200 ? 'Friday' : 'Monday'
    expect(await text()).toBe(`on ${day} in the hall at noon`)
  }
})
