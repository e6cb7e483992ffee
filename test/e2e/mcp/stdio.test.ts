import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { build } from 'esbuild'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { programs } from '../../../src/build/bundles.ts'
import { builtFile } from '../../../src/core/base/package-file.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { eventually } from '../../support/clients/clients.ts'
import { addReport, agentToken, toolsOf } from '../../support/clients/mcp-client.ts'
import { metric, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { holdable } from '../../support/stores/pausable-engine.ts'

const program = fileURLToPath(builtFile('main.js'))

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
  await addReport(server, 'report')
})
afterAll(() => server.stop())

/** Starts `weft mcp`, and connects a client with its standard input and output. */
async function connectStdio(
  token: string,
  { url }: TestServer = server,
): Promise<{ client: Client; transport: StdioClientTransport }> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [program, 'mcp', '--url', url],
    env: { PATH: process.env.PATH ?? '', WEFT_AGENT_TOKEN: token },
    stderr: 'ignore',
  })
  const client = new Client({ name: 'test', version: '1.0.0' })
  await client.connect(transport)
  onTestFinished(() => client.close())
  return { client, transport }
}

it('[MCP-50] connects a client on standard input and output', async () => {
  const { client } = await connectStdio(await agentToken(server, 'bot'))
  const { use } = toolsOf(client)
  expect(client.getServerVersion()).toMatchObject({ name: 'weft' })
  expect((await client.listTools()).tools).toHaveLength(8)
  const { version } = await use<{ version: string }>('read_document', { documentId: 'report' })
  const edits = [{ replace: { find: 'monday', with: 'Monday' } }]
  await use('edit_document', { documentId: 'report', baseVersion: version, edits })
  expect(JSON.stringify(await use('read_document', { documentId: 'report' }))).toContain('We ship on Monday')
})

it('[MCP-50] ends the request of a call that the client cancels', async () => {
  const engine = holdable(await openMemoryEngine())
  const slow = await startTestServer({}, { engine })
  onTestFinished(() => slow.stop())
  await addReport(slow, 'report')
  const { client } = await connectStdio(await agentToken(slow, 'canceler'), slow)
  engine.hold()
  const leaving = new AbortController()
  const edits = [{ insert: { at: 'end', content: 'More.' } }]
  const call = { name: 'edit_document', arguments: { documentId: 'report', edits } }
  const canceled = client.callTool(call, undefined, { signal: leaving.signal })
  await eventually(() => engine.waiting() > 0)
  leaving.abort('enough')
  await expect(canceled).rejects.toThrow('enough')
  const name = 'weft_mcp_tool_call_duration_seconds_count{tool="edit_document",result="canceled"}'
  await eventually(async () => (await metric(slow, name)) === 1)
  engine.release()
})

/** Runs `weft mcp` with this input until it ends. */
async function run(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  input: string,
): Promise<{ readonly code: number | null; readonly out: string; readonly err: string }> {
  const child = spawn(process.execPath, [program, 'mcp', ...args], {
    env: { PATH: process.env.PATH, ...environment },
  })
  let [out, err] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text
  })
  child.stdin.end(input)
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { code, out, err }
}

it('[MCP-50] ends with standard input, and reports problems on standard error only', async () => {
  const token = await agentToken(server, 'bot')
  expect(await run(['--url', server.url], { WEFT_AGENT_TOKEN: token }, '')).toEqual({
    code: 0,
    out: '',
    err: '',
  })
  const missing = await run(['--url', server.url], {}, '')
  expect([missing.code, missing.out]).toEqual([2, ''])
  expect(missing.err).toContain('the token of an agent is missing')
  expect((await run([], { WEFT_AGENT_TOKEN: token }, '')).err).toContain(
    'the URL of a running server is missing',
  )
  const initialize = { jsonrpc: '2.0', id: 1, method: 'initialize', params: {} }
  const rejected = await run(['--url', server.url, '--token', 'x'], {}, `${JSON.stringify(initialize)}\n`)
  expect(rejected.err).toContain('agent/invalid-token')
})

it('[MCP-18] loads no code of the SDK when the server or a command starts', async () => {
  const { metafile } = await build({ ...programs('unused/'), write: false, metafile: true, sourcemap: false })
  const { outputs } = metafile
  const entries = Object.keys(outputs).filter((path) =>
    /unused\/(main|build\/start|package\/server)\.js$/.test(path),
  )
  expect(entries).toHaveLength(3)
  const loaded = new Set<string>()
  const load = (path: string): void => {
    if (loaded.has(path)) return
    loaded.add(path)
    for (const { path: next, kind } of outputs[path]?.imports ?? [])
      if (kind === 'import-statement' && outputs[next] !== undefined) load(next)
  }
  for (const entry of entries) load(entry)
  const inputs = [...loaded].flatMap((path) => Object.keys(outputs[path]?.inputs ?? {}))
  const ofSdk = /node_modules\/(@modelcontextprotocol|zod|ajv-formats)\//
  expect(inputs.filter((path) => ofSdk.test(path))).toEqual([])
  expect(
    Object.values(outputs)
      .flatMap((output) => Object.keys(output.inputs))
      .some((path) => ofSdk.test(path)),
  ).toBe(true)
})
