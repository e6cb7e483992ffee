import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createClient, createEndpoint, type EndpointUser } from '../../../src/client/rest/index.ts'
import { nodeHandler } from '../../../src/server/library/index.ts'
import type { Reachable } from './server.ts'

/** An application with an endpoint for `useComments`, whose users sign in by their name in the query. */
export interface CommentApplication {
  /** URL of the endpoint of a user. */
  readonly endpointOf: (name: string) => string
  /** Paths of the requests, without the name of the endpoint. */
  readonly requests: string[]
  /** Number of requests that a page has ended before their responses. */
  aborted: number
  /** Called before each request with its path. Returns true if it sends the response itself. */
  before: (path: string, response: ServerResponse) => Promise<boolean> | boolean
  readonly stop: () => Promise<void>
}

const users: Readonly<Record<string, EndpointUser>> = {
  ada: { userId: 'ada', name: 'Ada', role: 'editor' },
  grace: { userId: 'grace', name: 'Grace', role: 'editor' },
  sue: { userId: 'sue', name: 'Sue', role: 'suggester' },
  vera: { userId: 'vera', name: 'Vera', role: 'viewer' },
}

/** Starts the application on a free port. */
export async function startCommentApplication({ url, credentials }: Reachable): Promise<CommentApplication> {
  const { apiKey, authToken } = credentials
  const handler = nodeHandler(
    createEndpoint({
      api: createClient({ url, apiKey, authToken }),
      authorize: (request) => users[new URL(request.url).searchParams.get('name') ?? ''] ?? null,
      onError: () => {},
    }),
  )
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = new URL(request.url ?? '/', 'http://app').pathname.replace('/weft/', '')
    application.requests.push(path)
    response.on('close', () => {
      if (!response.writableFinished) application.aborted += 1
    })
    if (!(await application.before(path, response))) await handler(request, response)
  }
  const server = createServer((request, response) => void answer(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const application: CommentApplication = {
    endpointOf: (name) => `http://127.0.0.1:${port}/weft/?name=${name}`,
    requests: [],
    aborted: 0,
    before: () => false,
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return application
}
