import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import { dataOf, type TestServer } from '../servers/server.ts'

/** Options of `generate_token` for an agent. */
export interface AgentTokenOptions {
  readonly policy?: 'read-only' | 'suggest-only' | 'no-delete'
  readonly model?: string
  readonly onBehalfOf?: string
  readonly expiresInSeconds?: number
  readonly resources?: readonly object[]
}

/** Creates the token of an agent. By default, it is an editor of the organization `acme`. */
export async function agentToken(
  { post }: TestServer,
  userId: string,
  { resources, ...options }: AgentTokenOptions = {},
): Promise<string> {
  const data = {
    userId,
    agent: true,
    userProperties: { name: `Agent ${userId}`, email: '' },
    permissions: {
      resources: resources ?? [{ type: 'organization', id: 'acme', accessRole: 'editor' }],
    },
    ...options,
  }
  return (dataOf(await post('/v2/auth/generate_token', data)) as { token: string }).token
}

/** A connected client of the official SDK. */
export interface McpTestClient {
  readonly client: Client
  readonly transport: StreamableHTTPClientTransport
  /** Calls a tool. Returns its result, also if it is an error. */
  readonly call: (name: string, args?: Record<string, unknown>) => Promise<CallToolResult>
  /** Calls a tool, and returns its structured content. Throws if the result is an error. */
  readonly use: <Content = Record<string, unknown>>(
    name: string,
    args?: Record<string, unknown>,
  ) => Promise<Content>
}

/** Connects a client with the token of an agent. */
export async function connectMcp(url: string, token: string): Promise<McpTestClient> {
  const client = new Client({ name: 'test', version: '1.0.0' })
  const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), {
    requestInit: { headers: { authorization: `Bearer ${token}` } },
  })
  await client.connect(transport)
  return { client, transport, ...toolsOf(client) }
}

/** Returns the functions that call tools of a client. */
export function toolsOf(client: Client): Pick<McpTestClient, 'call' | 'use'> {
  const call: McpTestClient['call'] = async (name, args = {}) =>
    (await client.callTool({ name, arguments: args })) as CallToolResult
  const use = async <Content>(name: string, args: Record<string, unknown> = {}): Promise<Content> => {
    const result = await call(name, args)
    if (result.isError === true) throw new Error(textOf(result))
    return result.structuredContent as Content
  }
  return { call, use }
}

/** Returns all texts of a result. */
export const textOf = ({ content }: CallToolResult): string =>
  content.map((block) => (block.type === 'text' ? block.text : '')).join('\n')

/** Returns the code of the error in a result. */
export const errorCodeOf = (result: CallToolResult): unknown => {
  const [first] = result.content
  if (result.isError !== true || first?.type !== 'text') return undefined
  return (JSON.parse(first.text) as { error: { code: string } }).error.code
}

/** A document in Markdown, with the names of Tiptap. */
export const sampleReport = '# Report\n\nWe ship on monday.\n\n## Risks\n\nNone.\n\n## Dates\n\nMay.\n'

/** Adds a rich text document of the organization `acme`, from Markdown. */
export async function addReport(
  server: TestServer,
  documentId: string,
  markdown = sampleReport,
): Promise<void> {
  const address = { organizationId: 'acme', documentId, editorId: 'main', contentKey: 'default' }
  dataOf(
    await server.post('/v2/crdt/add', { ...address, type: 'markdown', data: markdown, schema: 'tiptap' }),
  )
}

/** Returns the content of a document as Markdown. */
export async function markdownOf(server: TestServer, documentId: string, editorId = 'main'): Promise<string> {
  const address = { organizationId: 'acme', documentId, editorId, format: 'markdown' }
  const [entry] = dataOf(await server.post('/v2/crdt/get', address)) as readonly { readonly data: string }[]
  return entry?.data ?? ''
}
