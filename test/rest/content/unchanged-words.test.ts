import { afterAll, beforeAll, expect, test } from 'vitest'
import * as Y from 'yjs'
import { eventually, syncedEditor } from '../../support/clients/clients.ts'
import { startTestServer, type TestServer } from '../../support/servers/server.ts'

let server: TestServer

beforeAll(async () => {
  server = await startTestServer({ engine: 'memory' })
})

afterAll(() => server.stop())

const writes = [
  ['crdt/update', { type: 'text', data: 'A quick dog' }],
  ['crdt/edit', { edits: [{ replace: { find: 'The quick fox', with: 'A quick dog' } }] }],
] as const

test.each(writes)(
  '[R23] keeps the cursor of a user, and what another user types offline, in an unchanged word (%s)',
  async (operation, body) => {
    const address = { organizationId: 'acme', documentId: operation.slice(5), editorId: 'main' }
    await server.post('/v2/crdt/add', { ...address, type: 'text', data: 'The quick fox' })
    const [ada, bob] = await Promise.all(
      ['ada', 'bob'].map(async (user) =>
        syncedEditor(server.wsUrl, `acme/${address.documentId}/main`, await server.token(user)),
      ),
    )
    if (ada === undefined || bob === undefined) throw new Error('no editors')
    const cursor = Y.createRelativePositionFromTypeIndex(ada.text, 6)
    bob.provider.disconnect()
    bob.text.insert(9, 'er')
    const { status } = await server.post(`/v2/${operation}`, { ...address, ...body })
    expect(status).toBe(200)
    bob.provider.connect()
    await eventually(
      () => ada.text.toJSON() === 'A quicker dog',
      () => ada.text.toJSON(),
    )
    expect(Y.createAbsolutePositionFromRelativePosition(cursor, ada.doc)?.index).toBe(4)
    ada.close()
    bob.close()
  },
)
