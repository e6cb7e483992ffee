import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { unlimited } from '../../src/core/config/option-parsers.ts'
import { addReport, agentToken } from '../support/clients/mcp-client.ts'
import { startTestServer, type TestServer } from '../support/servers/server.ts'
import { isEverythingAsked } from '../support/time/full-run.ts'

const packageFolder = (name: string): string =>
  fileURLToPath(new URL(`node_modules/@modelcontextprotocol/${name}/`, import.meta.url))

/** The names that the conformance suite expects, and the names of this server. */
const names: readonly (readonly [string, string])[] = [
  ['"name":"test_simple_text"', '"name":"list_documents"'],
  ['"name":"test_error_handling"', '"name":"read_document"'],
]

let server: TestServer
let token: string
let url: string
/** Adds the token, which the suite cannot send, and translates the names. It changes nothing else. */
const relay = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const body = names.reduce(
      (text, [theirs, ours]) => text.replaceAll(theirs, ours),
      Buffer.concat(chunks).toString(),
    )
    const { host: _, 'content-length': __, 'transfer-encoding': ___, ...headers } = request.headers
    const forwarded = httpRequest(
      `${server.url}${request.url ?? ''}`,
      {
        method: request.method ?? 'GET',
        headers: {
          ...headers,
          authorization: `Bearer ${token}`,
          ...(body !== '' && { 'content-length': Buffer.byteLength(body) }),
        },
      },
      (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers)
        answer.pipe(response)
      },
    )
    forwarded.on('error', () => response.destroy())
    response.on('close', () => forwarded.destroy())
    forwarded.end(body)
  })
})

beforeAll(async () => {
  relay.listen(0, 'localhost')
  await once(relay, 'listening')
  url = `http://localhost:${(relay.address() as AddressInfo).port}`
  server = await startTestServer({ publicUrl: url, callsPerAgent: unlimited })
  await addReport(server, 'report')
  token = await agentToken(server, 'conformance')
})
afterAll(async () => {
  relay.closeAllConnections()
  relay.close()
  await server.stop()
})

interface Ran {
  readonly code: number | null
  readonly out: string
}

async function run(args: readonly string[]): Promise<Ran> {
  const child = spawn(process.execPath, args, {
    cwd: tmpdir(),
    env: { PATH: process.env.PATH, HOME: tmpdir() },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let out = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      out += text
    })
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, out }
}

/** The suite imports a function that Node 20 does not have, and uses it only to list its own results. */
const withGlob = fileURLToPath(new URL('../support/mcp-conformance-on-node-20.mjs', import.meta.url))

const conformance = (scenario: string): Promise<Ran> =>
  run([
    '--import',
    withGlob,
    join(packageFolder('conformance'), 'dist/index.js'),
    'server',
    '--url',
    `${url}/mcp`,
    '--scenario',
    scenario,
    '--verbose',
  ])

const inspector = async (...args: readonly string[]): Promise<unknown> => {
  const { code, out } = await run([
    join(packageFolder('inspector'), 'clients/launcher/build/index.js'),
    '--cli',
    `${server.url}/mcp`,
    '--transport',
    'http',
    '--header',
    `authorization: Bearer ${token}`,
    ...args,
  ])
  expect(code, out).toBe(0)
  return JSON.parse(out.slice(out.indexOf('{'), out.lastIndexOf('}') + 1))
}

describe.runIf(isEverythingAsked)('MCP clients of others', () => {
  it.each([
    'server-initialize',
    'ping',
    'tools-list',
    'tools-call-simple-text',
    'tools-call-error',
    'dns-rebinding-protection',
  ])('[MCP-19] passes the scenario %s of the conformance suite', async (scenario) => {
    const { code, out } = await conformance(scenario)
    expect(code, out).toBe(0)
    expect(out).not.toMatch(/FAILURE|WARNING/)
  })

  it('[MCP-19] is listed and called by the command line of the inspector', async () => {
    const listed = (await inspector('--method', 'tools/list')) as { tools: { name: string }[] }
    expect(listed.tools.map(({ name }) => name)).toContain('edit_document')
    const read = await inspector(
      '--method',
      'tools/call',
      '--tool-name',
      'read_document',
      '--tool-arg',
      'documentId=report',
    )
    expect(read).toMatchObject({ structuredContent: { format: 'markdown' } })
    const edits = JSON.stringify([{ replace: { find: 'monday', with: 'Monday' } }])
    const edited = await inspector(
      '--method',
      'tools/call',
      '--tool-name',
      'edit_document',
      '--tool-arg',
      'documentId=report',
      `edits=${edits}`,
    )
    expect(edited).toMatchObject({ structuredContent: { changed: true } })
  })
})
