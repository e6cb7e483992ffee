import { expect, it } from 'vitest'
import { eventually } from '../../support/clients/clients.ts'
import { dataOf } from '../../support/servers/server.ts'
import { hookTests, organizationId } from '../../support/servers/webhook-servers.ts'

const second = 1_000
const editor = { organizationId, documentId: 'd', editorId: 'main' }

const { start, receiving } = hookTests()

it('[HOOK-256] sends the event of an editor each second if the window has one second', async () => {
  const { server, clock, endpoint } = await start({ updateEventWindowSeconds: 1 })
  const receiver = await receiving()
  await endpoint(receiver.url, { filterTypes: ['crdt.update_data'] })
  for (const [index, data] of ['a', 'ab', 'abc'].entries()) {
    dataOf(await server.post('/v2/crdt/update', { ...editor, type: 'text', data, upsert: true }))
    clock.advance(second)
    // Runs the notice, which the end of the window has scheduled.
    clock.advance(0)
    await eventually(() => receiver.hooks.length === index + 1)
  }
  expect(receiver.bodies.map(({ data }) => data)).toEqual(
    Array.from({ length: 3 }, () => expect.objectContaining({ editorId: 'main' })),
  )
})
