import { Webhook } from 'standardwebhooks'
import { expect, it } from 'vitest'
import { storeTargetIds } from '../../../src/capabilities/webhooks/webhook-records.ts'
import { eventually } from '../../support/clients/clients.ts'
import { dataOf, type TestServer } from '../../support/servers/server.ts'
import { answering, hanging, hookTests, organizationId } from '../../support/servers/webhook-servers.ts'
import { times } from '../../support/time/full-run.ts'

const minute = 60_000
const { start: startHooks, receiving } = hookTests()

/** Starts a server whose callback `store` calls a receiver. */
async function start(behavior = answering(200), config: Parameters<typeof startHooks>[0] = {}) {
  const hooks = await startHooks({ updateEventWindowSeconds: 1, ...config })
  const { server, clock } = hooks
  const receiver = await receiving(behavior)
  const store = { url: receiver.url, format: 'text', minSeconds: 1 }
  await call(server, '/v2/workspace/callbacks/update', { store })
  /** Lets time pass until `holds`. No time passes while requests arrive, so a busy machine needs no more of it. */
  const passing = (holds: () => boolean | Promise<boolean>, step = 1_000): Promise<void> =>
    eventually(async () => {
      clock.advance(step)
      for (let known = -1; known !== receiver.hooks.length; ) {
        known = receiver.hooks.length
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
      return holds()
    })
  const write = (documentId: string, data: string, more: object = {}) =>
    call(server, '/v2/crdt/update', {
      organizationId,
      documentId,
      editorId: 'main',
      type: 'text',
      data,
      upsert: true,
      ...more,
    })
  return { ...hooks, receiver, passing, write }
}

const call = async (server: TestServer, path: string, data: object): Promise<unknown> =>
  dataOf(await server.post(path, data))

it('[CALL-79] sends the last version of each editor within 35 minutes after a receiver that has failed for hours answers', async () => {
  const { clock, receiver, passing, write } = await start(answering(500))
  const names = Array.from({ length: 30 }, (_, index) => `d${index}`)
  for (const name of names) await write(name, `${name} old`)
  await passing(() => names.every((name) => receiver.bodies.some((body) => body.documentId === name)))
  for (const name of names) await write(name, `${name} new`)
  const end = clock.now() + 6 * 60 * minute
  await passing(() => clock.now() >= end, 5 * minute)
  receiver.hooks.length = 0
  receiver.behavior = answering(200)
  const back = clock.now()
  const last = (name: string) => receiver.bodies.findLast((body) => body.documentId === name)?.content
  await passing(() => names.every((name) => last(name) === `${name} new`), minute / 2)
  expect(clock.now() - back).toBeLessThanOrEqual(35 * minute)
})

it('[HOOK-258] fails attempts beyond the memory for requests that receivers have not read, and repeats them', async () => {
  const MB = 2 ** 20
  const limits = { maxDocumentBytes: 2 * MB, sendBufferBytes: MB, memoryBudgetBytes: MB }
  const { receiver, passing, write, log } = await start(hanging, limits)
  const names = Array.from({ length: 8 }, (_, index) => `d${index}`)
  const text = 'x'.repeat(900_000)
  for (const name of names) await write(name, text)
  const errors = async () =>
    (await Promise.all(storeTargetIds.map((id) => log(id)))).flatMap(({ deliveries }) =>
      deliveries.flatMap(({ attempts }) => attempts.map(({ error }) => error ?? '')),
    )
  await passing(async () => (await errors()).some((error) => error.includes('too many large calls')))
  expect(receiver.hooks.length).toBeGreaterThan(0)
  receiver.hooks.length = 0
  receiver.behavior = answering(200)
  const sent = () =>
    receiver.bodies.flatMap(({ documentId, content }) => (content === text ? [documentId] : []))
  await passing(() => new Set(sent()).size === names.length, 5_000)
})

it('[CALL-80] sends nothing of a document or an organization that was deleted while its request failed', async () => {
  const { server, receiver, passing, write } = await start(answering(500))
  await write('gone', 'secret of the document')
  await write('in-gone', 'secret of the organization', { organizationId: 'gone' })
  await write('kept', 'kept')
  await passing(() => receiver.hooks.length >= 3)
  await call(server, '/v2/organizations/documents/delete', { organizationId, documentIds: ['gone'] })
  await call(server, '/v2/organizations/delete', { organizationIds: ['gone'] })
  await passing(async () => {
    const { status } = await server.post('/v2/crdt/get', { organizationId: 'gone', documentId: 'in-gone' })
    return status === 404
  })
  receiver.hooks.length = 0
  receiver.behavior = answering(200)
  await passing(() => receiver.bodies.some(({ content }) => content === 'kept'), minute)
  for (let passed = 0; passed < 40; passed += 1) await passing(() => true, minute)
  expect(receiver.bodies.map(({ content }) => content)).toEqual(['kept'])
})

it('[CALL-80] a repeated request names no author that was erased meanwhile', async () => {
  const { server, receiver, passing, write } = await start(answering(500))
  await write('d', 'by eve', { userId: 'eve' })
  await passing(() => receiver.hooks.length === 1)
  expect(receiver.hooks[0]?.body).toMatch(/"eve"/)
  await call(server, '/v2/users/data/delete', { userId: 'eve' })
  await passing(async () => {
    const [found] = (await call(server, '/v2/crdt/get', {
      organizationId,
      documentId: 'd',
      editorId: 'main',
    })) as [{ lastUpdatedBy?: string }]
    return found.lastUpdatedBy !== 'eve'
  })
  receiver.hooks.length = 0
  await passing(() => receiver.hooks.length >= 1, minute)
  expect(receiver.hooks[0]?.body).not.toMatch(/"eve"/)
})

it('[CALL-81] signs a request that is repeated after a rotation with the new secret', async () => {
  const { server, receiver, passing, write } = await start(hanging)
  await write('d', 'x')
  await passing(() => receiver.hooks.length === 1)
  const rotated = (await call(server, '/v2/workspace/callbacks/secret/rotate', { graceSeconds: 0 })) as {
    secret: string
  }
  receiver.behavior = answering(200)
  await passing(() => receiver.hooks.length === 2, minute / 2)
  const [, { body, headers }] = receiver.hooks as [unknown, (typeof receiver.hooks)[0]]
  expect(new Webhook(rotated.secret).verify(body, headers as Record<string, string>)).toEqual(
    JSON.parse(body),
  )
})

const many = times(300, 1_000)

it(`[CALL-82] sends ${many} changed editors to a slow receiver, with at most 8 requests at the same time`, async () => {
  let [atOnce, most] = [0, 0]
  const { receiver, passing, write } = await start((response) => {
    most = Math.max(most, ++atOnce)
    setTimeout(() => {
      atOnce -= 1
      response.writeHead(200).end()
    }, 20)
  })
  const names = Array.from({ length: many }, (_, index) => `d${index}`)
  for (let from = 0; from < many; from += 50)
    await Promise.all(names.slice(from, from + 50).map((name) => write(name, `text of ${name}`)))
  const last = () => new Map(receiver.bodies.map(({ documentId, content }) => [documentId, content]))
  await passing(() => receiver.hooks.length >= many && last().size === many)
  const contents = last()
  expect(names.filter((name) => contents.get(name) !== `text of ${name}`)).toEqual([])
  expect(most).toBeLessThanOrEqual(8)
})
