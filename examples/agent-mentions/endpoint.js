// For tests: an endpoint that speaks the protocol of OpenAI's chat completions, and gives the answers that are put
// into `answers`.
import { once } from 'node:events'
import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * @returns `answers`: a text, `{ status }`, `{ cut: true }` for an answer that ends early, or `{ reason }`;
 *   `requests`; `pieceMs`, the time between two pieces
 */
export async function startEndpoint() {
  const answers = []
  const requests = []
  const endpoint = { answers, requests, pieceMs: 0, url: '', close: () => server.close() }
  const server = createServer((request, response) => {
    answer(request, response).catch((error) => response.destroy(error))
  })

  async function answer(request, response) {
    requests.push({ authorization: request.headers.authorization, body: await json(request) })
    const next = answers.shift()
    if (request.url !== '/v1/chat/completions' || next === undefined || next.status !== undefined)
      response.writeHead(next?.status ?? 404).end()
    else await stream(response, next)
  }

  async function stream(response, next) {
    const { cut = false, reason = 'stop' } = next
    const text = typeof next === 'string' ? next : '{"edits":[]'
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const send = (delta, finish_reason = null) =>
      response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\r\n\r\n`)
    response.write(': a comment\n\n')
    send({ role: 'assistant', content: '' })
    // Small pieces.
    for (const piece of text.match(/[\s\S]{1,7}/gu)) {
      send({ content: piece })
      await sleep(endpoint.pieceMs)
    }
    if (!cut) {
      send({}, reason)
      response.write('data: [DONE]\n\n')
    }
    response.end()
  }

  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  endpoint.url = `http://127.0.0.1:${server.address().port}/v1`
  return endpoint
}
