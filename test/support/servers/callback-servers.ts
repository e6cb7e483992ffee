import type { ServerResponse } from 'node:http'
import { afterEach } from 'vitest'
import type { AgentTraits } from '../../../src/core/access/identity.ts'
import type { Log } from '../../../src/core/base/log.ts'
import type { Config } from '../../../src/core/config/config.ts'
import { RawClient as Client, contentOf, type RawClient } from '../clients/clients.ts'
import { type Behavior, type Hook, HookReceiver } from '../clients/webhook-receiver.ts'
import { dataOf, startTestServer, type TestServer, type TokenOptions } from './server.ts'

export const organizationId = 'acme'

/** Request of a callback. */
export interface Asked {
  readonly callback: 'authorize' | 'load'
  readonly apiKey: string
  readonly organizationId: string
  readonly documentId: string
  readonly editorId: string
  readonly user?: { readonly userId: string; readonly name: string; readonly email: string }
  readonly agent?: AgentTraits | null
}

/** Answers with this JSON. */
export const json =
  (body: unknown): Behavior =>
  (response) =>
    send(response, JSON.stringify(body))

export const send = (response: ServerResponse, text: string): void => {
  response.writeHead(200, { 'content-type': 'application/json' }).end(text)
}

/** Answers with the JSON that the function returns. */
export const deciding =
  (decide: (asked: Asked) => unknown): Behavior =>
  (response, hook) =>
    send(response, JSON.stringify(decide(askedIn(hook))))

export const askedIn = ({ body }: Hook): Asked => JSON.parse(body) as Asked

export const askedOf = ({ hooks }: HookReceiver): readonly Asked[] => hooks.map(askedIn)

/** Returns functions that create servers and backends. They are stopped at the end of each test. */
export function callbackTests() {
  const ends: (() => Promise<void>)[] = []
  afterEach(async () => {
    for (const end of ends.splice(0).toReversed()) await end()
  })
  return {
    backend: async (behavior?: Behavior): Promise<HookReceiver> => {
      const receiver = await HookReceiver.start(behavior)
      ends.push(() => receiver.stop())
      return receiver
    },
    start: async (overrides: Partial<Config> = {}, log?: Log) => {
      const options: Partial<Config> = {
        webhookAllowlist: ['127.0.0.1'],
        defaultAccess: 'restricted',
        ...overrides,
      }
      const server = await startTestServer(options, log ? { log } : {})
      ends.push(() => server.stop())
      return { server, ...callbackCalls(server) }
    },
    atEnd: (end: () => Promise<void>) => void ends.push(end),
  }
}

/** Returns functions that call a server and connect to it. */
export function callbackCalls(server: TestServer) {
  const call = async (path: string, data: object): Promise<unknown> => dataOf(await server.post(path, data))
  const tokens = new Map<string, Promise<string>>()
  /** A token for each user, because creating one takes longer than a connection. */
  const tokenOf = (userId: string, options: TokenOptions): Promise<string> => {
    const key = JSON.stringify([userId, options])
    const token = tokens.get(key) ?? server.token(userId, options)
    tokens.set(key, token)
    token.catch(() => tokens.delete(key))
    return token
  }
  const connect = async (
    documentId: string,
    userId = 'ada',
    options: TokenOptions = {},
  ): Promise<RawClient> => {
    const token = await tokenOf(userId, options)
    const path = [organizationId, documentId, 'main'].map(encodeURIComponent).join('/')
    return Client.connect(`${server.wsUrl}/sync/${path}?token=${token}`)
  }
  return {
    call,
    connect,
    configure: (data: object) => call('/v2/workspace/callbacks/update', data),
    /** Text of the editor, as the client gets it when it connects. */
    read: async (client: RawClient): Promise<string> => {
      await client.roundTrip()
      return contentOf(client.offers())
    },
    textOf: async (documentId: string): Promise<string> => {
      const editor = { organizationId, documentId, editorId: 'main' }
      const [{ data }] = (await call('/v2/crdt/get', editor)) as [{ data: string }]
      return data
    },
  }
}
