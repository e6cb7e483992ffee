import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A request that the receiver got. */
export interface Hook {
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

/** Function that answers a request or leaves it without an answer. */
export type Behavior = (response: ServerResponse, hook: Hook) => void

export const answering =
  (status: number): Behavior =>
  (response) => {
    response.writeHead(status).end()
  }

export const hanging: Behavior = () => {}

const path = '/hook'

/** Receives webhook events on loopback, and stores them. */
export class HookReceiver {
  readonly hooks: Hook[] = []
  /** Determines the answers. A test may replace it while the receiver runs. */
  behavior: Behavior
  readonly url: string
  readonly #server: Server

  private constructor(server: Server, behavior: Behavior) {
    this.#server = server
    this.behavior = behavior
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`
  }

  /** @param port port to listen on; 0: a free port */
  static async start(behavior: Behavior = answering(200), port = 0): Promise<HookReceiver> {
    const server = createServer().listen(port, '127.0.0.1')
    await once(server, 'listening')
    const receiver = new HookReceiver(server, behavior)
    server.on('request', (request, response) => receiver.#take(request, response))
    return receiver
  }

  /** Header `webhook-id` of each request. */
  get ids(): readonly string[] {
    return this.hooks.map(({ headers }) => headers['webhook-id'] as string)
  }

  /** Parsed JSON body of each request. */
  get bodies(): readonly Record<string, unknown>[] {
    return this.hooks.map(({ body }) => JSON.parse(body) as Record<string, unknown>)
  }

  /** Member `data.documentId` of each request. */
  get documentIds(): readonly string[] {
    return this.bodies.map(({ data }) => (data as { documentId: string }).documentId)
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }

  #take(request: IncomingMessage, response: ServerResponse): void {
    // A client of an earlier server on this port may still reconnect to it.
    if (request.method !== 'POST' || request.url?.startsWith(path) !== true) {
      response.writeHead(404).end()
      return
    }
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('error', () => {})
    request.on('end', () => {
      const hook = { headers: request.headers, body: Buffer.concat(parts).toString() }
      this.hooks.push(hook)
      this.behavior(response, hook)
    })
  }
}

/** A delivery in the form in which `deliveries/get` returns it. */
export interface ShownDelivery {
  readonly messageId: string
  readonly eventType: string
  readonly status: string
  readonly nextAttemptAt: string | null
  readonly reason: string | null
  readonly attempts: readonly {
    readonly time: string
    readonly httpCode: number | null
    readonly durationMs: number
    readonly error: string | null
  }[]
}

export interface DeliveryPage {
  readonly deliveries: readonly ShownDelivery[]
  readonly iterator: string | null
  readonly prevIterator: string | null
  readonly done: boolean
}

export const organizationId = 'acme'

type Post = (path: string, data: unknown) => Promise<unknown>

/**
 * Returns functions for the calls of webhook tests.
 * @param post calls an operation of a server, and returns `result.data`
 */
export function hookCalls(post: Post) {
  const workspace = (path: string, data: object) => post(`/v2/workspace/${path}`, data)
  return {
    /** Enables advanced webhooks, and creates the organization. */
    begin: async (): Promise<void> => {
      await workspace('advancedwebhookconfig/update', { isEnabled: true })
      await post('/v2/organizations/add', { organizations: [{ organizationId }] })
    },
    /** Creates an endpoint, and returns its id. */
    endpoint: async (url: string, data: object = {}): Promise<string> => {
      const made = await workspace('advancedwebhook/endpoints/create', { url, ...data })
      return (made as { id: string }).id
    },
    endpoints: async () =>
      ((await workspace('advancedwebhook/endpoints/get', {})) as { endpoints: { disabled: boolean }[] })
        .endpoints,
    update: (endpointId: string, data: object) =>
      workspace('advancedwebhook/endpoints/update', { endpointId, ...data }),
    remove: (endpointId: string) => workspace('advancedwebhook/endpoints/delete', { endpointId }),
    test: async (endpointId: string, data: object = {}) =>
      (
        (await workspace('advancedwebhook/endpoints/test', { endpointId, waitSeconds: 0, ...data })) as {
          messageId: string
        }
      ).messageId,
    log: async (endpointId: string, data: object = {}) =>
      (await workspace('advancedwebhook/deliveries/get', { endpointId, ...data })) as DeliveryPage,
    resend: (endpointId: string, messageId: string) =>
      workspace('advancedwebhook/deliveries/resend', { endpointId, messageId }),
    recover: async (endpointId: string, since = 0) =>
      ((await workspace('advancedwebhook/deliveries/recover', { endpointId, since })) as { requeued: number })
        .requeued,
    /** Creates a document. This causes one `document.create` event. */
    document: (documentId: string) =>
      post('/v2/organizations/documents/add', { organizationId, documents: [{ documentId }] }),
  }
}
