// Server that shows the upper bound for REST. It parses the body of a call, creates the content in an
// in-memory document, and answers. It does not compare or check contents, and stores nothing on disk.
import { createServer } from 'node:http'
import * as Y from 'yjs'

interface Replacement {
  readonly documentId: string
  readonly type: string
  readonly data: unknown
}

const docs = new Map<string, Y.Doc>()

function replace({ documentId, type, data }: Replacement): number {
  const doc = docs.get(documentId) ?? new Y.Doc()
  docs.set(documentId, doc)
  let bytes = 0
  doc.once('update', (update: Uint8Array) => {
    bytes = update.length
  })
  doc.transact(() => {
    if (type === 'map') {
      for (const [key, value] of Object.entries(data as object)) doc.getMap('content').set(key, value)
    } else if (type === 'array') {
      const array = doc.getArray('content')
      array.delete(0, array.length)
      array.push(data as unknown[])
    } else {
      // XML is stored as plain text, which costs less than real XML.
      const text = doc.getText('content')
      text.delete(0, text.length)
      text.insert(0, data as string)
    }
  })
  return bytes
}

const answerTo = (url: string | undefined, body: string): object => {
  const call = body === '' ? null : (JSON.parse(body) as { data: Replacement })
  return url === '/v2/crdt/update' && call !== null ? { bytes: replace(call.data) } : {}
}

createServer((request, response) => {
  const parts: Buffer[] = []
  request.on('data', (part: Buffer) => parts.push(part))
  request.on('end', () => {
    const data = answerTo(request.url, Buffer.concat(parts).toString())
    const body = JSON.stringify({ result: { status: 'success', message: 'Done.', data } })
    response.writeHead(200, { 'content-type': 'application/json' }).end(body)
  })
}).listen(Number(process.argv[2]), '127.0.0.1')
