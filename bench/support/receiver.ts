// Where webhooks arrive: answers 200. GET tells what has come since the last DELETE.
import { createServer } from 'node:http'
import type { Arrivals } from '../webhooks/receiving.ts'

let [count, first, last, body] = [0, 0, 0, '']

const arrivals = (): Arrivals => ({ count, ms: last - first, body })

createServer((request, response) => {
  if (request.method === 'GET') return response.end(JSON.stringify(arrivals()))
  if (request.method === 'DELETE') {
    count = 0
    return response.end()
  }
  const parts: Buffer[] = []
  request.on('data', (part: Buffer) => parts.push(part))
  request.on('end', () => {
    last = performance.now()
    if (count++ === 0) first = last
    body = Buffer.concat(parts).toString()
    response.end()
  })
}).listen(Number(process.argv[2]), '127.0.0.1')
