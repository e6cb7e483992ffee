import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'

/** A registry of npm in memory, which has the packages that are published to it. */
export interface NpmRegistry {
  /** Options with which npm uses it, with a credential. */
  readonly options: readonly string[]
  /** Names of the packages in the order of their publication. */
  readonly published: readonly string[]
  /** Rejects the next publication of a package. */
  rejectOnce(name: string): void
  close(): void
}

export async function startNpmRegistry(): Promise<NpmRegistry> {
  const documents = new Map<string, unknown>()
  const published: string[] = []
  let rejected: string | null = null
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const name = decodeURIComponent(request.url ?? '').slice(1)
    const reply = (status: number, body: unknown): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    }
    if (request.method !== 'PUT')
      return reply(documents.has(name) ? 200 : 404, documents.get(name) ?? { error: 'not found' })
    const document = await json(request)
    if (rejected === name) {
      rejected = null
      return reply(403, { error: 'rejected' })
    }
    documents.set(name, document)
    published.push(name)
    return reply(201, { ok: true })
  }
  const server = createServer((request, response) => void answer(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = `//127.0.0.1:${(server.address() as AddressInfo).port}/`
  return {
    options: [`--registry=http:${address}`, `--${address}:_authToken=test`],
    published,
    rejectOnce: (name) => {
      rejected = name
    },
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
