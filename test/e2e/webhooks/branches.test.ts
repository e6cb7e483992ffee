import { expect, it } from 'vitest'
import { eventually } from '../../support/clients/clients.ts'
import { dataOf } from '../../support/servers/server.ts'
import { hookTests, organizationId } from '../../support/servers/webhook-servers.ts'

const { start, receiving } = hookTests()

it('[BRANCH-11] each decision on a branch sends one event with the branch and the decided hunks', async () => {
  const { server, endpoint } = await start()
  const receiver = await receiving()
  const filterTypes = ['comment_annotation.suggestion_accept', 'comment_annotation.suggestion_reject']
  await endpoint(receiver.url, { filterTypes })
  const main = { organizationId, documentId: 'branched', editorId: 'main' }
  const call = async (operation: string, data: object) =>
    dataOf(await server.post(`/v2/crdt/${operation}`, data))
  await call('add', { ...main, type: 'text', data: 'one two' })
  const named = { ...main, name: 'draft', userId: 'rex' }
  await call('branches/create', { ...named, userId: 'sue' })
  await call('update', {
    ...main,
    editorId: 'main@draft',
    type: 'text',
    data: 'zero one two three',
    userId: 'sue',
  })
  const { hunks } = (await call('branches/diff', { ...main, name: 'draft' })) as {
    hunks: { hunkId: string }[]
  }
  const [first] = hunks.map(({ hunkId }) => hunkId)
  await call('branches/reject', { ...named, hunks: [first] })
  await call('branches/merge', named)
  await call('branches/merge', named)
  await eventually(() => receiver.hooks.length >= 2)
  expect(receiver.bodies).toEqual([
    expect.objectContaining({
      data: expect.objectContaining({
        branch: expect.objectContaining({
          editorId: 'main',
          name: 'draft',
          createdBy: 'sue',
          status: 'open',
        }),
        hunkIds: [first],
      }),
    }),
    expect.objectContaining({
      data: expect.objectContaining({ branch: expect.objectContaining({ status: 'merged' }), hunkIds: null }),
    }),
  ])
})
