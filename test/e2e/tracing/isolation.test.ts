import { afterEach, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { systemClock } from '../../../src/core/base/clock.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { eventually } from '../../support/clients/clients.ts'
import { HookReceiver } from '../../support/clients/webhook-receiver.ts'
import { startTestServer, type TestServer } from '../../support/servers/server.ts'
import { adminToken, otherWorkspace } from '../../support/servers/tenants.ts'
import { callsOf } from '../../support/servers/webhook-servers.ts'

let ends: (() => unknown)[] = []

afterEach(async () => {
  for (const end of ends.toReversed()) await end()
  ends = []
})

const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
const tracestate = 'secret=of-acme'

/** Starts a server whose store needs some time for each commit, so that events of several callers wait together. */
async function startSlow(): Promise<TestServer> {
  const engine = await openMemoryEngine({ clock: systemClock })
  const { kv } = engine
  const slow: typeof kv.commit = async (...commit) => {
    await new Promise((resolve) => setTimeout(resolve, 50))
    return kv.commit(...commit)
  }
  const server = await startTestServer(
    { webhookAllowlist: ['127.0.0.1'], adminToken, presenceLeaveDelaySeconds: 1 },
    {
      engine: {
        ...engine,
        kv: {
          get: (part, keys) => kv.get(part, keys),
          scan: (part, range) => kv.scan(part, range),
          commit: slow,
        },
      },
    },
  )
  ends.push(() => server.stop())
  return server
}

async function receiving({ begin, endpoint }: ReturnType<typeof callsOf>): Promise<HookReceiver> {
  const receiver = await HookReceiver.start()
  ends.push(() => receiver.stop())
  await begin()
  await endpoint(receiver.url, { filterTypes: ['presence.join', 'presence.leave'] })
  return receiver
}

const tracesOf = ({ hooks }: HookReceiver, type: string) =>
  hooks
    .filter(({ body }) => body.includes(type))
    .map(({ headers }) => ({ traceparent: headers.traceparent, tracestate: headers.tracestate }))

it('[OTEL-15] events of one workspace never carry the trace of another, if they wait for the store together', async () => {
  const server = await startSlow()
  const other = await otherWorkspace(server)
  const receiver = await receiving(callsOf(server))
  const theirs = await receiving(
    callsOf({ ...server, post: (path, data) => server.post(path, data, other.headers) }),
  )
  const token = await server.token('ada')
  const count = 6
  const times = (headers: object): object[] => Array.from({ length: count }, () => headers)
  const sockets = Array.from({ length: count }, (_, index) => [
    new WebSocket(`${server.wsUrl}/sync/acme/a${index}/main?token=${token}`, {
      headers: { traceparent, tracestate },
    }),
    new WebSocket(`${server.wsUrl}/sync/acme/b${index}/main?token=${other.token}`),
  ]).flat()
  ends.push(() => {
    for (const socket of sockets) socket.terminate()
  })
  const joined = (): boolean =>
    [receiver, theirs].every((each) => tracesOf(each, 'presence.join').length === count)
  await eventually(joined, undefined, 20_000)
  expect(tracesOf(receiver, 'presence.join')).toEqual(times({ traceparent, tracestate }))
  const none = { traceparent: undefined, tracestate: undefined }
  expect(tracesOf(theirs, 'presence.join')).toEqual(times(none))
  for (const socket of sockets) socket.close()
  await eventually(() => tracesOf(theirs, 'presence.leave').length === count, undefined, 20_000)
  expect(tracesOf(theirs, 'presence.leave')).toEqual(times(none))
})
