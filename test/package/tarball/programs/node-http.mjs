import { createServer as createHttp } from 'node:http'
import { createServer, dataOf } from 'weft-server'
import { createClient } from 'weft-server/client'
import { backendOf, editTogether, report } from './editors.mjs'

const weft = await createServer({ engine: 'memory', basePath: '/deep/collab', log: false })
const http = createHttp((request, response) => {
  if (request.url.startsWith('/deep/collab/')) weft.handle(request, response)
  else response.end('own page')
})
http.on('upgrade', (request, socket, head) => {
  if (!weft.handleUpgrade(request, socket, head)) socket.destroy()
})
await new Promise((resolve) => http.listen(0, '127.0.0.1', resolve))
const address = `http://127.0.0.1:${http.address().port}`

const own = await (await fetch(address)).text()
const { apiKey, authToken } = weft.credentials
const client = createClient({ url: `${address}/deep/collab`, apiKey, authToken })
const text = await editTogether({ url: `${address}/deep/collab`, ...backendOf(client, dataOf) })
await weft.close()
http.close()
await report({ own, text })
