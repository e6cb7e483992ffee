import { afterAll, beforeAll, describe, it } from 'vitest'
import { subscriptionsTopic } from '../../../src/capabilities/webhooks/subscription-cache.ts'
import { accessTopic } from '../../../src/core/directory/organizations/access-change.ts'
import { removalTopic } from '../../../src/core/directory/removal/removal-task.ts'
import { credentialsRevokedTopic } from '../../../src/core/directory/tenants/token-revocations.ts'
import { eventually, RawClient } from '../../support/clients/clients.ts'
import { documentOf, pathOf } from '../../support/servers/document-owners.ts'
import { startTestServer, type TestServer } from '../../support/servers/server.ts'
import { type SharedNode, sharedNodes } from '../../support/servers/simulated-network.ts'

let server: TestServer
let [sender, receiver]: (SharedNode | undefined)[] = []
let losses = 0

beforeAll(async () => {
  // The sender runs no server: nothing but the test publishes on its bus.
  ;[sender, receiver] = await sharedNodes(2)
  server = await startTestServer({}, { engine: (receiver as SharedNode).engine })
  receiver?.engine.bus.onLoss(() => {
    losses += 1
  })
})
afterAll(async () => {
  await server.stop()
  await sender?.engine.close()
})

const topics = [
  accessTopic.name,
  credentialsRevokedTopic.name,
  removalTopic.name,
  subscriptionsTopic.name,
  'rates',
  'work.removal',
  'work.erasure',
  'work.versions',
  'work.judgments',
]

const scope = { workspaceId: 'w', apiKey: 'k', organizationId: 'o' }
const malformed = [
  '',
  '{',
  'null',
  '7',
  '[]',
  '{}',
  '{"kind":"begun"}',
  '{"kind":"gone","prefixes":["o"]}',
  '{"kind":"tokens","tenant":{"workspaceId":"w","apiKey":"k"}}',
  '{"from":"n","limit":"l","used":[["key","1"]]}',
  '{"jobId":"j","outcome":"unknown"}',
  JSON.stringify({ scope, documents: 'd', users: [], all: false }),
  JSON.stringify({ ...scope, workspaceId: 1, documentId: 'd', editorId: 'e' }),
]

describe('malformed messages', () => {
  it.each(topics)(
    '[CL-28] treats a malformed message on the topic %s as lost, and continues to serve',
    async (topic) => {
      const before = losses
      for (const text of malformed) sender?.engine.bus.publish(topic, Buffer.from(text))
      await eventually(
        () => losses === before + malformed.length,
        () => losses - before,
      )
      const token = await server.token('ada')
      // The sender has no server, which could serve a document of its own.
      const ids = documentOf({ nodes: [receiver as SharedNode], servers: [server] }, 0)
      const client = await RawClient.connect(`${server.wsUrl}/sync/${pathOf(ids)}?token=${token}`)
      await client.roundTrip()
      client.end()
    },
  )
})
