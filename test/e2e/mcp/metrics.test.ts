import { expect, it, onTestFinished } from 'vitest'
import { mcpLimits } from '../../../src/capabilities/agents/mcp-limits.ts'
import { unlimited } from '../../../src/core/config/option-parsers.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { eventually } from '../../support/clients/clients.ts'
import { addReport, agentToken, connectMcp } from '../../support/clients/mcp-client.ts'
import { startTestServer, type TestServer } from '../../support/servers/server.ts'
import { holdable } from '../../support/stores/pausable-engine.ts'

/** Returns the number of tool calls, by tool and result. */
async function callsOf({ url }: TestServer): Promise<Readonly<Record<string, number>>> {
  const text = await (await fetch(`${url}/metrics`)).text()
  const counts = text.matchAll(
    /^weft_mcp_tool_call_duration_seconds_count\{tool="(.+)",result="(.+)"\} (\d+)$/gm,
  )
  return Object.fromEntries(
    [...counts].map(([, tool, result, count]) => [`${tool} ${result}`, Number(count)]),
  )
}

it('[MCP-73] measures tool calls', async () => {
  const engine = holdable(await openMemoryEngine())
  const server = await startTestServer({ callsPerAgent: unlimited }, { engine })
  onTestFinished(() => server.stop())
  await addReport(server, 'report')
  const token = await agentToken(server, 'one')
  const one = await connectMcp(server.url, token)
  const two = await connectMcp(server.url, await agentToken(server, 'two', { policy: 'read-only' }))
  for (const { client } of [one, two]) onTestFinished(() => client.close())

  await one.use('read_document', { documentId: 'report' })
  await one.use('read_document', { documentId: 'report' })
  await one.call('read_document', { documentId: 'none' })
  await one.call('read_document', {})
  await two.call('comment', { documentId: 'report', text: 'Hello' })
  await one.call('no_tool').catch(() => null)
  expect(await callsOf(server)).toEqual({
    'read_document ok': 2,
    'read_document error': 2,
    'comment rejected': 1,
  })

  engine.hold()
  const edits = [{ insert: { at: 'end', content: 'More.' } }]
  const running = Array.from({ length: mcpLimits.callsAtOnce + 3 }, () =>
    one.call('edit_document', { documentId: 'report', edits }),
  )
  await eventually(async () => (await callsOf(server))['edit_document rejected'] === 3)
  engine.release()
  await Promise.all(running)
  expect(await callsOf(server)).toMatchObject({ 'edit_document ok': mcpLimits.callsAtOnce })

  engine.hold()
  const canceling = new AbortController()
  const call = { name: 'edit_document', arguments: { documentId: 'report', edits } }
  const canceled = fetch(`${server.url}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: call }),
    signal: canceling.signal,
  })
  await eventually(() => engine.waiting() > 0)
  canceling.abort()
  await expect(canceled).rejects.toThrow('aborted')
  await eventually(async () => (await callsOf(server))['edit_document canceled'] === 1)
  engine.release()
})
