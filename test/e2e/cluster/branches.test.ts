import { afterEach, expect, it } from 'vitest'
import { type Editor, eventually, syncedEditor } from '../../support/clients/clients.ts'
import { type NodeServer, startNodes } from '../../support/servers/node-servers.ts'
import { dataOf } from '../../support/servers/server.ts'

let stop = async (): Promise<void> => {}
afterEach(() => stop())

const plan = { organizationId: 'acme', documentId: 'plan', editorId: 'main' }
const draft = { ...plan, editorId: 'main@draft' }

const done = async (server: NodeServer, operation: string, data: object): Promise<unknown> =>
  dataOf(await server.post(`/v2/crdt/${operation}`, data))
const textOf = async (server: NodeServer, editor: object): Promise<unknown> =>
  ((await done(server, 'get', editor)) as { data: unknown }[])[0]?.data
const open = async (here: NodeServer, editorId: string, userId: string): Promise<Editor> =>
  syncedEditor(here.wsUrl, `acme/plan/${encodeURIComponent(editorId)}`, await here.token(userId))

/** Starts two nodes. The editor has a branch. */
async function nodes(): Promise<readonly [NodeServer, NodeServer]> {
  const started = await startNodes(2)
  stop = started.stop
  const [here, there] = started.servers as readonly [NodeServer, NodeServer]
  await done(here, 'add', { ...plan, type: 'text', data: 'one' })
  await done(there, 'branches/create', { ...plan, name: 'draft', userId: 'ann' })
  return [here, there]
}

it('[BRANCH-6] an open branch follows edits that another node has accepted, on all nodes that have it open', async () => {
  const [here, there] = await nodes()
  const main = await open(here, 'main', 'bob')
  const branches = [await open(here, 'main@draft', 'ann'), await open(there, 'main@draft', 'ann')]
  const far = await open(there, 'main', 'eve')
  main.text.insert(3, ' two')
  await eventually(() => branches.every(({ text }) => text.toString() === 'one two'))
  far.text.insert(7, ' three')
  far.text.delete(0, 4)
  await eventually(() => branches.every(({ text }) => text.toString() === 'two three'))
  branches[0]?.text.insert(0, 'mine ')
  await eventually(() => branches.every(({ text }) => text.toString() === 'mine two three'))
  expect([await textOf(here, plan), await textOf(there, plan)]).toEqual(['two three', 'two three'])
  for (const editor of [main, far, ...branches]) editor.close()
})

it('[BRANCH-6] each call on a branch finds all edits of the editor and of the branch that other nodes have acknowledged', async () => {
  const [here, there] = await nodes()
  for (let round = 0; round < 5; round += 1) {
    const [writer, reader] = round % 2 === 0 ? [here, there] : [there, here]
    await done(writer, 'update', { ...plan, type: 'text', data: `one ${round}` })
    expect(await textOf(reader, draft)).toBe(`one ${round}`)
  }
  await done(here, 'update', { ...draft, type: 'text', data: 'one 4 and more' })
  await done(there, 'branches/merge', { ...plan, name: 'draft', userId: 'rex' })
  expect(await textOf(here, plan)).toBe('one 4 and more')
  const answer = await here.post('/v2/crdt/update', { ...draft, type: 'text', data: 'late' })
  expect(answer.body.error?.details?.code).toBe('branch/decided')
})

it('[MERGE-7] keeps the words of a branch once, if several nodes have it open', async () => {
  const [here, there] = await nodes()
  await done(here, 'update', { ...plan, type: 'text', data: 'one and two' })
  const main = await open(here, 'main', 'bob')
  const branches = [await open(here, 'main@draft', 'ann'), await open(there, 'main@draft', 'ann')]
  branches[0]?.text.insert(3, 's')
  await eventually(() => branches.every(({ text }) => text.toString() === 'ones and two'))
  main.text.delete(0, 3)
  main.text.insert(0, 'won')
  main.text.insert(11, ' three')
  await eventually(
    () => branches.every(({ text }) => text.toString() === 'ones and two three'),
    () => branches.map(({ text }) => text.toString()),
  )
  for (const server of [here, there]) expect(await textOf(server, draft)).toBe('ones and two three')
  const merged = await done(there, 'branches/merge', { ...plan, name: 'draft', userId: 'rex' })
  expect(merged).toMatchObject({ overlaps: [{ base: 'one', theirs: 'won', mine: 'ones', kept: 'mine' }] })
  expect(await textOf(here, plan)).toBe('ones and two three')
  for (const editor of [main, ...branches]) editor.close()
})
