import { createServer as createHttpServer } from 'node:http'
import next from 'next'
import { createServer } from 'weft-server'

const isDev = process.argv.includes('--dev')
const { PORT = '3000', HOST = 'localhost' } = process.env

// Weft stores the documents in ./weft-data. Browsers sync with it below /collab.
const weft = await createServer({
  dataDir: './weft-data',
  basePath: '/collab',
  logLevel: 'warn',
})
// Pages and routes of Next.js run in this process, and use the server by this name.
globalThis.weft = weft

// Next.js would handle all websockets of its server. This one never listens: it gets only those that are not for Weft.
const nextServer = createHttpServer()
const app = next({ dev: isDev, hostname: HOST, port: Number(PORT), httpServer: nextServer })
const handlePage = app.getRequestHandler()
await app.prepare()

const server = createHttpServer((request, response) => {
  if (request.url.startsWith('/collab/')) weft.handle(request, response)
  else handlePage(request, response)
})
server.on('upgrade', (request, socket, head) => {
  if (weft.handleUpgrade(request, socket, head)) return
  if (isDev) nextServer.emit('upgrade', request, socket, head)
  else socket.destroy()
})
server.listen(Number(PORT), HOST, () => console.log(`Open http://${HOST}:${PORT}/?name=Ada`))

for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, async () => {
    // Browsers reconnect after the restart. Changes that they have made are on disk.
    await weft.close()
    // In development, Next.js would keep the process running.
    process.exit()
  })
