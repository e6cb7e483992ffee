import {
  createServer,
  request as forward,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { makeWorld } from '../support/data/openapi-example-data.ts'
import type { TestServer } from '../support/servers/server.ts'

/** Calls that may remove or change objects of the examples, or that need the feed. */
const changing =
  /(add|apply|copy|update|edit|migrate|move|delete|prune|remove|create|set)$|\/branches\/|\/deleted\/|\/feed\//

export interface WorldRelay {
  readonly url: string
  /** Number of forwarded requests. */
  requests(): number
  close(): Promise<void>
}

/**
 * A proxy in front of a server that restores the objects of the examples of `/openapi.json` before each
 * request, because a tool that generates requests does not know what earlier ones have deleted. Requests and
 * responses pass unchanged.
 */
export async function startWorldRelay(server: TestServer): Promise<WorldRelay> {
  let requests = 0
  let last = Promise.resolve()
  let isChanged = true
  const pass = async (request: IncomingMessage, answer: ServerResponse): Promise<void> => {
    const body = await buffer(request)
    const path = request.url ?? ''
    if (isChanged || changing.test(path)) await makeWorld(server, path)
    isChanged = changing.test(path)
    requests += 1
    await send(server.port, request, body, answer)
  }
  const relay: Server = createServer((request, answer) => {
    // One request at a time, so that each finds all objects.
    last = last.then(() => pass(request, answer))
  })
  await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(relay.address() as AddressInfo).port}`,
    requests: () => requests,
    close: () => new Promise((resolve) => relay.close(() => resolve())),
  }
}

function send(
  port: number,
  { method, url, rawHeaders }: IncomingMessage,
  body: Buffer,
  answer: ServerResponse,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const onward = forward(
      { port, host: '127.0.0.1', method, path: url, headers: rawHeaders },
      (response) => {
        answer.writeHead(response.statusCode ?? 500, response.rawHeaders)
        response.pipe(answer).on('close', resolve)
      },
    )
    onward.on('error', reject)
    onward.end(body)
  })
}
