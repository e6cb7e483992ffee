// Receiver of webhooks that responds with 200. A GET request returns the number of requests since the last
// DELETE.
import { createServer } from 'node:http'
import type { Arrivals } from '../webhooks/receiving.ts'

let [count, first, last, body] = [0, 0, 0, '']

const arrivals = (): Arrivals => ({ count, ms: last - first, body })

function arrived(bytes: Buffer): void {
  last = performance.now()
  if (count++ === 0) first = last
  body = bytes.toString()
}

createServer((request, response) => {
  const parts: Buffer[] = []
  request.on('data', (part: Buffer) => parts.push(part))
  request.on('end', () => {
    if (request.method === 'POST') arrived(Buffer.concat(parts))
    if (request.method === 'DELETE') count = 0
    response.end(request.method === 'GET' ? JSON.stringify(arrivals()) : '')
  })
}).listen(Number(process.argv[2]), '127.0.0.1')
