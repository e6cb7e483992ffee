import { type ClientRequest, type IncomingMessage, request as overHttp } from 'node:http'
import { request as overHttps } from 'node:https'
import type { Duplex } from 'node:stream'
import type { UpgradeRequest } from '../connect/upgrade-request.ts'
import { forwardingHeader } from './forwarding-signature.ts'

/** What has come of asking another node to serve a client. */
export type NodeConnection =
  | {
      readonly kind: 'taken'
      readonly connection: Duplex
      /** Status line and headers of its answer. */
      readonly answer: string
      /** What it has said after that. */
      readonly head: Buffer
    }
  /** It has answered that it will not. */
  | { readonly kind: 'refused' }
  /** It has not answered in time. */
  | { readonly kind: 'away' }

/**
 * Has a node answer a client's request for a websocket, which is sent as it came, with a header more. Never rejects.
 * @param timeoutMs until it has answered
 */
export function connectToNode(
  node: URL,
  { request }: UpgradeRequest,
  hop: string,
  timeoutMs: number,
): Promise<NodeConnection> {
  return new Promise((resolve) => {
    const asked = ask(node, request, hop)
    if (asked === null) return resolve({ kind: 'refused' })
    const timer = setTimeout(() => asked.destroy(), timeoutMs)
    const settle = (reached: NodeConnection): void => {
      clearTimeout(timer)
      resolve(reached)
    }
    // Also after it has been settled: without a listener an error would end the process.
    asked.on('error', () => settle({ kind: 'away' }))
    asked.on('close', () => settle({ kind: 'away' }))
    asked.on('response', () => {
      settle({ kind: 'refused' })
      asked.destroy()
    })
    asked.on('upgrade', (response: IncomingMessage, connection: Duplex, head: Buffer) => {
      connection.on('error', () => {})
      settle({ kind: 'taken', connection, answer: answerOf(response), head })
    })
    asked.end()
  })
}

/** Null for a request that cannot be sent as it came. */
function ask(node: URL, { method, url, rawHeaders }: IncomingMessage, hop: string): ClientRequest | null {
  const ask = node.protocol === 'https:' ? overHttps : overHttp
  try {
    return ask(node, {
      method: method ?? 'GET',
      path: url ?? '/',
      // First: of very many headers those behind are not read.
      headers: [forwardingHeader, hop, ...passedOn(rawHeaders)],
      agent: false,
    })
  } catch {
    return null
  }
}

/** What would be about a body: the request has none. */
const aboutBodies = new Set(['content-length', 'expect', 'te', 'trailer', 'transfer-encoding'])

/** The others as they came, host included: what is asked of pages is to be the same. */
function passedOn(rawHeaders: readonly string[]): string[] {
  return rawHeaders.filter((_, at) => !aboutBodies.has(String(rawHeaders[at - (at % 2)]).toLowerCase()))
}

function answerOf({ statusCode, statusMessage, rawHeaders }: IncomingMessage): string {
  const lines = [`HTTP/1.1 ${statusCode} ${statusMessage}`]
  for (let at = 0; at < rawHeaders.length; at += 2) lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`)
  return `${lines.join('\r\n')}\r\n\r\n`
}
