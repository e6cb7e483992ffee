// The production server: the page that `npm run build` has made, and Weft.
import { createServer } from 'node:http'
import sirv from 'sirv'
import { openWeft } from './weft.js'

const { PORT = '3000', HOST = 'localhost' } = process.env
const weft = await openWeft()
const serveFile = sirv('dist')

const server = createServer((request, response) => {
  weft.handle(request, response, () => serveFile(request, response))
})
server.on('upgrade', (request, socket, head) => {
  if (!weft.handleUpgrade(request, socket, head)) socket.destroy()
})
server.listen(Number(PORT), HOST, () => console.log(`Open http://${HOST}:${PORT}/?name=Ada`))

for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, async () => {
    // Browsers reconnect after the restart. Changes that they have made are on disk.
    await weft.close()
    server.close()
  })
