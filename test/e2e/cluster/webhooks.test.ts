import { afterEach, expect } from 'vitest'
import type { Kv } from '../../../src/core/store/engine.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { eventually } from '../../support/clients/clients.ts'
import { type NodeServer, startNodes } from '../../support/servers/node-servers.ts'
import { dataOf } from '../../support/servers/server.ts'
import type { NodesOptions, Weather } from '../../support/servers/simulated-network.ts'
import { HookReceiver, hookCalls } from '../../support/servers/webhook-servers.ts'
import { itLong as it } from '../../support/time/full-run.ts'

const ends: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

const callsOf = ({ post }: NodeServer) => hookCalls(async (path, data) => dataOf(await post(path, data)))

async function start(count: number, options: NodesOptions = {}) {
  const { servers, stop } = await startNodes(count, { webhookAllowlist: ['127.0.0.1'] }, options)
  const receiver = await HookReceiver.start()
  ends.push(() => receiver.stop(), stop)
  const calls = servers.map(callsOf)
  await calls[0]?.begin()
  return { servers, calls: calls as [ReturnType<typeof callsOf>, ...ReturnType<typeof callsOf>[]], receiver }
}

const filterTypes = ['document.create']

/** Creates each document at the next node. Events of different nodes in the same millisecond have no order. */
async function createInTurn(calls: readonly ReturnType<typeof callsOf>[], names: readonly string[]) {
  for (const [index, name] of names.entries()) {
    await calls[index % calls.length]?.document(name)
    const after = Date.now()
    while (Date.now() === after) await new Promise((resolve) => setTimeout(resolve, 1))
  }
}

it('[CS-20] delivers events of three nodes in order, each once', async () => {
  const { calls, receiver } = await start(3)
  await calls[0].endpoint(receiver.url, { filterTypes })
  const names = Array.from({ length: 90 }, (_, index) => `d${index}`)
  await createInTurn(calls, names)
  await eventually(() => receiver.hooks.length >= names.length)
  expect(receiver.documentIds).toEqual(names)
  expect(new Set(receiver.ids).size).toBe(names.length)
})

it('[CS-20] delivers events in order even if the store is slow for the messages of one node', async () => {
  const engine = await openMemoryEngine()
  const commit: Kv['commit'] = async (part, change) => {
    const isSlow = change.puts?.some(({ value }) => Buffer.from(value).includes('slow')) ?? false
    if (part[0] === 'deliveries' && isSlow) await new Promise((resolve) => setTimeout(resolve, 50))
    return engine.kv.commit(part, change)
  }
  const { kv } = engine
  const own: Kv = { commit, get: (...call) => kv.get(...call), scan: (...call) => kv.scan(...call) }
  const { calls, receiver } = await start(3, { store: { ...engine, kv: own } })
  await calls[0].endpoint(receiver.url, { filterTypes })
  const names = Array.from({ length: 30 }, (_, index) => `${index % 2 === 0 ? 'slow' : 'fast'}${index}`)
  await createInTurn(calls, names)
  await eventually(() => receiver.hooks.length >= names.length)
  expect(receiver.documentIds).toEqual(names)
})

it('[CS-20] delivers events that occur at all nodes at the same time, each once', async () => {
  const { calls, receiver } = await start(3)
  await calls[0].endpoint(receiver.url, { filterTypes })
  const names = Array.from({ length: 60 }, (_, index) => `d${index}`)
  await Promise.all(names.map(async (name, index) => calls[index % 3]?.document(name)))
  await eventually(() => receiver.hooks.length >= names.length)
  expect(receiver.documentIds.toSorted()).toEqual(names.toSorted())
})

it('[CS-21] delivers events from another node when the delivering node stops', async () => {
  const { servers, calls, receiver } = await start(2)
  await calls[0].endpoint(receiver.url, { filterTypes })
  await calls[0].document('before')
  await eventually(() => receiver.hooks.length === 1)
  await servers[0]?.stop()
  await calls[1]?.document('after')
  await eventually(() => receiver.hooks.length === 2)
  expect(receiver.documentIds).toEqual(['before', 'after'])
})

it('[CS-22] when the bus loses the message about a new endpoint, delivers events of another node to it within 5 s', async () => {
  const deaf: Weather = (topic) => (topic.startsWith('subscriptions') ? [] : [0])
  const { calls, receiver } = await start(2, { weather: deaf })
  const [here, there] = calls
  // The other node caches that no endpoint wants the event.
  await there?.document('d0')
  await there?.document('d1')
  await here.endpoint(receiver.url, { filterTypes })
  let made = 1
  await eventually(async () => {
    made += 1
    await there?.document(`d${made}`)
    await new Promise((resolve) => setTimeout(resolve, 100))
    return receiver.hooks.length > 0
  })
})
