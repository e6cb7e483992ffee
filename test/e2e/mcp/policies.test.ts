import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  addReport,
  agentToken,
  connectMcp,
  errorCodeOf,
  markdownOf,
  sampleReport,
} from '../../support/clients/mcp-client.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'

const reading = ['list_documents', 'search', 'read_document', 'list_changes']
const suggesting = [
  'list_documents',
  'search',
  'read_document',
  'suggest',
  'comment',
  'list_changes',
  'undo_my_changes',
]
const editing = [
  'list_documents',
  'search',
  'read_document',
  'edit_document',
  'suggest',
  'comment',
  'list_changes',
  'undo_my_changes',
]

let server: TestServer
beforeAll(async () => {
  server = await startTestServer({ audit: 'all' })
  await addReport(server, 'report')
})
afterAll(() => server.stop())

const grant = (accessRole: string) => ({ resources: [{ type: 'organization', id: 'acme', accessRole }] })

interface AuditEntry {
  readonly operation: string
  readonly tool?: string
  readonly agent?: { readonly id: string }
  readonly outcome: string
}

/** Returns the audit records of an agent, the oldest first. */
async function recordsOf(agentId: string): Promise<readonly (readonly unknown[])[]> {
  const { workspaceId, workspaceAuthToken } = server.credentials
  const headers = {
    'x-service-workspace-id': workspaceId,
    'x-service-workspace-auth-token': workspaceAuthToken,
  }
  const answer = await server.post('/v2/workspace/audit/get', { pageSize: 500, order: 'asc' }, headers)
  return (dataOf(answer) as readonly AuditEntry[])
    .filter(({ agent }) => agent?.id === agentId)
    .map(({ tool, operation, outcome }) => [tool, operation, outcome])
}

describe('tools and policies', () => {
  it('[MCP-4] [MCP-60] lists only the tools that the role and the policies of the token permit', async () => {
    const cases = [
      [{}, editing],
      [grant('suggester'), suggesting],
      [grant('viewer'), reading],
      [{ policy: 'read-only' }, reading],
      [{ policy: 'suggest-only' }, suggesting],
      [{ policy: 'no-delete' }, editing],
      [{ ...grant('viewer'), policy: 'suggest-only' }, reading],
    ] as const
    for (const [options, expected] of cases) {
      const mcp = await connectMcp(server.url, await agentToken(server, 'lister', options))
      expect((await mcp.client.listTools()).tools.map(({ name }) => name)).toEqual(expected)
      await mcp.client.close()
    }
  })

  it('[MCP-4] [MCP-5] [MCP-60] rejects and records a tool that the token does not permit', async () => {
    const reader = await connectMcp(server.url, await agentToken(server, 'reader', { policy: 'read-only' }))
    const edits = [{ remove: { target: 'monday' } }]
    const version = (await reader.use<{ version: string }>('read_document', { documentId: 'report' })).version
    for (const [name, args] of [
      ['edit_document', { documentId: 'report', edits }],
      ['suggest', { documentId: 'report', edits }],
      ['undo_my_changes', { documentId: 'report', from: version }],
      ['comment', { documentId: 'report', text: 'Hello.' }],
    ] as const)
      expect(errorCodeOf(await reader.call(name, args))).toBe('mcp/tool-not-permitted')
    expect(await markdownOf(server, 'report')).toBe(sampleReport)
    expect(await recordsOf('reader')).toEqual([
      ['read_document', '/v2/crdt/get', 'success'],
      ['read_document', '/v2/crdt/get', 'success'],
      ['edit_document', '/mcp', 'PERMISSION_DENIED'],
      ['suggest', '/mcp', 'PERMISSION_DENIED'],
      ['undo_my_changes', '/mcp', 'PERMISSION_DENIED'],
      ['comment', '/mcp', 'PERMISSION_DENIED'],
    ])
    await reader.client.close()
  })

  it('[MCP-3] applies the role on the document of the call, also if the token has a stronger one elsewhere', async () => {
    await addReport(server, 'other')
    const resources = [
      { type: 'document', id: 'report', organizationId: 'acme', accessRole: 'viewer' },
      { type: 'document', id: 'other', organizationId: 'acme', accessRole: 'editor' },
    ]
    const mcp = await connectMcp(server.url, await agentToken(server, 'mixed', { resources }))
    const edits = [{ replace: { find: 'monday', with: 'Monday' } }]
    expect(errorCodeOf(await mcp.call('edit_document', { documentId: 'report', edits }))).toBe(
      'agent/role-required',
    )
    expect(errorCodeOf(await mcp.call('suggest', { documentId: 'report', edits }))).toBe(
      'agent/role-required',
    )
    await mcp.use('edit_document', { documentId: 'other', edits })
    expect(await markdownOf(server, 'report')).toBe(sampleReport)
    expect(await recordsOf('mixed')).toContainEqual(['edit_document', '/v2/crdt/edit', 'PERMISSION_DENIED'])
    expect(await recordsOf('mixed')).toContainEqual(['edit_document', '/v2/crdt/edit', 'success'])
    await mcp.client.close()
  })

  it('[MCP-3] lets an agent with no-delete insert, but not delete text of others or its own', async () => {
    await addReport(server, 'kept')
    const mcp = await connectMcp(server.url, await agentToken(server, 'keeper', { policy: 'no-delete' }))
    const edit = (each: object) => mcp.call('edit_document', { documentId: 'kept', edits: [each] })
    expect(errorCodeOf(await edit({ remove: { target: 'monday' } }))).toBe('agent/delete-not-allowed')
    expect(errorCodeOf(await edit({ insert: { at: 'end', content: 'More.' } }))).toBeUndefined()
    expect(await markdownOf(server, 'kept')).toBe(`${sampleReport}\nMore.\n`)
    expect(errorCodeOf(await edit({ remove: { target: 'More.' } }))).toBe('agent/delete-not-allowed')
    await mcp.client.close()
  })

  it('[MCP-25] suggest leaves no branch after an error, also with no-delete', async () => {
    await addReport(server, 'empty')
    const mcp = await connectMcp(server.url, await agentToken(server, 'keeper', { policy: 'no-delete' }))
    const suggest = (each: object) => mcp.call('suggest', { documentId: 'empty', edits: [each] })
    expect(errorCodeOf(await suggest({ remove: { target: 'monday' } }))).toBe('agent/delete-not-allowed')
    const address = { organizationId: 'acme', documentId: 'empty', editorId: 'main' }
    expect(dataOf(await server.post('/v2/crdt/branches/list', address))).toEqual([])
    await mcp.client.close()
  })
})

describe('the audit log of a server with the default configuration', () => {
  it('[MCP-5] records changes of tools with the name of the tool, and no reads', async () => {
    const plain = await startTestServer()
    await addReport(plain, 'report')
    const mcp = await connectMcp(plain.url, await agentToken(plain, 'bot'))
    await mcp.use('read_document', { documentId: 'report' })
    await mcp.use('comment', { documentId: 'report', text: 'Hello.' })
    const { workspaceId, workspaceAuthToken } = plain.credentials
    const headers = {
      'x-service-workspace-id': workspaceId,
      'x-service-workspace-auth-token': workspaceAuthToken,
    }
    const answer = await plain.post('/v2/workspace/audit/get', { actor: 'agent' }, headers)
    expect(dataOf(answer)).toMatchObject([{ tool: 'comment', operation: '/v2/commentannotations/add' }])
    await mcp.client.close()
    await plain.stop()
  })
})
