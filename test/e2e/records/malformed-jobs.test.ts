import { expect, it, onTestFinished } from 'vitest'
import type { Engine } from '../../../src/core/store/engine.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { eventually } from '../../support/clients/clients.ts'
import { startTestServer } from '../../support/servers/server.ts'

const queues = [
  'idempotency',
  'edits',
  'erasure',
  'events',
  'judgments',
  'removal',
  'versionAuthors',
  'versions',
  'webhooks',
  'webhooks-retries',
  'webhooks-sweeps',
]
const payloads = ['{', 'null', '{}', '{"kind":"folder","scope":{"workspaceId":1},"address":[],"place":""}']
const ids = payloads.map((_, index) => `malformed-${index}`)

/** A store that records the retried jobs and the dead letters. */
async function openStore() {
  const engine = await openMemoryEngine()
  const names = new Map<string, string>()
  const deadLetters: string[] = []
  const retried: string[] = []
  const queue: Engine['queue'] = {
    claim: async (name, count, leaseMs) => {
      const jobs = await engine.queue.claim(name, count, leaseMs)
      for (const { id, token } of jobs) names.set(token, `${name} ${id}`)
      return jobs
    },
    extend: (...parameters) => engine.queue.extend(...parameters),
    done: (...parameters) => engine.queue.done(...parameters),
    retry: async (token, ...parameters) => {
      retried.push(names.get(token) ?? '')
      return engine.queue.retry(token, ...parameters)
    },
    moveToDeadLetters: async (token, error) => {
      deadLetters.push(names.get(token) ?? '')
      return engine.queue.moveToDeadLetters(token, error)
    },
  }
  return { engine: { ...engine, queue }, deadLetters, retried }
}

it('[STORE-22] moves a malformed job of any queue to the dead letters, and runs the following jobs', async () => {
  const { engine, deadLetters } = await openStore()
  const jobs = queues.flatMap((queue) =>
    payloads.map((payload, index) => ({
      queue,
      id: `malformed-${index}`,
      at: 0,
      payload: Buffer.from(payload),
    })),
  )
  await engine.kv.commit(['test'], { jobs })
  const server = await startTestServer({}, { engine })
  onTestFinished(() => server.stop())
  const expected = queues.flatMap((queue) => ids.map((id) => `${queue} ${id}`))
  await eventually(
    () => deadLetters.length >= expected.length,
    () => deadLetters,
    20_000,
  )
  expect(deadLetters.toSorted()).toEqual(expected.toSorted())
  const organizationId = 'acme'
  expect((await server.post('/v2/organizations/add', { organizations: [{ organizationId }] })).status).toBe(
    200,
  )
  // The removal is a job of one of these queues; the call waits for it.
  expect((await server.post('/v2/organizations/delete', { organizationIds: [organizationId] })).status).toBe(
    200,
  )
}, 40_000)

it('[STORE-24] retries a job of an unknown kind, and does not move it to the dead letters', async () => {
  const { engine, deadLetters, retried } = await openStore()
  const scope = { workspaceId: 'test', apiKey: 'test-key', organizationId: 'acme' }
  const judgment = { jobId: 'newer', scope, documentId: 'd', text: '', reviewerId: 'ann', judgedAt: 1 }
  const newer = {
    judgments: { ...judgment, decision: 'later' },
    removal: { kind: 'later', scope },
    versions: { is: 'later', address: { ...scope, documentId: 'd', editorId: 'main' } },
  }
  const jobs = Object.entries(newer).map(([queue, task]) => ({
    queue,
    id: 'newer',
    at: 0,
    payload: Buffer.from(JSON.stringify(task)),
  }))
  await engine.kv.commit(['test'], { jobs })
  const server = await startTestServer({}, { engine })
  onTestFinished(() => server.stop())
  const tried = () => new Set([...retried, ...deadLetters])
  await eventually(() => tried().size >= jobs.length, tried)
  expect([...tried()].toSorted()).toEqual(['judgments newer', 'removal newer', 'versions newer'])
  expect(deadLetters).toEqual([])
})
