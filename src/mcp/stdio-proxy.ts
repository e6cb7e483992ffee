import { setTimeout } from 'node:timers/promises'
import {
  StreamableHTTPClientTransport,
  StreamableHTTPError,
} from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import {
  isInitializeRequest,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  type RequestId,
} from '@modelcontextprotocol/sdk/types.js'
import { errorMessage } from '../errors.ts'
import { withoutTrailing } from '../text.ts'
import { mcpPath } from './mcp-path.ts'

/** Code of the error for a message that did not reach the server. */
const unreachable = -32_000

/** Milliseconds for which the messages that have arrived can still reach the server when the input has ended. */
const finishMs = 10_000

export interface StdioProxyOptions {
  /** URL of the server, without `/mcp`. */
  readonly url: string
  /** Token of the agent. */
  readonly token: string
  /** Prints a problem for the person who has started the program. */
  readonly report: (problem: string) => void
}

/**
 * Passes the messages of a client on standard input on to the MCP server of a running Weft server, and its messages to
 * standard output. Resolves when standard input ends. If the server has ended the session, the proxy begins another
 * one with the first message of the client.
 */
export async function runStdioProxy({ url, token, report }: StdioProxyOptions): Promise<void> {
  const stdio = new StdioServerTransport()
  const onerror = (error: Error): void => report(error.message)
  let initialize: JSONRPCMessage | null = null
  /** The session that the next message uses. */
  let session = openSession()

  function openSession() {
    const http = new StreamableHTTPClientTransport(new URL(withoutTrailing('/', url) + mcpPath), {
      requestInit: { headers: { authorization: `Bearer ${token}` } },
    })
    const opened = { http, begun: Promise.resolve(), replayed: null as RequestId | null }
    const onmessage = (message: JSONRPCMessage): void => {
      if (isInitializeResult(message)) http.setProtocolVersion(message.result.protocolVersion)
      // The client has the response to its `initialize` already.
      if (isJSONRPCResultResponse(message) && message.id === opened.replayed) opened.replayed = null
      else void stdio.send(message)
    }
    Object.assign(http, { onmessage, onerror })
    return opened
  }

  /** Begins another session. Subscriptions of the former one are lost. */
  async function beginAgain(): Promise<void> {
    if (initialize === null) return
    report('the server has ended the session; beginning another one')
    await session.http.close()
    session = openSession()
    if (isJSONRPCRequest(initialize)) session.replayed = initialize.id
    await session.http.start()
    session.begun = session.http.send(initialize)
    await session.begun
    await session.http.send({ jsonrpc: '2.0', method: 'notifications/initialized' })
  }

  async function pass(message: JSONRPCMessage): Promise<void> {
    const used = session
    await used.begun
    try {
      await used.http.send(message)
    } catch (error) {
      // Several messages can find at the same time that the session has ended. Another session aborts them.
      if (used === session) {
        if (!(error instanceof StreamableHTTPError) || error.code !== 404) throw error
        await beginAgain()
      }
      await session.begun
      await session.http.send(message)
    }
  }

  const ended = new Promise<void>((resolve) => {
    process.stdin.once('end', resolve).once('close', resolve)
  })
  const passing = new Set<Promise<void>>()
  const onmessage = (message: JSONRPCMessage): void => {
    const passed = pass(message)
    const settled = passed.catch(() => {}).finally(() => passing.delete(settled))
    passing.add(settled)
    if (isInitializeRequest(message)) {
      initialize = message
      session.begun = passed.catch(() => {})
    }
    passed.catch((error: unknown) => {
      report(errorMessage(error))
      if (isJSONRPCRequest(message))
        void stdio.send({
          jsonrpc: '2.0',
          id: message.id,
          error: { code: unreachable, message: errorMessage(error) },
        })
    })
  }
  Object.assign(stdio, { onmessage, onerror })
  await session.http.start()
  await stdio.start()
  await ended
  await Promise.race([Promise.all(passing), setTimeout(finishMs, null, { ref: false })])
  await session.http.terminateSession().catch(() => {})
  await session.http.close()
  await stdio.close()
}

type InitializeResult = JSONRPCMessage & { readonly result: { readonly protocolVersion: string } }

const isInitializeResult = (message: JSONRPCMessage): message is InitializeResult =>
  isJSONRPCResultResponse(message) &&
  typeof message.result.protocolVersion === 'string' &&
  message.result.serverInfo !== undefined
