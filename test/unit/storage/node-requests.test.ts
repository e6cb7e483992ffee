import { afterAll, beforeAll, expect, it } from 'vitest'
import * as s from '../../../src/core/base/schema.ts'
import { NodeRequests } from '../../../src/core/store/node-requests.ts'
import { eventually } from '../../support/clients/clients.ts'
import { type SharedNode, sharedNodes } from '../../support/servers/simulated-network.ts'
import { HeldClock } from '../../support/time/clock.ts'

let nodes: readonly SharedNode[] = []
let requests: NodeRequests

const busOf = (index: number) => (nodes[index] as SharedNode).engine.bus
const read = (message: Uint8Array) => JSON.parse(Buffer.from(message).toString())

beforeAll(async () => {
  nodes = await sharedNodes(2)
  const { bus, cluster } = (nodes[0] as SharedNode).engine
  requests = new NodeRequests(bus, cluster, new HeldClock())
})
afterAll(async () => {
  requests.close()
  for (const { engine } of nodes) await engine.close()
})

it('[CL-28] ignores a malformed answer, and does not wait for another answer of that node', async () => {
  busOf(1).subscribe('nodes.call.count', (message) => {
    const { from, life, number, payload } = read(message)
    const answer = { from: 'node-2', life, number, value: payload }
    busOf(1).publish(`nodes.answer.${from}`, Buffer.from(JSON.stringify(answer)))
    return undefined
  })
  // The clock is held: without an answer, a request would never end.
  expect(await requests.ask('count', 'many', s.number)).toEqual(new Map())
  expect(await requests.ask('count', 3, s.number)).toEqual(new Map([['node-2', 3]]))
})

it('[CL-28] ignores a malformed request of another node', async () => {
  const received: unknown[] = []
  requests.answer('add', s.object({ by: s.number }), ({ by }) => received.push(by))
  const call = { from: 'node-2', life: 'a' }
  const send = (message: unknown): void =>
    busOf(1).publish('nodes.call.add', Buffer.from(JSON.stringify(message)))
  send({ ...call, number: 1, payload: { by: '1' } })
  send({ ...call, number: 2, payload: null })
  send({ from: 'node-2', number: 3, payload: { by: 3 } })
  send({ ...call, number: 4, payload: { by: 4 } })
  await eventually(() => received.length > 0)
  expect(received).toEqual([4])
})
