import { createServer as createHttpServer } from 'node:http'
import express from 'express'
import { createServer, nodeHandler } from 'weft-server'
import { createEndpoint } from 'weft-server/client'
import { demoUser } from './demo-sign-in.js'

const isDev = process.argv.includes('--dev')
const { PORT = '3000', HOST = 'localhost', TOKEN_SECONDS = '3600' } = process.env

// Weft stores the documents in ./weft-data. Browsers sync with it below /collab.
const weft = await createServer({
  dataDir: './weft-data',
  basePath: '/collab',
  logLevel: 'warn',
})

const app = express()
app.use('/collab', weft.router)

// The provider of the page gets its tokens here. The API key stays in this process.
const endpoint = createEndpoint({
  api: weft.api,
  authorize: demoUser,
  tokenSeconds: Number(TOKEN_SECONDS),
})
app.use('/weft', nodeHandler(endpoint))

// The page. Vite serves its sources in development. Otherwise, `npm run build` has built it into ./dist.
const server = createHttpServer(app)
const vite = isDev ? await startVite() : null
app.use(vite === null ? express.static('dist') : vite.middlewares)

async function startVite() {
  const { createServer: createVite } = await import('vite')
  // `node --watch` would restart because of the files that other loaders write.
  return createVite({ configLoader: 'native', server: { middlewareMode: true, ws: { server } } })
}

server.on('upgrade', (request, socket, head) => {
  // In development, Vite handles the other websockets.
  if (!weft.handleUpgrade(request, socket, head) && vite === null) socket.destroy()
})

server.listen(Number(PORT), HOST, () => console.log(`Open http://${HOST}:${PORT}/?name=Ada`))

for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, async () => {
    // Browsers reconnect after the restart. Changes that they have made are on disk.
    await weft.close()
    await vite?.close()
    server.close()
  })
