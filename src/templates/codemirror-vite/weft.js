import { createServer, nodeHandler } from 'weft-server'
import { createEndpoint } from 'weft-server/client'
import { demoUser } from './demo-sign-in.js'

/**
 * Opens Weft, which stores the documents in ./weft-data. `handle` answers the requests of the page: sync below /collab,
 * and tokens at /weft/token. It calls `next` for all other paths. The API key stays in this process.
 */
export async function openWeft() {
  const weft = await createServer({ dataDir: './weft-data', basePath: '/collab', logLevel: 'warn' })
  const endpoint = createEndpoint({
    api: weft.api,
    authorize: demoUser,
    tokenSeconds: Number(process.env.TOKEN_SECONDS ?? 3600),
  })
  const handleEndpoint = nodeHandler(endpoint)
  const handle = (request, response, next) => {
    if (request.url.startsWith('/collab/')) weft.handle(request, response)
    else if (request.url.startsWith('/weft/')) void handleEndpoint(request, response)
    else next()
  }
  return { handle, handleUpgrade: weft.handleUpgrade, close: weft.close }
}
