import { afterEach, expect, it } from 'vitest'
import * as Y from 'yjs'
import { branchKeys, branchLimits } from '../../../src/core/directory/branches/branch-records.ts'
import { organizationPart } from '../../../src/core/directory/organizations/organization-keys.ts'
import { TransactionRunner } from '../../../src/core/directory/store/transaction.ts'
import type { DocumentLog, Engine } from '../../../src/core/store/engine.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { type Editor, eventually, syncedEditor } from '../../support/clients/clients.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'

let server: TestServer
const editors: Editor[] = []
afterEach(async () => {
  for (const editor of editors.splice(0)) editor.close()
  await server.stop()
})

const ids = { organizationId: 'acme', documentId: 'd', editorId: 'main' }
const fragment = ({ doc }: Editor) => doc.getXmlFragment('prosemirror')
const branches = async () =>
  dataOf(await server.post('/v2/crdt/branches/list', ids)) as readonly { readonly name: string }[]
async function open(userId: string): Promise<Editor> {
  const editor = await syncedEditor(server.wsUrl, 'acme/d/main', await server.token(userId))
  editors.push(editor)
  return editor
}

/** Returns a client with an offline edit in a paragraph that was removed after a prune. */
async function withUnplaced(engine: Engine): Promise<Editor> {
  server = await startTestServer({}, { engine })
  const [ann, ben] = [await open('ann'), await open('ben')]
  const paragraph = new Y.XmlElement('paragraph')
  paragraph.insert(0, [new Y.XmlText('removed')])
  fragment(ann).insert(0, [paragraph])
  await eventually(() => fragment(ben).length === 1)
  ben.provider.disconnect()
  await eventually(() => !ben.provider.wsconnected)
  ;((fragment(ben).get(0) as Y.XmlElement).get(0) as Y.XmlText).insert(0, 'BEN ')
  dataOf(await server.post('/v2/crdt/prune', ids))
  fragment(ann).delete(0, 1)
  await eventually(async () => !JSON.stringify(await server.post('/v2/crdt/get', ids)).includes('removed'))
  return ben
}

it.each(['main', 'branch'])(
  '[PRUNE-16] keeps an edit without a place in one branch if the log of the %s fails at first',
  async (failing) => {
    const engine = await openMemoryEngine()
    const append = engine.log.append.bind(engine.log)
    let failures = 0
    Object.assign(engine.log, {
      append: async (...given: Parameters<DocumentLog['append']>) => {
        const [key] = given
        const isBranch = key.at(-1)?.startsWith('main@') === true
        if (failures === 0 || isBranch !== (failing === 'branch')) return append(...given)
        failures -= 1
        throw new Error('the append fails')
      },
    })
    const ben = await withUnplaced(engine)
    failures = 1
    ben.provider.connect()
    await eventually(() => failures === 0 && fragment(ben).length === 0)
    const [{ name } = { name: '' }, ...others] = await branches()
    expect(others).toEqual([])
    expect(name).toMatch(/^ben [0-9a-f]{12}$/)
    const shown = await server.post('/v2/crdt/get', { ...ids, editorId: `main@${name}` })
    expect(JSON.stringify(dataOf(shown))).toContain('BEN ')
  },
)

it('[PRUNE-16] permanently ends a client whose edit without a place finds no room for a branch', async () => {
  const engine = await openMemoryEngine()
  const ben = await withUnplaced(engine)
  const scope = { ...server.credentials, organizationId: 'acme' }
  await new TransactionRunner(engine.kv).run(organizationPart(scope), async (transaction) => {
    transaction.put(branchKeys.count('d'), { count: branchLimits.branches })
  })
  const closed: unknown[] = []
  ben.provider.on('connection-close', (event) => closed.push(event?.code))
  ben.provider.connect()
  await eventually(() => closed.length > 0)
  expect(closed).toEqual([4413])
  expect(await branches()).toEqual([])
})
