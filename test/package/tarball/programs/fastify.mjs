import fastify from 'fastify'
import { createServer, dataOf } from 'weft-server'
import { backendOf, editTogether, report } from './editors.mjs'

const weft = await createServer({ engine: 'memory', basePath: '/collab', log: false })
const app = fastify()
app.register(async (collab) => {
  // Weft reads the bodies itself.
  collab.removeAllContentTypeParsers()
  collab.addContentTypeParser('*', (_request, _payload, done) => done(null))
  collab.all('/collab/*', (request, reply) => {
    reply.hijack()
    weft.handle(request.raw, reply.raw)
  })
})
app.post('/own', (request, reply) => reply.send(request.body))
app.server.on('upgrade', (request, socket, head) => {
  if (!weft.handleUpgrade(request, socket, head)) socket.destroy()
})
const address = await app.listen({ port: 0, host: '127.0.0.1' })

const headers = { 'content-type': 'application/json' }
const own = await (await fetch(`${address}/own`, { method: 'POST', headers, body: '{"mine":true}' })).json()
const rest = await (
  await fetch(`${address}/collab/v2/organizations/get`, {
    method: 'POST',
    headers: {
      ...headers,
      'x-service-api-key': weft.credentials.apiKey,
      'x-service-auth-token': weft.credentials.authToken,
    },
    body: '{"data":{}}',
  })
).json()
const text = await editTogether({ url: `${address}/collab`, ...backendOf(weft.api, dataOf) })
await weft.close()
await app.close()
await report({ own, rest: rest.result.status, text })
