import { setTimeout } from 'node:timers/promises'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import {
  CancelledNotificationSchema,
  InitializeResultSchema,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  type RequestId,
} from '@modelcontextprotocol/sdk/types.js'
import { errorMessage } from '../../core/base/errors.ts'
import { withoutTrailing } from '../../core/base/text.ts'
import { mcpPath } from './mcp-limits.ts'

/** Code of the error for a message that did not reach the server. */
const unreachable = -32_000

/** Milliseconds for which the messages that have arrived can still reach the server when the input has ended. */
const finishMs = 10_000

interface StdioProxyOptions {
  /** URL of the server, without `/mcp`. */
  readonly url: string
  readonly token: string
  /** Prints a problem for the person who has started the program. */
  readonly report: (problem: string) => void
}

/**
 * Passes the messages of a client on standard input on to the MCP server of a running Weft server, and its responses to
 * standard output. Each message is a request of its own, which ends if the client cancels its call. Resolves when
 * standard input ends.
 */
export async function runStdioProxy({ url, token, report }: StdioProxyOptions): Promise<void> {
  const stdio = new StdioServerTransport()
  const endpoint = new URL(withoutTrailing('/', url) + mcpPath)
  /** The requests that wait for their responses, and the calls to which they belong. */
  const running = new Map<StreamableHTTPClientTransport, RequestId | null>()
  let version: string | null = null

  function receive(message: JSONRPCMessage): void {
    if (isJSONRPCResultResponse(message))
      version = InitializeResultSchema.safeParse(message.result).data?.protocolVersion ?? version
    void stdio.send(message)
  }

  async function pass(message: JSONRPCMessage): Promise<void> {
    const id = isJSONRPCRequest(message) ? message.id : null
    const http = new StreamableHTTPClientTransport(endpoint, {
      requestInit: { headers: { authorization: `Bearer ${token}` } },
    })
    if (version !== null) http.setProtocolVersion(version)
    Object.assign(http, { onmessage: receive })
    running.set(http, id)
    await http.start()
    try {
      await http.send(message)
    } catch (error) {
      // The client has canceled the call.
      if (!running.has(http)) return
      report(errorMessage(error))
      if (id !== null)
        await stdio.send({ jsonrpc: '2.0', id, error: { code: unreachable, message: errorMessage(error) } })
    } finally {
      running.delete(http)
      await http.close()
    }
  }

  function cancel(call: RequestId): void {
    for (const [http, id] of running) {
      if (id !== call) continue
      running.delete(http)
      void http.close()
    }
  }

  const ended = new Promise<void>((resolve) => {
    process.stdin.once('end', resolve).once('close', resolve)
  })
  const passing = new Set<Promise<void>>()
  const onmessage = (message: JSONRPCMessage): void => {
    const canceled = CancelledNotificationSchema.safeParse(message).data?.params.requestId
    if (canceled !== undefined) return cancel(canceled)
    const passed = pass(message).finally(() => passing.delete(passed))
    passing.add(passed)
  }
  Object.assign(stdio, { onmessage, onerror: (error: Error) => report(error.message) })
  await stdio.start()
  await ended
  await Promise.race([Promise.all(passing), setTimeout(finishMs, null, { ref: false })])
  for (const id of running.values()) if (id !== null) cancel(id)
  await stdio.close()
}
